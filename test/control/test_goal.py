"""When a goal is reached, when it has failed, and what is said of it then."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from urdf_text import joint_xml, link_xml, robot_xml

from ne_dynamics import load_urdf
from ne_dynamics.control.guards.goal import (
    GoalCode,
    GoalMonitor,
    GoalOutcome,
    JointTolerance,
    Tolerances,
)
from ne_dynamics.errors import InputError
from ne_dynamics.model.robot import Robot
from ne_dynamics.motion.waypoints import TURN, DesiredState, resting_state

MOVING = DesiredState(np.zeros(3), np.array([0.5, 0.0, -0.2]), np.zeros(3))
END = 2.0
NAMES = ('shoulder', 'wrist', 'slide')
REST = resting_state(np.zeros(3))


@pytest.fixture(scope='module')
def robot() -> Robot:
    """Return an arm with a revolute, a continuous and a prismatic joint."""
    links = [f'l{index}' for index in range(4)]
    joints = map(joint_xml, NAMES, links, links[1:], ('revolute', 'continuous', 'prismatic'))
    return load_urdf(robot_xml(*map(link_xml, links), *joints))


def tolerances(
    path: float = 0.0, goal: float = 0.0, stopped: float = 0.0, time: float = 0.0
) -> Tolerances:
    """Return the same tolerances for all joints."""
    return Tolerances(np.full(3, path), np.zeros(3), np.full(3, goal), np.full(3, stopped), time)


def turn_error(desired: np.ndarray, measured: np.ndarray) -> np.ndarray:
    """Return the position error, the wrist's by the nearest turn."""
    error = desired - measured
    error[1] -= TURN * np.round(error[1] / TURN)
    return error


@pytest.fixture
def monitor(robot: Robot):
    """Return a function that makes a monitor and judges with it."""

    class Judge:
        def __init__(self, allowed: Tolerances) -> None:
            self.monitor = GoalMonitor(robot.joints, allowed, turn_error)

        def at(
            self,
            now: float,
            position: tuple[float, ...] = (0.0, 0.0, 0.0),
            velocity: tuple[float, ...] | None = (0.0, 0.0, 0.0),
            desired: DesiredState = REST,
        ) -> GoalOutcome | None:
            measured = None if velocity is None else np.array(velocity)
            command = SimpleNamespace(
                place=now, desired=desired, position=np.array(position), velocity=measured
            )
            return self.monitor.observe(command, END)

    return Judge


def test_every_joint_beyond_its_tolerance_is_named(monitor) -> None:
    """Two joints off the path are two clauses, those within are not mentioned."""
    text = monitor(tolerances(path=0.1)).at(0.0, (0.2, 0.3, 0.0)).text
    assert "joint 'shoulder': position error: expected at most 0.1 rad, got 0.2 rad; " in text
    assert "joint 'wrist': position error: expected at most 0.1 rad, got 0.3 rad, " in text
    assert 'slide' not in text


def test_the_path_tolerance_ends_with_the_path(monitor) -> None:
    """From the last waypoint on the goal tolerance counts alone, even if it is wider."""
    judge = monitor(tolerances(path=0.1, goal=0.5))
    assert judge.at(1.0) is None
    assert judge.at(END, (0.4, 0.0, 0.0)).code is GoalCode.SUCCESSFUL


def test_past_the_goal_time_it_has_failed(monitor) -> None:
    """The text names joint, what was expected, what was found, and the time allowed."""
    judge = monitor(tolerances(goal=0.01, time=0.5))
    assert judge.at(END, (0.02, 0.0, 0.0)) is None
    assert judge.at(END + 0.51, (0.02, 0.0, 0.0)) == GoalOutcome(
        GoalCode.GOAL_TOLERANCE_VIOLATED,
        "joint 'shoulder': position error: expected at most 0.01 rad, got 0.02 rad, 0.51 s after "
        'the end of the trajectory (goal time: 0.5 s)',
    )


def test_an_arm_that_has_not_stopped_is_not_there(monitor) -> None:
    """Passing through the goal is not reaching it: its joints must be slow enough."""
    judge = monitor(tolerances(stopped=0.01, time=0.5))
    assert judge.at(END, velocity=(0.0, 0.02, 0.0)) is None
    outcome = judge.at(END + 1.0, velocity=(0.0, 0.02, 0.0))
    assert outcome.code is GoalCode.GOAL_TOLERANCE_VIOLATED
    assert "joint 'wrist': velocity error: expected at most 0.01 rad/s, got 0.02" in outcome.text
    assert monitor(tolerances(stopped=0.01)).at(END).code is GoalCode.SUCCESSFUL


def test_minus_one_takes_a_tolerance_away() -> None:
    """-1, also as single precision has it, erases the default; so it does the goal time's."""
    defaults = tolerances(path=0.1, goal=0.2, stopped=0.01, time=0.5)
    almost = float(np.float32(-1.0) + np.float32(6e-8))
    own = defaults.overridden(
        NAMES,
        path=[JointTolerance('wrist', -1.0)],
        goal=[JointTolerance('wrist', almost, -1.0)],
        goal_time=-1.0,
    )
    assert own.path_position.tolist() == [0.1, 0.0, 0.1]
    assert own.goal_position.tolist() == [0.2, 0.0, 0.2]
    assert own.goal_velocity.tolist() == [0.01, 0.0, 0.01]
    assert own.goal_time == 0.0


@pytest.mark.parametrize(
    ('given', 'message'),
    [
        (
            {'path': [JointTolerance('elbow', 0.1)]},
            r"path_tolerance: unknown joint 'elbow'; the joints are \['shoulder'",
        ),
        (
            {'goal': [JointTolerance('wrist', -0.5)]},
            r"goal_tolerance: joint 'wrist': position: expected > 0, 0 .* or -1 .*, got -0\.5",
        ),
        (
            {'path': [JointTolerance('wrist', 0.1, float('nan'))]},
            r"path_tolerance: joint 'wrist': velocity: expected a number, got nan",
        ),
        ({'goal_time': -2.0}, r'goal_time_tolerance: expected > 0, .*, got -2'),
    ],
)
def test_an_illegal_tolerance_is_named(given: dict, message: str) -> None:
    """A joint that is unknown or a value that means nothing is refused, and says which."""
    with pytest.raises(InputError, match=message):
        tolerances().overridden(NAMES, **given)


def test_a_velocity_tolerance_of_the_path_is_of_the_error(monitor) -> None:
    """Moving as desired is no error, standing still is; velocities have their own unit."""
    allowed = tolerances().overridden(NAMES, path=[JointTolerance('slide', velocity=0.1)])
    judge = monitor(allowed)
    assert judge.at(0.5, velocity=(0.0, 0.0, -0.2), desired=MOVING) is None
    outcome = judge.at(0.6, desired=MOVING)
    assert outcome.code is GoalCode.PATH_TOLERANCE_VIOLATED
    assert "joint 'slide': velocity error: expected at most 0.1 m/s, got 0.2 m/s" in outcome.text
