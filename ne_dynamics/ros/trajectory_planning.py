"""Trajectories beside the control path: read, checked and planned while states are answered.

What is small is done at once; the rest by another process
(:mod:`ne_dynamics.ros.running.worker_process`). What is planned is followed; of what waits for its
turn the newest is planned.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from ne_dynamics.control.desired.feasibility_checker import Pause
from ne_dynamics.control.desired.motion_planner import MotionPlan, MotionPlanner, TakesTimeError
from ne_dynamics.errors import BackendError, NeDynamicsError
from ne_dynamics.model.robot import Joint
from ne_dynamics.motion.partial_goal import NamedFields, completed
from ne_dynamics.motion.waypoints import Waypoints
from ne_dynamics.ros.messages.serialized_trajectory import named_fields, read_trajectory
from ne_dynamics.ros.running.background import Background
from ne_dynamics.ros.running.worker_process import PLANNING, WorkerLostError
from ne_dynamics.ros.thresholds import NODE


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


def plan_message(
    planner: MotionPlanner, rules: TrajectoryRules, data: bytes, start_time: float | None
) -> MotionPlan | None:
    """Return what becomes of a serialized trajectory; None of one without points.

    `data` are bytes as a raw subscription hands them over; the start is by the stamp [s], None
    for now.

    Raises
    ------
    NeDynamicsError
        When it cannot be read, or is not to be followed.
    """
    message = read_trajectory(data, NODE.most_trajectory_points)
    if not message.points:
        return None
    planner.pause()
    given = named_fields(message)
    planner.pause()
    waypoints = rules.waypoints(given, planner, planner.start_of(start_time))
    is_partial = len(given.joint_names) < len(rules.joints)
    return planner.plan(waypoints, start_time, is_partial=is_partial)


Work = tuple[Callable[..., MotionPlan | None], MotionPlanner, tuple[Any, ...]]
"""`plan_message` or `MotionPlanner.plan`, the planner, and the other arguments."""


def _ignore() -> None:
    return None


@dataclass(frozen=True, eq=False)
class PlanRequest:
    """A trajectory that is to be planned.

    Attributes
    ----------
    ask : callable
        Returns what is to be done, for the arm as it is when it is called.
    done, refuse : callable
        Called in the thread of the executor with what comes of it, or with the error.
    is_small : bool
        Whether it may be planned here.
    size : int
        Bytes, or what comes to it.
    overtaken : callable
        Called when something newer is followed instead.
    """

    ask: Callable[[], Work]
    done: Callable[[MotionPlan | None], None]
    refuse: Callable[[NeDynamicsError], None]
    is_small: bool
    size: int = 0
    overtaken: Callable[[], None] = _ignore

    def plan_here(self, pause: Pause, *, has_time: bool) -> MotionPlan | None:
        """Do the work, with pauses."""
        function, planner, arguments = self.ask()
        pause()
        return function(replace(planner, has_time=has_time, pause=pause), *arguments)

    def work_beside(self) -> tuple[Any, ...]:
        """Return what another process is to call, and with what."""
        function, planner, arguments = self.ask()
        lead = NODE.lead + NODE.lead_per_byte * self.size
        return function, replace(planner, lead=lead), *arguments


class _Running(NamedTuple):
    request: PlanRequest
    future: Future[MotionPlan | None]
    settings: object


class TrajectoryPlanning:
    """Has trajectories planned, one after the other; of those that wait the newest.

    `settings` returns what counts for plans: another object when it has changed.
    """

    def __init__(self, node: Any, settings: Callable[[], object]) -> None:
        self._settings = settings
        self._running: _Running | None = None
        self._waiting: PlanRequest | None = None
        self._node = node
        self._discards = 0
        self._background = Background(node, PLANNING)

    def destroy(self) -> None:
        """Let go of what is planned, and of the node."""
        self.discard()
        self._background.destroy()

    def discard(self, only: PlanRequest | None = None) -> None:
        """Let go of what is planned and what waits, or of one of them."""
        waiting, running = self._waiting, self._running
        self._discards += 1
        if only in (None, waiting):
            self._waiting = None
        if running is not None and only in (None, running.request):
            self._running = None
            running.future.cancel()
            self._go_on()

    @property
    def is_busy(self) -> bool:
        """Whether something is planned."""
        return self._running is not None

    def begin(self, request: PlanRequest) -> None:
        """Have a trajectory planned, in place of all that waits."""
        discards, is_planned, plan = self._discards, False, None
        if request.is_small:
            try:
                plan = request.plan_here(self._pause, has_time=False)
                is_planned = True
            except TakesTimeError:
                pass
            except NeDynamicsError as error:
                request.refuse(error)
                return
        if self._discards != discards:
            # A state that came meanwhile has ended all motions.
            request.overtaken()
        elif is_planned:
            overtaken = [self._waiting, self._running and self._running.request]
            self.discard()
            for other in overtaken:
                if other is not None:
                    other.overtaken()
            request.done(plan)
        else:
            self._wait(request)

    def _pause(self) -> None:
        # The last state that has come waits: what was sent before it is used with it.
        self._node.answer_states(keeps_last=True)

    def _wait(self, request: PlanRequest) -> None:
        """Have a request planned beside when its turn comes, in place of all that waits."""
        replaced, self._waiting = self._waiting, request
        if replaced is not None:
            replaced.overtaken()
        self._go_on()

    def _go_on(self) -> None:
        """Begin with what waits, unless something is planned."""
        if self._running is not None or self._waiting is None:
            return
        request, self._waiting = self._waiting, None
        future = self._background.submit(self._on_done, *request.work_beside())
        self._running = _Running(request, future, self._settings())

    def _on_done(self, future: Future[MotionPlan | None]) -> None:
        running = self._running
        if running is None or running.future is not future:
            return
        self._running = None
        request = running.request
        if running.settings is not self._settings():
            # By what does not count any more; something newer is planned rather than this again.
            if self._waiting is None:
                self._waiting = request
            else:
                request.overtaken()
        else:
            self._deliver(request, future)
        self._go_on()

    def _deliver(self, request: PlanRequest, future: Future[MotionPlan | None]) -> None:
        discards = self._discards
        try:
            try:
                plan = future.result()
            except WorkerLostError:
                if not request.is_small:
                    raise
                plan = request.plan_here(self._pause, has_time=True)
        except NeDynamicsError as error:
            request.refuse(error)
        except Exception as error:
            # Never the end of the node.
            request.refuse(BackendError(f'planning: {error!r}'))
        else:
            if self._discards != discards:
                request.overtaken()
            else:
                request.done(plan)
