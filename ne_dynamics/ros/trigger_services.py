"""The services ``~/hold``, ``~/clear_fault`` and ``~/tare_wrench`` of the node."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from rclpy.logging import LoggingSeverity as Severity
from std_srvs.srv import Trigger

from ne_dynamics.errors import NeDynamicsError
from ne_dynamics.ros.configured_arm import ConfiguredArm
from ne_dynamics.ros.watching.reporter import Reporter

HOLDING = 'holding where the desired motion comes to rest'


class TriggerServices:
    """Answers what is asked of the arm that is configured."""

    def __init__(self, node: Any, reporter: Reporter) -> None:
        self._node = node
        self._reporter = reporter
        for name, done, act in (
            ('hold', 'held', self._hold),
            ('clear_fault', 'cleared', self._clear_fault),
            ('tare_wrench', 'tared', self._tare_wrench),
        ):
            node.create_service(Trigger, f'~/{name}', partial(self._answer, done, act))

    def _answer(
        self,
        done: str,
        act: Callable[[], str],
        request: Trigger.Request,
        response: Trigger.Response,
    ) -> Trigger.Response:
        """Answer with what an act returns, or why it was not done."""
        try:
            response.message = act()
            response.success = True
        except NeDynamicsError as error:
            response.message = f'not {done}: {error}'
        return response

    def _say(self, name: str, text: str) -> None:
        self._reporter.say(name, text, Severity.INFO)

    def _require_commanding(self) -> ConfiguredArm:
        configured: ConfiguredArm | None = self._node.configured
        if configured is None or not configured.is_commanding:
            raise NeDynamicsError(f'the node is {self._node.state_label}')
        return configured

    def _hold(self) -> str:
        configured = self._require_commanding()
        fault = configured.controller.fault
        if fault is not None and fault.latches:
            raise NeDynamicsError(str(fault))
        # What waits for its first state must not be followed either.
        configured.motion.hold('the service ~/hold was called')
        reason = configured.why_not_held
        self._say('hold', f'not held: {reason}' if reason else HOLDING)
        if reason:
            raise NeDynamicsError(reason)
        return HOLDING

    def _clear_fault(self) -> str:
        fault = self._require_commanding().controller.accept.guard.clear()
        where = 'the arm is held at the position of the next joint state'
        text = f'cleared: {fault.kind.value}: {fault.text}; {where}'
        self._say('clear_fault', text)
        return text

    def _tare_wrench(self) -> str:
        configured: ConfiguredArm | None = self._node.configured
        if configured is None:
            raise NeDynamicsError('the node is not configured')
        text = configured.tare_wrench()
        self._say('tare_wrench', f'wrench tared: {text}')
        return text
