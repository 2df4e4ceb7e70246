"""The live part of a run: DDS, the arm, its brakes, and the node for the time of a motion."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from ne_dynamics.commission.arm.faults import ArmFault, StrayedArm
from ne_dynamics.commission.arm.held_arm import Progress
from ne_dynamics.commission.arm.live_arm import LiveArm
from ne_dynamics.commission.arm.signal_masking import in_one_piece, signals_masked
from ne_dynamics.commission.arm.watchdog import HELD_FOR, Watchdog
from ne_dynamics.commission.node_settings import parameter_text
from ne_dynamics.commission.thresholds import ARM
from ne_dynamics.errors import optional_dependency
from ne_dynamics.model.robot import Robot
from ne_dynamics.prepared_file import write_whole
from ne_dynamics.ros import private_domain
from ne_dynamics.simulation import SimulatedRobotSettings
from ne_dynamics.simulation.demo.ros_process import (
    ROBOT_MODULE,
    ROBOT_NAME,
    RosProcesses,
    domain_id,
    local_discovery,
)

with optional_dependency('a commissioning run needs ROS 2 for Python', 'ros'):
    import rclpy
    from rclpy.signals import SignalHandlerOptions
    from std_srvs.srv import Trigger

LOCKSTEP = {
    'lockstep': True,
    'paced': True,
    'brake': True,
    'time_under_brakes': True,
    'publish_clock': True,
}
"""Of the simulated robot: under brakes, in lockstep with node and run; it has a clock."""


class Session(LiveArm):
    """An arm over DDS with its brakes, and the node that holds it during motions.

    A context manager; on exit all started processes are stopped.

    Parameters
    ----------
    robot : Robot
    simulated : mapping, optional
        Parameters of the simulated robot; None: a real robot.
    ask : callable
        For the brakes, or the effort controller, of a real robot: shows a sentence and returns
        when it is done; False when nobody can be asked any more.
    namespace : str
    """

    def __init__(
        self,
        robot: Robot,
        simulated: Mapping[str, Any] | None,
        ask: Callable[[str], bool],
        namespace: str = '',
    ) -> None:
        super().__init__(robot)
        self.is_simulated = simulated is not None
        self._simulated = simulated
        self._ask = ask
        self._namespace = namespace
        self._stack = contextlib.ExitStack()
        self._brakes: dict[str, Any] = {}
        self._is_released = False

    def __enter__(self) -> Session:
        with contextlib.ExitStack() as stack:
            is_simulated = self.is_simulated
            if is_simulated:
                stack.enter_context(local_discovery())
            # Whatever the environment names: a real arm may listen there.
            domain = private_domain() if is_simulated else domain_id(0)
            context = rclpy.Context()
            rclpy.init(
                args=[],
                context=context,
                domain_id=domain,
                signal_handler_options=SignalHandlerOptions.NO,
            )
            stack.callback(context.try_shutdown)
            watchdog = stack.enter_context(Watchdog(domain, self._namespace, is_simulated))
            processes = stack.enter_context(RosProcesses(domain, self._namespace))
            rate = None
            if self._simulated is not None:
                rate = float(self._simulated.get('rate', SimulatedRobotSettings().rate))
                with in_one_piece():
                    processes.start(ROBOT_NAME, ROBOT_MODULE, {**self._simulated, **LOCKSTEP})
            self.connect(context, self._namespace, processes, watchdog, rate)
            stack.callback(self.disconnect)
            if is_simulated:
                self._brakes = {
                    name: self.node.create_client(Trigger, f'{ROBOT_NAME}/{name}')
                    for name in ('release_brake', 'engage_brake')
                }
            self.guard_processes()
            self.wait_for_state(ARM.first_state_time)
            self.require_only_run()
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        with signals_masked():
            self._stack.close()

    def release(self) -> None:
        """Release the brakes, or ask for it; nothing moves when nobody answers."""
        sentence = 'release the brakes (activate the effort controller): the node holds the arm'
        if self.is_simulated:
            self._switch('release_brake')
        elif not self._ask(sentence):
            raise ArmFault('the brakes: expected somebody who releases them, nobody answers')

    def engage(self) -> bool:
        """Engage the brakes, or ask for it; return whether it is done, or said to be."""
        if self.is_simulated:
            self._switch('engage_brake')
            return True
        return self._ask('engage the brakes (or support the arm): the node is going to end')

    def _switch(self, name: str) -> None:
        # The arm is to have its brakes most of all when its node has ended.
        client, what = self._brakes[name], f'{ROBOT_NAME}/{name}'
        self.wait(client.service_is_ready, what, needs_node=False)
        answer = client.call_async(Trigger.Request())
        self.wait(answer.done, what, needs_node=False)

    @contextlib.contextmanager
    def moving(
        self,
        name: str,
        parameters: Mapping[str, Any],
        file: Path,
        look: Progress | None = None,
    ) -> Iterator[None]:
        """Run a node that controls the arm within the context; see :meth:`HeldArm.moving`."""
        if self.is_simulated:
            parameters = {**parameters, 'state_timeout': ARM.standing_time}
        write_whole(file, parameter_text(parameters))
        self.catch_up()
        self.forget()
        try:
            self.start_node(name, parameters)
            # Before: whether they are released when this is interrupted cannot be told.
            self._is_released = True
            self.release()
            self.catch_up()
            self.watch()
            self.pass_time(self.now + ARM.settling_time, look)
            yield
        except StrayedArm:
            with signals_masked():
                self.let_float()
            raise
        except BaseException:
            with signals_masked():
                self.hold()
            raise
        finally:
            self.rest()

    def rest(self) -> None:
        """Engage the brakes and stop the node; signals do not interrupt this.

        If nobody engages the brakes, the node holds the arm for some time.
        """
        with signals_masked():
            try:
                if self._is_released and not self.engage():
                    self.hold_on(HELD_FOR)
                self._is_released = False
            finally:
                self.end_node()
