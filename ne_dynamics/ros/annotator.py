"""The topics ``~/annotate`` and ``~/annotated``: trajectories in, the same with efforts out.

The work is done by another process (:mod:`ne_dynamics.ros.running.worker_process`), so that the
control path of the node answers on; messages are taken and sent as bytes for the same reason. One
trajectory is worked on and one may wait; a third one takes the place of the one that waits.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from ne_dynamics.dynamics.compensation import InverseDynamics, Terms
from ne_dynamics.errors import NeDynamicsError, optional_dependency
from ne_dynamics.model.rigid_body import FloatArray
from ne_dynamics.motion.annotated.annotation import annotate, check_positions
from ne_dynamics.motion.waypoints import DesiredState, Waypoints
from ne_dynamics.ros.messages.serialized_trajectory import read_trajectory, write_trajectory
from ne_dynamics.ros.running.worker_process import AT_LEISURE

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


def annotate_message(
    dynamics: InverseDynamics, tuning: AnnotationTuning, start: DesiredState | None, data: bytes
) -> tuple[bytes, tuple[str, ...]]:
    """Return a serialized trajectory with efforts, and remarks.

    Parameters
    ----------
    dynamics : InverseDynamics
    tuning : AnnotationTuning
    start : DesiredState or None
        Where the arm is.
    data : bytes
        As a raw subscription hands it over.

    Raises
    ------
    NeDynamicsError
        When the message cannot be read, or the motion not be annotated.
    """
    message, given = read_trajectory(data)
    joints = dynamics.robot.joints
    waypoints = Waypoints.from_fields(
        joints,
        *given,
        allow_nonzero_velocity_at_end=tuning.allow_nonzero_velocity_at_end,
    )
    check_positions(joints, waypoints, start=start)
    result = annotate(
        dynamics,
        given.joint_names,
        waypoints,
        effort_tolerance=tuning.effort_tolerance,
        terms=tuning.terms,
        payload=tuning.payload,
        base_motion=tuning.base_motion,
        smoothing_velocity=tuning.smoothing_velocity,
        start=start,
        max_points=MAX_POINTS,
    )
    return write_trajectory(result, message.header), tuple(result.remarks)


class _Listening(NamedTuple):
    """What there is from one :meth:`Annotator.configure` to its :meth:`Annotator.release`."""

    dynamics: InverseDynamics
    start_state: Callable[[], DesiredState | None]
    publisher: Any
    guard: Any
    subscription: Any


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
        # The one that is worked on, and the one that waits.
        self._work: list[Future[tuple[bytes, tuple[str, ...]]]] = []
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
        guard = node.create_guard_condition(self._look)
        latest = QoSProfile(depth=2, reliability=ReliabilityPolicy.RELIABLE)
        subscription = node.create_subscription(
            JointTrajectory, TOPIC, self._on_annotate, latest, raw=True
        )
        self._listening = _Listening(dynamics, start_state, publisher, guard, subscription)

    def adopt(self, tuning: AnnotationTuning) -> None:
        """Let another tuning count for the trajectories that come from now on."""
        self._tuning = tuning

    def release(self) -> None:
        """Stop listening, and give up what is being worked on."""
        listening, self._listening = self._listening, None
        if listening is None:
            return
        self._node.destroy_subscription(listening.subscription)
        while self._work:
            self._work.pop().cancel()
        self._node.destroy_guard_condition(listening.guard)
        self._node.destroy_publisher(listening.publisher)

    def _on_annotate(self, data: bytes) -> None:
        listening = self._listening
        if listening is None:
            return
        self._heard()
        self._look()
        if len(self._work) > 1:
            self._work.pop().cancel()
            self._reporter.drop(
                'annotate', 'data', 'a newer one came before it was begun, and takes its place'
            )

        def wake(work: Future[Any]) -> None:
            # In the thread of the worker; the node may have let go of the arm.
            with suppress(Exception):
                listening.guard.trigger()

        work = AT_LEISURE.submit(
            annotate_message, listening.dynamics, self._tuning, listening.start_state(), data
        )
        self._work.append(work)
        work.add_done_callback(wake)

    def _look(self) -> None:
        """Send what has come of the trajectories."""
        while self._listening is not None and self._work and self._work[0].done():
            self._send(self._work.pop(0), self._listening.publisher)

    def _send(self, work: Future[tuple[bytes, tuple[str, ...]]], publisher: Any) -> None:
        try:
            data, remarks = work.result()
        except NeDynamicsError as error:
            self._reporter.drop('annotate', error.field or 'points', str(error))
        except Exception as error:
            # Never the end of the node.
            self._reporter.drop('annotate', 'points', repr(error))
        else:
            publisher.publish(data)
            if remarks:
                text = 'annotated: ' + '; '.join(remarks)
                self._node.get_logger().info(text, throttle_duration_sec=REMARK_PERIOD)
