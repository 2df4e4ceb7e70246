"""The watchdog of the node: what is sent, said and done when states cannot be believed."""

from __future__ import annotations

import time

import numpy as np
import pytest

pytest.importorskip('rclpy', reason='needs ROS 2 for Python: pip install "ne_dynamics[ros]"')

from node_bench import SLOW_STATES
from rcl_interfaces.msg import Parameter as ParameterMessage
from rcl_interfaces.srv import SetParameters
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState

from ne_dynamics.control.command_machine import CommandState

Q = np.array([0.3, -1.0, 1.2, 0.4, -0.5, 0.2])
BESIDE_GRAVITY = np.array([30.0, 30.0, -20.0, 5.0, 5.0, 5.0])
"""What the motors of an arm at rest may do more than the model says [N m]."""

ERROR = 2


def status(bench, fragment: str):
    """Wait for diagnostics of the controller whose message contains a text; return them."""

    def found() -> list:
        return [
            one
            for one in bench.diagnostics
            if one.name == '/computed_torque' and fragment in one.message
        ]

    bench.spin(lambda: bool(found()), f'diagnostics with {fragment!r}')
    return found()[0]


def test_states_that_stop_leave_gravity_and_silence(bench) -> None:
    """One last gravity command, an ERROR, no more; then the arm is held where it is found."""
    bench.start()
    bench.answer(bench.joint_state(Q))
    bench.send_trajectory(bench.trajectory((1.0, Q + 0.5)))
    moving = bench.joint_state(Q + 0.01, np.full(6, 0.5))
    before = len(bench.commands)
    bench.joint_states.publish(moving)
    bench.settle()
    assert bench.set_atomically(state_timeout=0.2).successful
    bench.spin(lambda: len(bench.commands) == before + 2, 'the answer and the last command')
    np.testing.assert_allclose(bench.commands[-1], bench.dynamics.gravity_torque(Q + 0.01))
    bench.hear('joint_states stopped', 'no usable one for 0.2 s')
    reported = status(bench, 'joint_states stopped')
    assert ord(reported.level) == ERROR
    values = {entry.key: entry.value for entry in reported.values}
    assert values['faults joint_states stopped'] == '1'
    assert len(bench.commands) == before + 2
    refused = bench.node.reporter.statistics.drops['joint_trajectory.state']
    bench.send_trajectory(bench.trajectory((1.0, Q)))
    assert bench.node.reporter.statistics.drops['joint_trajectory.state'] == refused + 1
    assert bench.set_atomically(state_timeout=float('inf')).successful
    found = Q + 0.3
    command = bench.answer(bench.joint_state(found))
    np.testing.assert_allclose(command, bench.dynamics.gravity_torque(found), atol=1e-9)
    bench.hear('commanding again: the arm is held where it is')
    assert ord(status(bench, 'no joint_states for').level) < ERROR


def test_states_that_are_no_good_are_states_that_stop(bench) -> None:
    """Messages that cannot be used do not keep the watchdog quiet."""
    bench.start()
    bench.answer(bench.joint_state(Q))
    assert bench.set_atomically(state_timeout=0.2).successful

    def spoilt() -> bool:
        bench.joint_states.publish(bench.joint_state([*Q[:5], np.nan]))
        return len(bench.commands) == 2

    bench.spin(spoilt, 'the last command')
    np.testing.assert_allclose(bench.commands[-1], bench.dynamics.gravity_torque(Q))
    bench.hear('joint_states stopped')


def test_a_jump_leaves_gravity_and_counts_again_when_states_agree(bench) -> None:
    """A spike is named with its joint and answered by what holds the pose before it."""
    bench.start(jump_velocity=None, on_fault='leave')
    bench.answer(bench.joint_state(Q))
    spike = Q + np.eye(6)[1]
    command = bench.answer(bench.joint_state(spike))
    np.testing.assert_allclose(command, bench.dynamics.gravity_torque(Q))
    bench.hear('joint_states jumped', "joint 'joint_2'")
    assert ord(status(bench, 'joint_states jumped').level) == ERROR
    for _ in range(2):
        bench.joint_states.publish(bench.joint_state(Q))
        bench.settle()
    assert len(bench.commands) == 2
    command = bench.answer(bench.joint_state(Q))
    np.testing.assert_allclose(command, bench.dynamics.gravity_torque(Q), atol=1e-9)


def test_two_publishers_of_states_are_named_when_they_jump(bench) -> None:
    """Of one publisher nothing is said, nor of two while states agree."""
    bench.start(jump_velocity=None, on_fault='leave')
    bench.answer(bench.joint_state(Q))
    bench.answer(bench.joint_state(Q + np.eye(6)[1]))
    assert 'publishers' not in status(bench, 'joint_states jumped').message
    for _ in range(2):
        bench.joint_states.publish(bench.joint_state(Q))
        bench.settle()
    bench.answer(bench.joint_state(Q))
    other = bench.probe.create_publisher(JointState, 'joint_states', 1)
    bench.spin(lambda: bench.node.count_publishers('joint_states') == 2, 'the second publisher')
    bench.answer(bench.joint_state(Q + np.eye(6)[1]))
    said = status(bench, '2 publishers').message
    assert '/joint_states has 2 publishers: /probe, /probe: each joint needs one' in said
    bench.probe.destroy_publisher(other)


def test_a_gap_is_told_of_and_the_arm_held(bench) -> None:
    """A stamp far from the last one ends the motion without silence."""
    bench.start(state_timeout=5.0)
    bench.answer(bench.joint_state(Q))
    bench.send_trajectory(bench.trajectory((1.0, Q + 0.5)))
    bench.answer(bench.joint_state(Q))
    command = bench.answer(bench.joint_state(Q + 0.1, dt=6.0))
    np.testing.assert_allclose(command, bench.dynamics.gravity_torque(Q + 0.1), atol=1e-9)
    bench.hear('joint_states gap', '6 s between two stamps')
    assert ord(status(bench, 'joint_states gap').level) == ERROR


def test_a_stamp_that_stands_still_is_a_fault(bench) -> None:
    """A driver that repeats its stamp is answered for state_timeout and then left."""
    bench.start(state_timeout=0.3, on_fault='leave')
    bench.answer(bench.joint_state(Q))
    frozen = bench.joint_state(Q)

    def told() -> bool:
        bench.joint_states.publish(frozen)
        return any('joint_states frozen stamp' in line for line in bench.said())

    bench.spin(told, 'the fault')
    bench.settle()
    before = len(bench.commands)
    bench.joint_states.publish(frozen)
    bench.settle()
    assert len(bench.commands) == before


def test_the_watchdog_waits_for_the_first_state(bench) -> None:
    """Without any state there is nothing to time out: a warning, no command."""
    bench.start(state_timeout=0.05)
    assert ord(status(bench, 'no usable joint_states yet').level) == 1
    assert not bench.commands
    assert not any('stopped' in line for line in bench.said())


def test_the_timeout_changes_at_run_time(bench) -> None:
    """A shorter timeout counts from the next state on."""
    bench.start()
    bench.answer(bench.joint_state(Q))
    assert bench.set_atomically(state_timeout=0.1).successful
    bench.joint_states.publish(bench.joint_state(Q))
    bench.hear('joint_states stopped', '0.1 s')


def test_it_sleeps_while_inactive(bench) -> None:
    """Deactivation ends the watch: no second last command comes."""
    bench.start(state_timeout=0.1)
    bench.joint_states.publish(bench.joint_state(Q))
    assert bench.change_state('deactivate')
    bench.settle()
    before = len(bench.commands)
    deadline = time.monotonic() + 0.5
    bench.spin(lambda: time.monotonic() > deadline)
    assert len(bench.commands) == before


def test_an_arm_that_is_led_is_lowered_when_states_stop(bench) -> None:
    """With on_state_loss lower the effort against gravity fades to nothing without a step, and is
    back when states are: an arm that is led by hand is not held blindly.
    """
    bench.start(mode='gravity_compensation', on_state_loss='lower', state_timeout=0.3)
    held = bench.answer(bench.joint_state(Q))
    bench.hear('joint_states stopped', 'gravity, fading in 3 s, until')
    bench.spin(lambda: not bench.commands[-1].any(), 'nothing')
    fading = np.abs(bench.commands)
    assert len(fading) > 20
    assert (np.diff(fading, axis=0) <= 1e-9).all()
    np.testing.assert_allclose(bench.answer(bench.joint_state(Q)), held, atol=1e-9)


def test_states_that_return_end_the_lowering(bench) -> None:
    """The first usable state is answered, and nothing fades beside the answers."""
    bench.start(mode='gravity_compensation', on_state_loss='lower', state_timeout=0.3)
    held = bench.answer(bench.joint_state(Q))
    share = np.abs(held).max()
    bench.spin(lambda: np.abs(bench.commands[-1]).max() < 0.7 * share, 'the half of it')
    bench.joint_states.publish(bench.joint_state(Q))
    bench.spin(lambda: np.allclose(bench.commands[-1], held), 'the answer')
    before = len(bench.commands)
    bench.settle()
    assert len(bench.commands) == before


def test_an_arm_that_was_lowered_is_not_thrown_at_the_end(bench) -> None:
    """Deactivated while nobody sees it, with on_deactivate gravity: the effort does not come back
    that held it where it was seen last.
    """
    bench.start(mode='gravity_compensation', on_state_loss='lower', state_timeout=0.3)
    bench.answer(bench.joint_state(Q))
    bench.spin(lambda: not bench.commands[-1].any(), 'nothing')
    count = len(bench.commands)
    assert bench.change_state('deactivate')
    bench.hear('inactive;', 'stays at its present value')
    bench.settle()
    assert not np.any(bench.commands[count:])


@pytest.mark.parametrize('last', ['gravity', 'zero', 'none'])
def test_deactivation_sends_what_is_asked_for(bench, last: str) -> None:
    """on_deactivate says what the arm is left with."""
    bench.start(on_deactivate=last)
    bench.answer(bench.joint_state(Q, np.full(6, 0.5)))
    assert bench.change_state('deactivate')
    bench.hear('inactive')
    bench.settle()
    if last == 'none':
        assert len(bench.commands) == 1
        return
    expected = bench.dynamics.gravity_torque(Q) if last == 'gravity' else np.zeros(6)
    assert len(bench.commands) == 2
    np.testing.assert_allclose(bench.commands[-1], expected, atol=1e-9)


def test_a_rate_limit_holds_for_the_last_command(bench) -> None:
    """The last command is reached by steps that the rate limit allows."""
    rate = 1000.0
    bench.start(effort_rate_limit=[rate])
    message = bench.joint_state(Q)
    measured = bench.dynamics.gravity_torque(Q) + BESIDE_GRAVITY
    message.effort = measured.tolist()
    np.testing.assert_allclose(bench.answer(message), measured)
    bench.answer(bench.joint_state(Q))
    assert bench.change_state('deactivate')
    gravity = bench.dynamics.gravity_torque(Q)
    bench.spin(lambda: np.allclose(bench.commands[-1], gravity), 'gravity')
    steps = np.abs(np.diff(bench.commands, axis=0)).max(axis=1)
    assert len(steps) > 5
    assert steps.max() <= rate * 0.002 + 1e-9


def test_nothing_steps_by_default(bench) -> None:
    """From the first command, at the effort that is measured, over a load that is set, to the
    last one: no step but what the transition time allows.
    """
    bench.start(tip_link='tcp', transition_time=None)
    message = bench.joint_state(Q)
    measured = bench.dynamics.gravity_torque(Q) + BESIDE_GRAVITY
    message.effort = measured.tolist()
    np.testing.assert_allclose(bench.answer(message), measured)
    for step in range(120):
        if step == 60:
            assert bench.set_atomically(payload__mass=3.0).successful
        bench.answer(bench.joint_state(Q, dt=0.01))
    carried = bench.commands[-1]
    assert np.abs(carried - bench.dynamics.gravity_torque(Q)).max() > 10.0
    assert bench.set_atomically(on_deactivate='zero').successful
    assert bench.change_state('deactivate')
    bench.spin(lambda: not bench.commands[-1].any(), 'zero')
    steps = np.abs(np.diff(bench.commands, axis=0)).max(axis=1)
    largest = np.abs(bench.commands).max()
    assert steps[:120].max() <= 12.3 * 0.01 * largest
    assert len(steps) == 220
    assert steps[120:].max() <= 1.5 * 0.01 * largest


def test_a_payload_counts_at_once_and_needs_sense(bench) -> None:
    """A load set at run time is held from the next state on; an impossible one is refused."""
    bench.start(tip_link='tcp')
    without = bench.answer(bench.joint_state(Q))
    result = bench.set_atomically(payload__mass=3.0, payload__com=[0.0, 0.0, 0.05])
    assert result.successful, result.reason
    command = bench.answer(bench.joint_state(Q))
    dynamics = bench.node.configured.arm.dynamics
    jacobian = dynamics.jacobian(Q)
    pose = dynamics.forward_kinematics(Q)
    arm = pose[:3, :3] @ [0.0, 0.0, 0.05]
    weight = np.array([0.0, 0.0, 3.0 * 9.80665])
    expected = jacobian.T @ np.concatenate((weight, np.cross(arm, weight)))
    np.testing.assert_allclose(command - without, expected, atol=1e-9)
    for values, reason in (
        ({'payload__mass': -1.0}, 'payload.mass'),
        ({'payload__mass': 0.0, 'payload__inertia': [1.0] * 6}, 'payload.mass'),
        ({'payload__inertia': [1.0, 0.0, 0.0, 1.0, 0.0, 5.0]}, 'no rigid body'),
        ({'payload__link': 'nowhere'}, 'nowhere'),
        ({'payload__link': 'upper_arm'}, 'upper_arm'),
        ({'payload__com': [np.nan, 0.0, 0.0]}, 'payload.com'),
    ):
        result = bench.set_atomically(**values)
        assert not result.successful
        assert reason in result.reason, result.reason
    np.testing.assert_allclose(bench.answer(bench.joint_state(Q)), command, atol=1e-9)


def test_tracking_errors_are_reported(bench) -> None:
    """Beyond the thresholds the second status warns, then reports an error, naming the joint."""
    bench.start(tracking_error__warn=[0.1], tracking_error__error=[0.3])
    bench.answer(bench.joint_state(Q))

    def level(value: int) -> bool:
        return any(
            ord(one.level) == value and "joint 'joint_4'" in one.message
            for one in bench.diagnostics
            if one.name == '/computed_torque: tracking error'
        )

    bench.answer(bench.joint_state(Q + 0.15 * np.eye(6)[3]))
    bench.spin(lambda: level(1), 'a warning')
    bench.answer(bench.joint_state(Q - 0.35 * np.eye(6)[3]))
    bench.spin(lambda: level(2), 'an error')


def test_a_parameter_of_no_type_is_refused(bench) -> None:
    """A request that rclpy cannot read is answered with a reason, and the node lives."""
    bench.start()
    unreadable = SetParameters.Request(parameters=[ParameterMessage(name='mode')])
    unreadable.parameters[0].value.type = 99
    (result,) = bench.call(SetParameters, 'set_parameters', unreadable).results
    assert not result.successful
    assert '99' in result.reason
    bench.answer(bench.joint_state(Q))


def test_a_long_name_makes_no_long_line(bench) -> None:
    """Names in a warning are cut: a message must not fill the log."""
    bench.start()
    bench.answer(bench.joint_state(Q))
    bench.send_trajectory(bench.trajectory((1.0, Q), names=['x' * 100_000, *'abcde']))
    assert len(bench.hear('joint_trajectory dropped')) < 1200


def test_a_simulated_clock_that_lags_is_no_silence(bench) -> None:
    """With use_sim_time a late /clock that leaps forward does not end the motion; silence does."""
    clock = bench.probe.create_publisher(Clock, '/clock', 10)

    def tick(seconds: float) -> None:
        message = Clock()
        message.clock.sec = int(seconds)
        message.clock.nanosec = round((seconds - int(seconds)) * 1e9)
        clock.publish(message)
        bench.spin(lambda: bench.node.get_clock().now().nanoseconds >= round(seconds * 1e9) - 1)

    bench.start(use_sim_time=True, state_timeout=0.2, **SLOW_STATES)
    bench.spin(lambda: clock.get_subscription_count() > 0)
    tick(100.0)
    bench.answer(bench.joint_state(Q))
    for _ in range(10):
        bench.answer(bench.joint_state(Q, dt=0.1))
    tick(101.0)
    bench.settle()
    assert not any('stopped' in line for line in bench.said())
    before = len(bench.commands)
    tick(101.5)
    bench.hear('joint_states stopped')
    bench.spin(lambda: len(bench.commands) > before, 'the last command')


def ticker(bench):
    """Return a function that sets the node's simulated clock [s]."""
    clock = bench.probe.create_publisher(Clock, '/clock', 10)

    def tick(seconds: float) -> None:
        nanoseconds = round(seconds * 1e9)
        message = Clock()
        message.clock.sec, message.clock.nanosec = divmod(nanoseconds, 10**9)
        bench.spin(lambda: clock.get_subscription_count() > 0)
        clock.publish(message)
        bench.spin(lambda: bench.node.get_clock().now().nanoseconds == nanoseconds, 'the time')
        bench.settle()

    return tick


@pytest.mark.parametrize('back', [0.5, 0.99, 30.0, 99.0, 1e6])
def test_a_simulated_clock_that_is_set_back_does_not_blind(bench, back: float) -> None:
    """After a reset of the simulation states that stay away, or are not believed, are missed."""
    bench.start(use_sim_time=True, state_timeout=0.2)
    tick = ticker(bench)
    now = bench.time = 1e6 + 100.0
    tick(now)
    bench.answer(bench.joint_state(Q))
    now -= back
    tick(now)
    before = len(bench.commands)
    if back < 1.0:
        bench.time -= back
    for _ in range(8):
        if back < 1.0:
            bench.joint_states.publish(bench.joint_state(Q))
        now += 0.06
        tick(now)
    bench.hear('joint_states stopped')
    bench.spin(lambda: len(bench.commands) > before, 'the last command')
    np.testing.assert_allclose(bench.commands[-1], bench.dynamics.gravity_torque(Q), atol=1e-9)


def test_without_any_clock_the_watchdog_goes_by_real_time(bench) -> None:
    """With use_sim_time and no /clock silence is noticed; the diagnostics say what is amiss."""
    bench.start(use_sim_time=True, state_timeout=0.2)
    bench.joint_states.publish(bench.joint_state(Q))
    bench.hear('joint_states stopped', 'no usable one for 0.2 s')
    bench.spin(lambda: len(bench.commands) == 2, 'the last command')
    status(bench, 'use_sim_time: no /clock has come')


def test_from_the_first_clock_on_the_watchdog_goes_by_it(bench) -> None:
    """A simulation that halts for longer than state_timeout is no silence once time has come."""
    bench.start(use_sim_time=True, state_timeout=0.2)
    tick = ticker(bench)
    assert bench.set_atomically(state_timeout=60.0).successful
    bench.answer(bench.joint_state(Q))
    tick(100.0)
    bench.answer(bench.joint_state(Q))
    assert bench.set_atomically(state_timeout=0.1).successful
    halted = time.monotonic() + 0.5
    bench.spin(lambda: time.monotonic() > halted)
    bench.settle()
    assert not any('stopped' in line for line in bench.said())
    tick(100.5)
    bench.hear('joint_states stopped')


def test_a_stamp_ahead_of_its_time_is_told_of(bench) -> None:
    """One state stamped 100 s too late: every other state is answered, and one is warned of."""
    bench.start(jump_velocity=None)
    bench.answer(bench.joint_state(Q))
    bench.send_trajectory(bench.trajectory((1e3, Q + 0.5)))
    bench.answer(bench.joint_state(Q))
    bench.answer(bench.joint_state(Q, dt=100.0))
    bench.time -= 100.0
    for _ in range(10):
        bench.answer(bench.joint_state(Q))
    assert bench.node.reporter.statistics.drops['joint_states.header.stamp'] == 1
    bench.hear('joint_states dropped', 'header.stamp', 'ahead of the one after it')


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

    def __init__(self, bench, **parameters) -> None:
        bench.start(use_sim_time=True, state_timeout=0.1, **parameters)
        self.bench, self.tick = bench, ticker(bench)
        self.q, self.qd, self.now = Q.copy(), np.zeros(6), 100.0
        bench.time = self.now
        self.tick(self.now)
        bench.answer(bench.joint_state(self.q, self.qd, 0.0))
        if parameters.get('mode') != 'gravity_compensation':
            bench.send_trajectory(bench.trajectory((0.5, Q + 0.5, np.zeros(6))))
        for _ in range(50):
            self.move()
            bench.answer(bench.joint_state(self.q, self.qd, PERIOD))
        self.last = self.q
        self.answered = len(bench.commands)
        self.go_on(self.now + LOST - PERIOD, tick=False)
        self.move()
        self.tick(self.now)
        bench.hear('joint_states stopped')

    def move(self) -> None:
        """Let a period pass for the arm, under the last command."""
        effort = self.bench.commands[-1]
        qdd = self.bench.dynamics.forward_dynamics(self.q, self.qd, effort)
        self.q = self.q + PERIOD * self.qd + PERIOD**2 / 2.0 * qdd
        self.qd = self.qd + PERIOD * qdd
        self.now += PERIOD

    def go_on(self, until: float, *, tick: bool = True) -> None:
        """Let time pass [s]."""
        while self.now < until:
            self.move()
            if tick:
                self.tick(self.now)


def test_an_arm_that_moves_is_braked_when_states_stop(bench) -> None:
    """Commands go on by the clock until it is at rest; the last one holds it there."""
    arm = MovingArm(bench)
    bench.hear('the arm is braked by the model')
    speed = np.abs(arm.qd).max()
    assert speed > 0.5
    arm.go_on(arm.now + 0.3)
    assert np.abs(arm.qd).max() < 0.1 * speed
    np.testing.assert_allclose(bench.commands[-1], bench.dynamics.gravity_torque(arm.q), atol=2.0)
    assert 5 < len(bench.commands) - arm.answered < 70
    count = len(bench.commands)
    arm.go_on(arm.now + 0.02)
    assert len(bench.commands) == count


def test_states_that_return_end_the_brake(bench) -> None:
    """In the middle of it a state is answered, and no command of the brake follows."""
    arm = MovingArm(bench)
    arm.go_on(arm.now + 0.02)
    assert len(bench.commands) > arm.answered
    bench.time = arm.now
    bench.joint_states.publish(bench.joint_state(arm.q, np.zeros(6), 0.0))
    bench.hear('commanding again: the arm is held where it is')
    bench.settle()
    np.testing.assert_allclose(bench.commands[-1], bench.dynamics.gravity_torque(arm.q), atol=1e-9)
    count = len(bench.commands)
    arm.go_on(arm.now + 0.05)
    assert len(bench.commands) == count


@pytest.mark.parametrize('end', ['deactivated', 'set back'])
def test_a_brake_that_is_broken_off_leaves_gravity_and_silence(bench, end: str) -> None:
    """Deactivation, or a simulation that is set back: a last command, and no other."""
    arm = MovingArm(bench)
    arm.go_on(arm.now + 0.02)
    count = len(bench.commands)
    if end == 'deactivated':
        assert bench.change_state('deactivate')
    else:
        arm.now -= 50.0
        # Timers, set back, wait for their period.
        arm.go_on(arm.now + 2.0 * PERIOD)
    bench.spin(lambda: len(bench.commands) > count, 'the last command')
    bench.settle()
    ahead = [arm.last + way * (arm.q - arm.last) for way in np.linspace(0.5, 3.0, 251)]
    gravity = np.array([bench.dynamics.gravity_torque(q) for q in ahead])
    assert np.abs(gravity - bench.commands[-1]).max(axis=1).min() < 1.0
    count = len(bench.commands)
    arm.go_on(arm.now + 0.05)
    assert len(bench.commands) == count


@pytest.mark.parametrize(
    ('mode', 'first'), [('gravity_compensation', 2.0), ('computed_torque', 0.1)]
)
def test_an_arm_that_is_lowered_sinks_on_when_the_simulation_is_set_back(
    bench, mode: str, first: float
) -> None:
    """The effort fades from where it was, in the ramp before it too, and is not held again."""
    arm = MovingArm(bench, mode=mode, on_state_loss='lower', transition_time=0.4)
    for _ in range(round(first / 0.01)):
        arm.now += 0.01
        arm.tick(arm.now)
    faded = np.abs(bench.commands[-1]).max()
    gravity = np.abs(bench.dynamics.gravity_torque(arm.last)).max()
    if first > 1.0:
        assert 0.0 < faded < 0.5 * gravity
    else:
        assert bench.node.configured.controller.machine.state is CommandState.HOLDING
    count, arm.now = len(bench.commands), arm.now - 50.0
    for _ in range(200):
        arm.now += 0.02
        arm.tick(arm.now)
    later = np.abs(bench.commands[count:]).max(axis=1)
    assert later.max() <= max(faded, gravity if first < 1.0 else 0.0) + 1e-9
    assert not later[-1]


@pytest.mark.parametrize(
    'parameters',
    [
        {'on_state_loss': 'gravity'},
        {'mode': 'gravity_compensation'},
        {'mode': 'feedforward', 'feedforward__robot_closes_loop': True},
    ],
    ids=str,
)
def test_gravity_alone_by_choice_and_without_feedback(bench, parameters) -> None:
    """One command for the last pose, and silence."""
    arm = MovingArm(bench, **parameters)
    bench.spin(lambda: len(bench.commands) == arm.answered + 1, 'the last command')
    expected = bench.dynamics.gravity_torque(arm.last)
    np.testing.assert_allclose(bench.commands[-1], expected, atol=1e-9)
    arm.go_on(arm.now + 0.05)
    assert len(bench.commands) == arm.answered + 1
