"""What the annotator makes of one trajectory. No node, no topics."""

from __future__ import annotations

from array import array
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np

from ne_dynamics.dynamics import Dynamics
from ne_dynamics.dynamics.compensation import Base, Compensation
from ne_dynamics.errors import TrajectoryError, optional_dependency
from ne_dynamics.model.rigid_body import FloatArray, Inertia
from ne_dynamics.model.robot import Robot
from ne_dynamics.motion.annotated.annotated_trajectory import AnnotatedTrajectory
from ne_dynamics.motion.annotated.annotation import annotate
from ne_dynamics.motion.annotated.position_check import check_positions
from ne_dynamics.motion.check import check_motion
from ne_dynamics.motion.joint_limits import DemandLimits, effort_limits
from ne_dynamics.motion.limit_violation import InfeasibleMotionError
from ne_dynamics.motion.motion import Motion
from ne_dynamics.motion.stopping import Efforts
from ne_dynamics.motion.time_scaling.retiming import retime
from ne_dynamics.motion.waypoints import NANO, DesiredState, Waypoints
from ne_dynamics.ros.annotator.settings import AnnotatorSettings
from ne_dynamics.ros.messages.serialized_trajectory import LONGEST_DURATION, named_fields
from ne_dynamics.ros.settings.carried_load import payload_before_sensor
from ne_dynamics.ros.settings.controlled_arm import ControlledArm, command_order
from ne_dynamics.ros.thresholds import NODE

with optional_dependency('the node needs ROS 2 for Python', 'ros'):
    from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint


@dataclass(frozen=True, eq=False)
class AnnotatedArm:
    """The arm, whole: who follows the trajectory knows of no wrist sensor.

    Attributes
    ----------
    arm : ControlledArm
    settings : AnnotatorSettings
    """

    arm: ControlledArm
    settings: AnnotatorSettings

    @classmethod
    def of(cls, settings: AnnotatorSettings, robot: Robot) -> AnnotatedArm:
        """Return an arm that is ready to be computed.

        Raises
        ------
        ParameterError
            When a parameter does not fit the robot.
        """
        dynamics = Dynamics(robot, gravity=settings.gravity, backend=settings.backend)
        order = command_order(robot.joint_names, settings.joints)
        arm = ControlledArm(dynamics, order, robot, None, Inertia.zero(), settings.imu.enabled)
        return cls(arm, settings).checked()

    def checked(self) -> AnnotatedArm:
        """Return itself, with every parameter read that depends on the robot."""
        _ = self.tolerance, self.payload, self.limits
        return self

    @cached_property
    def tolerance(self) -> FloatArray:
        """How near efforts are to be, shape (n,) [N m or N]."""
        return self.arm.per_joint(self.settings.effort_tolerance, 'effort_tolerance')

    @cached_property
    def payload(self) -> FloatArray | None:
        """What the arm carries, shape (10,) at the tip, or None."""
        return payload_before_sensor(self.settings.payload, self.arm)[0]

    @cached_property
    def limits(self) -> DemandLimits:
        """What a motion may ask for; efforts are limited where the model or a parameter does."""
        joints = self.arm.robot.joints
        given = self.arm.to_model_order(np.array(self.settings.effort_limits))
        return DemandLimits.of(joints, effort_limits(joints, given))

    def annotate(
        self,
        message: JointTrajectory,
        start: DesiredState | None,
        base_motion: FloatArray | None,
        *,
        is_goal: bool,
    ) -> tuple[JointTrajectory, tuple[str, ...]]:
        """Return a trajectory with efforts, and remarks.

        Parameters
        ----------
        message : trajectory_msgs.msg.JointTrajectory
        start : DesiredState or None
            Where the arm rests, in the order of the model's joints, for a trajectory whose first
            point is later than 0; None when that is not known.
        base_motion : array, shape (9,), or None
            Tilt of the base, of an arm with an IMU.
        is_goal : bool
            Whether more than the joints' limits is refused. Positions beyond them always are.

        Raises
        ------
        NeDynamicsError
            When the message cannot be used, or the motion not be annotated.
        """
        settings, dynamics = self.settings, self.arm.dynamics
        joints = dynamics.robot.joints
        waypoints = Waypoints.from_fields(
            joints,
            *named_fields(message),
            allow_nonzero_velocity_at_end=settings.allow_nonzero_velocity_at_trajectory_end,
        )
        check_positions(joints, waypoints, start=start)
        waypoints, remarks = self._timed(waypoints, start, base_motion, is_goal=is_goal)
        result = annotate(
            dynamics,
            message.joint_names,
            waypoints,
            effort_tolerance=self.tolerance,
            terms=settings.terms,
            payload=self.payload,
            base_motion=base_motion,
            smoothing_velocity=settings.smoothing_velocity,
            start=start,
            max_points=NODE.most_annotated_points,
        )
        return as_message(result, message.header), remarks + tuple(result.remarks)

    def _timed(
        self,
        waypoints: Waypoints,
        start: DesiredState | None,
        base_motion: FloatArray | None,
        *,
        is_goal: bool,
    ) -> tuple[Waypoints, tuple[str, ...]]:
        """Return the waypoints at the times at which they are to be, and remarks."""
        if self.settings.retime:
            retimed = retime(
                self.arm.dynamics,
                waypoints,
                limits=self.limits,
                payload=self.payload,
                base_motion=base_motion,
                start=start,
            )
            return retimed.waypoints, tuple(retimed.remarks)
        if is_goal:
            self._require_feasible(waypoints, start, base_motion)
        return waypoints, ()

    def holding_effort(self, position: FloatArray, base_motion: FloatArray | None) -> FloatArray:
        """Return what holds the arm at a position, shape (n,) [N m or N]; infinite: overflow."""
        still = np.zeros_like(position)
        return self._efforts(base_motion)(position, still, still)

    def _efforts(self, base_motion: FloatArray | None) -> Efforts:
        compensation = Compensation(self.arm.dynamics, self.settings.terms, self.payload)
        base = None if base_motion is None else Base(base_motion, base_motion)
        return partial(compensation.effort_or_infinite, base=base)

    def _require_feasible(
        self, waypoints: Waypoints, start: DesiredState | None, base_motion: FloatArray | None
    ) -> None:
        compute_efforts = self._efforts(base_motion)
        motion = Motion.between(waypoints.in_nanoseconds(start))
        found = check_motion(motion, self.limits, compute_efforts, compute_efforts)
        if found:
            raise InfeasibleMotionError(found)


def as_message(trajectory: AnnotatedTrajectory, header: Any) -> JointTrajectory:
    """Return the message of an annotated trajectory, with a header.

    Raises
    ------
    TrajectoryError
        When a time is longer than a message can say.
    """
    latest = int(trajectory.nanoseconds.max())
    if latest > LONGEST_DURATION:
        raise TrajectoryError(
            f'time_from_start: expected at most {LONGEST_DURATION} ns, got {latest} ns',
            field='points',
        )
    message = JointTrajectory(header=header, joint_names=list(trajectory.joint_names))
    fields = (
        ('positions', trajectory.positions, 0),
        ('velocities', trajectory.velocities, 1),
        ('accelerations', trajectory.accelerations, 2),
        ('effort', trajectory.efforts, 0),
    )
    times, orders = trajectory.nanoseconds.tolist(), trajectory.orders.tolist()
    for index, (nanoseconds, order) in enumerate(zip(times, orders, strict=True)):
        point = JointTrajectoryPoint()
        for field, values, lowest in fields:
            if order >= lowest:
                setattr(point, field, array('d', values[index].tobytes()))
        duration = point.time_from_start
        duration.sec, duration.nanosec = divmod(nanoseconds, NANO)
        message.points.append(point)
    return message
