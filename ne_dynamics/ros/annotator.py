"""The topics ``~/annotate`` and ``~/annotated``: trajectories in, the same with efforts out.

The work is done in a thread of its own, in pieces of a few hundred microseconds with sleeps in
between that are as long as the pieces, so that the control path of the node answers on; messages
are taken and sent as bytes for the same reason (see
:mod:`ne_dynamics.ros.messages.trajectory_cdr`). One trajectory is worked on and one may wait; a
third one takes the place of the one that waits.
"""

from __future__ import annotations

import threading
import traceback
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from ne_dynamics.dynamics.compensation import InverseDynamics, Terms
from ne_dynamics.errors import NeDynamicsError, optional_dependency
from ne_dynamics.model.rigid_body import FloatArray
from ne_dynamics.motion.annotated.annotation import annotate, check_positions
from ne_dynamics.motion.trajectory import DesiredState, Waypoints
from ne_dynamics.ros.messages.trajectory_cdr import read_trajectory, write_trajectory
from ne_dynamics.ros.running.pauses import Pauses, Released

with optional_dependency('the node needs ROS 2 for Python', 'ros'):
    from rclpy.qos import QoSProfile, ReliabilityPolicy
    from trajectory_msgs.msg import JointTrajectory

    from ne_dynamics.ros.connections import NO_PUBLISHER_EVENTS
    from ne_dynamics.ros.watching.reporter import Reporter

TOPIC = '~/annotate'
RESULT_TOPIC = '~/annotated'

MAX_POINTS = 20_000
"""Most points of a result; with six joints that is a message of 4 MB."""

REMARK_PERIOD = 5.0
"""Remarks are logged at most once in so many seconds."""

STOPPING_TIME = 2.0
"""Seconds that a piece of work is waited for when the node lets go of the arm."""


def _nothing() -> None:
    return None


@dataclass(frozen=True, eq=False)
class AnnotationTuning:
    """What may change at any time; see :func:`ne_dynamics.motion.annotated.annotation.annotate`.

    Attributes
    ----------
    effort_tolerance : array, shape (1,) or (n,)
        In the order of the model's joints [N m or N].
    terms : Terms
    payload : array, shape (10,), or None
        All that the arm carries and its model has not: also what is beyond a wrist sensor where
        the model is cut.
    base_motion : array, shape (9,), or None
        Tilt of the base.
    allow_nonzero_velocity_at_end : bool
    smoothing_velocity : float
        Of friction at rest [rad/s or m/s].
    """

    effort_tolerance: FloatArray
    terms: Terms = field(default_factory=Terms)
    payload: FloatArray | None = None
    base_motion: FloatArray | None = None
    allow_nonzero_velocity_at_end: bool = False
    smoothing_velocity: float = 0.0


class _Request(NamedTuple):
    data: bytes
    tuning: AnnotationTuning
    start: DesiredState | None


class _Listening(NamedTuple):
    """What there is from one :meth:`Annotator.configure` to its :meth:`Annotator.release`."""

    dynamics: InverseDynamics
    start_state: Callable[[], DesiredState | None]
    publisher: Any
    guard: Any
    subscription: Any
    stopping: threading.Event


class Annotator:
    """Answers trajectories on ``~/annotate`` by the same ones with efforts on ``~/annotated``.

    It listens between :meth:`configure` and :meth:`release`, whether the node is active or not.

    Parameters
    ----------
    node : rclpy.node.Node
    reporter : Reporter
    heard : callable
        Called for every message that comes.
    """

    def __init__(
        self, node: Any, reporter: Reporter, heard: Callable[[], None] = _nothing
    ) -> None:
        self._node = node
        self._reporter = reporter
        self._heard = heard
        self._lock = threading.Lock()
        self._waiting: _Request | None = None
        self._thread: threading.Thread | None = None
        self._reports: deque[Callable[[], None]] = deque()
        self._listening: _Listening | None = None

    def configure(
        self,
        dynamics: InverseDynamics,
        tuning: AnnotationTuning,
        start_state: Callable[[], DesiredState | None] = _nothing,
    ) -> None:
        """Listen.

        Parameters
        ----------
        dynamics : InverseDynamics
        tuning : AnnotationTuning
        start_state : callable
            Returns where the arm is now, in the order of the model's joints, or None when that
            is not known: the start of trajectories whose first point is later than 0.
        """
        self.release()
        self._tuning = tuning
        node = self._node
        publisher = node.create_publisher(
            JointTrajectory, RESULT_TOPIC, 10, event_callbacks=NO_PUBLISHER_EVENTS
        )
        guard = node.create_guard_condition(self._report)
        latest = QoSProfile(depth=2, reliability=ReliabilityPolicy.RELIABLE)
        subscription = node.create_subscription(
            JointTrajectory, TOPIC, self._on_annotate, latest, raw=True
        )
        self._listening = _Listening(
            dynamics, start_state, publisher, guard, subscription, threading.Event()
        )

    def adopt(self, tuning: AnnotationTuning) -> None:
        """Let another tuning count for the trajectories that come from now on."""
        self._tuning = tuning

    def release(self) -> None:
        """Stop listening, and give up what is being worked on."""
        listening, self._listening = self._listening, None
        if listening is None:
            return
        self._node.destroy_subscription(listening.subscription)
        listening.stopping.set()
        with self._lock:
            thread, self._thread, self._waiting = self._thread, None, None
        if thread is not None:
            thread.join(STOPPING_TIME)
        self._reports.clear()
        self._node.destroy_guard_condition(listening.guard)
        self._node.destroy_publisher(listening.publisher)

    @property
    def is_busy(self) -> bool:
        """Whether a trajectory waits or is worked on."""
        with self._lock:
            return self._thread is not None

    def _on_annotate(self, data: bytes) -> None:
        listening = self._listening
        if listening is None:
            return
        self._heard()
        request = _Request(data, self._tuning, listening.start_state())
        with self._lock:
            replaced, self._waiting = self._waiting, request
            if self._thread is None:
                self._thread = threading.Thread(
                    target=self._work, args=(listening,), name='annotator', daemon=True
                )
                self._thread.start()
        if replaced is not None:
            self._reporter.drop(
                'annotate', 'data', 'a newer one came before it was begun, and takes its place'
            )

    # ---- in the thread

    def _work(self, listening: _Listening) -> None:
        """Annotate one trajectory after the other until none waits."""
        while True:
            with self._lock:
                if listening.stopping.is_set():
                    return
                request, self._waiting = self._waiting, None
                if request is None:
                    self._thread = None
                    return
            try:
                self._answer(request, listening)
            except Released:
                return
            except NeDynamicsError as error:
                self._say_dropped(listening, error.field, str(error))
            except Exception:
                # Never the end of the thread, let alone of the node.
                self._say_dropped(listening, 'points', traceback.format_exc())

    def _answer(self, request: _Request, listening: _Listening) -> None:
        tuning, pause = request.tuning, Pauses(listening.stopping)
        message = read_trajectory(request.data, pause)
        waypoints = Waypoints.from_fields(
            listening.dynamics.robot.joints,
            message.joint_names,
            message.fields,
            allow_nonzero_velocity_at_end=tuning.allow_nonzero_velocity_at_end,
        )
        pause()
        joints = listening.dynamics.robot.joints
        check_positions(joints, waypoints, start=request.start, pause=pause)
        result = annotate(
            listening.dynamics,
            message.joint_names,
            waypoints,
            effort_tolerance=tuning.effort_tolerance,
            terms=tuning.terms,
            payload=tuning.payload,
            base_motion=tuning.base_motion,
            smoothing_velocity=tuning.smoothing_velocity,
            start=request.start,
            max_points=MAX_POINTS,
            pause=pause,
        )
        data = write_trajectory(result, message.stamp, message.frame_id, pause)
        pause()
        listening.publisher.publish(data)
        if result.remarks:
            text = 'annotated: ' + '; '.join(result.remarks)
            self._say(
                listening,
                lambda: self._node.get_logger().info(text, throttle_duration_sec=REMARK_PERIOD),
            )

    def _say_dropped(self, listening: _Listening, field: str, reason: str) -> None:
        self._say(listening, lambda: self._reporter.drop('annotate', field or 'points', reason))

    def _say(self, listening: _Listening, report: Callable[[], None]) -> None:
        """Have the node say something, in its own thread."""
        if not listening.stopping.is_set():
            self._reports.append(report)
            listening.guard.trigger()

    def _report(self) -> None:
        while self._reports:
            self._reports.popleft()()
