"""Efforts for a trajectory file: what is asked for, and what came of it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ne_dynamics.dynamics import Dynamics
from ne_dynamics.dynamics.compensation import Terms
from ne_dynamics.errors import ParameterError
from ne_dynamics.model.rigid_body import FloatArray, Inertia
from ne_dynamics.model.robot import Robot
from ne_dynamics.motion.annotated.annotated_trajectory import AnnotatedTrajectory
from ne_dynamics.motion.annotated.annotation import annotate
from ne_dynamics.motion.annotated.position_check import check_positions
from ne_dynamics.motion.time_scaling.retiming import Retimed, retime
from ne_dynamics.motion.trajectory_file import TrajectoryFile
from ne_dynamics.motion.waypoints import Waypoints, resting_state


@dataclass(frozen=True)
class AnnotationRequest:
    """How a trajectory is to be annotated.

    Attributes
    ----------
    effort_tolerance : sequence of float
        Tolerance of the efforts [N m or N]: one for all joints, or one each in the order of
        joint_names.
    start : sequence of float, optional
        Joint positions at time 0 [rad or m], in the order of joint_names, if the first point is
        later.
    retime : bool
        Slow the motion down on its path where it exceeds the limits of effort, velocity or
        acceleration; never faster than given. It stops at corners of linear segments.
    fastest : bool
        With `retime`: as fast as the limits allow, from rest to rest.
    effort_share : float, optional
        With `retime`: part of the effort limits for the motion; the rest is for the controller's
        feedback (default: 0.95).
    without : sequence of str
        Terms that the robot compensates itself: gravity, coriolis, inertia, friction.
    payload_mass : float
        Mass of a load at the tip link [kg].
    payload_com : sequence of 3 float
        Its centre of mass in the frame of the tip link [m].
    allow_nonzero_velocity_at_end : bool
        Accept a last point with a velocity; a point at rest is added.
    max_points : int
        Largest number of points to write.

    Raises
    ------
    ParameterError
        When an option is given without the one that it belongs to, or the load is none.
    """

    effort_tolerance: Sequence[float] = (0.1,)
    start: Sequence[float] | None = None
    retime: bool = False
    fastest: bool = False
    effort_share: float | None = None
    without: Sequence[str] = ()
    payload_mass: float = 0.0
    payload_com: Sequence[float] = (0.0, 0.0, 0.0)
    allow_nonzero_velocity_at_end: bool = False
    max_points: int = 100_000

    def __post_init__(self) -> None:
        for option, given in (('fastest', self.fastest), ('effort-share', self.effort_share)):
            if given and not self.retime:
                raise ParameterError(f'--{option}: expected with --retime, got it alone')
        if not (math.isfinite(self.payload_mass) and self.payload_mass >= 0.0):
            raise ParameterError(
                f'--payload-mass: expected a finite number >= 0 [kg], got {self.payload_mass:g}'
            )

    def find_payload(self, robot: Robot) -> FloatArray | None:
        """Return the load as parameters at the tip, shape (10,); None for none."""
        if not self.payload_mass:
            return None
        load = Inertia(self.payload_mass, np.array(self.payload_com), np.zeros((3, 3)))
        return robot.payload_parameters(load)


@dataclass(frozen=True, eq=False)
class AnnotatedFile:
    """A trajectory file with efforts.

    Attributes
    ----------
    source : TrajectoryFile
    result : AnnotatedTrajectory
    retimed : Retimed or None
        How it was slowed down.
    tolerance : array, shape (n,) or (1,)
        In the order of the trajectory [N m or N].
    """

    source: TrajectoryFile
    result: AnnotatedTrajectory
    retimed: Retimed | None
    tolerance: FloatArray

    @classmethod
    def make(
        cls, dynamics: Dynamics, source: TrajectoryFile, request: AnnotationRequest
    ) -> AnnotatedFile:
        """Annotate a file.

        Raises
        ------
        TrajectoryError
            When it cannot be annotated, or asks for more than the limits.
        ParameterError
            When an option does not fit.
        """
        robot, names = dynamics.robot, source.joint_names
        payload = request.find_payload(robot)
        is_moving = request.allow_nonzero_velocity_at_end
        waypoints = Waypoints.from_points(
            robot.joints, names, source.points, allow_nonzero_velocity_at_end=is_moving
        )
        # From the sender's order to the robot's.
        order = [names.index(name) for name in robot.joint_names]
        start, tolerance = None, request.effort_tolerance
        if request.start is not None:
            start = resting_state(_one_each(request.start, order, '--start'))
        if len(tolerance) > 1:
            tolerance = _one_each(tolerance, order, '--effort-tolerance')
        retimed = None
        if request.retime:
            retimed = retime(
                dynamics,
                waypoints,
                effort_share=request.effort_share,
                is_fastest=request.fastest,
                payload=payload,
                start=start,
            )
            waypoints = retimed.waypoints
        else:
            check_positions(robot.joints, waypoints, start=start)
        result = annotate(
            dynamics,
            names,
            waypoints,
            effort_tolerance=tolerance,
            terms=Terms(**dict.fromkeys(request.without, False)),
            payload=payload,
            start=start,
            max_points=request.max_points,
        )
        return cls(source, result, retimed, np.array(request.effort_tolerance))

    @property
    def remarks(self) -> list[str]:
        """What was done and may not be intended, one sentence each."""
        return [*(self.retimed.remarks if self.retimed else ()), *self.result.remarks]

    @property
    def durations(self) -> tuple[float, float]:
        """Of the trajectory as it was, and as it is now [s]."""
        return self.source.points[-1].time_from_start, float(self.result.nanoseconds[-1]) * 1e-9

    def as_json(self, before: str, after: str) -> dict[str, Any]:
        """Return what was done as data for JSON; the names are those of the files."""
        counts, names = (len(self.source.points), len(self.result)), (before, after)
        rows = [
            {'name': name, 'points': count, 'duration': duration}
            for name, count, duration in zip(names, counts, self.durations, strict=True)
        ]
        pairs = zip(self.result.joint_names, self.result.deviation.tolist(), strict=True)
        document: dict[str, Any] = {
            'input': rows[0],
            'output': rows[1],
            'effort_deviation': dict(pairs),
            'remarks': self.remarks,
        }
        if self.retimed:
            document |= {'path_deviation': self.retimed.deviation, 'stops': self.retimed.stops}
        return document

    def lines(self, before: str, after: str) -> list[str]:
        """Return what was done for people; the names are those of the files."""
        result, (given, duration) = self.result, self.durations
        worst = int((result.deviation / self.tolerance).argmax())
        summary = (
            f'{before}: {len(self.source.points)} points, '
            f'{given if self.retimed else duration:.6g} s; '
            f'{after}: {len(result)} points with efforts, '
            + f'{duration:.6g} s, '
            * bool(self.retimed)
            + f'straight lines within {result.deviation[worst]:.3g} of the inverse dynamics '
            f'({result.joint_names[worst]})'
        )
        return [summary, *(f'note: {remark}' for remark in self.remarks)]


def _one_each(values: Sequence[float], order: Sequence[int], option: str) -> list[float]:
    if len(values) != len(order):
        raise ParameterError(
            f'{option}: expected {len(order)} values, one per joint of the trajectory, got '
            f'{len(values)}'
        )
    return [values[index] for index in order]
