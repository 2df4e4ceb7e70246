"""Robots: what a URDF or a table of DH parameters says, and what else is known about an arm.

Gives :class:`Robot` with its joints, links and inertias, immutable and checked, from
:func:`load_urdf`, :func:`load_dh` or :func:`load_model`, which tells the two by the file. Files
come from outside: what is wrong in one is named with its place, and nothing is guessed. `extras`
(rotors, friction, limits) come from a file beside the URDF.

Begin with ``robot.py``; then ``urdf/tree.py`` (from the elements of a URDF to a Robot) and
``dh.py``; ``checks.py`` is `ne_dynamics check`. Stands on :mod:`ne_dynamics.errors` alone.
"""
