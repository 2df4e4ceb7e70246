"""The service ``~/estimate_payload`` and its topic: what hangs on the flange, offered.

Nothing is set by it. The work is done by another process, so that the control path of the node
answers on; the answer of the service waits for it.
"""

from __future__ import annotations

from concurrent.futures import Future
from typing import Any

import numpy as np

from ne_dynamics.control.payload.estimate import PayloadEstimate, estimate_payload
from ne_dynamics.errors import NeDynamicsError, PayloadError, optional_dependency
from ne_dynamics.ros.running.background import Background
from ne_dynamics.ros.running.deferred_service import DeferredService, Reply
from ne_dynamics.ros.running.worker_process import AT_LEISURE
from ne_dynamics.ros.settings.parameters import PayloadSettings
from ne_dynamics.ros.watching.measured_motion import Question

with optional_dependency('the node needs ROS 2 for Python', 'ros'):
    from geometry_msgs.msg import InertiaStamped
    from rclpy.logging import LoggingSeverity as Severity
    from std_srvs.srv import Trigger

    from ne_dynamics.ros.configured_arm import ConfiguredArm
    from ne_dynamics.ros.connections import NO_PUBLISHER_EVENTS
    from ne_dynamics.ros.watching.reporter import Reporter

SERVICE = '~/estimate_payload'
RESULT_TOPIC = '~/estimated_payload'


class PayloadEstimator:
    """Answers ``~/estimate_payload`` for the arm that is configured.

    Parameters
    ----------
    node : ComputedTorqueNode
    reporter : Reporter
    """

    def __init__(self, node: Any, reporter: Reporter) -> None:
        self._node = node
        self._reporter = reporter
        self._reply: Reply | None = None
        self._is_released = False
        self._publisher = node.create_publisher(
            InertiaStamped, RESULT_TOPIC, 10, event_callbacks=NO_PUBLISHER_EVENTS
        )
        self._background = Background(node, AT_LEISURE)
        DeferredService(node, Trigger, SERVICE, self._on_request)

    def release(self) -> None:
        """Give up what is being worked on: the arm is let go of."""
        self._is_released = True

    def _on_request(self, request: Trigger.Request, reply: Reply) -> None:
        try:
            question = self._ask()
        except NeDynamicsError as error:
            self._refuse(reply, error)
            return
        self._reply, self._is_released = reply, False
        self._background.submit(self._on_done, estimate_payload, *question)

    def _ask(self) -> Question:
        """Return what is to be worked on.

        Raises
        ------
        NeDynamicsError
            When nothing is; the message says why.
        """
        configured: ConfiguredArm | None = self._node.configured
        if configured is None:
            raise PayloadError('the node is not configured')
        if not configured.is_commanding:
            raise PayloadError('the node is not active')
        if self._reply is not None:
            raise PayloadError('an estimate is being worked on')
        return configured.measured_motion.ask()

    def _on_done(self, work: Future[PayloadEstimate]) -> None:
        """Answer who has asked, in the thread of the executor."""
        reply, self._reply = self._reply, None
        if reply is None:
            return
        configured: ConfiguredArm | None = self._node.configured
        try:
            if configured is None or self._is_released:
                raise PayloadError('the node let go of the arm')
            found = work.result()
        except Exception as error:
            # Never without an answer, let alone the end of the node.
            text = str(error) if isinstance(error, NeDynamicsError) else repr(error)
            self._refuse(reply, text)
            return
        payload = configured.settings.payload
        self._publish(found, payload)
        text = f'{found.text}; {_offer(found, payload)}'
        self._say(text, Severity.INFO)
        reply(Trigger.Response(success=True, message=text))

    def _refuse(self, reply: Reply, reason: object) -> None:
        text = f'not estimated: {reason}'
        self._say(text, Severity.WARN)
        reply(Trigger.Response(success=False, message=text))

    def _say(self, text: str, severity: Severity) -> None:
        self._reporter.say(
            f'estimate_payload {severity.name}', f'estimate_payload: {text}', severity
        )

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
    """Return which parameters to set, in words, to tenths of a gram and of a millimetre."""
    mass = round(found.mass, 4)
    com = (np.round(found.center_of_mass, 4) + 0.0).tolist()
    inertia = ''
    if found.mass == 0.0 and any(payload.inertia):
        inertia = f', payload.inertia: {[0.0] * len(payload.inertia)}'
    return (
        f'to adopt it set payload.mass: {mass}, payload.com: {com}{inertia} (now '
        f'{payload.mass:g}, {list(payload.com)})'
    )
