"""A session without processes: the node's controller and a simulated arm, step by step.

What a run does with :class:`~ne_dynamics.commission.arm.session.Session` it does here with the
same controller, made of the same parameters, and the same physics, encoders, delay and ripple, but
without DDS: each run is the same to the last bit, and nothing waits for a clock.
"""

from __future__ import annotations

import contextlib
from collections import deque
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ne_dynamics.commission.arm.faults import ArmFault
from ne_dynamics.commission.arm.held_arm import Answer, HeldArm, Progress, StateCheck
from ne_dynamics.commission.motions import PlannedMotion, effort_limits
from ne_dynamics.commission.node_settings import parameter_text
from ne_dynamics.commission.thresholds import ARM
from ne_dynamics.control import Controller, StateRefused, Tick
from ne_dynamics.errors import NeDynamicsError
from ne_dynamics.model.rigid_body import FloatArray
from ne_dynamics.model.robot import Robot
from ne_dynamics.motion import NANO, TrajectoryPoint, Waypoints
from ne_dynamics.prepared_file import write_whole
from ne_dynamics.ros import (
    PARAMETERS,
    ControlledArm,
    NodeSettings,
    controlled_arm,
    load_robot,
    make_controller,
    make_tuning,
)
from ne_dynamics.simulation import HiddenErrors, MujocoArm, SensorReading
from ne_dynamics.simulation.one_process_loop import encoder, pass_on, torque_ripple
from ne_dynamics.simulation.thresholds import SIMULATION

FIRST_STAMP = NANO
"""Simulated time at the start [ns]."""


class _Node(NamedTuple):
    """What stands for the node."""

    settings: NodeSettings
    controlled: ControlledArm
    controller: Controller


class OneProcessSession(HeldArm):
    """A simulated arm with hidden errors, and the controller that holds it.

    Parameters
    ----------
    robot : Robot
        As its model says.
    errors : HiddenErrors
    simulated : mapping
        Parameters of the simulated robot: `initial_position`, and optionally `rate`.
    physics : MujocoArm, optional
        In its initial position, with the period of the states; default: the robot with its
        errors, rigid and on a level base.
    """

    is_simulated = True

    def __init__(
        self,
        robot: Robot,
        errors: HiddenErrors,
        simulated: Mapping[str, Any],
        physics: MujocoArm | None = None,
    ) -> None:
        super().__init__(robot)
        rate = float(simulated.get('rate', ARM.one_process_rate))
        self._errors = errors
        if physics is None:
            physics = MujocoArm(errors.apply(robot), period=1.0 / rate)
            physics.reset(simulated['initial_position'])
        self._arm = physics
        self._rate = rate
        self._ticks = 0
        self._encoder = encoder(errors.encoder_bits or None)
        self._ripple = torque_ripple(
            errors.torque_ripple, SIMULATION.cogging * errors.torque_ripple
        )
        self._largest = effort_limits(physics.robot)
        self._under_way: deque[FloatArray] = deque(maxlen=round(errors.delay * rate) + 1)
        self._node: _Node | None = None
        self._is_braked = True
        self._sense()

    def catch_up(self) -> None:
        """Do nothing: a state is read when it comes."""

    def pass_time(
        self, until: float, progress: Progress | None = None, check: StateCheck | None = None
    ) -> None:
        """Let time go on until a stamp [s]; see :meth:`HeldArm.pass_time`."""
        while self.now < until:
            stamp = self._newest
            command = self._answer()
            if self._is_braked or command is None:
                self._arm.stand()
            else:
                effort = pass_on(self._under_way, command)
                self._arm.step(effort, self._ripple(self._arm, effort))
            self._ticks += 1
            self._sense()
            if check is not None:
                check(stamp)
            if progress is not None:
                progress(self.now)

    def _answer(self) -> FloatArray | None:
        """Answer the newest state; return what the motors are told."""
        if self._node is None:
            return None
        now, state = self.now, self._states[self._newest]
        try:
            answer: Tick = self._node.controller.update(
                state.position, None, now, now, state.effort
            )
        except StateRefused as refusal:
            raise ArmFault(f'the node reports: {refusal}') from refusal
        if answer.refused is not None:
            raise ArmFault(f'the node did not follow the motion: {answer.refused}')
        self._answers[self._newest] = Answer(answer.effort, answer.desired.position)
        return np.clip(answer.effort, -self._largest, self._largest)

    def _sense(self) -> None:
        arm, nothing = self._arm, np.full(len(self.joint_names), np.nan)
        reading = SensorReading(arm.time, arm.position, None, None, None, '')
        effort = self._errors.reported_effort(self.joint_names, arm.effort, arm.gravity_effort())
        stamp = FIRST_STAMP + round(self._ticks * NANO / self._rate)
        position = self._encoder(reading).position
        self._hear(stamp, stamp, position, nothing, effort if effort.size else nothing)

    def _require_node(self) -> _Node:
        if self._node is None:
            raise ArmFault('no node holds the arm')
        return self._node

    def set_parameters(self, values: Mapping[str, Any]) -> None:
        """Set parameters of the node."""
        node = self._require_node()
        settings = PARAMETERS.changed(values, node.settings)
        node.controller.adopt(make_tuning(settings, node.controlled)[0])
        self._node = node._replace(settings=settings)

    @contextlib.contextmanager
    def moving(
        self,
        name: str,
        parameters: Mapping[str, Any],
        file: Path,
        look: Progress | None = None,
    ) -> Iterator[None]:
        """Let the controller that the node makes of its parameters hold the arm in the context."""
        write_whole(file, parameter_text(parameters))
        self.forget()
        # That is a parameter of ROS, not the node's own.
        own = {name: value for name, value in parameters.items() if name != 'use_sim_time'}
        settings = PARAMETERS.changed(own)
        controlled = controlled_arm(settings, load_robot(settings))
        controller = make_controller(controlled, make_tuning(settings, controlled)[0])
        self._node = _Node(settings, controlled, controller)
        # It answers under brakes.
        self.pass_time(self.now + ARM.braked_time)
        try:
            self._is_braked = False
            self.pass_time(self.now + ARM.settling_time, look)
            yield
        finally:
            self.rest()

    def rest(self) -> None:
        """Stop the arm where it is, and let nobody answer."""
        if not self._is_braked:
            self._is_braked = True
            self._arm.stand()
        self._node = None

    def _await_fault(self) -> None:
        """Do nothing: the controller raises its faults."""

    def _send(self, motion: PlannedMotion) -> float:
        node = self._require_node()
        start = round((self.now + ARM.lead) * NANO) / NANO
        rows = motion.positions, motion.velocities, motion.accelerations
        points = list(map(TrajectoryPoint, motion.times.tolist(), *rows))
        try:
            joints = node.controlled.robot.joints
            waypoints = Waypoints.from_points(joints, self.joint_names, points)
            node.controller.motion.follow(waypoints, start)
        except NeDynamicsError as refusal:
            raise ArmFault(f'the node did not follow the motion: {refusal}') from refusal
        return start
