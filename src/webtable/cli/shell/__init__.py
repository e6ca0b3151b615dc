"""`webtable shell`: the commands of HBase's shell, with its syntax and its output.

`lexer` and `parser` read the part of Ruby that people write in that shell, `session` runs what
they found, one module a group holds the commands, `script` and `interactive` are the two doors.
"""
