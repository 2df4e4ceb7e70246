"""The commands of `ne_dynamics`: one file each; ``options`` are those that several share.

``main.py`` finds the command and turns errors into one line and an exit code.
"""
