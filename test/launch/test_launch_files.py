"""The launch files, against the real launch system where it is installed."""

from __future__ import annotations

import time

import pytest

pytest.importorskip(
    'launch_ros', reason='launch_ros is missing: it comes with a ROS 2 installation, not from pip'
)

import launch
import rclpy
import yaml
from install_space import ROOT, add_executable, add_package
from launch.actions import DeclareLaunchArgument
from launch.launch_description_sources import PythonLaunchDescriptionSource
from launch_process import LaunchProcess, refusal, write_parameters
from lifecycle_msgs.msg import State
from lifecycle_msgs.srv import GetState
from rcl_interfaces.srv import GetParameters
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import NodeNameNonExistentError
from rclpy.parameter import parameter_value_to_python
from std_msgs.msg import Float64MultiArray

LAUNCH_FILES = sorted((ROOT / 'launch').glob('*.launch.py'))
SIMULATION, NODE = (
    ROOT / f'launch/{name}.launch.py' for name in ('simulation', 'computed_torque')
)
ARM = ROOT / 'config/six_axis_arm.urdf'
JOINTS = [f'joint_{number}' for number in range(1, 7)]


class Watcher:
    """Watches, from outside, a node of this name that a launch file starts."""

    def __init__(self, name, environment):
        self._context = rclpy.Context()
        rclpy.init(context=self._context, domain_id=int(environment['ROS_DOMAIN_ID']))
        self.node = rclpy.create_node('watcher', context=self._context)
        self._executor = SingleThreadedExecutor(context=self._context)
        self._executor.add_node(self.node)
        self.namespace, _, self.name = name.rpartition('/')

    def __enter__(self):
        """Return itself."""
        return self

    def __exit__(self, *_):
        """Leave the domain."""
        self._executor.shutdown()
        self.node.destroy_node()
        rclpy.shutdown(context=self._context)

    def spin(self, seconds=0.1):
        """Serve what comes in."""
        self._executor.spin_once(timeout_sec=seconds)

    def call(self, kind, service, request):
        client = self.node.create_client(kind, f'{self.namespace}/{self.name}/{service}')
        try:
            if not client.wait_for_service(timeout_sec=1.0):
                return None
            future = client.call_async(request)
            self._executor.spin_until_future_complete(future, timeout_sec=5.0)
            return future.result() if future.done() else None
        finally:
            self.node.destroy_client(client)

    def state(self):
        """Return the id of the lifecycle state, or None."""
        response = self.call(GetState, 'get_state', GetState.Request())
        return response and response.current_state.id

    def parameters(self, *names):
        """Return parameters of the node by name."""
        response, deadline = None, time.monotonic() + 60.0
        while response is None and time.monotonic() < deadline:
            request = GetParameters.Request(names=names)
            response = self.call(GetParameters, 'get_parameters', request)
        return dict(zip(names, map(parameter_value_to_python, response.values), strict=True))

    def hear(self, topic):
        """Return a list that commands on a topic come to."""
        received = []
        self.node.create_subscription(Float64MultiArray, topic, received.append, 10)
        return received

    def topics(self, which):
        ask = getattr(self.node, f'get_{which}_names_and_types_by_node')
        try:
            return {name for name, _ in ask(self.name, self.namespace or '/')}
        except NodeNameNonExistentError:
            return set()  # not discovered yet, though its services are


def declared_arguments(path):
    source = PythonLaunchDescriptionSource(str(path))
    return {
        action.name: action
        for action in source.get_launch_description(launch.LaunchContext()).entities
        if isinstance(action, DeclareLaunchArgument)
    }


@pytest.mark.parametrize('path', LAUNCH_FILES, ids=lambda path: path.name)
def test_every_argument_is_documented(path, environment):
    arguments = declared_arguments(path)
    assert {'model', 'namespace'} <= set(arguments)
    context = launch.LaunchContext()
    files = []
    for argument in arguments.values():
        assert argument.description
        default = launch.utilities.perform_substitutions(context, argument.default_value)
        files.append(default.partition('share/ne_dynamics/')[2])
    assert any(files)
    assert all((ROOT / file).is_file() for file in files if file)


def test_simulation_runs_to_the_first_commands(environment):
    """simulation.launch.py brings the node to `active`, commands flow, and Ctrl-C ends it."""
    arguments = ['namespace:=arm', 'tip_link:=tcp', 'sensor_link:=ft_sensor', 'payload_mass:=3.0']
    with (
        Watcher('/arm/computed_torque', environment) as watcher,
        LaunchProcess(SIMULATION, [*arguments, 'rviz:=true'], environment) as process,
    ):
        received = watcher.hear('arm/effort_controller/commands')
        assert process.wait_until(lambda: watcher.state() == State.PRIMARY_STATE_ACTIVE)
        assert process.wait_until(lambda: watcher.spin() or len(received) >= 10)
    assert len(received[-1].data) == 6
    assert process.returncode == 0, process.output
    assert process.output.count('process has finished cleanly') == 2, process.output
    assert 'Traceback' not in process.output
    # Neither is here: said, and left out.
    for package in ('robot_state_publisher', 'rviz2'):
        assert f'{package} is not installed' in process.output


def test_both_nodes_have_one_order_and_the_same_topics(environment, tmp_path):
    backwards = list(reversed(JOINTS))
    values = {'joints': backwards, 'backend': 'python'}
    file = write_parameters(tmp_path / 'node.yaml', values, '/arm/computed_torque')
    topics = ['joint_states:=js', 'effort_commands:=motors', 'wrench:=ft', 'imu:=base_imu']
    for order in (f'joints:=[{", ".join(backwards)}]', file):
        arguments = ['namespace:=arm', *topics, order]
        with (
            Watcher('/arm/simulated_robot', environment) as watcher,
            LaunchProcess(SIMULATION, arguments, environment) as process,
        ):
            received = watcher.hear('/arm/motors')

            def commands_flow(watcher=watcher, received=received):
                watcher.spin()
                return len(received) >= 10

            assert process.wait_until(commands_flow), process.output
            assert watcher.parameters('joints') == {'joints': backwards}


# ---- what ends the launch before anything starts

LOST = {
    'no file': (None, {}, 'arm', 'expected a parameter file: No such file'),
    'a misspelt node': ('computed_torqe', {}, '', 'expected parameters of /computed_torque'),
    'a node in another namespace': (
        'computed_torque',
        {'mode': 'feedforward_pd'},
        'arm',
        'expected parameters of /arm/computed_torque',
    ),
}


@pytest.mark.parametrize('path', [NODE, SIMULATION], ids=lambda path: path.name)
@pytest.mark.parametrize('what', LOST)
def test_a_parameter_file_that_would_not_count_ends_the_launch(environment, tmp_path, path, what):
    """Limits, gains and order would be lost without a word: no controller is started."""
    node, values, namespace, reason = LOST[what]
    argument = f'params_file:={tmp_path / "node.yaml"}'
    if node is not None:
        write_parameters(tmp_path / 'node.yaml', values, node)
    arguments = [argument, f'model:={ARM}', *([f'namespace:={namespace}'] if namespace else [])]
    output = refusal(path, environment, *arguments, starts=True)
    assert reason in output
    assert 'active' not in output


HOSTILE = {
    'simulation': (
        'payload_mass:=heavy',
        'mode:=torque',
        'leader:=maybe',
        'log_level:=loud',
        'joints:=[a',
    ),
    'gazebo': ('mode:=torque', 'log_level:=loud'),
    'computed_torque': ('state_timeout:=soon', 'use_imu:=maybe', 'use_sim_time:=5', 'leader:=1'),
}


@pytest.mark.parametrize(
    ('launch_file', 'argument'), [(file, text) for file in HOSTILE for text in HOSTILE[file]]
)
def test_an_argument_that_cannot_be_is_named_and_ends_the_launch(
    environment, launch_file, argument
):
    """The reason begins with the argument as it was typed; nothing is left running."""
    output = refusal(ROOT / f'launch/{launch_file}.launch.py', environment, argument)
    assert f'argument {argument}: ' in output


IMPOSSIBLE = {
    'a mode': ({'mode': 'torque'}, 'mode: expected one of computed_torque'),
    # The robot would stand under its brakes for ever: it hears nothing or drops what it hears.
    'commands of another type': (
        {'mode': 'feedforward', 'command': {'type': 'joint_state'}},
        'all that simulated_robot takes',
    ),
    'commands of other interfaces': (
        {'mode': 'feedforward', 'command': {'interfaces': ['position', 'velocity', 'effort']}},
        'all that simulated_robot takes',
    ),
}


@pytest.mark.parametrize('what', IMPOSSIBLE)
def test_a_file_that_cannot_be_ends_the_launch(environment, tmp_path, what):
    """Neither of the two nodes is started."""
    values, reason = IMPOSSIBLE[what]
    file = tmp_path / 'node.yaml'
    output = refusal(SIMULATION, environment, write_parameters(file, values))
    assert f'{file}: ' in output
    assert reason in output


def test_two_orders_of_one_command_end_the_launch(environment, tmp_path):
    """The robot's file says another order than the node is given."""
    file = tmp_path / 'robot.yaml'
    write_parameters(file, {'joints': list(reversed(JOINTS))}, 'simulated_robot')
    arguments = [f'robot_params_file:={file}', f'joints:=[{", ".join(JOINTS)}]']
    output = refusal(SIMULATION, environment, *arguments, starts=True)
    assert 'expected one order of the command for both nodes' in output
    assert 'active' not in output


def test_a_node_that_refuses_its_robot_ends_the_simulation(environment, tmp_path):
    """What only the node can know: the robot does not go on without a controller."""
    values = {'effort_limits': [1.0, 2.0], 'backend': 'python'}
    file = write_parameters(tmp_path / 'node.yaml', values)
    output = refusal(SIMULATION, environment, file, starts=True)
    assert 'not configured: effort_limits: expected 1 or 6 values' in output


def test_arguments_reach_the_node(environment):
    topics = {
        'joint_states': 'measured',
        'joint_trajectory': 'desired',
        'wrench': 'ft_broadcaster/wrench',
        'imu': 'base/imu',
        'effort_commands': 'motors/commands',
    }
    arguments = [f'{name}:={topic}' for name, topic in topics.items()]
    arguments += [f'model:={ARM}', 'namespace:=arm', 'tip_link:=tcp', 'sensor_link:=flange']
    arguments += [f'joints:=[{", ".join(reversed(JOINTS))}]', 'mode:=gravity_compensation']
    arguments += ['use_imu:=true', 'state_timeout:=0.25', 'use_sim_time:=false', 'log_level:=warn']
    with (
        Watcher('/arm/computed_torque', environment) as watcher,
        LaunchProcess(NODE, arguments, environment) as process,
    ):
        process.wait_until(lambda: watcher.state() == State.PRIMARY_STATE_ACTIVE)
        values = watcher.parameters(
            'model_file',
            'joints',
            'tip_link',
            'mode',
            'wrench.enabled',
            'wrench.sensor_link',
            'imu.enabled',
            'state_timeout',
            'use_sim_time',
        )
        subscribed, published = set(), set()

        def are_there():
            watcher.spin()
            subscribed.update(watcher.topics('subscriber'))
            published.update(watcher.topics('publisher'))
            names = {f'/arm/{topic}' for topic in topics.values()}
            return names <= subscribed | published

        assert process.wait_until(are_there, timeout=10.0), (subscribed, published)
    assert values == {
        'model_file': str(ARM),
        'joints': list(reversed(JOINTS)),
        'tip_link': 'tcp',
        'mode': 'gravity_compensation',
        'wrench.enabled': True,
        'wrench.sensor_link': 'flange',
        'imu.enabled': True,
        'state_timeout': 0.25,
        'use_sim_time': False,
    }
    assert '/arm/motors/commands' in published
    assert '/arm/motors/commands' not in subscribed


def test_the_annotator_is_started_beside_the_node(environment, tmp_path):
    file = tmp_path / 'node.yaml'
    values = '{payload: {mass: 2.0}, effort_tolerance: [0.25], backend: python, joints: []}'
    own = '{retime: true}'
    file.write_text(
        f'/**/computed_torque:\n  ros__parameters: {values}\n'
        f'/**/annotator:\n  ros__parameters: {own}\n'
    )
    arguments = [f'model:={ARM}', 'namespace:=arm', 'tip_link:=tcp', f'params_file:={file}']
    arguments += ['annotator:=true', 'controller:=/arm/jtc']
    with (
        Watcher('/arm/annotator', environment) as watcher,
        LaunchProcess(NODE, arguments, environment) as process,
    ):

        def are_there():
            watcher.spin()
            return {'/arm/computed_torque/annotate', '/arm/joint_states'} <= watcher.topics(
                'subscriber'
            ) and '/arm/computed_torque/annotated' in watcher.topics('publisher')

        assert process.wait_until(are_there, timeout=60.0)
        found = watcher.parameters(
            'model_file', 'tip_link', 'payload.mass', 'effort_tolerance', 'retime', 'controller'
        )
    assert found == {
        'model_file': str(ARM),
        'tip_link': 'tcp',
        'payload.mass': 2.0,
        'effort_tolerance': [0.25],
        'retime': True,
        'controller': '/arm/jtc',
    }


# What the driver's file sets, what a file of the user and an argument change, and the topics.
DRIVEN = {
    'generic': ({'terms.gravity': True, 'state_effort': 'torque'}, set()),
    'franka': ({'terms.gravity': False, 'terms.friction': False}, {'franka/joint_states'}),
    'ur_direct_torque': (
        {'terms.gravity': False, 'state_effort': 'ignore'},
        {'forward_effort_controller/commands'},
    ),
}


@pytest.mark.parametrize('driver', DRIVEN)
def test_a_driver_sets_parameters_and_topics(environment, driver):
    """The driver's file counts, not the defaults; its topics are used; an argument wins."""
    expected, topics = DRIVEN[driver]
    arguments = [f'model:={ARM}', f'driver:={driver}', 'namespace:=arm', 'state_timeout:=7.5']
    with (
        Watcher('/arm/computed_torque', environment) as watcher,
        LaunchProcess(NODE, arguments, environment) as process,
    ):
        process.wait_until(lambda: watcher.state() == State.PRIMARY_STATE_ACTIVE)
        values = watcher.parameters(*expected, 'state_timeout', 'on_deactivate')
        seen = set()

        def are_there():
            watcher.spin()
            seen.update(watcher.topics('subscriber') | watcher.topics('publisher'))
            return {f'/arm/{topic}' for topic in topics | {'joint_trajectory'}} <= seen

        assert process.wait_until(are_there, timeout=10.0), seen
    assert values == {**expected, 'state_timeout': 7.5, 'on_deactivate': 'gravity'}
    assert ('/arm/joint_states' in seen) == (driver != 'franka')
    assert ('/arm/effort_controller/commands' in seen) == (driver != 'ur_direct_torque')


@pytest.mark.parametrize('key', ['/**', '/**/computed_torque', 'computed_torque'])
def test_what_the_user_gives_wins_over_the_driver(environment, tmp_path, key):
    """A parameter file comes after the driver's, whatever it calls the node; arguments last."""
    file = tmp_path / 'mine.yaml'
    file.write_text(
        f'{key}:\n  ros__parameters:\n    state_effort: torque_without_gravity\n'
        '    state_timeout: 3.5\n    mode: computed_torque\n'
    )
    arguments = [f'model:={ARM}', 'driver:=franka', f'params_file:={file}']
    arguments += ['joint_states:=mine/joint_states', 'mode:=gravity_compensation']
    with (
        Watcher('/computed_torque', environment) as watcher,
        LaunchProcess(NODE, arguments, environment) as process,
    ):
        process.wait_until(lambda: watcher.state() == State.PRIMARY_STATE_ACTIVE)
        values = watcher.parameters('state_effort', 'state_timeout', 'terms.gravity', 'mode')

        def is_there():
            watcher.spin()
            return '/mine/joint_states' in watcher.topics('subscriber')

        assert process.wait_until(is_there, timeout=10.0)
    assert (
        'changes what driver franka sets: state_effort: torque_without_gravity' in process.output
    )
    assert values == {
        'state_effort': 'torque_without_gravity',
        'state_timeout': 3.5,
        'terms.gravity': False,
        'mode': 'gravity_compensation',
    }


def test_a_leader_is_carried_and_follows_nothing(environment, tmp_path):
    file = tmp_path / 'mine.yaml'
    values = {'hand_guiding': {'damping': 3.0}, 'state_timeout': 3.5}
    file.write_text(yaml.safe_dump({'computed_torque': {'ros__parameters': values}}))
    for more, damping, timeout in (([], 2.0, 0.05), ([f'params_file:={file}'], 3.0, 3.5)):
        arguments = [f'model:={ARM}', 'driver:=franka', 'leader:=true', *more]
        with (
            Watcher('/computed_torque', environment) as watcher,
            LaunchProcess(NODE, arguments, environment) as process,
        ):
            process.wait_until(lambda watcher=watcher: watcher.state() is not None)
            found = watcher.parameters(
                'mode',
                'on_state_loss',
                'terms.gravity',
                'hand_guiding.damping',
                'hand_guiding.speed_limit',
                'state_timeout',
            )
        assert {**found, 'hand_guiding.speed_limit': list(found['hand_guiding.speed_limit'])} == {
            'mode': 'gravity_compensation',
            'on_state_loss': 'lower',
            'terms.gravity': False,
            'hand_guiding.damping': damping,
            'hand_guiding.speed_limit': [2.0],
            'state_timeout': timeout,
        }
        said = 'changes what leader:=true sets: hand_guiding.damping: 3.0 (leader: 2.0)'
        assert (said in process.output) == bool(more)


def test_a_leader_floats_in_the_simulation(environment):
    """simulation.launch.py leader:=true carries its arm: the node is active in that mode."""
    with (
        Watcher('/computed_torque', environment) as watcher,
        LaunchProcess(SIMULATION, ['leader:=true', 'tip_link:=tcp'], environment) as process,
    ):
        received = watcher.hear('effort_controller/commands')

        def commands_flow():
            watcher.spin()
            return len(received) >= 100

        assert process.wait_until(commands_flow), process.output
        values = watcher.parameters('mode', 'hand_guiding.friction', 'on_state_loss')
    assert values == {
        'mode': 'gravity_compensation',
        'hand_guiding.friction': 0.5,
        'on_state_loss': 'lower',
    }
    assert 'Traceback' not in process.output


@pytest.mark.parametrize('path', [NODE, SIMULATION], ids=lambda path: path.name)
def test_a_leader_with_another_mode_ends_the_launch(environment, tmp_path, path):
    """By argument or in the user's file: nothing is started."""
    file = write_parameters(tmp_path / 'mine.yaml', {'mode': 'computed_torque'})
    for argument in ('mode:=feedforward_pd', file):
        output = refusal(path, environment, 'leader:=true', argument)
        assert 'expected gravity_compensation or none with leader:=true' in output


def test_an_unknown_driver_ends_the_launch(environment):
    """Nothing is started for a driver that there is not, and the known ones are listed."""
    output = refusal(NODE, environment, f'model:={ARM}', 'driver:=puma')
    assert 'driver: expected one of generic, franka, ur_direct_torque' in output
    assert "got 'puma'" in output


def test_autostart_can_be_left_to_others(environment):
    arguments = [f'model:={ARM}', 'autostart:=false']
    with (
        Watcher('/computed_torque', environment) as watcher,
        LaunchProcess(NODE, arguments, environment) as process,
    ):
        assert process.wait_until(lambda: watcher.state() is not None)
        assert watcher.state() == State.PRIMARY_STATE_UNCONFIGURED


def test_view_starts_what_is_installed(environment, prefix, tmp_path):
    started = tmp_path / 'started'
    text = f'import sys, time\nopen({str(started)!r}, "a").write(repr(sys.argv) + "\\n")\n'
    for package in ('robot_state_publisher', 'rviz2'):
        add_package(prefix, package)
        add_executable(prefix, package, package, text)
    path = ROOT / 'launch/view.launch.py'
    with LaunchProcess(path, ['namespace:=arm', 'wrench:=ft'], environment) as process:
        process.wait_until(lambda: False, timeout=20.0)
    lines = started.read_text().splitlines()
    assert len(lines) == 2, process.output
    (rviz,) = (line for line in lines if 'rviz2' in line.partition(',')[0])
    assert "'-d'" in rviz
    assert 'config/six_axis_arm.rviz' in rviz
    assert "'wrench:=ft'" in rviz
    assert all("'__ns:=/arm'" in line for line in lines)


def test_view_of_a_model_that_is_no_urdf(environment):
    """A DH file has no frames to publish: said, and left out."""
    path = ROOT / 'launch/view.launch.py'
    model = ROOT / 'config/puma560_standard_dh.yaml'
    with LaunchProcess(path, [f'model:={model}', 'rviz:=false'], environment) as process:
        process.wait_until(lambda: False, timeout=20.0)
    assert 'the model is no URDF' in process.output
    assert process.returncode == 0, process.output
