"""Whether a motion goes as its goal wants it, by the rules of ros2_controllers' JTC.

On the way, before the last waypoint is due, no joint may be farther from the desired state than
the path tolerance. From the last waypoint on, the goal is reached as soon as all joints are
within the goal tolerance of it, velocities included; it has failed when they are not and the
goal time is over. A tolerance of 0 is none, and a goal time of 0 is no limit.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import isnan
from typing import NamedTuple

import numpy as np

from ne_dynamics.control.tick import Tick
from ne_dynamics.errors import InputError
from ne_dynamics.model.rigid_body import FloatArray
from ne_dynamics.model.robot import Joint

ERASED = -1.0
"""A tolerance of this value in a goal takes away the default."""

ERASED_WITHIN = float(np.finfo(np.float32).eps)
"""How near to `ERASED` counts as it: senders may have single precision."""


class GoalCode(enum.IntEnum):
    """How a goal ended; the values are those of control_msgs/FollowJointTrajectory."""

    SUCCESSFUL = 0
    INVALID_GOAL = -1
    INVALID_JOINTS = -2
    OLD_HEADER_TIMESTAMP = -3
    PATH_TOLERANCE_VIOLATED = -4
    GOAL_TOLERANCE_VIOLATED = -5


class GoalOutcome(NamedTuple):
    """The end of a goal."""

    code: GoalCode
    text: str


class JointTolerance(NamedTuple):
    """What a goal asks for one joint; 0: the default, -1: no tolerance.

    Attributes
    ----------
    name : str
        Of the joint.
    position : float
        [rad or m]
    velocity : float
        [rad/s or m/s]
    """

    name: str
    position: float = 0.0
    velocity: float = 0.0


@dataclass(frozen=True, eq=False)
class Tolerances:
    """How far the joints may be from the desired state; 0 for any distance.

    Attributes
    ----------
    path_position, goal_position : array, shape (n,)
        [rad or m]
    path_velocity, goal_velocity : array, shape (n,)
        [rad/s or m/s]
    goal_time : float
        Time after the last waypoint within which the goal must be reached [s]; 0 for any.
    """

    path_position: FloatArray
    path_velocity: FloatArray
    goal_position: FloatArray
    goal_velocity: FloatArray
    goal_time: float

    def __post_init__(self) -> None:
        """Freeze the arrays, which are kept."""
        for array in (
            self.path_position,
            self.path_velocity,
            self.goal_position,
            self.goal_velocity,
        ):
            array.setflags(write=False)

    def overridden(
        self,
        joint_names: Sequence[str],
        path: Sequence[JointTolerance] = (),
        goal: Sequence[JointTolerance] = (),
        goal_time: float = 0.0,
    ) -> Tolerances:
        """Return these tolerances with those of a goal in their place.

        Parameters
        ----------
        joint_names : sequence of str, length n
            In the order of the arrays.
        path, goal : sequence of JointTolerance
            For any of the joints; of several for one joint the last counts.
        goal_time : float
            [s]; 0: the default, -1: no limit.

        Raises
        ------
        InputError
            When a joint is unknown, or a value is negative and not -1, or NaN. The caller
            keeps these tolerances then, all of them.
        """
        return Tolerances(
            *_stage('path_tolerance', path, self.path_position, self.path_velocity, joint_names),
            *_stage('goal_tolerance', goal, self.goal_position, self.goal_velocity, joint_names),
            _resolved('goal_time_tolerance', self.goal_time, goal_time),
        )


def _stage(
    key: str,
    tolerances: Sequence[JointTolerance],
    position_default: FloatArray,
    velocity_default: FloatArray,
    joint_names: Sequence[str],
) -> tuple[FloatArray, FloatArray]:
    """Return position and velocity tolerances of one stage, shapes (n,)."""
    position, velocity = position_default.copy(), velocity_default.copy()
    for tolerance in tolerances:
        if tolerance.name not in joint_names:
            raise InputError(
                f'{key}: unknown joint {tolerance.name!r}; the joints are {list(joint_names)}'
            )
        index = joint_names.index(tolerance.name)
        name = f'{key}: joint {tolerance.name!r}'
        position[index] = _resolved(
            f'{name}: position', float(position_default[index]), tolerance.position
        )
        velocity[index] = _resolved(
            f'{name}: velocity', float(velocity_default[index]), tolerance.velocity
        )
    return position, velocity


def _resolved(name: str, default: float, value: float) -> float:
    if isnan(value):
        raise InputError(f'{name}: expected a number, got nan')
    if value > 0.0:
        return value
    if abs(value - ERASED) < ERASED_WITHIN:
        return 0.0
    if value < 0.0:
        raise InputError(
            f'{name}: expected > 0, 0 for the default or -1 for no tolerance, got {value:g}'
        )
    return default


class GoalMonitor:
    """Follows one motion to its end.

    Parameters
    ----------
    joints : sequence of Joint, length n
        Names and units are used.
    tolerances : Tolerances
    position_error : callable
        Returns desired minus measured position, shape (n,) [rad or m], by the nearest turn
        where joints have none: :meth:`ne_dynamics.control.laws.ControlLaw.position_error`.
    """

    def __init__(
        self,
        joints: Sequence[Joint],
        tolerances: Tolerances,
        position_error: Callable[[FloatArray, FloatArray], FloatArray],
    ) -> None:
        self._joints = joints
        # Position and velocity, shape (2, n); infinite for no tolerance.
        self._path, self._goal = (
            np.where(np.greater(stage, 0.0), stage, np.inf)
            for stage in (
                (tolerances.path_position, tolerances.path_velocity),
                (tolerances.goal_position, tolerances.goal_velocity),
            )
        )
        self._has_path = bool(np.isfinite(self._path).any())
        self._goal_time = tolerances.goal_time
        self._position_error = position_error
        self._is_first = True

    def observe(self, command: Tick, end_time: float) -> GoalOutcome | None:
        """Check one state and its answer; call it for every one, in their order.

        Parameters
        ----------
        command : Tick
            Without a velocity velocities are not checked.
        end_time : float
            Of the last waypoint, by the time of the path [s].

        Returns
        -------
        GoalOutcome or None
            None as long as the goal is neither reached nor failed.
        """
        now, desired, velocity = command.place, command.desired, command.velocity
        is_on_the_way = now < end_time
        if is_on_the_way and not self._has_path:
            self._is_first = False
            return None
        errors = np.zeros_like(self._path)
        errors[0] = self._position_error(desired.position, command.position)
        if velocity is not None:
            errors[1] = desired.velocity - velocity
        # The first state counts as on the way even when it is the last waypoint's.
        if is_on_the_way or self._is_first:
            self._is_first = False
            if (np.abs(errors) > self._path).any():
                when = f'{max(end_time - now, 0.0):.3g} s before the end of the trajectory'
                return self._give_up(GoalCode.PATH_TOLERANCE_VIOLATED, self._path, errors, when)
        if is_on_the_way:
            return None
        if not (np.abs(errors) > self._goal).any():
            return GoalOutcome(GoalCode.SUCCESSFUL, 'the goal is reached')
        late, allowed = now - end_time, self._goal_time
        if allowed and late > allowed:
            when = f'{late:.3g} s after the end of the trajectory (goal time: {allowed:g} s)'
            return self._give_up(GoalCode.GOAL_TOLERANCE_VIOLATED, self._goal, errors, when)
        return None

    def _give_up(
        self, code: GoalCode, limits: FloatArray, errors: FloatArray, when: str
    ) -> GoalOutcome:
        """Return the outcome of tolerances that are violated, by which joints."""
        found = []
        for order, index in np.argwhere(np.abs(errors) > limits).tolist():
            joint, what = self._joints[index], ('position', 'velocity')[order]
            unit = joint.type.position_unit + '/s' * order
            found.append(
                f'joint {joint.name!r}: {what} error: expected at most '
                f'{limits[order, index]:g} {unit}, got {abs(errors[order, index]):.4g} {unit}'
            )
        return GoalOutcome(code, f'{"; ".join(found)}, {when}')
