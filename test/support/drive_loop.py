"""The shipped arm on drives that close a loop of their own at 1 kHz, behind the node's message.

Each drive exerts kp (q_d - q) + kd (qd_d - qd) + tau_ff, what motors in MIT mode do. It is told
the desired position and velocity and the feed-forward by the real message, through its bytes;
efforts alone are for drives without gains. The states go to the controller at 500 Hz.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from motion_loop import known_arm, node_controller
from rclpy.serialization import deserialize_message, serialize_message

from ne_dynamics import Robot
from ne_dynamics.control.controller import Controller
from ne_dynamics.control.guards.state_guard import Fault, FaultKind, StateRefused
from ne_dynamics.control.tuning import LastCommand
from ne_dynamics.ros.messages.command_message import make_command_message
from ne_dynamics.simulation.mujoco_model import MujocoArm

DRIVE_PERIOD = 0.001
STATE_EVERY = 2
"""Periods of the drives from one state to the next; so it is of last commands."""

MIT = {
    'mode': 'feedforward',
    'command.interfaces': ['position', 'velocity', 'effort', 'proportional', 'derivative'],
}


class DriveLoop:
    """The node's controller, its message, drives, and an arm.

    Parameters
    ----------
    model, plant : Robot
        What is known, and what there is.
    position : array, shape (n,)
        Where the arm begins, at rest [rad].
    **settings
        Of the node.

    Attributes
    ----------
    controller : Controller
    arm : MujocoArm
    faults : list of Fault
    are_states_lost : bool
        Whether no state comes to the controller.
    sent : list of array, shape (5, n)
        What the drives were told, in each of their periods: position, velocity, effort, gains.
    torques, positions, velocities : list of array, shape (n,)
        What they exerted then, and where the arm was [N m, rad, rad/s].
    """

    def __init__(
        self, model: Robot, plant: Robot, position: np.ndarray, **settings: object
    ) -> None:
        self.settings, known = known_arm(model, **settings)
        self.controller: Controller = node_controller(model, **settings)
        self._command = make_command_message(self.settings.command, known)
        self._limits = model.limits('effort_limit')
        self.arm = MujocoArm(plant, period=DRIVE_PERIOD, integrator='implicitfast')
        self.arm.reset(position)
        self.n = model.n
        self._told: np.ndarray | None = None
        self._leaving: Iterator[np.ndarray] = iter(())
        self.faults: list[Fault] = []
        self.are_states_lost = False
        self.sent: list[np.ndarray] = []
        self.torques: list[np.ndarray] = []
        self.positions: list[np.ndarray] = []
        self.velocities: list[np.ndarray] = []

    def run(self, seconds: float, push: np.ndarray | float = 0.0) -> None:
        """Let a time pass, while something acts on the joints beside the drives [N m]."""
        for _ in range(round(seconds / DRIVE_PERIOD)):
            if len(self.sent) % STATE_EVERY == 0:
                self._control()
            self._drive(push)

    def leave(self, last: LastCommand = LastCommand.GRAVITY) -> None:
        """Deactivate: from now on last commands are sent."""
        self.are_states_lost = True
        self._leaving = self.controller.machine.last_commands(last)

    def lose_states(self) -> None:
        """Let the states stop, and the watchdog notice."""
        self.are_states_lost = True
        self.faults.append(self.controller.trip(FaultKind.STOPPED, 'simulated'))
        braking = self.controller.machine.braking_commands(0.1)
        self._leaving = self.controller.machine.last_commands() if braking is None else braking

    def _control(self) -> None:
        arm, controller = self.arm, self.controller
        if not self.are_states_lost:
            try:
                answer = controller.answer(
                    arm.position, arm.velocity, arm.time, arm.time, arm.effort
                )
                self._send(answer.effort)
                controller.review()
            except StateRefused as refusal:
                if refusal.fault is not None:
                    self.faults.append(refusal.fault)
                    self._leaving = controller.machine.last_commands()
                    return
            else:
                return
        effort = next(self._leaving, None)
        if effort is not None:
            self._send(effort)

    def _send(self, effort: np.ndarray) -> None:
        """Send a command through the bytes of its message."""
        self._command.write(effort, self.controller.limits.setpoint)
        message = self._command.message
        received = deserialize_message(serialize_message(message), type(message))
        interfaces = self.settings.command.interfaces
        data = np.array(received.data).reshape(self.n, len(interfaces))
        told = {name: data[:, index] for index, name in enumerate(interfaces)}
        names = 'position', 'velocity', 'effort', 'proportional', 'derivative'
        self._told = np.array([told.get(name, np.zeros(self.n)) for name in names])

    def _drive(self, push: np.ndarray | float) -> None:
        arm, told = self.arm, self._told
        if told is None:
            raise RuntimeError('the drives were told nothing')
        position, velocity, effort, kp, kd = told
        torque = kp * (position - arm.position) + kd * (velocity - arm.velocity) + effort
        torque = np.clip(torque, -self._limits, self._limits)
        self.sent.append(told)
        self.torques.append(torque)
        self.positions.append(arm.position)
        self.velocities.append(arm.velocity)
        arm.step(torque, push)
