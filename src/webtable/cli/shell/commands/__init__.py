"""The commands of the shell, a module a group; `command_catalog` knows which module has which."""
