"""A package of `ne_dynamics setup`, launched by the real launch system where it is installed."""

import pytest

pytest.importorskip(
    'launch_ros', reason='launch_ros is missing: it comes with a ROS 2 installation, not from pip'
)

import yaml
from brought_up_arms import ARMS, find_arm
from install_space import add_package
from launch_process import LaunchProcess
from launch_watcher import Watcher
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import JointTrajectory

from ne_dynamics.cli.main import main
from ne_dynamics.simulation.demo.node_messages import trajectory_message


@pytest.mark.parametrize('name', ARMS)
def test_the_simulation_moves_the_arm(name, prefix, environment, tmp_path):
    """The arm holds, gets the motion of the package's README, and goes there."""
    model, options = find_arm(name)
    folder = tmp_path / 'my_arm_bringup'
    assert main(['setup', str(model), *options, '-o', str(folder)]) == 0
    share = add_package(prefix, 'my_arm_bringup')
    for part in ('launch', 'config', 'urdf'):
        (share / part).symlink_to(folder / part)
    readme = (folder / 'README.md').read_text()
    text = readme.partition("JointTrajectory '{")[2].partition("}'")[0]
    motion = yaml.safe_load('{' + text + '}')
    (point,) = motion['points']
    goal = dict(zip(motion['joint_names'], point['positions'], strict=True))
    places = {}
    with (
        Watcher('/computed_torque') as watcher,
        LaunchProcess(folder / 'launch/simulation.launch.py', [], environment) as process,
    ):

        def on_states(message):
            places.update(zip(message.name, message.position, strict=True))

        def is_there():
            return all(abs(places[joint] - place) < 0.01 for joint, place in goal.items())

        watcher.probe.create_subscription(JointState, 'joint_states', on_states, 10)
        sender = watcher.probe.create_publisher(JointTrajectory, 'joint_trajectory', 1)
        watcher.until(lambda: places, 'states')
        watcher.until(sender.get_subscription_count, 'the node')
        assert not is_there()
        seconds = point['time_from_start']['sec']
        sender.publish(trajectory_message(list(goal), [(seconds, list(goal.values()))]))
        watcher.until(is_there, 'the arm at the goal')
    assert 'Traceback' not in process.output
