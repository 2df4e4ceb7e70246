"""The launch files, against the real launch system where it is installed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytest.importorskip(
    'launch_ros', reason='launch_ros is missing: it comes with a ROS 2 installation, not from pip'
)

import launch
import rclpy
from launch.actions import DeclareLaunchArgument
from launch.launch_description_sources import PythonLaunchDescriptionSource
from lifecycle_msgs.msg import State
from lifecycle_msgs.srv import GetState
from rclpy.executors import SingleThreadedExecutor
from std_msgs.msg import Float64MultiArray

ROOT = Path(__file__).resolve().parents[2]
LAUNCH_FILES = sorted((ROOT / 'launch').glob('*.launch.py'))
DOMAIN_ID = '61'
EXECUTABLES = {
    'computed_torque': 'ne_dynamics.ros.node',
    'simulated_robot': 'ne_dynamics.simulation.simulated_robot',
}
RUN = """
import sys
from launch import LaunchDescription, LaunchService
from launch.actions import IncludeLaunchDescription
from launch.launch_description_sources import PythonLaunchDescriptionSource

path, *arguments = sys.argv[1:]
service = LaunchService()
service.include_launch_description(LaunchDescription([IncludeLaunchDescription(
    PythonLaunchDescriptionSource(path),
    launch_arguments=[argument.split(':=') for argument in arguments],
)]))
sys.exit(service.run())
"""


@pytest.fixture
def environment(tmp_path, monkeypatch):
    """Set up an install space that points at the checkout, and return the environment."""
    prefix = tmp_path / 'install'
    marker = prefix / 'share/ament_index/resource_index/packages/ne_dynamics'
    marker.parent.mkdir(parents=True)
    marker.touch()
    share = prefix / 'share/ne_dynamics'
    share.mkdir()
    for folder in ('launch', 'config'):
        (share / folder).symlink_to(ROOT / folder)
    scripts = prefix / 'lib/ne_dynamics'
    scripts.mkdir(parents=True)
    for name, module in EXECUTABLES.items():
        script = scripts / name
        script.write_text(
            f'#!{sys.executable}\nimport sys\nfrom {module} import main\nsys.exit(main())\n'
        )
        script.chmod(0o755)
    prefixes = [str(prefix), os.environ.get('AMENT_PREFIX_PATH', '')]
    monkeypatch.setenv('AMENT_PREFIX_PATH', os.pathsep.join(filter(None, prefixes)))
    paths = [str(ROOT), os.environ.get('PYTHONPATH', '')]
    monkeypatch.setenv('PYTHONPATH', os.pathsep.join(filter(None, paths)))
    monkeypatch.setenv('ROS_DOMAIN_ID', DOMAIN_ID)
    monkeypatch.setenv('ROS_AUTOMATIC_DISCOVERY_RANGE', 'LOCALHOST')
    monkeypatch.setenv('ROS_LOG_DIR', str(tmp_path / 'log'))
    return dict(os.environ)


def declared_arguments(description):
    """Return the declared arguments of a launch description by name."""
    return {
        action.name: action
        for action in description.entities
        if isinstance(action, DeclareLaunchArgument)
    }


@pytest.mark.parametrize('path', LAUNCH_FILES, ids=lambda path: path.name)
def test_every_argument_is_documented(path, environment):
    """A launch file loads, and each of its arguments has a description and a default."""
    description = PythonLaunchDescriptionSource(str(path)).get_launch_description(
        launch.LaunchContext()
    )
    arguments = declared_arguments(description)
    assert {'model', 'params_file', 'namespace'} <= set(arguments)
    for argument in arguments.values():
        assert argument.description
        assert argument.default_value is not None


def test_simulation_runs_to_the_first_commands(environment):
    """simulation.launch.py brings the node to `active`, commands flow, and Ctrl-C ends it."""
    arguments = ['namespace:=arm', 'tip_link:=tcp', 'sensor_link:=ft_sensor', 'payload_mass:=3.0']
    command = [sys.executable, '-c', RUN, ROOT / 'launch/simulation.launch.py', *arguments]
    process = subprocess.Popen(
        command,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    context = rclpy.Context()
    rclpy.init(context=context, domain_id=int(DOMAIN_ID))
    node = rclpy.create_node('watcher', context=context)
    executor = SingleThreadedExecutor(context=context)
    executor.add_node(node)
    received = []
    node.create_subscription(
        Float64MultiArray, 'arm/effort_controller/commands', received.append, 10
    )
    client = node.create_client(GetState, 'arm/computed_torque/get_state')
    state = None
    deadline = time.monotonic() + 60.0
    try:
        while time.monotonic() < deadline and process.poll() is None:
            executor.spin_once(timeout_sec=0.2)
            if state == State.PRIMARY_STATE_ACTIVE and len(received) >= 10:
                break
            if client.service_is_ready():
                future = client.call_async(GetState.Request())
                executor.spin_until_future_complete(future, timeout_sec=5.0)
                state = future.result().current_state.id if future.done() else state
    finally:
        executor.shutdown()
        node.destroy_node()
        rclpy.shutdown(context=context)
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGINT)
        try:
            output, _ = process.communicate(timeout=30)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            output, _ = process.communicate()
    assert state == State.PRIMARY_STATE_ACTIVE, output
    assert len(received) >= 10, output
    assert len(received[-1].data) == 6
    assert process.returncode == 0, output
    assert output.count('process has finished cleanly') == 2, output
    assert 'Traceback' not in output
