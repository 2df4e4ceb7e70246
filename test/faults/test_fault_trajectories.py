"""Trajectories that cannot be followed, or that end otherwise than they began."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip('rclpy', reason='needs ROS 2 for Python: pip install "ne_dynamics[ros]"')

from fault_bench import LARGEST_SAG, NAMES
from fault_bench import POSTURE as Q

NAN, INF = float('nan'), float('inf')
REST = [0.0] * 6

MALFORMED = {
    'a joint missing': (((1.0, Q[:5]),), NAMES[:5]),
    'no names': (((1.0, []),), []),
    'an unknown joint': (((1.0, [*Q, 0.0]),), [*NAMES, 'extra']),
    'a joint twice': (((1.0, Q),), [*NAMES[:5], 'joint_1']),
    'few positions': (((1.0, Q[:5]),), NAMES),
    'no positions': (((1.0, []),), NAMES),
    'velocities alone': (((1.0, [], REST),), NAMES),
    'few accelerations': (((1.0, Q, REST, [0.0]),), NAMES),
    'few efforts': (((1.0, Q, REST, REST, [0.0]),), NAMES),
    'accelerations without velocities': (((1.0, Q, [], REST),), NAMES),
    'NaN position': (((1.0, [NAN, *Q[1:]]),), NAMES),
    'NaN velocity': (((1.0, Q, [*REST[:5], NAN]),), NAMES),
    'infinite velocity': (((1.0, Q, [-INF, *REST[1:]]),), NAMES),
    'NaN in the second point': (((1.0, Q), (2.0, [NAN] * 6)), NAMES),
    'two points at one time': (((1.0, Q), (1.0, Q + 0.1)), NAMES),
    'backwards in time': (((2.0, Q), (1.0, Q + 0.1)), NAMES),
    'a negative time': (((-1.0, Q),), NAMES),
    'beyond a position limit': (((1.0, [*Q[:2], 2.9, *Q[3:]]),), NAMES),
    'moving at the end': (((1.0, Q, [0.1] * 6),), NAMES),
}


def desired(arm, mark) -> np.ndarray:
    return np.array([answer.position for answer in arm.answers[mark.answers :]])


def robot_time(arm) -> float:
    return arm.states[-1].stamp * 1e-9


def test_malformed_trajectories_are_dropped(arm) -> None:
    """What cannot be followed is not followed at all: the arm stays where it is held; each is a
    drop in the diagnostics, and the log says why.
    """
    mark = arm.mark()

    def dropped(record) -> int:
        return sum(
            int(value)
            for key, value in record.values.items()
            if key.startswith('joint_trajectory.') and key.endswith(' dropped')
        )

    before = dropped(arm.until_diagnosed(lambda record: True, mark, 'any'))
    for points, names in MALFORMED.values():
        arm.trajectories.publish(arm.trajectory(*points, names=names))
        arm.settle()
    arm.until_diagnosed(
        lambda record: dropped(record) == before + len(MALFORMED), mark, 'all of them'
    )
    arm.until_logged('joint_trajectory dropped')
    assert (desired(arm, mark) == arm.base).all()
    assert arm.sag(mark, arm.base) < LARGEST_SAG


def test_a_malformed_one_while_another_is_followed(arm) -> None:
    """The motion under way goes on to its end when malformed ones come."""
    goal = arm.base + 0.2
    arm.trajectories.publish(arm.trajectory((0.8, goal, REST, REST)))
    arm.until(lambda: np.any(arm.answers[-1].velocity), 'motion')
    for points, names in list(MALFORMED.values())[:10]:
        arm.trajectories.publish(arm.trajectory(*points, names=names))
    arm.until(lambda: np.array_equal(arm.held_at, goal), 'the goal')
    arm.until(lambda: np.abs(arm.states[-1].position - goal).max() < 0.02, 'the arm there')


def test_replaced_under_way(arm) -> None:
    """A second trajectory takes over from where the first has come to, without a jump."""
    mark = arm.mark()
    arm.trajectories.publish(arm.trajectory((1.0, arm.base + 0.3, REST, REST)))
    arm.until(lambda: np.all(arm.answers[-1].velocity > 0.3), 'motion')
    arm.trajectories.publish(arm.trajectory((0.5, arm.base - 0.1, REST, REST)))
    arm.until(lambda: np.array_equal(arm.held_at, arm.base - 0.1), 'the second goal')
    answers = arm.answers[mark.answers :]  # others come meanwhile
    path = np.array([answer.position for answer in answers])
    assert (path < arm.base + 0.3).all()
    stamps = np.array([answer.stamp for answer in answers]) * 1e-9
    speed = np.abs(np.diff(path, axis=0)) / np.maximum(np.diff(stamps), 1e-4)[:, np.newaxis]
    assert speed.max() < 3.0
    arm.until(lambda: np.abs(arm.states[-1].position - arm.held_at).max() < 0.02, 'the arm there')
    # Two hundred at once, half of them malformed: the last good one is followed.
    goal = arm.base + 0.1
    good, bad = arm.trajectory((0.3, goal, REST, REST)), arm.trajectory((1.0, [NAN] * 6))
    for _ in range(100):
        arm.trajectories.publish(good)
        arm.trajectories.publish(bad)
    arm.until(lambda: np.array_equal(arm.held_at, goal), 'the goal')
    arm.settle()
    arm.until_answering(5)
    np.testing.assert_array_equal(arm.held_at, goal)


@pytest.mark.parametrize('how', ['an empty trajectory', '~/hold'])
def test_stopped_under_way(arm, how: str) -> None:
    mark = arm.mark()
    arm.trajectories.publish(arm.trajectory((1.0, arm.base + 0.2, REST, REST)))
    arm.until(lambda: np.all(arm.answers[-1].velocity > 0.2), 'motion')
    if how == '~/hold':
        assert arm.trigger('hold').success
    else:
        arm.trajectories.publish(arm.trajectory(names=[]))
    arm.until(lambda: not np.any(arm.answers[-1].velocity), 'the stop')
    held = arm.held_at
    assert (held > arm.base).all()
    assert (held < arm.base + 0.2).all()
    arm.until(
        lambda: (
            np.abs(arm.states[-1].position - held).max() < 0.005
            and np.abs(arm.states[-1].velocity).max() < 0.05
        ),
        'rest',
    )
    mark = arm.mark()
    arm.until_answering(20)
    np.testing.assert_array_equal(arm.held_at, held)
    assert arm.sag(mark, held) < LARGEST_SAG


def test_in_the_far_future(arm) -> None:
    """A trajectory of another clock is not followed before its time, its sender is told."""
    mark = arm.mark()

    def told() -> bool:
        # Again and again: the log says the same of one field once in five seconds.
        arm.trajectories.publish(
            arm.trajectory((1.0, arm.base + 0.3, REST, REST), stamp=robot_time(arm) + 1e6)
        )
        arm.settle()
        return any('starts in' in line for line in arm.log[mark.log :])

    arm.until(told, 'a line of the log')
    arm.until_answering(10)
    np.testing.assert_allclose(arm.held_at, arm.base, atol=1e-3)
    arm.trajectories.publish(arm.trajectory(names=[]))
    arm.settle()
    arm.until_answering(5)


def test_in_the_past(arm) -> None:
    """A trajectory that has ended already is dropped and named; the arm stays. Of one that has
    begun already, the points that are left are followed.
    """
    mark = arm.mark()
    arm.trajectories.publish(
        arm.trajectory((1.0, arm.base + 0.3, REST, REST), stamp=robot_time(arm) - 10.0)
    )
    arm.until_diagnosed(
        lambda record: int(record.values.get('joint_trajectory.header.stamp dropped', 0)) > 0,
        mark,
        'a drop',
    )
    assert (desired(arm, mark) == arm.base).all()
    goal, mark = arm.base - 0.1, arm.mark()
    rows = (1.0, arm.base + 0.3, REST, REST), (3.0, goal, REST, REST)
    arm.trajectories.publish(arm.trajectory(*rows, stamp=robot_time(arm) - 2.5))
    arm.until(lambda: np.array_equal(arm.held_at, goal), 'the goal')
    assert (desired(arm, mark) < arm.base + 0.2).all()


def test_faster_than_the_arm_can(arm) -> None:
    """What is asked for is beyond the arm: it is tried within the limits, or given up as a state
    that cannot be, and the arm is held in the end.
    """
    arm.trajectories.publish(arm.trajectory((0.1, arm.base + 0.15)))
    arm.until(lambda: np.array_equal(arm.held_at, arm.answers[-20].position), 'a rest')
    arm.until(lambda: np.abs(arm.states[-1].velocity).max() < 1e-2, 'an arm at rest')
    arm.until_answering(20)


def test_effort_of_the_points(arm) -> None:
    """Efforts in the points, even impossible ones, do not reach the commands; which is said."""
    mark = arm.mark()
    arm.trajectories.publish(arm.trajectory((0.2, arm.base, REST, REST, [300.0] * 6)))
    arm.until_logged('effort of the points is not used', since=mark)
    arm.until_answering(20)
    efforts = np.array([record.effort for record in arm.commands[mark.commands :]])
    np.testing.assert_allclose(
        efforts, np.tile(arm.gravity(arm.base), (len(efforts), 1)), atol=5.0
    )
