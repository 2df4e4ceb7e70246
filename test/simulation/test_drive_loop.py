"""Drives in MIT mode on MuJoCo's arm: the node's message at 500 Hz, their own loop at 1 kHz.

Each drive exerts kp (q_d - q) + kd (qd_d - qd) + tau_ff. It is told the desired position and
velocity and the feed-forward by the real message, through its bytes; efforts alone are for drives
without gains.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

pytest.importorskip('mujoco', reason='MuJoCo is not installed')
pytest.importorskip('rclpy', reason='needs ROS 2 for Python: pip install "ne_dynamics[ros]"')

from motion_loop import HeldArmLoop, demo_motion, known_arm, shipped_arm
from rclpy.serialization import deserialize_message, serialize_message

from ne_dynamics.control.guards.state_guard import FaultKind, StateRefused
from ne_dynamics.control.tuning import LastCommand
from ne_dynamics.ros.messages.command_message import make_command_message
from ne_dynamics.simulation.altered_robot import scale_masses
from ne_dynamics.simulation.demo.arm import fair_gains

ROBOT = shipped_arm()
MOTION = demo_motion(ROBOT)
KP, KD = fair_gains(ROBOT, MOTION, 400.0, 40.0)
DRIVES = {
    'mode': 'feedforward',
    'command.interfaces': ['position', 'velocity', 'effort', 'proportional', 'derivative'],
    'command.kp': KP,
    'command.kd': KD,
}
LIMITS = ROBOT.limits('effort_limit')
DRIVE_PERIOD = 0.001
STATE_EVERY = 2
"""Periods of the drives from one state to the next; so it is of last commands."""
SETTLE = 0.1
MIDWAY = 0.8
"""Time into the motion at which something happens [s]."""


class DriveLoop(HeldArmLoop):
    """The node's controller, its message, drives, and an arm at the begin of the motion.

    `sent` is what the drives were told in each of their periods, shape (5, n): position, velocity,
    effort, gains. `leaving` is sent in the place of answers, where states have stopped.
    """

    def __init__(self, plant=ROBOT, **settings) -> None:
        body = {'period': DRIVE_PERIOD, 'integrator': 'implicitfast'}
        super().__init__(ROBOT, MOTION.positions[0], settings, plant=plant, body=body)
        chosen, known = known_arm(ROBOT, **settings)
        self._interfaces = chosen.command.interfaces
        self._command = make_command_message(chosen.command, known)
        self.faults: list[FaultKind] = []
        self.leaving: Iterator[np.ndarray] | None = None
        self.sent: list[np.ndarray] = []
        self._told = np.empty(0)
        self.law = self._drive

    def push(self, seconds: float, effort: np.ndarray) -> None:
        """Let a time pass while something acts on the joints beside the drives [N m]."""
        self.disturbances = [lambda arm, torque: effort]
        self.run(seconds)
        self.disturbances.clear()

    def lose_states(self) -> None:
        """Let the states stop, and 0.1 s later the watchdog notice."""
        self.leaving = iter(())
        self.run(0.1)
        self.controller.trip(FaultKind.STOPPED, 'simulated')
        machine = self.controller.machine
        braking = machine.braking_commands(0.1)
        self.leaving = machine.last_commands() if braking is None else braking

    def _drive(self, reading) -> np.ndarray:
        if len(self.sent) % STATE_EVERY == 0:
            self._control(reading)
        position, velocity, effort, kp, kd = self._told
        self.sent.append(self._told)
        torque = kp * (position - reading.position) + kd * (velocity - reading.velocity) + effort
        return np.clip(torque, -LIMITS, LIMITS)

    def _control(self, reading) -> None:
        """Answer a state, or send what there is without one."""
        if self.leaving is not None:
            for effort in self.leaving:
                self._tell(effort)
                break
            return
        try:
            now = reading.time
            state = reading.position, reading.velocity, now, now, reading.effort
            self._tell(self.controller.answer(*state).effort)
            self.controller.review()
        except StateRefused as refusal:
            if refusal.fault is not None:
                self.faults.append(refusal.fault.kind)

    def _tell(self, effort: np.ndarray) -> None:
        """Send a command through the bytes of its message."""
        self._command.write(effort, self.controller.limits.setpoint)
        message = self._command.message
        received = deserialize_message(serialize_message(message), type(message))
        data = np.array(received.data).reshape(ROBOT.n, -1)
        told = {name: data[:, index] for index, name in enumerate(self._interfaces)}
        self._told = np.array(
            [told.get(name, np.zeros(ROBOT.n)) for name in DRIVES['command.interfaces']]
        )


def follow(plant=ROBOT, duration: float = MOTION.duration, **settings) -> DriveLoop:
    """Return a loop after a time along the motion."""
    loop = DriveLoop(plant, **settings)
    loop.run(SETTLE)
    loop.controller.motion.follow(MOTION.waypoints())
    loop.run(duration)
    return loop


def rms_error(loop: DriveLoop) -> float:
    """Return how far the arm was from the motion, on the mean of all joints and times [rad]."""
    trajectory, first = loop.controller.motion.trajectory, round(SETTLE / DRIVE_PERIOD)
    times = DRIVE_PERIOD * np.arange(first, len(loop.recording().position))
    desired = np.array([trajectory.sample(time).position for time in times])
    return float(np.sqrt(np.mean((desired - loop.recording().position[first:]) ** 2)))


def steps(loop: DriveLoop, row: int, first: int) -> float:
    """Return the largest step of what the drives were told: 0 position, 1 velocity, 2 effort."""
    return float(np.abs(np.diff(np.array(loop.sent[first - 1 :])[:, row], axis=0)).max())


@pytest.mark.kept(1)
@pytest.mark.parametrize('masses', [1.1, 1.0])
def test_the_effort_is_what_makes_them_precise(masses: float) -> None:
    """Without the feed-forward the same drives err by eight times as much, or more.

    With a tenth more mass than the model has, they err as computed torque does, or less.
    """
    plant = scale_masses(ROBOT, masses)
    without = {f'terms.{term}': False for term in ('gravity', 'coriolis', 'inertia', 'friction')}
    found = rms_error(follow(plant, **DRIVES))
    assert rms_error(follow(plant, **DRIVES, **without)) > 8.0 * found
    if masses > 1.0:
        node = {'computed_torque.kp': [400.0], 'computed_torque.kv': [40.0]}
        assert found < 1.1 * rms_error(follow(plant, mode='computed_torque', **node))


@pytest.mark.parametrize('transition', [0.2, 0.0])
def test_states_that_stop_under_way_do_not_throw_the_arm(transition: float) -> None:
    """The desired motion comes to rest along its way, and the arm with it; nothing jumps."""
    loop = follow(duration=MIDWAY, transition_time=transition, **DRIVES)
    speed, first = np.abs(loop.recording().velocity[-1]).max(), len(loop.sent)
    assert speed > 1.0
    loop.lose_states()
    loop.run(1.0)
    assert steps(loop, 0, first) < 1.2 * speed * 2.0 * DRIVE_PERIOD
    assert np.abs(loop.recording().velocity[first:]).max() < 1.1 * speed
    assert np.abs(loop.recording().velocity[-1]).max() < 1e-3
    assert np.abs(loop.sent[-1][0] - loop.recording().position[-1]).max() < 1e-3
    # The way that is left once the states have stopped, and that of the drives before.
    way = loop.recording().position[-1] - loop.recording().position[first]
    assert np.abs(way).max() < speed * (0.1 + 0.25 / 2.0)


def test_states_that_return_make_no_step() -> None:
    """From the middle of the brake, and long after it, the motion goes on from what was sent."""
    for silence in (0.05, 1.0):
        loop = follow(duration=MIDWAY, **DRIVES)
        speed = np.abs(loop.recording().velocity[-1]).max()
        loop.lose_states()
        loop.run(silence)
        loop.leaving = None
        first = len(loop.sent)
        loop.run(1.0)
        assert loop.controller.fault is None
        assert steps(loop, 0, first) < 1.2 * speed * 2.0 * DRIVE_PERIOD
        assert np.abs(loop.recording().velocity[first:]).max() < 1.1 * speed
        assert np.abs(loop.recording().velocity[-1]).max() < 1e-3


def test_an_arm_that_is_held_back_is_not_pushed_on() -> None:
    """After a following error the drives are led to where the arm is; set free it stays there."""
    loop = follow(duration=MIDWAY, **DRIVES, **{'following_error.position': [0.05]})
    speed, first = np.abs(loop.recording().velocity[-1]).max(), len(loop.sent)
    push = np.zeros(ROBOT.n)
    push[1] = -150.0
    loop.push(0.6, push)
    assert loop.faults == [FaultKind.FOLLOWING]
    fastest = np.abs(np.array(loop.sent[first:])[:, 1]).max()
    assert fastest <= ROBOT.limits('velocity_limit').max()
    assert steps(loop, 0, first) < 1.1 * fastest * 2.0 * DRIVE_PERIOD
    # What is told is at rest, near to where the fault found the arm; the push moves it still.
    told = loop.sent[-1]
    assert not told[1].any()
    freed = len(loop.sent)
    loop.run(1.0)
    assert loop.sent[-1][0] == pytest.approx(told[0], abs=1e-12)
    assert np.abs(loop.recording().velocity[freed:]).max() < 2.0 * speed
    assert np.abs(loop.recording().velocity[-1]).max() < 1e-2


@pytest.mark.parametrize('last', [LastCommand.GRAVITY, LastCommand.ZERO])
def test_deactivated_under_way_it_comes_to_rest(last: LastCommand) -> None:
    """The desired motion ends at rest and stays; of `zero` only the effort is."""
    loop = follow(duration=MIDWAY, **DRIVES)
    speed, first = np.abs(loop.recording().velocity[-1]).max(), len(loop.sent)
    loop.leaving = loop.controller.machine.last_commands(last)
    loop.run(1.5)
    assert steps(loop, 0, first) < 1.2 * speed * 2.0 * DRIVE_PERIOD
    assert np.abs(loop.recording().velocity[first:]).max() < 1.1 * speed
    assert np.abs(loop.recording().velocity[-1]).max() < 1e-2
    position, velocity, effort, kp, kd = loop.sent[-1]
    assert not velocity.any()
    np.testing.assert_array_equal([kp, kd], [KP, KD])
    if last is LastCommand.ZERO:
        assert not effort.any()
        # It sags by what the gains leave of gravity, and no more.
        sag = np.abs(kp * (position - loop.recording().position[-1]))
        assert sag.max() < 1.1 * np.abs(loop.recording().command).max()
    else:
        assert np.abs(position - loop.recording().position[-1]).max() < 1e-3


def test_an_arm_that_is_led_by_hand_is_carried() -> None:
    """In gravity compensation the drives are told where the arm is: nothing draws it back."""
    loop = DriveLoop(**{**DRIVES, 'mode': 'gravity_compensation'})
    loop.run(0.2)
    push = np.zeros(ROBOT.n)
    push[0] = 40.0
    loop.push(0.5, push)
    assert loop.recording().position[-1][0] - MOTION.positions[0][0] > 0.02
    loop.run(1.0)
    rested = loop.recording().position[-1]
    loop.run(0.5)
    assert np.abs(loop.recording().position[-1] - rested).max() < 2e-3
    assert loop.faults == []
