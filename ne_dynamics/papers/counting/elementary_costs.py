"""What one elementary operation of the forms costs, measured on the function that does it."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from ne_dynamics.algorithms.scalars.elementary import add, cross, multiply, scale
from ne_dynamics.algorithms.scalars.scalar import Vector
from ne_dynamics.codegen.symbols import OperationCount
from ne_dynamics.papers.counting.counting_scalars import Tally
from ne_dynamics.papers.forms.angeles import JointRotation
from ne_dynamics.papers.forms.arm import DHLink
from ne_dynamics.papers.forms.frames import multiply_transposed, standard_rotation
from ne_dynamics.papers.forms.generic_scalars import Matrix
from ne_dynamics.papers.forms.matrices_4x4 import add_4x4, multiply_4x4, scale_4x4, trace_4x4

Work = Callable[[Tally], object]

_LINK = DHLink(alpha=0.7)


def _vector(tally: Tally) -> Vector:
    return list(tally.numbers([1.0, 2.0, 3.0]))


def _matrix(tally: Tally, size: int) -> Matrix:
    return [list(tally.numbers([1.0 + row] * size)) for row in range(size)]


ELEMENTARY: dict[str, Work] = {
    'product': lambda tally: tally.number(2.0) * tally.number(3.0),
    'sum': lambda tally: tally.number(2.0) + tally.number(3.0),
    'sum of vectors': lambda tally: add(_vector(tally), _vector(tally)),
    'vector scaled': lambda tally: scale(tally.number(2.0), _vector(tally)),
    'cross product': lambda tally: cross(_vector(tally), _vector(tally)),
    'matrix times vector': lambda tally: multiply(_matrix(tally, 3), _vector(tally)),
    'rotation': lambda tally: multiply_transposed(_matrix(tally, 3), _vector(tally)),
    'rotation by (7.23)': lambda tally: JointRotation(
        _LINK, tally.number(0.3), tally.number
    ).to_next(_vector(tally)),
    'rotation matrix formed': lambda tally: standard_rotation(
        _LINK, tally.number(0.3), tally.number
    ),
    '4x4 product': lambda tally: multiply_4x4(_matrix(tally, 4), _matrix(tally, 4)),
    '4x4 sum': lambda tally: add_4x4(_matrix(tally, 4), _matrix(tally, 4)),
    '4x4 matrix scaled': lambda tally: scale_4x4(tally.number(2.0), _matrix(tally, 4)),
    '4x4 trace': lambda tally: trace_4x4(_matrix(tally, 4)),
}
"""What is done, by the name that a derivation calls it."""


@cache
def measure_elementary_cost(name: str) -> OperationCount:
    """Return what one operation of :data:`ELEMENTARY` costs; functions such as sine left out."""
    tally = Tally()
    ELEMENTARY[name](tally)
    return OperationCount(tally.total.multiplications, tally.total.additions)
