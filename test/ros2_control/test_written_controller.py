"""A package that `ne_dynamics controller` wrote, under the real controller manager.

CMake builds it. Its plugin is found by pluginlib, and spawned with joint_trajectory_controller as
its launch file does it. The arm is in MuJoCo.
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from build_control_msgs import ControlMessages
from compiled_ros2_control import (
    JTC,
    MUJOCO,
    ClockedScene,
    ControllerManager,
    environment,
    missing,
)

pytest.importorskip('rclpy', reason='needs ROS 2 for Python: pip install "ne_dynamics[ros]"')
pytest.importorskip('mujoco', reason='MuJoCo is not installed')
if absent := missing(JTC, MUJOCO):
    pytest.skip(absent, allow_module_level=True)
if shutil.which('cmake') is None or shutil.which('g++') is None:
    pytest.skip('no CMake or no C++ compiler (g++) is installed', allow_module_level=True)

from ne_dynamics import Dynamics, load_urdf
from ne_dynamics.cli.main import main
from ne_dynamics.ros.running.private_domain import private_domain
from ne_dynamics.shipped import shipped_file
from ne_dynamics.simulation.demo.node_messages import parameter_of, trajectory_message
from ne_dynamics.simulation.demo.ros_process import local_discovery
from ne_dynamics.simulation.descriptions.hardware_description import (
    hardware_description,
    mjcf_with_motors,
    mujoco_hardware,
)

MODEL = shipped_file('six_axis_arm.urdf')
NAME, CHAIN = 'arm_controller', ('arm_controller', 'joint_trajectory_controller')
NAMES = tuple(f'joint_{number}' for number in range(1, 7))
START = np.array([0.3, -1.0, 1.2, 0.4, -0.5, 0.2])
END = START + np.array([0.5, 0.3, -0.4, 0.8, 0.6, -0.7])
STILL = np.zeros(6)


@pytest.fixture(scope='module')
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp('workspace') / NAME
    words = ['controller', '--model', str(MODEL), '--tip-link', 'tcp', '-o', str(folder)]
    assert main(words) == 0
    build, install = folder.with_name('build'), folder.with_name('install')
    given = f'-DCMAKE_INSTALL_PREFIX={install}', '-DBUILD_TESTING=OFF'
    for words in (
        ['cmake', '-S', str(folder), '-B', str(build), *given],
        ['cmake', '--build', str(build), '--target', 'install'],
    ):
        done = subprocess.run(
            words, env=environment(), capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr
        assert 'warning' not in done.stdout + done.stderr
    return folder


class Scene(ClockedScene):
    """The arm in MuJoCo under the controller manager, with the parameters of the package."""

    def __init__(self, folder: Path, package: Path) -> None:
        from rclpy.parameter_client import AsyncParameterClient
        from trajectory_msgs.msg import JointTrajectory

        super().__init__(private_domain(), CHAIN[1])
        self.dynamics = Dynamics(load_urdf(MODEL, tip_link='tcp'), backend='python')
        (folder / 'arm.xml').write_text(mjcf_with_motors(load_urdf(MODEL)))
        description = hardware_description(
            MODEL,
            mujoco_hardware(folder / 'arm.xml'),
            initial_position=dict(zip(NAMES, START, strict=True)),
        )
        simulated = folder / 'simulated.yaml'
        of_all = {'/**': {'ros__parameters': {'use_sim_time': True}}}
        simulated.write_text(yaml.safe_dump(of_all))
        files = [package / 'config/controllers.yaml', simulated]
        self.manager = ControllerManager(
            self, folder, files, description, [package.with_name('install')]
        )
        self.at_the_end(self.manager.close)
        self.parameters = AsyncParameterClient(self.probe, f'/{NAME}')
        topic = f'{CHAIN[1]}/joint_trajectory'
        self._trajectory = self.probe.create_publisher(JointTrajectory, topic, 10)

    def send(self, seconds: float, position: Any) -> None:
        """Send a trajectory of one point, once somebody listens."""
        self.spin(self._trajectory.get_subscription_count, 'a listener')
        point = seconds, position, STILL, STILL
        self._trajectory.publish(trajectory_message(NAMES, [point]))

    def refusal(self, name: str, value: Any) -> str:
        """Set a parameter of the controller; return why it is refused."""
        future = self.parameters.set_parameters([parameter_of(name, value)])
        self.spin(future.done, 'the answer to a parameter')
        return str(future.result().results[0].reason)


@pytest.fixture
def scene(messages: ControlMessages, package: Path, tmp_path: Path) -> Iterator[Scene]:
    """Return a scene in which both controllers are active."""
    with local_discovery():
        scene = Scene(tmp_path, package)
        scene.manager.spawn(*CHAIN, '--activate-as-group')
        yield scene
        scene.close()


def test_the_arm_follows_a_trajectory_through_the_chain(scene: Scene) -> None:
    """Within 4 mrad on its way, of which 3 are the period by which JTC leads, and 0.2 at its end.

    A parameter is taken meanwhile, and one that cannot be is refused with the reason.
    """
    scene.send(1.0, END)
    scene.spin(lambda: any(np.any(state.reference.velocities) for state in scene.states), 'motion')
    assert scene.refusal('payload.mass', 0.0) == ''
    assert scene.refusal('computed_torque.kp', [-1.0]).startswith('computed_torque.kp: expected')
    scene.spin(lambda: np.allclose(scene.states[-1].reference.positions, END), 'the end')
    moving = [state for state in scene.states if np.any(state.reference.velocities)]
    assert len(moving) > 200
    error = max(np.abs(state.error.positions).max() for state in moving)
    print(f'largest tracking error: {error:.6f} rad')
    assert error < 4e-3
    scene.states.clear()
    scene.spin(lambda: len(scene.states) > 300, 'a second at the end')
    np.testing.assert_allclose(scene.states[-1].feedback.positions, END, atol=2e-4)
    assert 'not a number' not in scene.manager.output


def test_it_is_chained_and_leaves_with_the_chain(scene: Scene) -> None:
    """Both are deactivated, and active again; the arm stays near where it was."""
    scene.manager.finish(scene.manager.begin_switch('deactivate', *CHAIN), scene.turn)
    scene.manager.finish(scene.manager.begin_switch('activate', *CHAIN), scene.turn)
    scene.states.clear()
    scene.spin(lambda: len(scene.states) > 20, 'states of the controller in front')
    assert np.abs(scene.states[-1].feedback.positions - START).max() < 0.05
