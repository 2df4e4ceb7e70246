"""The simulated robot behind its topics: lockstep, real time, brakes, wrench, bad input."""

import math
import os
import subprocess
import sys
import time

import numpy as np
import pytest

import ne_dynamics as ned
from ne_dynamics.errors import NeDynamicsError
from ne_dynamics.shipped import shipped_file

rclpy = pytest.importorskip('rclpy', reason='needs ROS 2 for Python')
pytest.importorskip('mujoco', reason='MuJoCo is not installed')

from geometry_msgs.msg import WrenchStamped  # noqa: E402
from rclpy.executors import SingleThreadedExecutor  # noqa: E402
from rclpy.parameter import Parameter  # noqa: E402
from rclpy.qos import DurabilityPolicy, QoSProfile  # noqa: E402
from rosgraph_msgs.msg import Clock  # noqa: E402
from sensor_msgs.msg import JointState  # noqa: E402
from std_msgs.msg import Float64MultiArray, String  # noqa: E402
from std_srvs.srv import Trigger  # noqa: E402

from ne_dynamics.simulation import simulated_robot  # noqa: E402
from ne_dynamics.simulation.simulated_robot import (  # noqa: E402
    FIRST_STAMP,
    PARAMETERS,
    SimulatedRobot,
)

DOMAIN = 51
MODEL = str(shipped_file('six_axis_arm.urdf'))
POSTURE = [0.1, -0.5, 0.9, 0.2, 0.6, -0.3]
TIMEOUT = 20.0


class Bench:
    """A simulated robot and a node that plays its controller, in one thread."""

    def __init__(self):
        self.context = rclpy.Context()
        rclpy.init(context=self.context, domain_id=DOMAIN)
        self.executor = SingleThreadedExecutor(context=self.context)
        self.namespace = f'/bench_{os.getpid()}_{time.monotonic_ns()}'
        self.probe = rclpy.create_node('probe', context=self.context, namespace=self.namespace)
        self.executor.add_node(self.probe)
        self.states, self.wrenches, self.clocks, self.descriptions = [], [], [], []
        for kind, topic, received in (
            (JointState, 'joint_states', self.states),
            (WrenchStamped, 'wrench', self.wrenches),
            (Clock, '/clock', self.clocks),
        ):
            self.probe.create_subscription(kind, topic, received.append, 1000)
        latched = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
        self.probe.create_subscription(
            String, 'robot_description', self.descriptions.append, latched
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

    def spin(self, done, what):
        """Serve both nodes until something is the case."""
        deadline = time.monotonic() + TIMEOUT
        while not done():
            assert time.monotonic() < deadline, f'{what} did not happen'
            self.executor.spin_once(timeout_sec=0.05)

    def spin_for(self, seconds):
        """Serve both nodes for a while."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self.executor.spin_once(timeout_sec=0.02)

    def command(self, effort):
        """Send a command as it is."""
        self.commands.publish(Float64MultiArray(data=[float(value) for value in effort]))

    def answer(self, effort):
        """Send a command and return the state that answers it."""
        count = len(self.states)
        self.command(effort)
        self.spin(lambda: len(self.states) > count, 'a state')
        return self.states[-1]

    def stamps(self):
        """Return the stamps of all states [ns]."""
        return [nanoseconds(state.header.stamp) for state in self.states]

    def close(self):
        """End everything."""
        self.executor.shutdown()
        for node in (self.probe, self.robot):
            if node is not None:
                node.destroy_node()
        self.context.try_shutdown()


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
    """One stamp until the first command, then one period a command; gravity's effort holds."""
    bench.start(lockstep=True, rate=100.0)
    bench.spin(lambda: len(bench.states) >= 3, 'states under brakes')
    assert set(bench.stamps()) == {FIRST_STAMP}
    assert list(bench.states[-1].name) == [f'joint_{i}' for i in range(1, 7)]
    assert list(bench.states[-1].effort) == [0.0] * 6
    bench.states.clear()
    for _ in range(21):
        bench.answer(gravity_torque)
    assert bench.stamps()[-21:] == [FIRST_STAMP + (k + 1) * 10_000_000 for k in range(21)]
    np.testing.assert_allclose(bench.states[-1].position, POSTURE, atol=1e-9)
    np.testing.assert_allclose(bench.states[-1].effort, gravity_torque, rtol=1e-12)
    assert len(bench.clocks) == 0
    count = len(bench.states)
    bench.spin_for(0.3)
    assert len(bench.states) == count


def test_without_effort_the_arm_falls_once_commands_come(bench):
    """Brakes hold the arm until then; afterwards physics has it."""
    bench.start(lockstep=True)
    bench.spin(lambda: len(bench.states) >= 2, 'states under brakes')
    np.testing.assert_array_equal(bench.states[-1].position, POSTURE)
    for _ in range(50):
        state = bench.answer(np.zeros(6))
    assert np.abs(np.subtract(state.position, POSTURE)).max() > 0.01
    np.testing.assert_allclose(state.effort, np.zeros(6))


def test_the_brake_holds_until_it_is_released(bench):
    """With `brake`, commands alone do not move the arm."""
    bench.start(lockstep=True, brake=True)
    bench.spin(lambda: len(bench.states) >= 1, 'a state')
    for _ in range(3):
        bench.command(np.zeros(6))
        bench.spin_for(0.1)
    assert set(bench.stamps()) == {FIRST_STAMP}
    client = bench.probe.create_client(Trigger, 'simulated_robot/release_brake')
    bench.spin(client.service_is_ready, 'the service')
    future = client.call_async(Trigger.Request())
    bench.spin(future.done, 'the answer')
    assert future.result().success
    bench.spin(lambda: max(bench.stamps()) > FIRST_STAMP, 'motion')


@pytest.mark.parametrize(
    ('bad', 'reason'),
    [
        ([1.0] * 5, 'expected 6 numbers, got 5'),
        ([], 'expected 6 numbers, got 0'),
        ([1.0] * 7, 'expected 6 numbers, got 7'),
        ([0.0, math.nan, 0.0, 0.0, 0.0, 0.0], 'expected finite numbers, got [0.0, nan'),
        ([math.inf] * 6, 'expected finite numbers, got [inf'),
    ],
)
def test_a_command_that_cannot_be_used_is_dropped(bench, gravity_torque, capfd, bad, reason):
    """Wrong lengths and numbers that are not finite do not advance the physics, but are told."""
    bench.start(lockstep=True)
    bench.answer(gravity_torque)
    state = bench.answer(gravity_torque)
    bench.command(bad)
    bench.spin_for(0.2)
    assert bench.states[-1] is state
    after = bench.answer(gravity_torque)
    assert nanoseconds(after.header.stamp) - nanoseconds(state.header.stamp) == 2_000_000
    np.testing.assert_allclose(after.position, POSTURE, atol=1e-9)
    assert f'effort_controller/commands dropped: data: {reason}' in capfd.readouterr().err


def test_a_command_that_stays_away_is_reported_and_the_last_one_held(
    bench, gravity_torque, capfd, monkeypatch
):
    """In lockstep a lost command costs one period under the last one, not the run."""
    monkeypatch.setattr(simulated_robot, 'COMMAND_TIMEOUT', 0.3)
    bench.start(lockstep=True)
    before = bench.answer(gravity_torque)
    bench.spin(lambda: bench.states[-1] is not before, 'a state without a command')
    assert nanoseconds(bench.states[-1].header.stamp) - nanoseconds(before.header.stamp) == 2000000
    np.testing.assert_array_equal(bench.states[-1].effort, before.effort)
    assert 'no command within 0.3 s' in capfd.readouterr().err


def test_commands_come_in_the_order_of_the_parameter_joints(bench, gravity_torque):
    """The names in `joints` say what each number of a command is for."""
    names = [f'joint_{i}' for i in (3, 1, 2, 6, 5, 4)]
    bench.start(lockstep=True, joints=names)
    state = bench.answer(gravity_torque[[2, 0, 1, 5, 4, 3]])
    np.testing.assert_allclose(state.effort, gravity_torque, rtol=1e-12)


def test_commands_are_clipped_to_the_effort_limits(bench):
    """A motor gives what it can; without `saturate_effort` it gives what is asked."""
    bench.start(lockstep=True)
    state = bench.answer([1e4, -1e4, 0.0, 57.0, -55.0, 0.0])
    assert list(state.effort) == [330.0, -330.0, 0.0, 56.0, -55.0, 0.0]


@pytest.mark.parametrize(('measures', 'sign'), [('on_tool', -1.0), ('by_tool', 1.0)])
def test_the_wrench_at_rest_is_the_weight_of_tool_and_payload(bench, measures, sign):
    """`on_tool` reads the tool's weight downwards, `by_tool` upwards, in the sensor's axes."""
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


def test_a_model_error_changes_what_holds_the_arm(bench, gravity_torque):
    """With all masses 10 % up, the effort of the model lets the arm sink."""
    bench.start(lockstep=True, model_error__mass_scale=1.1)
    for _ in range(30):
        state = bench.answer(gravity_torque)
    assert np.abs(np.subtract(state.position, POSTURE)).max() > 1e-4


def test_in_real_time_stamps_advance_by_whole_periods_and_brakes_wait(bench):
    """States come without commands, each a whole number of periods after the last."""
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


def test_the_urdf_is_published_for_late_comers(bench):
    """The description is latched, and is the file's text."""
    bench.start(lockstep=True)
    bench.spin(lambda: len(bench.descriptions) > 0, 'the description')
    assert bench.descriptions[0].data == shipped_file('six_axis_arm.urdf').read_text()


def test_a_dh_file_is_simulated_and_no_urdf_published(bench):
    """DH models work as URDF does; there is no URDF to publish."""
    bench.start(
        model_file=str(shipped_file('puma560_standard_dh.yaml')),
        tip_link='',
        lockstep=True,
        initial_position=[0.0] * 6,
    )
    bench.spin(lambda: len(bench.states) > 0, 'a state')
    assert list(bench.states[0].name) == [f'joint_{i}' for i in range(1, 7)]
    assert bench.robot.count_publishers(f'{bench.namespace}/robot_description') == 0


@pytest.mark.parametrize(
    ('parameters', 'message'),
    [
        ({'model_file': ''}, 'model_file, robot_description: expected one of them'),
        ({'model_file': '/no/such/file'}, '/no/such/file'),
        ({'robot_description': '<robot', 'model_file': ''}, 'robot description|XML|xml'),
        ({'initial_position': [0.0]}, 'initial_position: expected 6 numbers'),
        ({'initial_position': [math.nan] * 6}, 'initial_position: expected a finite number'),
        ({'rate': 0.0}, 'rate: expected > 0'),
        ({'rate': 'fast'}, 'rate: expected a number'),
        ({'substeps': 2.5}, 'substeps: expected a whole number'),
        ({'integrator': 'magic'}, 'integrator: expected one of'),
        ({'joints': ['joint_1']}, 'joints: expected each of'),
        ({'payload__mass': -1.0}, 'payload.mass: expected >= 0'),
        ({'payload__mass': 1.0, 'payload__link': 'nowhere'}, "no link 'nowhere'"),
        ({'payload__com': [0.0]}, 'payload.com: expected 3 values'),
        ({'model_error__mass_scale': 0.0}, 'model_error.mass_scale: expected > 0'),
        ({'wrench__sensor_link': 'nowhere'}, "no link 'nowhere'"),
        ({'wrench__measures': 'sideways'}, 'wrench.measures: expected one of'),
        ({'locked_joints__names': ['joint_1'], 'locked_joints__positions': [0.0, 1.0]}, 'locked'),
        ({'lockstep': 1}, 'lockstep: expected true or false'),
    ],
)
def test_a_parameter_that_cannot_be_used_ends_the_start(bench, parameters, message):
    """Each parameter out of bounds is an error of our tree that names it."""
    with pytest.raises(NeDynamicsError, match=message):
        bench.start(**parameters)


def test_every_parameter_is_declared_described_and_read_only(bench):
    """The table is what the node declares."""
    bench.start(lockstep=True)
    for spec in PARAMETERS:
        descriptor = bench.robot.describe_parameter(spec.name)
        assert spec.description in descriptor.description
        assert descriptor.read_only


def test_the_executable_ends_with_code_1_and_a_line_on_stderr():
    """What makes a start impossible is said in one line, without a traceback."""
    command = [sys.executable, '-m', 'ne_dynamics.simulation.simulated_robot']
    ended = subprocess.run(
        [*command, '--ros-args', '-p', 'model_file:=/no/such/file'],
        capture_output=True,
        text=True,
        timeout=60,
        env={**os.environ, 'ROS_DOMAIN_ID': str(DOMAIN)},
    )
    assert ended.returncode == 1
    assert ended.stderr.startswith('simulated_robot: ')
    assert '/no/such/file' in ended.stderr
    assert 'Traceback' not in ended.stderr


def test_a_misspelt_parameter_is_pointed_out(bench, capfd):
    """An unknown name is a warning with the nearest known one."""
    bench.start(lockstep=True, payload__masss=1.0)
    assert "payload.masss: no such parameter; did you mean 'payload.mass'?" in (
        capfd.readouterr().err
    )
