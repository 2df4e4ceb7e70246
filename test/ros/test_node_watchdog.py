"""The watchdog of the node: what is sent, said and done when states cannot be believed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

pytest.importorskip('rclpy', reason='needs ROS 2 for Python: pip install "ne_dynamics[ros]"')

from node_bench import SLOW_STATES
from sensor_msgs.msg import JointState

from ne_dynamics.control.command_machine import CommandState
from ne_dynamics.control.thresholds import COMMAND
from ne_dynamics.motion.thresholds import MOTION

Q = np.array([0.3, -1.0, 1.2, 0.4, -0.5, 0.2])


def test_two_publishers_of_states_are_named_when_they_jump(bench) -> None:
    bench.start(jump_velocity=None, on_fault='leave')
    bench.answer(bench.joint_state(Q))
    other = None
    for said in ('joint_states jumped', '2 publishers: /probe, /probe: each joint needs one'):
        bench.answer(bench.joint_state(Q + np.eye(6)[1]))
        message = bench.diagnose().message
        assert said in message
        assert ('publishers' in message) == (other is not None)
        if other is None:
            other = bench.probe.create_publisher(JointState, 'joint_states', 1)
            bench.spin(lambda: bench.node.count_publishers('joint_states') == 2, 'the second')
            for _ in range(2):
                bench.joint_states.publish(bench.joint_state(Q))
                bench.settle()
            bench.answer(bench.joint_state(Q))


# ---- an arm that is led by hand


@pytest.fixture
def quickly(monkeypatch) -> None:
    """Let the effort fade in a second in place of three."""
    monkeypatch.setitem(vars(COMMAND), 'lowering_time', 1.0)


@pytest.mark.usefixtures('quickly')
def test_an_arm_that_is_led_is_lowered_when_states_stop(bench) -> None:
    """With on_state_loss lower the effort against gravity fades to nothing without a step. The
    first usable state, on the way or later, is answered in full, and nothing fades beside that;
    deactivated while nobody sees the arm, the effort does not come back.
    """
    bench.start(mode='gravity_compensation', on_state_loss='lower', state_timeout=0.3)
    held = bench.answer(bench.joint_state(Q))
    share = np.abs(held).max()
    bench.hear('joint_states stopped', 'gravity, fading in 1 s, until')
    bench.spin(lambda: np.abs(bench.commands[-1]).max() < 0.7 * share, 'a part of it')
    bench.joint_states.publish(bench.joint_state(Q))
    bench.spin(lambda: np.allclose(bench.commands[-1], held), 'the answer')
    before = len(bench.commands)
    bench.settle()
    assert len(bench.commands) == before
    bench.spin(lambda: not bench.commands[-1].any(), 'nothing')
    fading = np.abs(bench.commands[before:])
    assert len(fading) > 20
    assert (np.diff(fading, axis=0) <= 1e-9).all()
    np.testing.assert_allclose(bench.answer(bench.joint_state(Q)), held, atol=1e-9)
    bench.spin(lambda: not bench.commands[-1].any(), 'nothing')
    count = len(bench.commands)
    assert bench.change_state('deactivate')
    bench.hear('inactive;', 'stays at its present value')
    bench.settle()
    assert not np.any(bench.commands[count:])


# ---- drives that close the loop


def test_states_that_stop_bring_the_desired_motion_to_rest(bench) -> None:
    """Drives are told the measured position, at rest, when the arm is activated; when states stop
    they are led on along the way and no farther than a stop goes, whose end is held by the effort
    of gravity. What they exert is not known: nothing is observed, which is said.
    """
    rest = np.zeros(6)
    bench.start(
        mode='feedforward',
        command__interfaces=['position', 'velocity', 'effort'],
        transition_time=COMMAND.transition_time,
        observer__mode='compensate',
    )
    bench.hear('observer.mode', 'the drives close the loop')
    first = bench.answer(bench.joint_state(Q))
    np.testing.assert_array_equal(first[0::3], Q)
    assert not first[1::3].any()
    bench.send_trajectory(bench.trajectory((1.0, Q + 0.5, rest, rest)))
    bench.answer(bench.joint_state(Q))
    for _ in range(10):
        desired = bench.node.configured.controller.motion.present_state()
        bench.answer(bench.joint_state(desired.position, desired.velocity, dt=0.05))
    speed, first = np.abs(bench.commands[-1][1::3]).max(), len(bench.commands) - 1
    assert speed > 0.5
    bench.set(state_timeout=0.3)
    desired = bench.node.configured.controller.motion.present_state()
    bench.joint_states.publish(bench.joint_state(desired.position, desired.velocity))
    assert 'the drives hold the arm' in bench.hear('joint_states stopped', 'braked by the model')
    bench.spin(lambda: not bench.commands[-1][1::3].any(), 'rest')
    bench.serve_for(0.1)
    position, velocity, effort = (np.array(bench.commands[first:])[:, k::3] for k in range(3))
    ways = np.diff(position, axis=0)
    assert (ways > -1e-9).all()
    # From the answer before the last on, which the states had a period of 2 ms for.
    assert ways.sum(axis=0).max() < 1.1 * speed * (0.002 + MOTION.longest_brake / 2.0)
    assert not velocity[-1].any()
    np.testing.assert_allclose(effort[-1], bench.dynamics.gravity_torque(position[-1]), atol=1e-9)


# ---- clocks


def test_a_simulated_clock_that_lags_is_no_silence(bench) -> None:
    """With use_sim_time a late /clock that leaps forward does not end the motion; silence does."""
    bench.start(use_sim_time=True, state_timeout=0.2, **SLOW_STATES)
    bench.tick(100.0)
    bench.answer(bench.joint_state(Q))
    for _ in range(10):
        bench.answer(bench.joint_state(Q, dt=0.1))
    bench.tick(101.0)
    assert not any('stopped' in line for line in bench.said())
    before = len(bench.commands)
    bench.tick(101.5)
    bench.hear('joint_states stopped')
    bench.spin(lambda: len(bench.commands) > before, 'the last command')


@pytest.mark.parametrize('back', [0.99, 30.0, 1e6])
def test_a_simulated_clock_that_is_set_back_does_not_blind(bench, back: float) -> None:
    """After a reset of the simulation states that stay away, or are not believed, are missed."""
    bench.start(use_sim_time=True, state_timeout=0.2)
    now = bench.time = 1e6 + 100.0
    bench.tick(now)
    bench.answer(bench.joint_state(Q))
    now -= back
    bench.tick(now)
    before = len(bench.commands)
    if back < 1.0:
        bench.time -= back
    for _ in range(8):
        if back < 1.0:
            bench.joint_states.publish(bench.joint_state(Q))
        now += 0.06
        bench.tick(now)
    bench.hear('joint_states stopped')
    bench.spin(lambda: len(bench.commands) > before, 'the last command')
    np.testing.assert_allclose(bench.commands[-1], bench.dynamics.gravity_torque(Q), atol=1e-9)


def test_without_any_clock_the_watchdog_goes_by_real_time(bench) -> None:
    """With use_sim_time and no /clock silence is noticed; the diagnostics say what is amiss."""
    bench.start(use_sim_time=True, state_timeout=0.2)
    bench.joint_states.publish(bench.joint_state(Q))
    bench.hear('joint_states stopped', 'no usable one for 0.2 s')
    bench.spin(lambda: len(bench.commands) == 2, 'the last command')
    assert 'use_sim_time: no /clock has come' in bench.diagnose().message


# ---- an arm that moves


PERIOD = 0.004
LOST = 0.102
"""A little more than the watchdog's timeout [s]."""


class MovingArm:
    """An arm that moves by the model, in the time of the test, until its states stop.

    Parameters
    ----------
    bench : Bench
    parameters
        Of the node.
    """

    def __init__(self, bench: Any, **parameters: Any) -> None:
        bench.start(use_sim_time=True, state_timeout=0.1, **parameters)
        self.bench = bench
        self.q, self.qd, self.now = Q.copy(), np.zeros(6), 100.0
        bench.time = self.now
        bench.tick(self.now)
        bench.answer(bench.joint_state(self.q, self.qd, 0.0))
        if parameters.get('mode') != 'gravity_compensation':
            bench.send_trajectory(bench.trajectory((0.5, Q + 0.5, np.zeros(6))))
        for _ in range(50):
            self.move()
            bench.answer(bench.joint_state(self.q, self.qd, PERIOD))
        self.last, self.answered = self.q, len(bench.commands)
        end = self.now + LOST - PERIOD
        while self.now < end:
            self.move()
        self.go_on(PERIOD)
        bench.hear('joint_states stopped')

    def move(self) -> None:
        """Let a period pass for the arm, under the last command."""
        effort = self.bench.commands[-1]
        qdd = self.bench.dynamics.forward_dynamics(self.q, self.qd, effort)
        self.q = self.q + PERIOD * self.qd + PERIOD**2 / 2.0 * qdd
        self.qd = self.qd + PERIOD * qdd
        self.now += PERIOD

    def go_on(self, seconds: float) -> int:
        """Let time pass; return how many commands came."""
        count, end = len(self.bench.commands), self.now + seconds - 1e-9
        while self.now < end:
            self.move()
            self.bench.tick(self.now)
        return len(self.bench.commands) - count


def test_an_arm_that_moves_is_braked_when_states_stop(bench) -> None:
    """Commands go on by the clock until it is at rest; the last one holds it there."""
    arm = MovingArm(bench)
    bench.hear('the arm is braked by the model')
    speed = np.abs(arm.qd).max()
    assert speed > 0.5
    arm.go_on(0.3)
    assert np.abs(arm.qd).max() < 0.1 * speed
    np.testing.assert_allclose(bench.commands[-1], bench.dynamics.gravity_torque(arm.q), atol=2.0)
    assert 5 < len(bench.commands) - arm.answered < 70
    assert arm.go_on(0.02) == 0


def test_states_that_return_end_the_brake(bench) -> None:
    arm = MovingArm(bench)
    assert arm.go_on(0.02) > 0
    bench.time = arm.now
    bench.joint_states.publish(bench.joint_state(arm.q, np.zeros(6), 0.0))
    bench.hear('commanding again: the arm is held where it is')
    bench.settle()
    np.testing.assert_allclose(bench.commands[-1], bench.dynamics.gravity_torque(arm.q), atol=1e-9)
    assert arm.go_on(0.05) == 0


@pytest.mark.parametrize('end', ['deactivated', 'set back'])
def test_a_brake_that_is_broken_off_leaves_gravity_and_silence(bench, end: str) -> None:
    """Deactivation, or a simulation that is set back: a last command, and no other."""
    arm = MovingArm(bench)
    arm.go_on(0.02)
    count = len(bench.commands)
    if end == 'deactivated':
        assert bench.change_state('deactivate')
    else:
        arm.now -= 50.0
        # Timers, set back, wait for their period.
        arm.go_on(2.0 * PERIOD)
    bench.spin(lambda: len(bench.commands) > count, 'the last command')
    bench.settle()
    ahead = [arm.last + way * (arm.q - arm.last) for way in np.linspace(0.5, 3.0, 251)]
    gravity = np.array([bench.dynamics.gravity_torque(q) for q in ahead])
    assert np.abs(gravity - bench.commands[-1]).max(axis=1).min() < 1.0
    assert arm.go_on(0.05) == 0


@pytest.mark.kept(1)
@pytest.mark.parametrize(
    ('mode', 'first'), [('gravity_compensation', 2.0), ('computed_torque', 0.1)]
)
def test_an_arm_that_is_lowered_sinks_on_when_the_simulation_is_set_back(
    bench, mode: str, first: float
) -> None:
    """The effort fades from where it was, in the ramp before it too, and is not held again."""
    arm = MovingArm(bench, mode=mode, on_state_loss='lower', transition_time=0.4)

    def pass_time(seconds: float, step: float) -> None:
        for _ in range(round(seconds / step)):
            arm.now += step
            bench.tick(arm.now)

    pass_time(first, 0.05)
    faded = np.abs(bench.commands[-1]).max()
    gravity = np.abs(bench.dynamics.gravity_torque(arm.last)).max()
    if first > 1.0:
        assert 0.0 < faded < 0.5 * gravity
    else:
        assert bench.node.configured.controller.state is CommandState.HOLDING
    count, arm.now = len(bench.commands), arm.now - 50.0
    pass_time(4.0, 0.1)
    later = np.abs(bench.commands[count:]).max(axis=1)
    assert later.max() <= max(faded, gravity if first < 1.0 else 0.0) + 1e-9
    assert not later[-1]
