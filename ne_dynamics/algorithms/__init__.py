"""The equations of motion, written once: one recursion a file, over any scalar.

The same functions run on floats, on arrays, on symbols that trace them for one robot
(:mod:`ne_dynamics.codegen`), on scalars that count, and on bounds of rounding errors. Nothing here
knows which.

Begin with ``newton_euler.py``; ``mechanism.py`` is the robot as the recursions want it, with what
is constant folded. ``profiles.py`` has the rest-to-rest profiles of ``import ne_dynamics``.
"""

from typing import TYPE_CHECKING

from ne_dynamics.loaded_later import load_later

if TYPE_CHECKING:
    from ne_dynamics.algorithms.mechanism import Mechanism, build_mechanism
    from ne_dynamics.algorithms.profiles import cubic_profile, quintic_profile, trapezoidal_profile
    from ne_dynamics.algorithms.scalars.scalar import Scalar, Vector

__all__ = [
    'Mechanism',
    'Scalar',
    'Vector',
    'build_mechanism',
    'cubic_profile',
    'quintic_profile',
    'trapezoidal_profile',
]

__getattr__, __dir__ = load_later(
    __name__,
    {
        'Mechanism': 'mechanism',
        'Scalar': 'scalars.scalar',
        'Vector': 'scalars.scalar',
        'build_mechanism': 'mechanism',
        'cubic_profile': 'profiles',
        'quintic_profile': 'profiles',
        'trapezoidal_profile': 'profiles',
    },
)
