"""`webtable shell`: the commands of HBase's shell, with its syntax and its output.

`language` reads the part of Ruby that people write in that shell, `session` runs what it found,
`commands` has a module a group of commands, `script` and `interactive` are the two doors.
"""
