"""The language of the shell: the part of Ruby that people type into HBase's."""
