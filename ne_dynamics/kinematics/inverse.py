"""Joint positions that bring a link to a pose."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from ne_dynamics.arguments import check_vector
from ne_dynamics.dynamics import Dynamics
from ne_dynamics.errors import InputError, InverseKinematicsError
from ne_dynamics.kinematics.levenberg_marquardt import descend
from ne_dynamics.kinematics.pose import check_pose
from ne_dynamics.kinematics.pose_problem import TOLERANCE, PoseProblem
from ne_dynamics.model.robot import FloatArray

SEED = 20
"""Of the random starts: the same call gives the same result."""

FIRST_STARTS, MORE_STARTS = 16, 112
"""Random starts that are tried, the second lot when the first finds nothing."""

NEARBY_STARTS, NEARBY = 8, 0.2
"""Starts about the given position, and how far in each joint [rad, or lengths of the arm]."""

STARTS_A_ROUND, MOST_ROUNDS = 96, 10
"""Starts of a round of the search for all positions, which ends after a round without news."""

LOTS = ((FIRST_STARTS, 0), (MORE_STARTS, 0))
"""How many starts are drawn from all positions, and how many about a given one."""

LOTS_ABOUT = ((0, 0), (FIRST_STARTS, NEARBY_STARTS), (MORE_STARTS, 0))
"""Likewise where a position is given, which itself is the first start."""

SAME = 1e-5
"""Positions closer than this are one [rad, or lengths of the arm]."""


def inverse_kinematics(
    dynamics: Dynamics,
    target_pose: ArrayLike,
    initial_position: ArrayLike | None = None,
    *,
    link: str | None = None,
) -> FloatArray:
    """Return joint positions within the joint limits at which a link has a given pose.

    Parameters
    ----------
    dynamics : Dynamics
    target_pose : array-like, shape (4, 4)
        Homogeneous matrix: pose of the link in the base link's frame [m]. If the rotation is
        orthonormal to six digits, the nearest exact rotation is used.
    initial_position : array-like, shape (n,), optional
        Start of the search [rad or m], clipped to the limits. The result is the solution to
        which the iteration converges from here; failing that, the nearest solution found from
        starts around it and random ones, which may be far: compare it before you move there.
        Default: the solution from random starts that is nearest to the middle of the limits.
    link : str, optional
        Link of the pose; default: the tip.

    Returns
    -------
    array, shape (n,)
        [rad or m]. The pose error is at most 1e-9 rad and 1e-9 of the arm's length. Revolute
        joints are within half a turn of the start, as far as the limits permit. Joints that do
        not move the link stay at the start; without a start, at 0 or the nearest limit.

    Raises
    ------
    InputError
        When an argument is invalid, the link is unknown, or no joint moves it.
    InverseKinematicsError
        When no solution was found. The error has the nearest position and its distance from the
        pose. The search is numerical, so a solution may exist nevertheless.

    Notes
    -----
    Damped least squares (Levenberg-Marquardt) on the generated Jacobian, see
    :mod:`ne_dynamics.kinematics.levenberg_marquardt`. Random starts come from a fixed seed.
    """
    problem = _make_problem(dynamics, target_pose, link)
    if initial_position is None:
        start = middle = problem.find_middle(problem.clip(np.zeros(dynamics.n)))
        return _find_nearest(problem, start, middle, LOTS)
    start = problem.clip(check_vector(initial_position, 'initial_position', dynamics.n))
    return _find_nearest(problem, start, problem.find_middle(start), LOTS_ABOUT)


def _find_nearest(
    problem: PoseProblem,
    start: FloatArray,
    middle: FloatArray,
    lots: Sequence[tuple[int, int]],
) -> FloatArray:
    """Return the nearest position that meets the pose, of the first lot of starts with one."""
    rng = np.random.default_rng(SEED)
    tried: list[tuple[FloatArray, FloatArray]] = []
    for number, (random_starts, nearby_starts) in enumerate(lots):
        starts = [
            np.tile(start, (1 if number == 0 else 0, 1)),
            problem.draw_nearby(rng, start, NEARBY, nearby_starts),
            problem.draw_starts(rng, middle, random_starts),
        ]
        positions, errors = descend(problem, np.vstack(starts))
        tried.append((positions, errors))
        met = problem.wrap(positions[problem.are_met(errors)], start)
        if len(met):
            return np.asarray(met[np.argmin(problem.measure_distances(met, start))])
    raise _make_error(problem, tried)


def inverse_kinematics_branches(
    dynamics: Dynamics, target_pose: ArrayLike, *, link: str | None = None
) -> FloatArray:
    """Return all joint positions within the joint limits at which a link has a given pose.

    Parameters
    ----------
    dynamics : Dynamics
    target_pose : array-like, shape (4, 4)
        As for :func:`inverse_kinematics`.
    link : str, optional
        Name of the link; default: the tip.

    Returns
    -------
    array, shape (k, n)
        k solutions [rad or m], the one nearest to the middle of the limits first. Of solutions
        that differ by full turns, only the one nearest to the middle is returned. At a singular
        pose solutions form lines: the result has one point of each straight line (aligned axes
        of a spherical wrist) and several points of a curved one (aligned wrist of a UR). Joints
        that do not move the link are as in :func:`inverse_kinematics`.

    Raises
    ------
    InputError
        As for :func:`inverse_kinematics`, and when the arm is redundant, so that there are
        infinitely many solutions.
    InverseKinematicsError
        When no solution was found.

    Notes
    -----
    Rounds of searches from random starts with a fixed seed, until a round finds no new solution.
    That all solutions are found is likely, not certain.
    """
    problem = _make_problem(dynamics, target_pose, link)
    rng = np.random.default_rng(SEED)
    middle = problem.find_middle(problem.clip(np.zeros(dynamics.n)))
    rank = int(problem.count_ranks(problem.draw_starts(rng, middle, FIRST_STARTS)).max())
    if rank < problem.movers.size:
        raise InputError(
            f'dynamics: expected an arm with finitely many positions for a pose, got '
            f'{problem.movers.size} joints that move {problem.link.name!r} in {rank} directions; '
            'inverse_kinematics returns one of the positions'
        )
    found = _find_all(problem, rng, middle)
    order = np.argsort(problem.measure_distances(found, middle), kind='stable')
    return np.asarray(found[order])


def _find_all(problem: PoseProblem, rng: np.random.Generator, middle: FloatArray) -> FloatArray:
    """Return the positions that meet the pose, shape (k, n), until a round finds nothing new."""
    found = np.empty((0, len(middle)))
    tried: list[tuple[FloatArray, FloatArray]] = []
    for _ in range(MOST_ROUNDS):
        starts = problem.draw_starts(rng, middle, STARTS_A_ROUND)
        positions, errors = descend(problem, starts)
        tried.append((positions, errors))
        positions = problem.wrap(positions[problem.are_met(errors)], middle)
        before = len(found)
        for position in positions:
            if not _is_known(problem, found, position):
                found = np.vstack([found, position])
        if len(found) == before:
            break
    if not len(found):
        raise _make_error(problem, tried)
    return found


def _make_problem(dynamics: Dynamics, target_pose: ArrayLike, link: str | None) -> PoseProblem:
    if not isinstance(dynamics, Dynamics):
        raise InputError(f'dynamics: expected a Dynamics, got {type(dynamics).__name__}')
    return PoseProblem(dynamics, check_pose(target_pose, 'target_pose'), link)


def _is_known(problem: PoseProblem, found: FloatArray, position: FloatArray) -> bool:
    """Return whether a position is found already, or on a straight line of solutions with one."""
    if not len(found):
        return False
    known = np.vstack([found, problem.wrap(found, position)])  # a full turn apart is the same
    distances = np.abs((known - position) / problem.scale).max(axis=1)
    if (distances < SAME).any():
        return True
    if problem.count_ranks(position[None])[0] == problem.movers.size:
        return False
    # Near a singular position even distinct searches end on one line, or on either side of a fold.
    halfway = problem.compute_errors(0.5 * (known + position))
    return bool((np.linalg.norm(halfway, axis=1) < SAME).any())


def _make_error(
    problem: PoseProblem, tried: list[tuple[FloatArray, FloatArray]]
) -> InverseKinematicsError:
    positions = np.vstack([lot[0] for lot in tried])
    errors = np.vstack([lot[1] for lot in tried])
    best = int(np.argmin(np.linalg.norm(errors, axis=1)))
    shift = problem.length * float(np.linalg.norm(errors[best, :3]))
    angle = float(np.linalg.norm(errors[best, 3:]))
    reasons = []
    joints = problem.movers.size
    if joints < 6:
        reasons.append(f'{joints} joint{"s" if joints > 1 else ""} cannot meet every pose')
    at_limits = [
        problem.joint_names[joint]
        for joint in problem.movers
        if positions[best, joint] in (problem.lower[joint], problem.upper[joint])
    ]
    if at_limits:
        reasons.append(f'at a limit there: {", ".join(at_limits)}')
    return InverseKinematicsError(
        f'target_pose: expected a pose that {problem.link.name!r} can take within the limits of '
        f'the joints (to {TOLERANCE:g}); the nearest of {len(positions)} tries misses it by '
        f'{shift:.3g} m and {angle:.3g} rad' + ''.join(f'; {reason}' for reason in reasons),
        positions[best],
        shift,
        angle,
    )
