"""What rclpy would let end the process: requests and times that cannot be.

A transition that there is not from the present state, a parameter of a type that there is not, a
`/clock` before 1970. Each is refused and reported.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rcl_interfaces.msg import SetParametersResult
from rclpy.parameter import Parameter

from ne_dynamics.ros.watching.reporter import Reporter

Check = Callable[[Any], None]
Refuse = Callable[[Any, Any, Exception], None]


def guard_services(node: Any, reporter: Reporter) -> None:
    """Let the services that rclpy gives a node refuse what is impossible."""

    def refuse_transition(request: Any, response: Any, error: Exception) -> None:
        asked = request.transition.label or request.transition.id
        reporter.say('change_state', f'transition {asked!r} refused: {error}')
        response.success = False

    def require_readable(request: Any) -> None:
        # All of them, before the first is set.
        for parameter in request.parameters:
            Parameter.from_parameter_msg(parameter)

    def refuse_parameters(request: Any, response: Any, error: Exception) -> None:
        reporter.say('set_parameters', f'parameters refused: {error}')
        result = SetParametersResult(successful=False, reason=str(error))
        if hasattr(response, 'results'):
            response.results = [result] * len(request.parameters)
        else:
            response.result = result

    guards: dict[str, tuple[Check, Refuse]] = {
        'change_state': (lambda request: None, refuse_transition),
        'set_parameters': (require_readable, refuse_parameters),
        'set_parameters_atomically': (require_readable, refuse_parameters),
    }
    for service in node.services:
        guard = guards.get(service.srv_name.rpartition('/')[2])
        if guard is not None:
            service.callback = _guarded(service.callback, *guard)


def _guarded(callback: Callable[[Any, Any], Any], check: Check, refuse: Refuse) -> Any:
    """Return a service's callback that checks first, and refuses instead of raising."""

    def guarded(request: Any, response: Any) -> Any:
        try:
            check(request)
            return callback(request, response)
        except Exception as error:
            refuse(request, response, error)
            return response

    return guarded


def guard_clock(node: Any, reporter: Reporter) -> None:
    """Drop a `/clock` that is no time."""
    source = getattr(node, '_time_source', None)
    if source is None:
        return
    set_time = source.clock_callback

    def guarded(message: Any) -> None:
        try:
            set_time(message)
        except ValueError as error:
            reporter.drop('/clock', 'clock', f'clock: {error}')

    source.clock_callback = guarded
    subscription = getattr(source, '_clock_sub', None)
    if subscription is not None:
        subscription.callback = guarded
