"""Whether a tolerance would make the equations of a robot shorter."""

from __future__ import annotations

from ne_dynamics.algorithms.mechanism import DEFAULT_TOLERANCE, build_mechanism
from ne_dynamics.model.robot import ModelFinding, Robot


def advise_tolerance(
    robot: Robot, tolerance: float | None = None, *, advised: float = 1e-7, fewest: int = 3
) -> tuple[ModelFinding, ...]:
    """Return the advice to take a tolerance, where many angles are nearly quarter turns.

    Parameters
    ----------
    robot : Robot
    tolerance : float, optional
        The one that is taken; with 0 the rounding of exact quarter turns is kept on purpose.
    advised : float
        Covers quarter turns that are written with eight digits.
    fewest : int
        Angles from which it is advised.
    """
    used = DEFAULT_TOLERANCE if tolerance is None else tolerance
    small = [
        min(abs(cosine), abs(sine))
        for body in build_mechanism(robot, 0.0, regroup=False).bodies
        for cosine, sine in (body.turn, body.twist, body.spin)
    ]
    count = sum(used < size <= advised for size in small)
    if used == 0.0 or count < fewest:
        return ()
    return (
        ModelFinding(
            'info',
            'angles-nearly-quarter-turns',
            'model',
            f'{count} angles between joint axes are within {advised:g} of quarter turns and not '
            f'exact, as 1.5707963 is not: tolerance={advised:g} makes the equations shorter; '
            f'`check --tolerance {advised:g}` says what it changes',
        ),
    )
