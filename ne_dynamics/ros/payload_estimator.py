"""The service ``~/estimate_payload`` and its topic: what hangs on the flange, offered.

Nothing is set by it. The work is done in a thread of its own, in pieces with sleeps in between, so
that the control path of the node answers on; the answer of the service waits for it.
"""

from __future__ import annotations

import threading
import traceback
from collections.abc import Callable
from typing import Any

import numpy as np

from ne_dynamics.control.payload_estimate import PayloadEstimate, estimate_payload
from ne_dynamics.errors import MissingDependencyError, NeDynamicsError, PayloadError
from ne_dynamics.ros.felt_motion import Question
from ne_dynamics.ros.parameters import PayloadSettings
from ne_dynamics.ros.pauses import Pauses, Released

try:
    from geometry_msgs.msg import InertiaStamped
    from rclpy.logging import LoggingSeverity as Severity
    from rclpy.task import Future
    from std_srvs.srv import Trigger

    from ne_dynamics.ros.configured_arm import ConfiguredArm
    from ne_dynamics.ros.connections import NO_PUBLISHER_EVENTS
    from ne_dynamics.ros.reporter import Reporter
except ImportError as error:
    raise MissingDependencyError(
        'the node needs ROS 2 for Python: source a ROS 2 installation, or '
        f'pip install "ne_dynamics[ros]" ({error})'
    ) from error

SERVICE = '~/estimate_payload'
RESULT_TOPIC = '~/estimated_payload'

DIGITS = 4
"""Of what is offered for adoption: tenths of a gram and of a millimetre."""


class PayloadEstimator:
    """Answers ``~/estimate_payload`` for the arm that is configured.

    Parameters
    ----------
    node : rclpy.node.Node
    reporter : Reporter
    configured : callable
        Returns the :class:`~ne_dynamics.ros.configured_arm.ConfiguredArm`, or None.
    """

    def __init__(
        self, node: Any, reporter: Reporter, configured: Callable[[], ConfiguredArm | None]
    ) -> None:
        self._node = node
        self._reporter = reporter
        self._configured = configured
        self._stopping: threading.Event | None = None
        self._publisher = node.create_publisher(
            InertiaStamped, RESULT_TOPIC, 10, event_callbacks=NO_PUBLISHER_EVENTS
        )
        node.create_service(Trigger, SERVICE, self._on_request)

    def release(self) -> None:
        """Give up what is being worked on: the arm is let go of."""
        if self._stopping is not None:
            self._stopping.set()

    async def _on_request(
        self, request: Trigger.Request, response: Trigger.Response
    ) -> Trigger.Response:
        try:
            response.message = await self._answer()
        except NeDynamicsError as error:
            response.message = f'not estimated: {error}'
        else:
            response.success = True
        self._reporter.say(
            f'estimate_payload {response.success}',
            f'estimate_payload: {response.message}',
            Severity.INFO if response.success else Severity.WARN,
        )
        return response

    async def _answer(self) -> str:
        """Estimate, publish, and return what was found, in words.

        Raises
        ------
        NeDynamicsError
            When nothing was found; the message says why.
        """
        configured = self._configured()
        if configured is None:
            raise PayloadError('the node is not configured')
        if not configured.is_commanding:
            raise PayloadError('the node is not active')
        if self._stopping is not None:
            raise PayloadError('an estimate is being worked on')
        question = configured.felt.ask()
        stopping = self._stopping = threading.Event()
        done = Future()
        thread = threading.Thread(
            target=_work, args=(question, stopping, done), name='payload estimate', daemon=True
        )
        thread.start()
        try:
            found = await done
        finally:
            self._stopping = None
        if isinstance(found, NeDynamicsError):
            raise found
        payload = configured.settings.payload
        self._publish(found, payload)
        return f'{found.text}; {_offer(found, payload)}'

    def _publish(self, found: PayloadEstimate, payload: PayloadSettings) -> None:
        message = InertiaStamped()
        message.header.stamp = self._node.get_clock().now().to_msg()
        message.header.frame_id = found.link_name
        inertia = message.inertia
        inertia.m = found.mass
        inertia.com.x, inertia.com.y, inertia.com.z = found.center_of_mass.tolist()
        if found.mass > 0.0:
            inertia.ixx, inertia.ixy, inertia.ixz = payload.inertia[:3]
            inertia.iyy, inertia.iyz, inertia.izz = payload.inertia[3:]
        self._publisher.publish(message)


def _offer(found: PayloadEstimate, payload: PayloadSettings) -> str:
    """Return which parameters to set, in words."""
    mass = round(found.mass, DIGITS)
    com = (np.round(found.center_of_mass, DIGITS) + 0.0).tolist()
    inertia = ''
    if found.mass == 0.0 and any(payload.inertia):
        inertia = f', payload.inertia: {[0.0] * len(payload.inertia)}'
    return (
        f'to adopt it set payload.mass: {mass}, payload.com: {com}{inertia} (now '
        f'{payload.mass:g}, {list(payload.com)})'
    )


def _work(question: Question, stopping: threading.Event, done: Any) -> None:
    """Estimate, and have the answer go on with what was found, or with the error."""
    try:
        done.set_result(estimate_payload(*question, Pauses(stopping)))
    except Released:
        done.set_result(PayloadError('the node let go of the arm'))
    except NeDynamicsError as error:
        done.set_result(error)
    except Exception:
        # Never without an answer, let alone the end of the node.
        done.set_result(PayloadError(traceback.format_exc()))
