"""ros2_control's own programs, where they are: the controller manager, its spawner, its plugins.

The environment variable `NE_DYNAMICS_ROS2_CONTROL` names the ament prefix that has them, such as
/opt/ros/jazzy or the install space of a build. Nobody is waited for by the clock: what is to
happen is read from topics, or from the end of the spawner.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

VARIABLE = 'NE_DYNAMICS_ROS2_CONTROL'
PATIENCE = 120.0
"""Seconds that something may take on a busy machine before the test gives up."""

MUJOCO = ('hardware_interface', 'mujoco_ros2_control')
TOPIC = ('hardware_interface', 'joint_state_topic_hardware_interface')
JTC = ('controller_interface', 'joint_trajectory_controller')
BROADCASTER = ('controller_interface', 'joint_state_broadcaster')
FORWARD = ('controller_interface', 'forward_command_controller')
"""Base class and package of the plugins that tests ask for."""

SWITCH = """
import sys
import rclpy
from controller_manager_msgs.srv import SwitchController
rclpy.init()
node = rclpy.create_node('switch')
client = node.create_client(SwitchController, '/controller_manager/switch_controller')
assert client.wait_for_service(60.0)
request = SwitchController.Request(strictness=SwitchController.Request.STRICT)
setattr(request, sys.argv[1] + '_controllers', sys.argv[2:])
future = client.call_async(request)
rclpy.spin_until_future_complete(node, future)
sys.exit(not future.result().ok)
"""


def missing(*plugins: tuple[str, str]) -> str:
    """Return what of ros2_control is not there, by name; empty when all of it is."""
    given = os.environ.get(VARIABLE)
    if not given:
        return f'no compiled ros2_control: {VARIABLE} names none'
    prefix = Path(given)
    programs = [
        prefix / 'lib/controller_manager' / name for name in ('ros2_control_node', 'spawner')
    ]
    index = prefix / 'share/ament_index/resource_index'
    markers = [index / f'{base}__pluginlib__plugin' / package for base, package in plugins]
    absent = [str(path.relative_to(prefix)) for path in (*programs, *markers) if not path.exists()]
    return f'{VARIABLE}: no {", ".join(absent)}' if absent else ''


def environment(*first: str) -> dict[str, str]:
    """Return the environment of ros2_control's processes; `first` are ament prefixes before it."""
    prefix = Path(os.environ[VARIABLE])
    version = f'python{sys.version_info.major}.{sys.version_info.minor}'
    ahead = {
        'AMENT_PREFIX_PATH': [*first, str(prefix), sys.prefix],
        'LD_LIBRARY_PATH': [str(prefix / 'lib')],
        'PYTHONPATH': [
            str(Path(__file__).parents[2]),
            str(prefix / 'lib' / version / 'site-packages'),
        ],
    }
    own = dict(os.environ)
    for name, entries in ahead.items():
        own[name] = os.pathsep.join(filter(None, [*entries, os.environ.get(name, '')]))
    return own


def start_program(*command: str) -> subprocess.Popen[str]:
    """Start a program beside ros2_control that ends by itself."""
    return subprocess.Popen(
        command,
        env=environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


class ControllerManager:
    """A controller manager that runs, and what is done with it.

    Parameters
    ----------
    scene : ControlScene or Bench
        Whose node publishes the description, and is served while something is waited for.
    folder : Path
        For what it prints.
    files : sequence of Path
        Parameters of the manager and its controllers.
    description : str
        URDF with `<ros2_control>`.
    prefixes : sequence of Path, optional
        Ament prefixes of more plugins.
    """

    def __init__(
        self,
        scene: Any,
        folder: Path,
        files: Sequence[Path],
        description: str,
        prefixes: Sequence[Path] = (),
    ) -> None:
        from std_msgs.msg import String

        from ne_dynamics.ros.latched import LATCHED

        self._scene = scene
        self._programs = Path(os.environ[VARIABLE]) / 'lib/controller_manager'
        self._files = files
        self._log = folder / 'controller_manager.log'
        self._publisher = scene.probe.create_publisher(String, 'robot_description', LATCHED)
        self._publisher.publish(String(data=description))
        given = (word for file in files for word in ('--params-file', str(file)))
        with self._log.open('wb') as output:
            self._child = subprocess.Popen(
                [str(self._programs / 'ros2_control_node'), '--ros-args', *given],
                env=environment(*map(str, prefixes)),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    @property
    def output(self) -> str:
        """What it has printed last."""
        return self._log.read_text(encoding='utf-8', errors='replace')[-4000:]

    def spawn(self, name: str, *arguments: str, turn: Callable[[], object] = bool) -> None:
        """Load, configure and activate a controller, unless the arguments say less.

        Parameters
        ----------
        name : str
        *arguments : str
            Of the spawner.
        turn : callable
            Called while the spawner runs.
        """
        files = (word for file in self._files for word in ('--param-file', str(file)))
        patience = str(PATIENCE)
        waits = '--controller-manager-timeout', patience, '--switch-timeout', patience
        program = str(self._programs / 'spawner')
        self.finish(start_program(program, *files, *waits, name, *arguments), turn)

    def unspawn(self, name: str) -> None:
        """Deactivate and unload a controller."""
        self.finish(start_program(str(self._programs / 'unspawner'), name))

    def begin_switch(self, what: str, *names: str) -> subprocess.Popen[str]:
        """Begin to `activate` or `deactivate` controllers."""
        return start_program(sys.executable, '-c', SWITCH, what, *names)

    def finish(self, process: subprocess.Popen[str], turn: Callable[[], object] = bool) -> str:
        """Let a program end well; return what it printed."""

        def has_ended() -> bool:
            turn()
            return process.poll() is not None

        self._scene.spin(has_ended, f'the end of {process.args}')
        printed, _ = process.communicate()
        assert process.returncode == 0, f'{printed}\n{self.output}'
        return printed

    def kill(self) -> None:
        """End it without asking."""
        self._child.kill()
        self._child.wait()

    def close(self) -> None:
        """Ask it to end, and see that it does."""
        self._child.send_signal(signal.SIGINT)
        try:
            self._child.wait(30.0)
        except subprocess.TimeoutExpired:
            self.kill()


class ControlScene:
    """A node of the test's beside a controller manager, and everything that is to be ended.

    Parameters
    ----------
    domain : int
        ROS domain id.

    Attributes
    ----------
    probe : rclpy.node.Node
    manager : ControllerManager or None
    """

    def __init__(self, domain: int) -> None:
        from rclpy.context import Context
        from rclpy.executors import SingleThreadedExecutor
        from rclpy.node import Node

        self.context = Context()
        self.context.init(domain_id=domain)
        self.executor = SingleThreadedExecutor(context=self.context)
        self.probe = Node('probe', context=self.context)
        self.executor.add_node(self.probe)
        self.manager: ControllerManager | None = None
        self._endings: list[Callable[[], object]] = []

    def at_the_end(self, ending: Callable[[], object]) -> None:
        """Call something when the scene is closed; the last one first."""
        self._endings.append(ending)

    def spin(self, until: Callable[[], Any], what: str = 'condition') -> Any:
        """Serve the test's node until something is so; return it."""
        deadline = time.monotonic() + PATIENCE
        while not (result := until()):
            printed = '' if self.manager is None else self.manager.output
            assert time.monotonic() < deadline, f'{what} did not come about\n{printed}'
            self.turn()
        return result

    def turn(self) -> None:
        """Serve the test's node for a moment."""
        self.executor.spin_once(0.02)

    def start_script(self, script: str, *arguments: str) -> subprocess.Popen[str]:
        """Start a Python program by its text, with the messages that ros2_control has."""
        process = start_program(sys.executable, '-c', script, *arguments)
        self.at_the_end(process.kill)
        return process

    def close(self) -> None:
        """End everything."""
        for ending in reversed(self._endings):
            ending()
        self.executor.shutdown()
        self.probe.destroy_node()
        self.context.try_shutdown()


class ClockedScene(ControlScene):
    """A scene whose clock the test is: a cycle begins when the one before is over.

    The controller manager follows /clock: a busy machine makes time slow, the control no worse.

    Parameters
    ----------
    domain : int
        ROS domain id.
    controller : str
        Name of the joint_trajectory_controller whose state ends a cycle.
    period : float
        Of a cycle [s].

    Attributes
    ----------
    states : list of JointTrajectoryControllerState
    """

    def __init__(self, domain: int, controller: str, period: float = 0.002) -> None:
        from control_msgs.msg import JointTrajectoryControllerState
        from rosgraph_msgs.msg import Clock

        super().__init__(domain)
        self.states: list[Any] = []
        topic = f'{controller}/controller_state'
        self.probe.create_subscription(
            JointTrajectoryControllerState, topic, self.states.append, 1000
        )
        self._message, self._clock = Clock, self.probe.create_publisher(Clock, '/clock', 10)
        self._period, self._ticks, self._ticked_at, self._is_over = period, 1000, 0.0, False

    def turn(self) -> None:
        """Serve the test's node; begin a cycle when the one before is over, or nothing comes."""
        from ne_dynamics.simulation.demo.node_messages import set_stamp

        count = len(self.states)
        super().turn()
        now = time.monotonic()
        self._is_over |= len(self.states) != count
        if now - self._ticked_at > (self._period if self._is_over else 0.02):
            self._ticked_at, self._is_over = now, False
            self._ticks += 1
            message = self._message()
            set_stamp(message.clock, self._ticks * self._period)
            self._clock.publish(message)


def finite(rows: Iterable[Any]) -> bool:
    """Return whether no number of messages' fields is NaN or infinite."""
    import numpy as np

    return all(np.isfinite(row).all() for row in rows)
