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

from ne_dynamics.commission.arm.arm_session import Progress
from ne_dynamics.commission.arm.followed_plan import StrayWatch, complain_of_error
from ne_dynamics.commission.arm.live_arm import ArmFault, StrayedArm
from ne_dynamics.commission.folder import write_whole
from ne_dynamics.commission.motions import PlannedMotion, plan_approach
from ne_dynamics.commission.node_settings import parameter_text
from ne_dynamics.commission.record import Record
from ne_dynamics.commission.thresholds import ARM
from ne_dynamics.control import Controller, StateRefused, Tick
from ne_dynamics.errors import NeDynamicsError
from ne_dynamics.model.rigid_body import FloatArray
from ne_dynamics.model.robot import Robot
from ne_dynamics.motion import NANO, TrajectoryPoint, Waypoints
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


class _State(NamedTuple):
    """A state and its answer, as :class:`Record` has them; NaN where there is nothing."""

    stamp: int
    position: FloatArray
    effort: FloatArray
    command: FloatArray
    desired: FloatArray


class OneProcessArm:
    """A simulated arm with hidden errors, and the controller that holds it.

    Parameters
    ----------
    robot : Robot
        As its model says.
    errors : HiddenErrors
    initial_position : array-like, shape (n,)
        [rad or m]
    rate : float
        States a second [Hz].
    physics : MujocoArm, optional
        In its initial position, with the period of the states; default: the robot with its
        errors, rigid and on a level base.

    Attributes
    ----------
    joint_names : tuple of str
    """

    def __init__(
        self,
        robot: Robot,
        errors: HiddenErrors,
        initial_position: Any,
        rate: float = ARM.one_process_rate,
        physics: MujocoArm | None = None,
    ) -> None:
        self.joint_names = robot.joint_names
        self._errors = errors
        if physics is None:
            physics = MujocoArm(errors.apply(robot), period=1.0 / rate)
            physics.reset(initial_position)
        self._arm = physics
        self._rate = rate
        self._ticks = 0
        self._encoder = encoder(errors.encoder_bits or None)
        self._ripple = torque_ripple(
            errors.torque_ripple, SIMULATION.cogging * errors.torque_ripple
        )
        largest = physics.robot.limits('effort_limit')
        self._largest = np.where(largest > 0.0, largest, np.inf)
        self._under_way: deque[FloatArray] = deque(maxlen=round(errors.delay * rate) + 1)
        self._node: _Node | None = None
        self._is_braked = True
        self._states: list[_State] = []
        self._sense()

    # -- what is heard ----------------------------------------------------------------------

    @property
    def now(self) -> float:
        """Stamp of the newest state [s]."""
        return self._states[-1].stamp / NANO

    @property
    def position(self) -> FloatArray:
        """Reported position of the newest state [rad or m]."""
        return self._states[-1].position

    @property
    def receptions(self) -> list[tuple[int, int]]:
        """Stamp and time of reception of every state since they were forgotten [ns]."""
        return [(state.stamp, state.stamp) for state in self._states]

    def forget(self) -> None:
        """Forget the states before the newest."""
        del self._states[:-1]

    def record(self, since: float = 0.0) -> Record:
        """Return the states from a stamp on [s]."""
        states = [state for state in self._states if state.stamp >= since * NANO]
        shape = len(states), len(self.joint_names)
        columns = [
            np.array([getattr(state, key) for state in states]).reshape(shape)
            for key in ('position', 'effort', 'command', 'desired')
        ]
        return Record(
            self.joint_names,
            np.array([state.stamp for state in states], dtype=np.float64) / NANO,
            columns[0],
            np.full(shape, np.nan),
            *columns[1:],
        )

    # -- time -------------------------------------------------------------------------------

    def pass_time(self, until: float, progress: Progress | None = None) -> None:
        """Let time go on until a stamp [s].

        Raises
        ------
        ArmFault
            When the controller has a fault.
        """
        while self.now < until:
            self._step()
            if progress is not None:
                progress(self.now)

    def _step(self) -> None:
        """Answer the newest state, and let a period pass."""
        command = self._answer()
        if self._is_braked or command is None:
            self._arm.stand()
        else:
            effort = pass_on(self._under_way, command)
            self._arm.step(effort, self._ripple(self._arm, effort))
        self._ticks += 1
        self._sense()

    def _answer(self) -> FloatArray | None:
        node, state = self._node, self._states[-1]
        if node is None:
            return None
        now = state.stamp / NANO
        try:
            answer: Tick = node.controller.update(state.position, None, now, now, state.effort)
        except StateRefused as refusal:
            raise ArmFault(f'the node reports: {refusal}') from refusal
        if answer.refused is not None:
            raise ArmFault(f'the node did not follow the motion: {answer.refused}')
        self._states[-1] = state._replace(command=answer.effort, desired=answer.desired.position)
        return np.clip(answer.effort, -self._largest, self._largest)

    def _sense(self) -> None:
        arm, n = self._arm, len(self.joint_names)
        reading = SensorReading(arm.time, arm.position, None, None, None, '')
        effort = self._errors.reported_effort(self.joint_names, arm.effort, arm.gravity_effort())
        nothing = np.full(n, np.nan)
        stamp = FIRST_STAMP + round(self._ticks * NANO / self._rate)
        position = self._encoder(reading).position
        if not effort.size:
            effort = nothing
        self._states.append(_State(stamp, position, effort, nothing, nothing))

    # -- the controller ---------------------------------------------------------------------

    def start_controller(self, parameters: Mapping[str, Any]) -> None:
        """Make the controller that the node makes of its parameters; it answers under brakes."""
        # That is a parameter of ROS, not the node's own.
        own = {name: value for name, value in parameters.items() if name != 'use_sim_time'}
        settings = PARAMETERS.changed(own)
        controlled = controlled_arm(settings, load_robot(settings))
        controller = make_controller(controlled, make_tuning(settings, controlled)[0])
        self._node = _Node(settings, controlled, controller)
        self.pass_time(self.now + ARM.braked_time)

    def end_controller(self) -> None:
        """Let nobody answer."""
        self._node = None

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

    def release(self) -> None:
        """Let the arm move."""
        self._is_braked = False

    def engage(self) -> None:
        """Stop the arm where it is."""
        if not self._is_braked:
            self._is_braked = True
            self._arm.stand()

    def follow(
        self,
        motion: PlannedMotion,
        tolerance: FloatArray,
        progress: Progress | None = None,
        astray: FloatArray | None = None,
    ) -> Record:
        """Let the controller follow a motion, and return what was heard of it, as the live arm."""
        node = self._require_node()
        start = round((self.now + ARM.lead) * NANO) / NANO
        joints = node.controlled.robot.joints
        rows = motion.positions, motion.velocities, motion.accelerations
        points = list(map(TrajectoryPoint, motion.times.tolist(), *rows))
        try:
            waypoints = Waypoints.from_points(joints, self.joint_names, points)
            node.controller.motion.follow(waypoints, start)
        except NeDynamicsError as refusal:
            raise ArmFault(f'the node did not follow the motion: {refusal}') from refusal

        watch = None if astray is None else StrayWatch(self.joint_names, motion, astray)

        def look(now: float) -> None:
            answered = self._states[-2]
            time = answered.stamp / NANO - start
            if watch is not None and (
                complaint := watch.complain(time, answered.desired, answered.position)
            ):
                raise StrayedArm(complaint)
            error = np.abs(answered.desired - answered.position)
            if complaint := complain_of_error(self.joint_names, error, tolerance, now - start):
                raise ArmFault(complaint)
            if progress is not None:
                progress(max(now - start, 0.0))

        self.pass_time(start + motion.duration + ARM.rest_time, look)
        return self.record(start)


class OneProcessSession:
    """A :class:`Session` in one process: simulated arm and controller, without DDS.

    Parameters
    ----------
    robot : Robot
    errors : HiddenErrors
    simulated : mapping
        Parameters of the simulated robot: `initial_position`, and optionally `rate`.
    physics : MujocoArm, optional
        See :class:`OneProcessArm`.

    Attributes
    ----------
    robot : Robot
    arm : OneProcessArm
    is_simulated : bool
    """

    is_simulated = True

    def __init__(
        self,
        robot: Robot,
        errors: HiddenErrors,
        simulated: Mapping[str, Any],
        physics: MujocoArm | None = None,
    ) -> None:
        self.robot = robot
        rate = float(simulated.get('rate', ARM.one_process_rate))
        self.arm = OneProcessArm(robot, errors, simulated['initial_position'], rate, physics)

    @contextlib.contextmanager
    def moving(
        self,
        name: str,
        parameters: Mapping[str, Any],
        file: Path,
        look: Progress | None = None,
    ) -> Iterator[None]:
        """Run a controller of the arm within the context; see :meth:`Session.moving`."""
        write_whole(file, parameter_text(parameters))
        arm = self.arm
        arm.forget()
        arm.start_controller(parameters)
        try:
            arm.release()
            arm.pass_time(arm.now + ARM.settling_time, look)
            yield
        finally:
            self.rest()

    def rest(self) -> None:
        """Engage the brakes and stop the controller."""
        self.arm.engage()
        self.arm.end_controller()

    def follow(
        self,
        motion: PlannedMotion,
        tolerance: FloatArray,
        progress: Progress | None = None,
        astray: FloatArray | None = None,
    ) -> Record:
        """Go to the start of a motion, follow it, and return the record of it."""
        arm = self.arm
        way = plan_approach(self.robot, arm.position, motion)
        if way is not None:
            arm.follow(way, tolerance)
        arm.forget()
        return arm.follow(motion, tolerance, progress, astray)
