"""The arm as it is compensated, made ready for the control path. No ROS."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ne_dynamics.control.guards.limits import GUARD_LIMITS
from ne_dynamics.control.sensors.wrench import inertia_beyond
from ne_dynamics.dynamics import Dynamics
from ne_dynamics.dynamics.compensation import BASE_MOTION, Base, Compensation, Terms
from ne_dynamics.errors import InputError, ModelError, ParameterError
from ne_dynamics.model.rigid_body import FloatArray, Inertia
from ne_dynamics.model.robot import Robot
from ne_dynamics.motion.joint_limits import per_joint, sample_positions
from ne_dynamics.ros.settings.parameters import NodeSettings

PAYLOAD = 10
"""Inertial parameters of a payload."""


@dataclass(frozen=True, eq=False)
class ControlledArm:
    """The model that is compensated, and how it meets the outside.

    Attributes
    ----------
    dynamics : Dynamics
        Of the robot, cut at the wrist sensor if its readings include the tool.
    command_order : array, shape (n,), dtype int
        Model index of each joint of the command.
    uncut : Robot
        As it was loaded.
    wrench_link : str or None
        Link at whose frame the wrench acts, the tip of the model; None without a sensor.
    tool : Inertia
        What the uncut robot has beyond the cut, in its frame.
    has_imu : bool
        Whether an IMU says how the base stands and moves.
    """

    dynamics: Dynamics
    command_order: NDArray[np.intp]
    uncut: Robot
    wrench_link: str | None
    tool: Inertia
    has_imu: bool = False

    @property
    def robot(self) -> Robot:
        """The robot that is compensated."""
        return self.dynamics.robot

    @property
    def command_names(self) -> tuple[str, ...]:
        """Joints in the order of the command."""
        names = [self.robot.joint_names[index] for index in self.command_order]
        return tuple(names)

    @cached_property
    def inverse_inertia(self) -> FloatArray:
        """Largest diagonal of the inverse mass matrix in some poses, shape (n,).

        [1/(kg m^2) or 1/kg]; infinite where a joint moves next to nothing.
        """
        largest = np.zeros(self.dynamics.n)
        for position in sample_positions(self.robot, GUARD_LIMITS.random_poses):
            try:
                inverse = np.linalg.inv(self.dynamics.mass_matrix(position))
            except np.linalg.LinAlgError:
                return np.full(self.dynamics.n, np.inf)
            np.maximum(largest, np.diagonal(inverse), out=largest)
        return largest

    def to_model_order(self, values: FloatArray) -> FloatArray:
        """Return gains or limits, given in the order of the command, in the model's.

        Of shape (), (0,), (1,), (n,) or (n, n).
        """
        if values.size <= 1:
            return values
        result = np.empty_like(values)
        order = self.command_order
        if values.ndim == 2:
            result[np.ix_(order, order)] = values
        else:
            result[order] = values
        return result

    def per_joint(self, values: tuple[float, ...], name: str) -> FloatArray:
        """Return one number a joint in the order of the model, shape (n,), of a parameter `name`.

        Its values are one for all, or one each in the order of the command.

        Raises
        ------
        ParameterError
            When there are neither 1 nor n.
        """
        return self.to_model_order(per_joint(values, self.dynamics.n, name))


def controlled_arm(settings: NodeSettings, robot: Robot) -> ControlledArm:
    """Return the arm as it is compensated, everything computed once that the control path needs.

    Raises
    ------
    ModelError
        When the sensor link is unknown or the robot cannot be cut there, or the effort at rest
        is not finite.
    ParameterError
        When `joints` are not the model's, `gain_joints` are not these in this order, or the
        sensor has no link.
    """
    model, wrench_link, tool = robot, None, Inertia.zero()
    if settings.wrench.enabled:
        wrench_link = settings.wrench.sensor_link or robot.tip_link
        if wrench_link is None:
            raise ParameterError(
                'wrench.sensor_link: expected a link: the robot has no tip of its own'
            )
        if settings.wrench.includes_tool:
            tool = inertia_beyond(robot, wrench_link)
            model = robot.cut_beyond(wrench_link)
        else:
            robot.link(wrench_link)
            model = replace(robot, tip_link=wrench_link)
    order = command_order(model.joint_names, settings.joints)
    _require_gains_of(settings.joints or model.joint_names, settings.gain_joints)
    dynamics = Dynamics(model, gravity=settings.gravity, backend=settings.backend)
    _warm_up(dynamics, with_wrench=wrench_link is not None)
    return ControlledArm(dynamics, order, robot, wrench_link, tool, settings.imu.enabled)


def command_order(joint_names: tuple[str, ...], wanted: tuple[str, ...]) -> NDArray[np.intp]:
    """Return the model index of each joint that parameters have a value for, in their order.

    Raises
    ------
    ParameterError
        When the wanted joints are not the model's.
    """
    names = wanted or joint_names
    if sorted(names) != sorted(joint_names):
        raise ParameterError(
            f"joints: expected the model's joints in any order, {list(joint_names)}, got "
            f'{list(names)}; joints that do not move belong into locked_joints.names'
        )
    return np.array([joint_names.index(name) for name in names], dtype=np.intp)


def _require_gains_of(names: tuple[str, ...], written_for: tuple[str, ...]) -> None:
    """Raise when gains were written for other joints than they would go to."""
    if written_for and written_for != names:
        raise ParameterError(
            f'gain_joints: expected the joints in the order of the command, {list(names)}, got '
            f'{list(written_for)}: gains with one value per joint would go to wrong joints; '
            '`ne_dynamics gains --joints` writes them in another order'
        )


def _warm_up(dynamics: Dynamics, *, with_wrench: bool) -> None:
    """Have everything compiled that a state may need: with a payload, a tilt, without gravity."""
    zero = np.zeros(dynamics.n)
    base = Base(np.zeros(BASE_MOTION), np.zeros(BASE_MOTION))
    payload = None if dynamics.robot.tip_link is None else np.zeros(PAYLOAD)
    try:
        plain = Compensation(dynamics, Terms())
        carrying = Compensation(dynamics, Terms(), payload)
        # One sample for a command, several for a motion that is checked before it is followed.
        for shape in ((), (2,)):
            rest = np.zeros((*shape, dynamics.n))
            wrench = np.zeros((*shape, 6)) if with_wrench else None
            for one in (None, wrench):
                plain.effort(rest, rest, rest, rest, one)
                carrying.effort(rest, rest, rest, rest, one)
                carrying.effort(rest, rest, rest, rest, one, base)
            if with_wrench:
                dynamics.forward_kinematics(rest)
        if dynamics.has_entries:
            # What any gains, terms and loads of a law with feedback call.
            compute: Callable[..., FloatArray] = dynamics.control_effort
            arguments = *[zero] * 12, np.zeros(1)
            compute(*arguments)
            if payload is not None:
                one = np.zeros(6) if with_wrench else None
                compute(*arguments, one, base.motion, payload)
        dynamics.mass_matrix(zero)  # for the gains that are efforts
    except InputError as error:
        raise ModelError(
            f'robot {dynamics.robot.name!r}: expected finite efforts at rest: {error}'
        ) from error


def warm_up_observer(dynamics: Dynamics, *, with_wrench: bool) -> None:
    """Have what an observer calls compiled; only for who has one."""
    if not dynamics.has_entries:
        return
    zero = np.zeros(dynamics.n)
    compute: Callable[..., FloatArray] = dynamics.disturbance_residuals
    arguments = *[zero] * 7, np.zeros(7)
    compute(*arguments)
    if dynamics.robot.tip_link is not None:
        wrench = np.zeros(6) if with_wrench else None
        compute(*arguments, wrench, np.zeros(BASE_MOTION), np.zeros(PAYLOAD))
