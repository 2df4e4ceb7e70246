"""The launch file of examples/, against the real launch system where it is installed."""

import pytest

pytest.importorskip(
    'launch_ros', reason='launch_ros is missing: it comes with a ROS 2 installation, not from pip'
)

from install_space import ROOT
from launch_process import LaunchProcess
from launch_watcher import Watcher


def test_the_example_brings_the_node_up_with_its_parameters(environment):
    """In its namespace, with the gains that it gives."""
    path = ROOT / 'examples/own_arm.launch.py'
    with (
        Watcher('/left/computed_torque') as watcher,
        LaunchProcess(path, [], environment) as process,
    ):
        watcher.until(lambda: watcher.is_in('active'), 'active')
        found = watcher.parameters('computed_torque.kp', 'tip_link')
    assert found == {'computed_torque.kp': [100.0], 'tip_link': 'tcp'}
    assert 'expected YAML' not in process.output
    assert process.output.count('process has finished cleanly') == 2, process.output
