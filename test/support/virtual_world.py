"""Time, timers and transport of a node of this process, without a clock, DDS or an executor.

Only what rclpy and `time` offer is replaced, nothing of the node: what a clock shows, what a timer
is, where a published message, a response and a log line go, and the server of an action. Time
passes where the world is told so, and in `time.sleep`; a callback takes none.
"""

from __future__ import annotations

import inspect
import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any
from unittest import mock

import rclpy.node
from rclpy.action import ActionServer, CancelResponse, GoalResponse
from rclpy.clock import Clock, ClockType
from rclpy.context import Context
from rclpy.guard_condition import GuardCondition
from rclpy.impl.rcutils_logger import RcutilsLogger
from rclpy.logging import LoggingSeverity, set_logger_level
from rclpy.publisher import Publisher
from rclpy.serialization import serialize_message
from rclpy.service import Service
from rclpy.time import Time

from ne_dynamics.ros.running.worker_process import AT_LEISURE, PLANNING

BEGIN = 1_000_000_000_000
"""What all clocks show at first [ns]; 0 would mean no stamp."""

PATIENCE = 120.0
"""Real seconds that work beside the loop may take on a busy machine."""

real_now = Clock.now


class VirtualTimer:
    """A timer of rclpy by the time of a world: the same calls, the same meaning as in rcl.

    Parameters
    ----------
    world : VirtualWorld
    callback, callback_group, timer_period_ns, clock, autostart
        As in rclpy.
    """

    def __init__(
        self,
        world: VirtualWorld,
        callback: Callable[[], None],
        callback_group: Any,
        timer_period_ns: int,
        clock: Any,
        *,
        context: Any = None,
        autostart: bool = True,
    ) -> None:
        self.callback, self.callback_group, self.clock = callback, callback_group, clock
        self.timer_period_ns = int(timer_period_ns)
        self._world = world
        self._is_canceled = not autostart
        self.due = self._now() + self.timer_period_ns
        world.timers.append(self)

    def _now(self) -> int:
        return self._world.time_of(self.clock)

    def reset(self) -> None:
        """Wait for a period from now on."""
        self._is_canceled = False
        self.due = self._now() + self.timer_period_ns

    def cancel(self) -> None:
        """Wait no longer."""
        self._is_canceled = True

    def is_canceled(self) -> bool:
        """Return whether it does not wait."""
        return self._is_canceled

    def is_ready(self) -> bool:
        """Return whether its time has come."""
        return not self._is_canceled and self._now() >= self.due

    def time_until_next_call(self) -> int | None:
        """Return the time that is left [ns]; None when it does not wait."""
        return None if self._is_canceled else self.due - self._now()

    def time_since_last_call(self) -> int:
        """Return the time since the last call, or since it was reset [ns]."""
        return self._now() - self.due + self.timer_period_ns

    def destroy(self) -> None:
        """Wait no longer, for good."""
        self._is_canceled = True
        if self in self._world.timers:
            self._world.timers.remove(self)

    def call(self) -> None:
        """Call the callback; the next time is a whole number of periods later."""
        period = max(self.timer_period_ns, 1)
        self.due += period * (1 + max(self._now() - self.due, 0) // period)
        self.callback()


class GoalHandle:
    """A goal as the server of an action has it.

    Parameters
    ----------
    server : rclpy.action.ActionServer
    request : object
        The goal.
    ended : callable
        Called with the way in which it has ended and the code of its result.

    Attributes
    ----------
    way : str
        In which it has ended; '' before.
    """

    def __init__(self, server: Any, request: Any, ended: Callable[[str, int], None]) -> None:
        self.request = request
        self.is_cancel_requested = False
        self._server, self._ended = server, ended
        self.way = ''

    @property
    def is_active(self) -> bool:
        """Whether it has not ended."""
        return not self.way

    def end(self, way: str) -> None:
        """End in a way."""
        self.way = way

    def execute(self, execute_callback: Any = None) -> None:
        """Begin."""
        self._server.notify_execute(self, execute_callback)

    def succeed(self, response: Any = None) -> None:
        """End as wanted."""
        self.end('succeeded')

    def abort(self, response: Any = None) -> None:
        """End otherwise."""
        self.end('aborted')

    def canceled(self, response: Any = None) -> None:
        """End as the client wants."""
        self.end('canceled')

    def finish(self, result: Any) -> None:
        """Take the result."""
        self._ended(self.way, int(result.error_code))

    def publish_feedback(self, feedback: Any) -> None:
        """Let nobody hear it."""


class VirtualWorld:
    """What is around a node; see the module.

    Attributes
    ----------
    now : int
        Time of all clocks [ns]; not of those that go by `/clock` once they do.
    ahead : int
        By which the clock of the system is ahead of that [ns].
    heard : callable
        Called with each published message: topic and message, which the node may use again.
    logged : callable
        Called with each line of the log: severity and text.
    """

    def __init__(self) -> None:
        self.now = BEGIN
        self.ahead = 0
        self.timers: list[VirtualTimer] = []
        self.heard: Callable[[str, Any], None] = lambda topic, message: None
        self.logged: Callable[[Any, str], None] = lambda severity, text: None
        self._responses: list[Any] = []
        self._triggered: list[Any] = []
        self._tasks: list[Callable[[], Any]] = []
        self._action_servers: list[tuple[Any, dict[str, Any]]] = []

    # ---- as an executor of rclpy, for the node

    def add_node(self, node: Any) -> bool:
        """Serve a node."""
        return True

    def remove_node(self, node: Any) -> None:
        """Serve a node no longer."""

    def wake(self) -> None:
        """Do nothing: nobody sleeps."""

    def create_task(self, callback: Callable[..., Any], *arguments: Any) -> None:
        """Keep a task until the callback that made it has returned."""
        self._tasks.append(partial(callback, *arguments))

    # ---- time

    def time_of(self, clock: Any) -> int:
        """Return what a clock of rclpy shows [ns]."""
        if _is_simulated(clock):
            return int(real_now(clock).nanoseconds)
        return self.now if clock.clock_type is ClockType.STEADY_TIME else self.now + self.ahead

    def notice_clocks(self) -> None:
        """Let timers whose clock was set back wait for a period, as rcl does."""
        for timer in self.timers:
            timer.due = min(timer.due, self.time_of(timer.clock) + timer.timer_period_ns)

    def advance(self, until: int) -> None:
        """Let time pass up to a moment [ns], and call the timers whose time comes."""
        while (timer := self._next_timer(until)) is not None:
            if not timer.is_ready():
                self.now += timer.due - timer._now()
            timer.call()
            self.wait_until_idle()
        self.now = max(self.now, until)

    def _next_timer(self, until: int) -> VirtualTimer | None:
        """Return the timer that is to be called first; None when none is up to a moment."""
        first: tuple[int, VirtualTimer] | None = None
        for timer in self.timers:
            if timer.is_canceled():
                continue
            left = max(timer.due - timer._now(), 0)
            is_still = left > 0 and _is_simulated(timer.clock)
            if is_still or self.now + left > until:
                continue
            if first is None or left < first[0]:
                first = left, timer
        return None if first is None else first[1]

    def wait_until_idle(self) -> None:
        """Let all that the node does beside its callbacks come to its end, in no time.

        That is what its guard conditions, its tasks and its processes do. What is computed
        anywhere else must be waited for here.
        """
        while True:
            for worker in (PLANNING, AT_LEISURE):
                if not worker.wait(PATIENCE):
                    raise RuntimeError(f'work beside the node: expected an end in {PATIENCE} s')
            works = self._tasks + [guard.callback for guard in self._triggered]
            if not works:
                return
            self._tasks, self._triggered = [], []
            for work in works:
                _run(work)

    # ---- messages and requests

    def publish(self, node: Any, topic: str, message: Any) -> bool:
        """Hand a message to whoever in a node listens; return whether anybody does."""
        subscriptions = [one for one in node.subscriptions if one.topic_name == topic]
        for subscription in subscriptions:
            subscription.callback(serialize_message(message) if subscription.raw else message)
            self.wait_until_idle()
        return bool(subscriptions)

    def call(self, node: Any, name: str, request: Any) -> Any:
        """Return the response of a node's service; None when there is none."""
        found = [one for one in node.services if one.srv_name.rpartition('/')[2] == name]
        if not found:
            return None
        (service,) = found
        self._responses.clear()
        response = service.callback(request, service.srv_type.Response())
        service.send_response(response, object())
        self.wait_until_idle()
        return self._responses[-1] if self._responses else None

    def send_goal(
        self,
        request: Any,
        ended: Callable[[str, int], None],
        make: Callable[..., GoalHandle] = GoalHandle,
    ) -> GoalHandle | None:
        """Send a goal to the node's only action; return its handle when it is accepted."""
        server, callbacks = self._action_servers[-1]
        answer = callbacks['goal_callback'](request)
        if answer is not GoalResponse.ACCEPT:
            return None
        handle = make(server, request, ended)
        callbacks['handle_accepted_callback'](handle)
        self.wait_until_idle()
        return handle

    def cancel_goal(self, handle: GoalHandle) -> bool:
        """Ask for the end of a goal; return whether that was granted."""
        callbacks = self._action_servers[-1][1]
        is_granted = callbacks['cancel_callback'](handle) is CancelResponse.ACCEPT
        handle.is_cancel_requested = is_granted
        self.wait_until_idle()
        return is_granted

    # ---- in the place of the real one

    def _sleep(self, seconds: float) -> None:
        if threading.current_thread() is threading.main_thread():
            self.now += max(round(seconds * 1e9), 0)

    @contextmanager
    def installed(self) -> Iterator[VirtualWorld]:
        """Put this world in the place of the real one."""

        def log(logger: Any, message: str, severity: Any, **how: Any) -> bool:
            self.logged(severity, message)
            return True

        def show(clock: Any) -> Time:
            return Time(nanoseconds=self.time_of(clock), clock_type=clock.clock_type)

        def serve_action(server: Any, node: Any, *arguments: Any, **callbacks: Any) -> None:
            server._node = node
            self._action_servers.append((server, callbacks))

        def execute(server: Any, handle: Any, execute_callback: Any) -> None:
            self._tasks.append(lambda: handle.finish(_run(partial(execute_callback, handle))))

        steady = {
            'monotonic_ns': lambda: self.now,
            'perf_counter_ns': lambda: self.now,
            'monotonic': lambda: 1e-9 * self.now,
            'perf_counter': lambda: 1e-9 * self.now,
        }
        of_system = {
            'time_ns': lambda: self.now + self.ahead,
            'time': lambda: 1e-9 * (self.now + self.ahead),
        }
        patch = mock.patch.object
        with (
            mock.patch.multiple(time, sleep=self._sleep, **steady, **of_system),
            patch(rclpy.node, 'Timer', partial(VirtualTimer, self)),
            patch(Clock, 'now', show),
            patch(GuardCondition, 'trigger', lambda guard: self._triggered.append(guard)),
            patch(Publisher, 'publish', lambda pub, message: self.heard(pub.topic_name, message)),
            patch(Publisher, 'get_subscription_count', lambda publisher: 1),
            patch(Publisher, 'wait_for_all_acked', lambda publisher, timeout=None: True),
            patch(
                Service, 'send_response', lambda _, response, to: self._responses.append(response)
            ),
            patch(RcutilsLogger, 'log', log),
            patch(ActionServer, '__init__', serve_action),
            patch(ActionServer, 'notify_execute', execute),
            patch(ActionServer, 'destroy', lambda server: None),
        ):
            yield self


def closed_context(domain: int) -> Context:
    """Return a context whose nodes neither look for others nor are found."""
    context = Context()
    with mock.patch.dict(os.environ, ROS_AUTOMATIC_DISCOVERY_RANGE='OFF'):
        context.init(domain_id=domain)
    # One line for each refused transition, from C.
    set_logger_level('rcl_lifecycle', LoggingSeverity.FATAL)
    return context


def _run(work: Callable[[], Any]) -> Any:
    """Call something, and let a coroutine that comes of it run to its end."""
    result = work()
    if not inspect.iscoroutine(result):
        return result
    try:
        while True:
            result.send(None)
    except StopIteration as end:
        return end.value


def _is_simulated(clock: Any) -> bool:
    """Return whether a clock goes by `/clock`."""
    return bool(clock.clock_type is ClockType.ROS_TIME and clock.ros_time_is_active)
