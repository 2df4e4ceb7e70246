"""What a tolerance is worth for a robot: shorter equations, and what it changes in them."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ne_dynamics.algorithms.mechanism import DEFAULT_TOLERANCE, build_mechanism
from ne_dynamics.dynamics import Dynamics
from ne_dynamics.model.robot import ModelFinding, Robot
from ne_dynamics.tables import align_lines


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


def bound_rounding(robot: Robot, tolerance: float) -> dict[str, float]:
    """Return by joint what a tolerance changes at most at unit rates and accelerations."""
    with np.errstate(over='ignore', invalid='ignore'):
        bounds = Dynamics(robot, backend='python', tolerance=tolerance).rounding_bound()
    return dict(zip(robot.joint_names, np.nan_to_num(bounds).tolist(), strict=True))


def describe_bounds(robot: Robot, tolerance: float, bounds: Mapping[str, float]) -> list[str]:
    """Return what :func:`bound_rounding` found in lines."""
    rows = [
        [each.name, f'{bounds[each.name]:.2g} {each.type.effort_unit}'] for each in robot.joints
    ]
    return [
        '',
        f'  tolerance {tolerance:g} changes an effort at 1 rad/s and 1 rad/s^2 (m/s, m/s^2) by '
        'at most',
        *(f'    {line}' for line in align_lines([], rows, is_text=True)),
    ]
