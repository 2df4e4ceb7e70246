"""The commands of `ne_dynamics`: one file each; ``options`` are those that several share.

Begin with ``main.py``, which finds the command and turns errors into one line and an exit code. No
other room takes anything from here.
"""
