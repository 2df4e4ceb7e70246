"""Interpolation against SciPy's Hermite polynomials, and the rules of ros2_controllers."""

from __future__ import annotations

import numpy as np
import pytest

from ne_dynamics.errors import TrajectoryError
from ne_dynamics.model.robot import Joint, JointType
from ne_dynamics.motion.motion import Motion
from ne_dynamics.motion.waypoints import DesiredState, TrajectoryPoint, Waypoints, resting_state

JOINTS = (
    Joint('a', lower=-3.0, upper=3.0),
    Joint('b', type=JointType.CONTINUOUS),
    Joint('c', type=JointType.PRISMATIC, lower=-1.0, upper=1.0),
)
NAMES = ('a', 'b', 'c')
START = resting_state([0.1, -0.2, 0.3])


def state(rng: np.random.Generator) -> DesiredState:
    """Return a state in motion."""
    return DesiredState(*rng.uniform(-0.9, 0.9, (3, 3)))


def points_of(rng: np.random.Generator, times, order: int) -> list[TrajectoryPoint]:
    """Return points that carry derivatives up to an order."""
    points = []
    for time in times:
        values = [row.tolist() for row in rng.uniform(-0.9, 0.9, (order + 1, 3))]
        points.append(TrajectoryPoint(time, *values))
    return points


def through(points, *, now=0.0, start=START, start_time=None, names=NAMES, **options):
    """Return the trajectory through points."""
    waypoints = Waypoints.from_points(
        JOINTS, names, points, allow_nonzero_velocity_at_end=True, **options
    )
    return Motion.through(waypoints, now=now, start_state=start, start_time=start_time)


@pytest.mark.parametrize('order', [0, 1, 2])
@pytest.mark.parametrize('seed', range(5))
def test_each_segment_is_the_one_polynomial_that_meets_both_ends(order: int, seed: int) -> None:
    """Of degree 1, 3 or 5, by SciPy, from a state in motion on: positions and derivatives."""
    interpolate = pytest.importorskip('scipy.interpolate', reason='needs SciPy')
    rng = np.random.default_rng(seed)
    start, times = state(rng), np.cumsum(rng.uniform(0.1, 2.0, 6))
    points = points_of(rng, times, order)
    trajectory = through(points, start=start, now=-0.5, start_time=0.0)
    ends = [list(start[: order + 1]), *(list(point[1 : order + 2]) for point in points)]
    expected = interpolate.BPoly.from_derivatives([-0.5, *times], ends)
    for time in [*np.linspace(-0.5, times[-1], 40, endpoint=False), *times[:-1]]:
        for derivative, values in enumerate(trajectory.sample(time)):
            near = 10.0 ** (derivative - 12)
            np.testing.assert_allclose(values, expected(time, derivative), rtol=1e-12, atol=near)


def test_segments_between_unlike_points_use_what_both_carry() -> None:
    """A segment between a point with accelerations and one with positions only is linear."""
    points = [
        TrajectoryPoint(1.0, [0.0] * 3, [0.5] * 3, [0.1] * 3),
        TrajectoryPoint(2.0, [0.4] * 3),
        TrajectoryPoint(3.0, [0.8] * 3, [0.0] * 3),
    ]
    trajectory = through(points)
    np.testing.assert_allclose(trajectory.sample(1.25).position, 0.1)
    np.testing.assert_allclose(trajectory.sample(1.25).velocity, 0.4)
    np.testing.assert_allclose(trajectory.sample(2.75).position, 0.7)


@pytest.mark.parametrize('first', [-7.0, -0.1, 3.0, 6.0, 40.0])
def test_continuous_joints_take_the_nearest_turn(first: float) -> None:
    """The whole trajectory of a continuous joint is shifted so that it begins within half a turn.

    Its course is otherwise unchanged, even where it passes further turns.
    """
    points = [
        TrajectoryPoint(1.0, [0.0, first, 0.0]),
        TrajectoryPoint(2.0, [0.0, first + 5.0, 0.0]),
    ]
    trajectory = through(points)
    begin, end = trajectory.sample(1.0).position[1], trajectory.final.position[1]
    assert abs(begin - START.position[1]) <= np.pi + 1e-12
    turns = (begin - first) / (2.0 * np.pi)
    assert turns == pytest.approx(round(turns), abs=1e-9)
    assert end - begin == pytest.approx(5.0)


@pytest.mark.parametrize('sign', [1.0, -1.0])
def test_half_a_turn_goes_the_way_that_was_written(sign: float) -> None:
    """Where both ways are equally long a continuous joint turns in the sender's direction."""
    goal = START.position[1] + sign * np.pi
    trajectory = through([TrajectoryPoint(1.0, [0.0, goal, 0.0])])
    assert trajectory.final.position[1] == pytest.approx(goal)


GOOD = TrajectoryPoint(1.0, [0.0] * 3, [0.0] * 3, [0.0] * 3)
BAD = [
    ('partial', NAMES[:2], [GOOD], r"\['c'\] missing.*partial"),
    ('no names', (), [GOOD], r"\['a', 'b', 'c'\] missing"),
    ('unknown', ('a', 'b', 'c', 'd'), [GOOD], r"unknown \['d'\]"),
    ('twice', ('a', 'b', 'a'), [GOOD], "'a' is named twice"),
    ('no points', NAMES, [], 'points: expected at least one'),
    ('no positions', NAMES, [TrajectoryPoint(1.0, [])], 'point 0: positions: expected 3.*got 0'),
    ('few positions', NAMES, [TrajectoryPoint(1.0, [0.0] * 2)], 'positions: expected 3.*got 2'),
    ('few velocities', NAMES, [GOOD._replace(velocities=[0.0])], 'velocities: expected 3.*got 1'),
    ('many velocities', NAMES, [GOOD._replace(velocities=[0.0] * 4)], 'velocities.*got 4'),
    ('few accelerations', NAMES, [GOOD._replace(accelerations=[0.0] * 2)], 'accelerations.*got 2'),
    ('few efforts', NAMES, [GOOD._replace(effort=[0.0] * 2)], 'effort: expected 3.*got 2'),
    ('second point', NAMES, [GOOD, TrajectoryPoint(2.0, [0.0])], 'point 1: positions'),
    ('NaN', NAMES, [GOOD._replace(positions=[0.0, np.nan, 0.0])], "positions: joint 'b'.*nan"),
    ('infinite', NAMES, [GOOD._replace(velocities=[np.inf, 0, 0])], "velocities: joint 'a'.*inf"),
    ('NaN effort', NAMES, [GOOD._replace(effort=[0.0, 0.0, np.nan])], "effort: joint 'c'.*nan"),
    ('accelerations alone', NAMES, [GOOD._replace(velocities=())], 'without velocities'),
    ('negative time', NAMES, [GOOD._replace(time_from_start=-0.1)], 'expected >= 0 s, got -0.1'),
    ('NaN time', NAMES, [GOOD._replace(time_from_start=np.nan)], 'time_from_start: .*nan'),
    (
        'too late',
        NAMES,
        [GOOD._replace(time_from_start=1.5e10)],
        r'time_from_start: .* 1.5e\+10 s',
    ),
    ('same time', NAMES, [GOOD, GOOD], 'point 1: time_from_start: expected more than the 1 s'),
    ('backwards', NAMES, [GOOD, GOOD._replace(time_from_start=0.5)], 'point 1.*got 0.5'),
    ('above', NAMES, [GOOD._replace(positions=[3.1, 0, 0])], "joint 'a': expected -3 to 3, got 3"),
    (
        '1.5 um above',
        NAMES,
        [GOOD._replace(positions=[3 + 1.5e-6, 0, 0])],
        "'a': expected -3 to 3",
    ),
    ('too far', NAMES, [GOOD._replace(positions=[0, 1.5e9, 0])], r'of at most 1e\+09, got 15'),
    ('below', NAMES, [GOOD, TrajectoryPoint(2.0, [0, 0, -1.2])], "point 1.*joint 'c'.*-1 to 1"),
    ('moving', NAMES, [GOOD._replace(velocities=[0, 0, 0.1])], "last point.*'c'.*rest, got 0.1"),
]


@pytest.mark.parametrize(
    ('names', 'points', 'match'), [b[1:] for b in BAD], ids=[b[0] for b in BAD]
)
def test_bad_waypoints_are_refused_by_name(names, points, match: str) -> None:
    with pytest.raises(TrajectoryError, match=match):
        Waypoints.from_points(JOINTS, names, points)


def test_what_is_hardly_within_the_bounds_is_accepted() -> None:
    """A micrometre beyond a limit, 1e9 rad, 1e10 s, and a microsecond from point to point."""
    for point in (
        GOOD._replace(positions=[3.0 + 0.7e-6, 0.9e9, 0.0]),
        GOOD._replace(time_from_start=0.9e10),
    ):
        Waypoints.from_points(JOINTS, NAMES, [point])
    through([GOOD, GOOD._replace(time_from_start=1.0 + 1.5e-6)])
    with pytest.raises(TrajectoryError, match='expected 1e-06 s between two points'):
        through([GOOD, GOOD._replace(time_from_start=1.0 + 0.7e-6)])
