"""The launch files, against the real launch system where it is installed."""

import pytest

pytest.importorskip(
    'launch_ros', reason='launch_ros is missing: it comes with a ROS 2 installation, not from pip'
)

import launch
import yaml
from install_space import ROOT, add_executable, add_package
from launch.actions import DeclareLaunchArgument
from launch.launch_description_sources import PythonLaunchDescriptionSource
from launch_process import LaunchProcess, refusal, write_parameters
from launch_watcher import Watcher, look_at

LAUNCH_FILES = sorted((ROOT / 'launch').glob('*.launch.py'))
SIMULATION, NODE = (
    ROOT / f'launch/{name}.launch.py' for name in ('simulation', 'computed_torque')
)
ARM = ROOT / 'config/six_axis_arm.urdf'
JOINTS = [f'joint_{number}' for number in range(1, 7)]


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
        Watcher('/arm/computed_torque') as watcher,
        LaunchProcess(SIMULATION, [*arguments, 'rviz:=true'], environment) as process,
    ):
        received = watcher.hear('arm/effort_controller/commands')
        watcher.until(lambda: watcher.is_in('active'), 'active')
        watcher.until(lambda: len(received) >= 10, 'commands')
    assert len(received[-1].data) == 6
    assert process.returncode == 0, process.output
    assert process.output.count('process has finished cleanly') == 2, process.output
    assert 'Traceback' not in process.output
    # Neither is here: said, and left out.
    for package in ('robot_state_publisher', 'rviz2'):
        assert f'{package} is not installed' in process.output


def test_both_nodes_have_one_order_and_the_same_topics(environment, tmp_path):
    """Given as an argument or in the node's file, the order is the robot's too; so are topics."""
    backwards = list(reversed(JOINTS))
    values = {'joints': backwards, 'backend': 'python'}
    file = write_parameters(tmp_path / 'node.yaml', values, '/arm/computed_torque')
    topics = ['joint_states:=js', 'effort_commands:=motors', 'wrench:=ft', 'imu:=base_imu']
    for order in (f'joints:=[{", ".join(backwards)}]', file):
        arguments = ['namespace:=arm', *topics, order]
        with (
            Watcher('/arm/simulated_robot') as watcher,
            LaunchProcess(SIMULATION, arguments, environment),
        ):
            received = watcher.hear('/arm/motors')
            watcher.until(lambda received=received: len(received) >= 10, 'commands')
            assert watcher.parameters('joints') == {'joints': backwards}


# ---- what ends the launch

LIMITS = {'effort_limits': [1.0, 2.0], 'backend': 'python'}
NOWHERE = {'mode': 'feedforward_pd'}
REFUSED = {
    'no file': (NODE, None, {}, 'arm', 'expected a parameter file: No such file'),
    'a misspelt node': (SIMULATION, 'computed_torqe', {}, '', 'parameters of /computed_torque'),
    'a node in another namespace': (
        NODE,
        'computed_torque',
        NOWHERE,
        'arm',
        'expected parameters of /arm/computed_torque',
    ),
    'a value that cannot be': (
        SIMULATION,
        '/**',
        {'mode': 'torque'},
        '',
        'node.yaml: mode: expected one of computed_torque',
    ),
    # What only the node can know: the robot does not go on without a controller.
    'limits of another arm': (
        SIMULATION,
        '/**',
        LIMITS,
        '',
        'not configured: effort_limits: expected 1 or 6 values',
    ),
}


@pytest.mark.parametrize('what', REFUSED)
def test_a_parameter_file_that_would_not_count_ends_the_launch(environment, tmp_path, what):
    """Limits, gains and order would be lost without a word: no controller is started."""
    path, node, values, namespace, reason = REFUSED[what]
    argument = f'params_file:={tmp_path / "node.yaml"}'
    if node is not None:
        write_parameters(tmp_path / 'node.yaml', values, node)
    arguments = [argument, f'model:={ARM}', *([f'namespace:={namespace}'] if namespace else [])]
    starts = what != 'a value that cannot be'
    output = refusal(path, environment, *arguments, starts=starts)
    assert reason in output
    assert 'active' not in output


@pytest.mark.parametrize(
    ('launch_file', 'argument'),
    [
        ('simulation', 'payload_mass:=heavy'),
        ('gazebo', 'mode:=torque'),
        ('computed_torque', 'use_sim_time:=5'),
    ],
)
def test_an_argument_that_cannot_be_is_named_and_ends_the_launch(
    environment, launch_file, argument
):
    """The reason begins with the argument as it was typed; nothing is left running."""
    output = refusal(ROOT / f'launch/{launch_file}.launch.py', environment, argument)
    assert f'argument {argument}: ' in output


# ---- what reaches the nodes


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
    expected = {
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
    found, seen, _ = look_at(
        *(NODE, arguments, environment, *expected),
        node='/arm/computed_torque',
        topics=[f'/arm/{topic}' for topic in topics.values()],
    )
    assert found == expected
    assert '/arm/motors/commands' in seen['publisher'] - seen['subscriber']


def test_the_annotator_is_started_beside_the_node(environment, tmp_path):
    file = tmp_path / 'node.yaml'
    node = {'payload': {'mass': 2.0}, 'effort_tolerance': [0.25], 'backend': 'python'}
    content = {'/**/computed_torque': {**node, 'joints': []}, '/**/annotator': {'retime': True}}
    file.write_text(
        yaml.safe_dump({name: {'ros__parameters': each} for name, each in content.items()})
    )
    arguments = [f'model:={ARM}', 'namespace:=arm', 'tip_link:=tcp', f'params_file:={file}']
    arguments += ['annotator:=true', 'controller:=/arm/jtc']
    expected = {
        'model_file': str(ARM),
        'tip_link': 'tcp',
        'payload.mass': 2.0,
        'effort_tolerance': [0.25],
        'retime': True,
        'controller': '/arm/jtc',
    }
    annotated, asked = '/arm/computed_torque/annotated', '/arm/computed_torque/annotate'
    found, seen, _ = look_at(
        *(NODE, arguments, environment, *expected),
        node='/arm/annotator',
        topics=[asked, '/arm/joint_states', annotated],
    )
    assert found == expected
    assert {asked, '/arm/joint_states'} <= seen['subscriber']
    assert annotated in seen['publisher']


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
    values, topics = DRIVEN[driver]
    expected = {**values, 'state_timeout': 7.5, 'on_deactivate': 'gravity'}
    arguments = [f'model:={ARM}', f'driver:={driver}', 'namespace:=arm', 'state_timeout:=7.5']
    found, seen, _ = look_at(
        *(NODE, arguments, environment, *expected),
        node='/arm/computed_torque',
        topics=[f'/arm/{topic}' for topic in topics | {'joint_trajectory'}],
    )
    assert found == expected
    assert ('/arm/joint_states' in seen['subscriber']) == (driver != 'franka')
    usual = '/arm/effort_controller/commands' in seen['publisher']
    assert usual == (driver != 'ur_direct_torque')


@pytest.mark.parametrize('key', ['/**', 'computed_torque'])
def test_what_the_user_gives_wins_over_the_driver(environment, tmp_path, key):
    """A parameter file comes after the driver's, whatever it calls the node; arguments last."""
    values = {
        'state_effort': 'torque_without_gravity',
        'state_timeout': 3.5,
        'mode': 'computed_torque',
    }
    arguments = [f'model:={ARM}', 'driver:=franka', 'mode:=gravity_compensation']
    arguments += ['joint_states:=mine/joint_states']
    arguments.append(write_parameters(tmp_path / 'mine.yaml', values, key))
    expected = {**values, 'mode': 'gravity_compensation', 'terms.gravity': False}
    found, _, output = look_at(
        *(NODE, arguments, environment, *expected), topics=['/mine/joint_states']
    )
    assert found == expected
    assert 'changes what driver franka sets: state_effort: torque_without_gravity' in output


def test_a_leader_is_carried_and_follows_nothing(environment, tmp_path):
    own = {'hand_guiding': {'damping': 3.0}, 'state_timeout': 3.5}
    file = write_parameters(tmp_path / 'mine.yaml', own, 'computed_torque')
    for more, damping, timeout in (([], 2.0, 0.05), ([file], 3.0, 3.5)):
        expected = {
            'mode': 'gravity_compensation',
            'on_state_loss': 'lower',
            'terms.gravity': False,
            'hand_guiding.damping': damping,
            'hand_guiding.speed_limit': [2.0],
            'state_timeout': timeout,
        }
        arguments = [f'model:={ARM}', 'driver:=franka', 'leader:=true', *more]
        found, _, output = look_at(NODE, arguments, environment, *expected)
        assert found == expected
        said = 'changes what leader:=true sets: hand_guiding.damping: 3.0 (leader: 2.0)'
        assert (said in output) == bool(more)


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
