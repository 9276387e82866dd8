"""The command line: thin commands over workflows."""
