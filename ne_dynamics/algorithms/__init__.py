"""The equations of motion, written once: one recursion a file, over any scalar.

The same functions run on floats, on arrays, on symbols that trace them for one robot
(:mod:`ne_dynamics.codegen`), on scalars that count, and on bounds of rounding errors. Nothing here
knows which.

Begin with ``newton_euler.py``; ``mechanism.py`` is the robot as the recursions want it, with what
is constant folded. ``profiles.py`` has the rest-to-rest profiles of ``import ne_dynamics``.
"""
