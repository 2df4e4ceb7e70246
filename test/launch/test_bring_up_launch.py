"""A package of `ne_dynamics setup`, launched by the real launch system where it is installed."""

from __future__ import annotations

import pytest

pytest.importorskip(
    'launch_ros', reason='launch_ros is missing: it comes with a ROS 2 installation, not from pip'
)

import yaml
from brought_up_arms import ARMS, find_arm
from install_space import add_package
from launch_process import LaunchProcess
from sensor_msgs.msg import JointState
from test_launch_files import Watcher
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from ne_dynamics.cli.main import main


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
    places = {}
    with (
        Watcher('/computed_torque', environment) as watcher,
        LaunchProcess(folder / 'launch/simulation.launch.py', [], environment) as process,
    ):

        def on_states(message):
            places.update(zip(message.name, message.position, strict=True))

        watcher.node.create_subscription(JointState, 'joint_states', on_states, 10)
        trajectory = JointTrajectory(joint_names=motion['joint_names'])
        goal = JointTrajectoryPoint(positions=point['positions'])
        goal.time_from_start.sec = point['time_from_start']['sec']
        trajectory.points.append(goal)
        sender = watcher.node.create_publisher(JointTrajectory, 'joint_trajectory', 1)

        def is_there():
            watcher.spin()
            return bool(places) and all(
                abs(places[joint] - place) < 0.01
                for joint, place in zip(motion['joint_names'], point['positions'], strict=True)
            )

        assert process.wait_until(lambda: watcher.spin() or bool(places)), process.output
        assert process.wait_until(
            lambda: watcher.spin() or 'joint_trajectory' in str(watcher.topics('subscriber'))
        )
        assert not is_there()
        sender.publish(trajectory)
        arrived = process.wait_until(is_there)
    assert arrived, (process.output, places)
    assert 'Traceback' not in process.output
