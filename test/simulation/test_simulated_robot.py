"""The simulated robot behind its topics: lockstep, real time, sensors, drop-outs, bad input."""

import math
import os
import time

import numpy as np
import pytest

import ne_dynamics as ned
from ne_dynamics.errors import NeDynamicsError
from ne_dynamics.shipped import shipped_file
from ne_dynamics.simulation.thresholds import SIMULATION

pytest.importorskip('rclpy', reason='needs ROS 2 for Python')
pytest.importorskip('mujoco', reason='MuJoCo is not installed')

from builtin_interfaces.msg import Time
from geometry_msgs.msg import WrenchStamped
from node_probe import LATCHED, ServedProbe
from rclpy.parameter import Parameter
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import Imu, JointState
from std_msgs.msg import Float64MultiArray, String
from std_srvs.srv import SetBool

from ne_dynamics.simulation.simulated_robot import (
    FIRST_STAMP,
    SimulatedRobot,
)

MODEL = str(shipped_file('six_axis_arm.urdf'))
POSTURE = [0.1, -0.5, 0.9, 0.2, 0.6, -0.3]


class Bench(ServedProbe):
    """A simulated robot and a node that plays its controller, in one thread."""

    def __init__(self):
        self.namespace = f'/bench_{os.getpid()}_{time.monotonic_ns()}'
        super().__init__(self.namespace)
        self.states, self.wrenches, self.clocks, self.descriptions = [], [], [], []
        self.imus, self.true_states = [], []
        for kind, topic, received in (
            (JointState, 'joint_states', self.states),
            (WrenchStamped, 'wrench', self.wrenches),
            (Imu, 'imu', self.imus),
            (JointState, 'simulated_robot/true_joint_states', self.true_states),
            (Clock, '/clock', self.clocks),
        ):
            self.probe.create_subscription(kind, topic, received.append, 1000)
        self.probe.create_subscription(
            String, 'robot_description', self.descriptions.append, LATCHED
        )
        self.commands = self.probe.create_publisher(
            Float64MultiArray, 'effort_controller/commands', 10
        )
        self.robot = None

    def start(self, **parameters):
        """Start the robot; underscores `__` in names stand for dots."""
        given = {'model_file': MODEL, 'tip_link': 'tcp', 'initial_position': POSTURE, **parameters}
        self.robot = SimulatedRobot(
            context=self.context,
            namespace=self.namespace,
            parameter_overrides=[
                Parameter(name.replace('__', '.'), value=value) for name, value in given.items()
            ],
        )
        self.executor.add_node(self.robot)
        self.spin(lambda: self.commands.get_subscription_count() > 0, 'the subscription')
        return self

    def command(self, effort):
        """Send a command as it is."""
        self.commands.publish(Float64MultiArray(data=[float(value) for value in effort]))

    def answer(self, effort):
        """Send a command and return the state that answers it."""
        count = len(self.states)
        self.command(effort)
        self.spin(lambda: len(self.states) > count, 'a state')
        return self.states[-1]

    def stamps(self, messages=None):
        """Return the stamps of messages, by default all states [ns]."""
        messages = self.states if messages is None else messages
        return [nanoseconds(message.header.stamp) for message in messages]

    def close(self):
        """End everything."""
        super().close(*filter(None, [self.robot]))


def nanoseconds(stamp):
    """Return a stamp in nanoseconds."""
    return stamp.sec * 1_000_000_000 + stamp.nanosec


@pytest.fixture
def bench(monkeypatch):
    """Return a bench whose robot is not started yet."""
    monkeypatch.setenv('ROS_AUTOMATIC_DISCOVERY_RANGE', 'LOCALHOST')
    bench = Bench()
    yield bench
    bench.close()


@pytest.fixture
def gravity_torque():
    """Return the effort that holds the arm in its posture."""
    return ned.Dynamics(ned.load_urdf(MODEL, tip_link='tcp')).gravity_torque(POSTURE)


def test_in_lockstep_every_command_is_one_period_and_states_stand_still_before(
    bench, gravity_torque
):
    bench.start(lockstep=True, rate=100.0)
    bench.spin(lambda: len(bench.states) >= 3, 'states under brakes')
    assert set(bench.stamps()) == {FIRST_STAMP}
    assert list(bench.states[-1].name) == [f'joint_{i}' for i in range(1, 7)]
    assert list(bench.states[-1].effort) == [0.0] * 6
    np.testing.assert_array_equal(bench.states[-1].position, POSTURE)
    bench.states.clear()
    for _ in range(21):
        bench.answer(gravity_torque)
    assert bench.stamps()[-21:] == [FIRST_STAMP + (k + 1) * 10_000_000 for k in range(21)]
    np.testing.assert_allclose(bench.states[-1].position, POSTURE, atol=1e-9)
    np.testing.assert_allclose(bench.states[-1].effort, gravity_torque, rtol=1e-12)
    assert len(bench.clocks) == 0
    count = len(bench.states)
    bench.serve_for(0.3)
    assert len(bench.states) == count


def test_the_brake_holds_until_it_is_released(bench):
    bench.start(lockstep=True, brake=True)
    bench.spin(lambda: len(bench.states) >= 1, 'a state')
    for _ in range(3):
        bench.command(np.zeros(6))
        bench.serve_for(0.1)
    assert set(bench.stamps()) == {FIRST_STAMP}
    assert bench.trigger('release_brake', 'simulated_robot').success
    bench.spin(lambda: max(bench.stamps()) > FIRST_STAMP, 'motion')


@pytest.mark.parametrize(
    ('bad', 'reason'),
    [
        ([1.0] * 5, 'expected 6 numbers, got 5'),
        ([0.0, math.nan, 0.0, 0.0, 0.0, 0.0], 'expected finite numbers, got [0.0, nan'),
    ],
)
def test_a_command_that_cannot_be_used_is_dropped(bench, gravity_torque, capfd, bad, reason):
    bench.start(lockstep=True)
    bench.answer(gravity_torque)
    state = bench.answer(gravity_torque)
    bench.command(bad)
    bench.serve_for(0.2)
    assert bench.states[-1] is state
    after = bench.answer(gravity_torque)
    assert nanoseconds(after.header.stamp) - nanoseconds(state.header.stamp) == 2_000_000
    np.testing.assert_allclose(after.position, POSTURE, atol=1e-9)
    assert f'effort_controller/commands dropped: data: {reason}' in capfd.readouterr().err


def test_a_command_that_stays_away_is_reported_and_the_last_one_held(
    bench, gravity_torque, capfd, monkeypatch
):
    monkeypatch.setitem(vars(SIMULATION), 'command_timeout', 0.3)
    bench.start(lockstep=True)
    before = bench.answer(gravity_torque)
    bench.spin(lambda: bench.states[-1] is not before, 'a state without a command')
    assert nanoseconds(bench.states[-1].header.stamp) - nanoseconds(before.header.stamp) == 2000000
    np.testing.assert_array_equal(bench.states[-1].effort, before.effort)
    assert 'no command within 0.3 s' in capfd.readouterr().err


@pytest.mark.parametrize(('measures', 'sign'), [('on_tool', -1.0), ('by_tool', 1.0)])
def test_the_wrench_at_rest_is_the_weight_of_tool_and_payload(bench, measures, sign):
    bench.start(
        lockstep=True,
        wrench__sensor_link='ft_sensor',
        wrench__measures=measures,
        payload__mass=3.0,
    )
    bench.spin(lambda: len(bench.wrenches) > 0, 'a wrench')
    wrench = bench.wrenches[-1]
    assert wrench.header.frame_id == 'ft_sensor'
    force = wrench.wrench.force
    dyn = ned.Dynamics(ned.load_urdf(MODEL, tip_link='tcp'))
    rotation = dyn.forward_kinematics(POSTURE, 'ft_sensor')[:3, :3]
    np.testing.assert_allclose(
        rotation @ [force.x, force.y, force.z], [0.0, 0.0, sign * 4.2 * 9.80665], atol=1e-9
    )
    state = next(state for state in bench.states)
    assert state.header.stamp == wrench.header.stamp


def test_the_imu_reports_a_tilted_rocking_base_before_the_state(bench, gravity_torque):
    bench.start(
        lockstep=True,
        base__orientation=[0.0, 0.3, 0.0],
        base__rocking__axis=[0.0, 2.0, 0.0],
        base__rocking__amplitude=0.1,
        base__rocking__frequency=2.0,
        imu__link='base_link',
    )
    bench.spin(lambda: len(bench.imus) > 0, 'an imu message')
    for _ in range(10):
        bench.answer(gravity_torque)
    bench.spin(lambda: bench.stamps(bench.imus)[-1] == bench.stamps()[-1], 'the last reading')
    message, time_moving = bench.imus[-1], (bench.stamps()[-1] - FIRST_STAMP) / 1e9
    angle = 0.3 + 0.1 * math.sin(4.0 * math.pi * time_moving)
    rate = 0.4 * math.pi * math.cos(4.0 * math.pi * time_moving)
    assert message.header.frame_id == 'base_link'
    orientation, force = message.orientation, message.linear_acceleration
    np.testing.assert_allclose(
        [orientation.x, orientation.y, orientation.z, orientation.w],
        [0.0, math.sin(angle / 2), 0.0, math.cos(angle / 2)],
        atol=1e-9,
    )
    velocity = message.angular_velocity
    np.testing.assert_allclose([velocity.x, velocity.y, velocity.z], [0.0, rate, 0.0], atol=1e-9)
    np.testing.assert_allclose(
        [force.x, force.y, force.z],
        9.80665 * np.array([-math.sin(angle), 0.0, math.cos(angle)]),
        atol=1e-9,
    )
    assert not np.concatenate(
        (
            message.orientation_covariance,
            message.angular_velocity_covariance,
            message.linear_acceleration_covariance,
        )
    ).any()


def test_in_lockstep_time_pauses_and_resumes_on_request(bench, gravity_torque):
    bench.start(lockstep=True, pause_at=[0.006, 0.008])
    for _ in range(3):
        bench.answer(gravity_torque)
    stamp = bench.stamps()[-1]
    assert stamp == FIRST_STAMP + 6_000_000
    bench.command(0.5 * gravity_torque)
    bench.serve_for(0.3)
    assert bench.stamps()[-1] == stamp
    assert bench.trigger('resume', 'simulated_robot').success
    bench.spin(lambda: bench.stamps()[-1] > stamp, 'the next state')
    np.testing.assert_allclose(bench.states[-1].effort, 0.5 * gravity_torque)
    # The second one is left out when the service is called before it.
    assert bench.trigger('resume', 'simulated_robot').success
    bench.answer(gravity_torque)
    refused = bench.trigger('resume', 'simulated_robot')
    assert not refused.success
    assert 'none ahead' in refused.message


def granted_until(bench, stamp):
    """Let a paced arm go on up to a stamp [ns]."""
    if not hasattr(bench, 'grants'):
        topic = 'simulated_robot/run_until'
        bench.grants = bench.probe.create_publisher(Time, topic, LATCHED)
    bench.grants.publish(Time(sec=stamp // 1_000_000_000, nanosec=stamp % 1_000_000_000))


def test_a_paced_arm_goes_on_as_far_as_it_is_granted(bench, gravity_torque):
    bench.start(lockstep=True, paced=True, rate=100.0)
    bench.spin(lambda: len(bench.states) >= 2, 'states under brakes')
    granted_until(bench, FIRST_STAMP + 20_000_000)
    bench.answer(gravity_torque)
    bench.answer(gravity_torque)
    bench.command(0.5 * gravity_torque)
    bench.serve_for(0.3)
    assert bench.stamps()[-1] == FIRST_STAMP + 20_000_000
    granted_until(bench, FIRST_STAMP + 10_000_000)  # less than before: no news
    granted_until(bench, FIRST_STAMP + 25_000_000)  # to the first state that is not before it
    bench.spin(lambda: bench.stamps()[-1] > FIRST_STAMP + 20_000_000, 'the next state')
    np.testing.assert_allclose(bench.states[-1].effort, 0.5 * gravity_torque)
    bench.command(gravity_torque)
    bench.serve_for(0.3)
    assert bench.stamps()[-1] == FIRST_STAMP + 30_000_000


def test_when_the_states_drop_out_physics_goes_on_and_lockstep_comes_back(bench, gravity_torque):
    bench.start(
        lockstep=True, wrench__sensor_link='ft_sensor', dropout__start=0.01, dropout__duration=0.05
    )
    first, last = FIRST_STAMP + 10_000_000, FIRST_STAMP + 60_000_000
    for _ in range(5):
        bench.command(gravity_torque)
        count = len(bench.true_states)
        bench.spin(lambda count=count: len(bench.true_states) > count, 'a true state')
    bench.spin(lambda: bench.stamps()[-1] >= last, 'the return of the states')
    stamps = bench.stamps()
    assert not [stamp for stamp in stamps if first <= stamp < last]
    assert {stamp for stamp in bench.stamps(bench.true_states) if first <= stamp < last} == set(
        range(first, last, 2_000_000)
    )
    assert set(bench.stamps(bench.wrenches)) >= set(range(first, last, 2_000_000))
    bench.command(gravity_torque)  # as a watchdog's last one, still on its way
    count = len(bench.states)
    bench.spin(lambda: len(bench.states) > count + 5, 'states that nobody answers')
    for _ in range(5):
        bench.command(gravity_torque)
    bench.serve_for(0.1)
    count = len(bench.states)
    bench.spin(lambda: len(bench.states) > count, 'the first state in lockstep')
    for _ in range(5):
        bench.answer(gravity_torque)
    assert np.diff(bench.stamps()[-6:]).tolist() == [2_000_000] * 5
    count = len(bench.states)
    bench.serve_for(0.1)
    assert len(bench.states) == count
    np.testing.assert_allclose(bench.states[-1].position, POSTURE, atol=1e-8)


@pytest.mark.parametrize(
    ('topics', 'silent', 'heard'),
    [([], 'states', 'wrenches'), (['wrench', 'imu'], 'wrenches', 'states')],
)
def test_topics_fall_silent_on_request_and_come_back(bench, topics, silent, heard):
    parameters = {'dropout__topics': topics} if topics else {}
    bench.start(rate=100.0, wrench__sensor_link='ft_sensor', imu__link='base_link', **parameters)
    bench.spin(lambda: bench.states and bench.wrenches and bench.imus, 'messages')
    assert bench.call(SetBool, 'drop', SetBool.Request(data=True), 'simulated_robot').success
    bench.serve_for(0.1)
    count, count_heard = len(getattr(bench, silent)), len(getattr(bench, heard))
    bench.spin(lambda: len(getattr(bench, heard)) > count_heard + 5, 'the other topic')
    assert len(getattr(bench, silent)) == count
    assert bench.call(SetBool, 'drop', SetBool.Request(data=False), 'simulated_robot').success
    bench.spin(lambda: len(getattr(bench, silent)) > count, 'the return')


def test_commands_act_as_late_as_they_are_said_to(bench, gravity_torque):
    bench.start(lockstep=True, drive__command_delay=0.006)
    for _ in range(5):
        bench.answer(gravity_torque)
    efforts = [bench.answer(1.01 * gravity_torque).effort for _ in range(5)]
    changed = [not np.allclose(effort, gravity_torque) for effort in efforts]
    assert changed == [False, False, False, True, True]


def test_in_real_time_stamps_advance_by_whole_periods_and_brakes_wait(bench):
    bench.start(rate=100.0, publish_clock=True)
    bench.spin(lambda: len(bench.states) >= 5, 'states')
    np.testing.assert_array_equal(bench.states[-1].position, POSTURE)
    bench.command(np.zeros(6))
    bench.spin(lambda: list(bench.states[-1].position) != POSTURE, 'motion')
    bench.spin(lambda: len(bench.states) >= 20, 'states')
    periods = np.diff(bench.stamps()) / 10_000_000
    assert (periods >= 1.0).all()
    np.testing.assert_array_equal(periods, np.round(periods))
    bench.spin(lambda: len(bench.clocks) >= 20, 'the clock')
    assert {nanoseconds(clock.clock) for clock in bench.clocks} & set(bench.stamps())


@pytest.mark.parametrize(
    ('parameters', 'message'),
    [
        ({'model_file': ''}, 'model_file, robot_description: expected one of them'),
        ({'model_file': '/no/such/file'}, '/no/such/file'),
        ({'robot_description': '<robot', 'model_file': ''}, 'robot description|XML|xml'),
        ({'initial_position': [0.0]}, 'initial_position: expected 6 numbers'),
        ({'rate': 0.0}, 'rate: expected > 0'),
        ({'integrator': 'magic'}, 'integrator: expected one of'),
        ({'joints': ['joint_1']}, 'joints: expected each of'),
        ({'payload__mass': -1.0}, 'payload.mass: expected >= 0'),
        ({'payload__mass': 1.0, 'payload__link': 'nowhere'}, "no link 'nowhere'"),
        ({'drive__encoder_bits': 12.5}, 'drive.encoder_bits: expected a whole number'),
        ({'locked_joints__names': ['joint_1'], 'locked_joints__positions': [0.0, 1.0]}, 'locked'),
        (
            {'dropout__topics': ['clock']},
            "dropout.topics: expected of joint_states.*, got 'clock'",
        ),
        ({'paced': True}, 'paced: expected `lockstep` with it'),
        ({'pause_at': [2.0, 1.0]}, 'pause_at: expected ascending times'),
        ({'base__rocking__axis': [0.0, 0.0, 0.0]}, 'rocking axis: expected a direction'),
    ],
)
def test_a_parameter_that_cannot_be_used_ends_the_start(bench, parameters, message):
    with pytest.raises(NeDynamicsError, match=message):
        bench.start(**parameters)


def test_a_misspelt_parameter_is_pointed_out(bench, capfd):
    bench.start(lockstep=True, payload__masss=1.0)
    assert "payload.masss: no such parameter; did you mean 'payload.mass'?" in (
        capfd.readouterr().err
    )


def test_times_of_the_protocol_in_lockstep(bench, gravity_torque):
    """What the module says of its waits: 0.1 s, a third of real time, 1 s, 0.2 s, 10 s."""
    robot = bench.start(lockstep=True, rate=100.0).robot
    assert robot._timer.timer_period_ns == 100_000_000
    assert robot._coasting_timer.timer_period_ns == 30_000_000
    now = time.monotonic()
    for answered, silence, since_state, may_start in (
        (True, 0.19, 0.0, False),
        (True, 0.21, 0.0, True),
        (False, 9.0, 0.9, False),
        (False, 9.0, 1.1, True),
    ):
        robot._is_answered = answered
        robot._last_command_time, robot._last_publish_time = now - silence, now - since_state
        assert robot._may_start(now) is may_start
    robot._command, robot._running = gravity_torque, True
    for since_state, steps in ((9.5, 0), (10.5, 1)):
        ticks = robot._ticks
        robot._last_publish_time = time.monotonic() - since_state
        robot._on_lockstep_timer()
        assert robot._ticks - ticks == steps
    robot._coasting = True
    for answers in range(1, 6):
        robot._on_command(Float64MultiArray(data=gravity_torque.tolist()))
        assert robot._coasting is (answers < 5)


def test_times_of_the_protocol_when_paced(bench, gravity_torque):
    """Ten states follow one grant, an answered state is repeated after 0.5 s."""
    robot = bench.start(
        lockstep=True, paced=True, time_under_brakes=True, brake=True, rate=100.0
    ).robot
    robot._granted = FIRST_STAMP + 1_000_000_000
    robot._pass_granted_time()
    assert robot._ticks == 10
    robot._granted, robot._command = 0, gravity_torque
    for since_state, is_repeated in ((0.45, False), (0.55, True)):
        now = time.monotonic()
        robot._last_publish_time = before = now - since_state
        robot._stand_until_granted(now)
        assert (robot._last_publish_time != before) is is_repeated


@pytest.mark.parametrize(('behind', 'ticks'), [(0.095, 9), (0.115, 1)])
def test_a_simulation_far_behind_real_time_skips(bench, behind, ticks):
    """Up to 0.1 s are caught up, more is skipped."""
    robot = bench.start(rate=100.0).robot
    robot._ticks = 0
    robot._wall_origin = time.monotonic() - behind
    robot._on_real_time_timer()
    assert robot._ticks == ticks
