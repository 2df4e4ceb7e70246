"""gazebo.launch.py with stand-ins for Gazebo and ros2_control, whose physics is Gazebo's own."""

import json
from pathlib import Path

import numpy as np
import pytest
import yaml

pytest.importorskip(
    'launch_ros', reason='launch_ros is missing: it comes with a ROS 2 installation, not from pip'
)
pytest.importorskip('dartpy', reason='needs DART (pip install dartpy)')

from install_space import ROOT, add_stand_ins
from launch_process import LaunchProcess, refusal
from launch_watcher import Watcher
from trajectory_msgs.msg import JointTrajectory

import ne_dynamics as ned
from ne_dynamics.simulation.demo.node_messages import trajectory_message

LAUNCH_FILE = ROOT / 'launch/gazebo.launch.py'
STAND_IN = Path(__file__).parents[1] / 'support' / 'gazebo_stand_in.py'
PROGRAMS = {
    'controller_manager': ['spawner'],
    'force_torque_sensor_broadcaster': [],
    'forward_command_controller': [],
    'gz_ros2_control': [],
    'joint_state_broadcaster': [],
    'robot_state_publisher': ['robot_state_publisher'],
    'ros_gz_bridge': ['parameter_bridge'],
    'ros_gz_sim': ['create'],
}
GZ_SIM = """
import sys
from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument, ExecuteProcess, OpaqueFunction, Shutdown
from launch.substitutions import LaunchConfiguration


def gazebo(context):
    shuts_down = LaunchConfiguration('on_exit_shutdown').perform(context)
    return [ExecuteProcess(
        cmd=[sys.executable, '@stand-in@', 'gazebo', '@folder@', LaunchConfiguration('gz_args')],
        output='both',
        on_exit=Shutdown() if shuts_down else None,  # as ros_gz_sim understands it
    )]


def generate_launch_description():
    return LaunchDescription([
        DeclareLaunchArgument('gz_args', default_value=''),
        DeclareLaunchArgument('on_exit_shutdown', default_value='false'),
        OpaqueFunction(function=gazebo),
    ])
"""


@pytest.fixture
def folder(prefix, tmp_path):
    folder = tmp_path / 'stand_in'
    folder.mkdir()
    add_stand_ins(prefix, PROGRAMS, STAND_IN, folder)
    path = prefix / 'share/ros_gz_sim/launch/gz_sim.launch.py'
    path.parent.mkdir()
    text = GZ_SIM.replace('@folder@', str(folder))
    path.write_text(text.replace('@stand-in@', str(STAND_IN)))
    return folder


def started(folder):
    """Return what was started, in its order, each a dictionary."""
    path = folder / 'started.jsonl'
    lines = path.read_text().splitlines() if path.exists() else []
    return [json.loads(line) for line in lines]


def report(folder):
    path = folder / 'report.json'
    return json.loads(path.read_text()) if path.exists() else {}


def dip(position, mount_rpy=(0.0, 0.0, 0.0), cut=''):
    """Return how far the arm falls by the effort of zero in the first step [rad].

    In 1 ms of free fall it gets a velocity v; under gains of 100 and 20, critically damped with
    10/s, that leads v / (10 e) away. With the wrench of a sensor at a cut the arm answers 1 + d
    times as slowly (doc/wrench.md).
    """
    robot = ned.load_urdf(ROOT / 'config/six_axis_arm.urdf', tip_link='tcp')
    rotation = ned.model.robot.Transform.from_xyz_rpy((0.0, 0.0, 0.0), mount_rpy).rotation
    arm = ned.Dynamics(robot, gravity=rotation.T @ (0.0, 0.0, -9.80665), backend='python')
    mass_matrix = arm.mass_matrix(position)
    fall = np.linalg.solve(mass_matrix, arm.gravity_torque(position))
    slower = 1.0
    if cut:
        own = ned.Dynamics(robot.cut_beyond(cut), backend='python').mass_matrix(position)
        slower += np.linalg.eigvals(np.linalg.solve(own, mass_matrix - own)).real.max()
    return 0.001 * np.abs(fall).max() / (10.0 * np.e) * slower


def run(folder, environment, *arguments, commands=1000):
    """Run the launch file until the arm has taken some commands; return what it was then.

    The physics waits for them, so that nothing depends on the machine.
    """
    (folder / 'waits').touch()
    with LaunchProcess(LAUNCH_FILE, [*arguments, 'gui:=false'], environment) as process:
        process.wait_until(lambda: report(folder).get('commands', 0) >= commands, timeout=180.0)
    result = report(folder)
    assert result.get('commands', 0) >= commands, process.output
    assert result['sag before'] < 1e-6
    assert process.returncode == 0, process.output
    assert 'Traceback' not in process.output
    return result


def test_the_arm_never_falls(folder, environment):
    """From the first step of the physics to the last it dips by what the first effort costs.

    Programs come in their order, with the arguments and parameters that belong to them.
    """
    result = run(folder, environment, 'gz_args:=-v 4')
    assert result['holds'] is True
    assert result['sag'] < 1.05 * dip([0.0] * 6) < 0.0013
    assert max(map(abs, result['position'])) < 1e-5
    assert result['commands before'] > 0  # the node answered before the controller was started
    programs = started(folder)
    names = [entry['program'] for entry in programs]
    assert names.index('create') < names.index('spawner')
    by_name = {entry['program']: entry for entry in programs}
    world = environment['AMENT_PREFIX_PATH'].split(':')[0] + '/share/ne_dynamics/config'
    assert by_name['gazebo']['arguments'] == [f'-r -s -v 4 {world}/gazebo_world.sdf']
    bridge, create = (by_name[name]['arguments'] for name in ('parameter_bridge', 'create'))
    assert bridge[0] == '/clock@rosgraph_msgs/msg/Clock[gz.msgs.Clock'
    assert create[:4] == ['-topic', 'robot_description', '-name', 'arm']
    spawned = [entry['arguments'] for entry in programs if entry['program'] == 'spawner']
    assert spawned[0][:2] == ['joint_state_broadcaster', 'force_torque_sensor_broadcaster']
    assert spawned[1][0] == 'effort_controller'
    assert len(spawned) == 2
    controllers = str(ROOT / 'config/gazebo_controllers.yaml')
    for arguments in spawned:
        assert arguments[arguments.index('--param-file') + 1] == controllers
    values = {}
    for text in by_name['robot_state_publisher']['parameters']:
        for node in yaml.safe_load(text).values():
            values |= node['ros__parameters']
    assert values['use_sim_time'] is True
    assert f'<parameters>{controllers}</parameters>' in values['robot_description']


def test_in_a_namespace_upside_down_with_the_wrench(folder, environment):
    """Hung from the ceiling, in a namespace, elsewhere than at zero, with the sensor, it holds.

    A wrong sign or frame of the sensor, or gravity in the wrong axes, would let it fall.
    """
    position = [0.3, -0.5, 1.0, 0.2, -0.4, 0.6]
    result = run(
        folder,
        environment,
        'namespace:=left/arm',
        'mount_xyz:=0 0 2',
        'mount_rpy:=3.1 0.2 0.5',
        f'initial_position:={" ".join(map(str, position))}',
        'sensor_link:=flange',
        # The dip of the first step goes away 1 + d times as slowly.
        commands=4000,
    )
    assert result['namespace'] == '/left/arm'
    assert result['sag'] < dip(position, (3.1, 0.2, 0.5), cut='flange')
    np.testing.assert_allclose(result['position'], position, rtol=0, atol=1e-4)
    assert np.linalg.norm(result['wrench'][:3]) == pytest.approx(1.5 * 9.80665, rel=0.025)


def test_the_arm_follows_a_trajectory(folder, environment):
    goal, rest = [0.4, -0.3, 0.6, 0.2, -0.5, 0.7], [0.0] * 6
    names = [f'joint_{number}' for number in range(1, 7)]

    def error():
        return np.abs(np.subtract(report(folder).get('position', rest), goal)).max()

    arguments = ['sensor_link:=flange', 'gui:=false']
    with (
        Watcher('/computed_torque') as watcher,
        LaunchProcess(LAUNCH_FILE, arguments, environment) as process,
    ):
        publisher = watcher.probe.create_publisher(JointTrajectory, 'joint_trajectory', 1)
        process.wait_until(lambda: report(folder).get('commands', 0) > 0)
        watcher.until(publisher.get_subscription_count, 'the node')
        assert error() > 0.5
        publisher.publish(trajectory_message(names, [(1.0, goal, rest, rest)]))
        process.wait_until(lambda: error() < 0.002, timeout=60.0)
    assert error() < 0.002, process.output


def test_a_failure_ends_everything(folder, environment):
    """When the arm cannot be put into Gazebo, the rest is shut down with a reason."""
    (folder / 'create_fails').touch()
    with LaunchProcess(LAUNCH_FILE, ['gui:=false'], environment) as process:
        process.wait_until(lambda: False, timeout=30.0)
        assert not process.is_running
    assert 'ending everything: could not put the arm into Gazebo: exit code 1' in process.output
    assert 'spawner' not in [entry['program'] for entry in started(folder)]


def test_missing_packages_are_named(environment):
    output = refusal(LAUNCH_FILE, environment, 'gui:=false')
    assert 'needs packages that are not installed' in output
    assert 'ros-$ROS_DISTRO-gz-ros2-control' in output
    assert 'ros-$ROS_DISTRO-force-torque-sensor-broadcaster' in output


NOTHING = '', ''


@pytest.mark.parametrize(
    ('change', 'argument', 'message'),
    [
        (('sensor_name: ft_sensor', 'sensor_name: x'), '', "sensor_name: expected 'ft_sensor'"),
        (('interface_name: effort', 'interface_name: x'), '', 'interface_name: expected'),
        (('/**/effort_controller:', '/**/x:'), '', "parameters of 'effort_controller'"),
        (NOTHING, 'sensor_joint:=joint_6', 'expected a fixed joint'),
        (NOTHING, 'initial_position:=0 0', 'initial_position: expected 6 numbers'),
        (NOTHING, 'mount_xyz:=0 0 up', "mount_xyz: expected numbers, got '0 0 up'"),
        (NOTHING, 'model:=/nowhere.urdf', 'nowhere.urdf'),
    ],
)
def test_wrong_arguments_are_named(folder, environment, tmp_path, change, argument, message):
    """What does not fit together ends the launch with one line, before anything is started."""
    controllers = tmp_path / 'controllers.yaml'
    text = (ROOT / 'config/gazebo_controllers.yaml').read_text()
    controllers.write_text(text.replace(*change) if change is not NOTHING else text)
    given = ['gui:=false', f'controllers_file:={controllers}', *filter(None, [argument])]
    assert message in refusal(LAUNCH_FILE, environment, *given)
    assert started(folder) == []
