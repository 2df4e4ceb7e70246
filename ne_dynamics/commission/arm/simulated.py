"""The arm of a simulated commissioning run: the simulated robot, its brakes, its true states."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ne_dynamics.commission.arm.live_arm import LiveArm
from ne_dynamics.errors import optional_dependency
from ne_dynamics.simulation.demo.ros_process import (
    ROBOT_MODULE,
    ROBOT_NAME,
    RosProcess,
    RosProcesses,
)

with optional_dependency('a commissioning run needs ROS 2 for Python', 'ros'):
    from std_srvs.srv import Trigger


class SimulatedBrakes:
    """Brakes of the simulated robot, by its services."""

    def __init__(self, arm: LiveArm) -> None:
        self._arm = arm
        self._release = arm.node.create_client(Trigger, f'{ROBOT_NAME}/release_brake')
        self._engage = arm.node.create_client(Trigger, f'{ROBOT_NAME}/engage_brake')

    def release(self) -> None:
        """Let the arm move."""
        self._call(self._release, 'release_brake')

    def engage(self) -> bool:
        """Stop the arm where it is; return True."""
        self._call(self._engage, 'engage_brake')
        return True

    def _call(self, client: Any, name: str) -> None:
        # The arm is to have its brakes most of all when its node has ended.
        what = f'{ROBOT_NAME}/{name}'
        self._arm.wait(client.service_is_ready, what, needs_node=False)
        answer = client.call_async(Trigger.Request())
        self._arm.wait(answer.done, what, needs_node=False)


def start_simulated_robot(processes: RosProcesses, parameters: Mapping[str, Any]) -> RosProcess:
    """Start the simulated robot under brakes, in lockstep with node and run; it has a clock."""
    return processes.start(
        ROBOT_NAME,
        ROBOT_MODULE,
        {
            **parameters,
            'lockstep': True,
            'paced': True,
            'brake': True,
            'time_under_brakes': True,
            'publish_clock': True,
        },
    )
