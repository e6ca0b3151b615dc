"""The commands of the shell, a module a group; `command_catalog` lists which module has which."""
