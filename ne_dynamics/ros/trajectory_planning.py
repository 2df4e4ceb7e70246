"""Trajectories beside the control path: read, checked and planned while states are answered.

What is small is done at once; the rest by another process
(:mod:`ne_dynamics.ros.running.worker_process`). The newest trajectory counts: what comes of
another one is not looked at.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, NamedTuple

from ne_dynamics.control.desired.motion_planner import MotionPlan, MotionPlanner
from ne_dynamics.errors import BackendError, NeDynamicsError
from ne_dynamics.model.robot import Joint
from ne_dynamics.motion.partial_goal import NamedFields, completed
from ne_dynamics.motion.waypoints import Waypoints
from ne_dynamics.ros.messages.serialized_trajectory import read_trajectory
from ne_dynamics.ros.running.worker_process import PLANNING, WorkerLostError, WorkerProcess

MOST_POINTS = 5_000
"""Points of a trajectory; more are refused before they are read."""

SMALL = 2**14
"""Bytes of a message, or ..."""

FEW = 64
"""... points of a motion, that are planned in the turn in which they come."""


@dataclass(frozen=True, eq=False)
class TrajectoryRules:
    """What trajectories may be.

    Attributes
    ----------
    joints : sequence of Joint
        Of the robot.
    may_end_moving, may_be_integrated, may_be_partial : bool
        Whether the last point may move, points may have no positions, joints may be left out.
    """

    joints: Sequence[Joint]
    may_end_moving: bool
    may_be_integrated: bool
    may_be_partial: bool

    def waypoints(
        self, given: NamedFields, planner: MotionPlanner, start_time: float | None
    ) -> Waypoints:
        """Return points, checked.

        Raises
        ------
        TrajectoryError
            When they cannot be followed.
        """
        running, now = planner.running, planner.here.time
        if self.may_be_partial and running is not None and now is not None:
            begin = now if start_time is None else start_time
            given = completed([joint.name for joint in self.joints], given, running, begin)
        return Waypoints.from_fields(
            self.joints,
            *given,
            allow_nonzero_velocity_at_end=self.may_end_moving,
            allow_integration=self.may_be_integrated,
        )


class Planned(NamedTuple):
    """A trajectory that may be followed.

    Attributes
    ----------
    waypoints : Waypoints or None
        None for a trajectory without points.
    plan : MotionPlan or None
        None with them.
    """

    waypoints: Waypoints | None
    plan: MotionPlan | None


def plan_message(
    planner: MotionPlanner, rules: TrajectoryRules, data: bytes, start_time: float | None
) -> Planned:
    """Return what becomes of a serialized trajectory.

    Parameters
    ----------
    planner : MotionPlanner
    rules : TrajectoryRules
    data : bytes
        As a raw subscription hands it over.
    start_time : float or None
        By its stamp [s]; None for now.

    Raises
    ------
    NeDynamicsError
        When it cannot be read, or is not to be followed.
    """
    _, given = read_trajectory(data, MOST_POINTS)
    if not given.fields.times.size:
        return Planned(None, None)
    waypoints = rules.waypoints(given, planner, start_time)
    return Planned(waypoints, planner.plan(waypoints, start_time))


def plan_waypoints(
    planner: MotionPlanner, waypoints: Waypoints, start_time: float | None
) -> Planned:
    """Return what becomes of waypoints; as :func:`plan_message`."""
    return Planned(waypoints, planner.plan(waypoints, start_time))


Work = tuple[Callable[..., Planned], tuple[Any, ...]]
"""One of the two functions, and its arguments."""


class _Pending(NamedTuple):
    future: Future[Planned]
    ask: Callable[[], Work]
    is_small: bool
    done: Callable[[Planned], None]
    refuse: Callable[[NeDynamicsError], None]


class TrajectoryPlanning:
    """Has trajectories planned, of which the newest counts.

    Parameters
    ----------
    node : rclpy.node.Node
    worker : WorkerProcess
    """

    def __init__(self, node: Any, worker: WorkerProcess = PLANNING) -> None:
        self._node = node
        self._worker = worker
        self._pending: _Pending | None = None
        self._guard = node.create_guard_condition(self._look)

    def destroy(self) -> None:
        """Let go of what is planned, and of the node."""
        self.discard()
        self._node.destroy_guard_condition(self._guard)

    def discard(self) -> None:
        """Let go of what is planned: something newer is followed."""
        pending, self._pending = self._pending, None
        if pending is not None:
            pending.future.cancel()

    @property
    def is_busy(self) -> bool:
        """Whether something is planned."""
        return self._pending is not None

    def begin(
        self,
        ask: Callable[[], Work],
        done: Callable[[Planned], None],
        refuse: Callable[[NeDynamicsError], None],
        *,
        is_small: bool,
        is_easy: bool,
    ) -> None:
        """Have a trajectory planned in place of the one before.

        Parameters
        ----------
        ask : callable
            Returns what is to be done, for the arm as it is when it is called.
        done, refuse : callable
            Called in the thread of the executor with what comes of it, or with the error.
        is_small : bool
            Whether it may be planned here where nobody else can.
        is_easy : bool
            Whether a small one is so little work that nobody else is asked.
        """
        self.discard()
        if is_small and is_easy:
            _deliver(ask, done, refuse)
            return
        function, arguments = ask()
        future = self._worker.submit(function, *arguments)
        self._pending = _Pending(future, ask, is_small, done, refuse)
        future.add_done_callback(self._wake)

    def _wake(self, future: Future[Planned]) -> None:
        # In the thread of the worker; the node may be gone.
        with suppress(Exception):
            self._guard.trigger()

    def _look(self) -> None:
        pending = self._pending
        if pending is None or not pending.future.done():
            return
        self._pending = None
        try:
            planned = pending.future.result()
        except WorkerLostError as error:
            if pending.is_small:
                _deliver(pending.ask, pending.done, pending.refuse)
            else:
                pending.refuse(error)
        except NeDynamicsError as error:
            pending.refuse(error)
        except Exception as error:
            # Never the end of the node.
            pending.refuse(BackendError(f'planning: {error!r}'))
        else:
            pending.done(planned)


def _deliver(
    ask: Callable[[], Work],
    done: Callable[[Planned], None],
    refuse: Callable[[NeDynamicsError], None],
) -> None:
    """Do the work here."""
    function, arguments = ask()
    try:
        planned = function(*arguments)
    except NeDynamicsError as error:
        refuse(error)
        return
    done(planned)
