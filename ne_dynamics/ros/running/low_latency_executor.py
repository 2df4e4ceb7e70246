"""An executor that answers some subscriptions without rclpy's detours.

rclpy's SingleThreadedExecutor builds a wait set, a task and a coroutine anew for every message,
looks at every entity of the node in Python, and wakes itself up afterwards to do it once more:
most of the processor time of a small node. Here the wait set is kept as long as the node's
entities stay the same, and the subscriptions that matter are taken and answered right where the
wait returns; so are timers. Whatever else becomes ready (services, events, other subscriptions) is
left to rclpy. Each entity costs time in every wait, so services, clients and events, which are
most of them, are waited for only now and then while messages stream. What takes longer than a
message can wait calls :meth:`LowLatencyExecutor.answer_urgent` now and then.

It needs some of rclpy's internals; :func:`make_executor` does without where they are missing.
"""

from __future__ import annotations

import inspect
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from typing import Any

from rclpy.executors import ExternalShutdownException, SingleThreadedExecutor

from ne_dynamics.ros.thresholds import NODE

KINDS = ('subscriptions', 'timers', 'clients', 'services', 'guards', 'waitables')

Entities = tuple[tuple[Any, ...], ...]

Additions = list[tuple[Callable[[Any], Any], Any]]
"""By what call each entity is put into a wait set, and what it is called with."""

LowLatency = tuple[int, Callable[..., Any], Any, bool, Callable[[Any], Any]]
"""Pointer of a subscription, how to take a message, its type, whether raw, and the callback."""


class LowLatencyExecutor(SingleThreadedExecutor):
    """Serves one node, in one thread; its low-latency subscriptions first, in their order.

    Parameters
    ----------
    node : rclpy.node.Node
    low_latency : callable
        Returns the subscriptions of the node that are answered first; asked again whenever
        the node's entities have changed. Their callbacks are plain functions of the message
        that create and destroy no entities.
    on_absence : callable, optional
        Called after anything else was served, with the time that it took [s]: for so long
        no low-latency subscription could be answered.
    is_urgent : callable, optional
        Returns whether a low-latency subscription is one of those that :meth:`answer_urgent`
        answers.

    Raises
    ------
    ImportError, AttributeError
        When this rclpy does not have the internals that it takes.
    """

    def __init__(
        self,
        node: Any,
        low_latency: Callable[[], Sequence[Any]],
        on_absence: Callable[[float], None] | None = None,
        is_urgent: Callable[[Any], bool] = lambda subscription: False,
    ) -> None:
        super().__init__(context=node.context)
        self._node = node
        self._ask = low_latency
        self._on_absence = on_absence
        self._is_urgent = is_urgent
        self._urgent: list[LowLatency] = []
        self._kept: list[tuple[Callable[[Any], Any], Any]] = []
        self._is_answering_urgent = False
        # Begin of what else is served, by `time.perf_counter`; 0 while nothing is [s].
        self._absent_since = 0.0
        self._entities: Entities = ()
        self._held = ExitStack()
        # Of all entities, and of those that are waited for while messages stream; which of them
        # was waited for last; until when the second is enough, by `time.perf_counter` [s].
        self._waits: list[tuple[Any, Additions]] = []
        self._wait_set: Any = None
        self._look_at_all_at = 0.0
        self._low_latency: list[LowLatency] = []
        self.add_node(node)
        try:
            self._try_out()
        except (ImportError, AttributeError, TypeError) as error:
            self.shutdown()
            raise AttributeError(f'rclpy is not as expected: {error}') from error

    def _try_out(self) -> None:
        """Wait once for nothing: what is missing in rclpy shows now."""
        from rclpy.impl.implementation_singleton import rclpy_implementation
        from rclpy.waitable import NumberOfEntities

        self._make_wait_set = rclpy_implementation.WaitSet
        self._invalid_handle = rclpy_implementation.InvalidHandle
        self._count = NumberOfEntities
        _ = self._guard._executor_triggered
        self._wait(0)
        self._find_due()
        self._others_are_ready()
        self._mark_guards()
        self.wake()

    def spin_once(self, timeout_sec: float | None = None) -> None:
        """Wait until something is ready, and serve it.

        Parameters
        ----------
        timeout_sec : float, optional
            As in rclpy, which does the work when it is given.

        Raises
        ------
        ExternalShutdownException
            When the context has been shut down.
        """
        if timeout_sec is not None:
            super().spin_once(timeout_sec)
            return
        left = self._look_at_all_at - time.perf_counter()
        is_partial = left > 0.0
        self._wait(max(1, round(1e9 * left)) if is_partial else -1, is_partial=is_partial)
        if not self._context.ok():
            raise ExternalShutdownException()
        ready = self._wait_set.get_ready_entities('subscription')
        answered = last = 0
        for place, (pointer, *_) in enumerate(self._low_latency, start=1):
            if pointer in ready:
                answered += 1
                last = place
        self._answer(last)
        if answered and not is_partial:
            self._look_at_all_at = time.perf_counter() + NODE.others_period
        due, is_left = self._find_due()
        if is_left or len(ready) > answered or self._others_are_ready(is_partial=is_partial):
            self._serve_others()
        if due:
            self._fire(due)

    def _answer(self, count: int) -> None:
        """Answer the first of the low-latency subscriptions.

        Those too that the wait found empty: it looks at one after the other, and what was sent
        before a state may come behind its back, and be there with the state.
        """
        for _, take, message_type, is_raw, callback in self._low_latency[:count]:
            taken = take(message_type, is_raw)
            if taken is not None:
                callback(taken[0])
                if self._kept:
                    self._answer_kept()

    def answer_urgent(self, *, keeps_last: bool = False) -> None:
        """Answer the urgent subscriptions in the middle of other work.

        For what the executor serves, in its thread, but not for these subscriptions themselves.

        Parameters
        ----------
        keeps_last : bool
            Whether the newest message of the last of them waits until that work is done, or
            another one comes: who has sent something before it wants it to be used with it.
        """
        if self._is_answering_urgent:
            return
        if self._absent_since:
            self._note_absence()
        came = []
        for _, take, message_type, is_raw, callback in self._urgent:
            taken = take(message_type, is_raw)
            if taken is not None:
                came.append((callback, taken[0]))
        if not keeps_last or (came and came[-1][0] is self._urgent[-1][-1]):
            self._answer_kept()
        self._kept += came
        if not keeps_last:
            self._answer_kept()

    def _answer_kept(self) -> None:
        """Answer what was taken in the middle of other work."""
        self._is_answering_urgent = True
        try:
            while self._kept:
                callback, message = self._kept.pop(0)
                callback(message)
        finally:
            self._is_answering_urgent = False

    def _take_subscription(self, sub: Any) -> Any:
        """Answer a low-latency subscription that rclpy has come upon, after those before it."""
        pointer = sub.handle.pointer
        for place, (one, *_) in enumerate(self._low_latency, start=1):
            if one == pointer:
                self._answer(place)
                return None
        return super()._take_subscription(sub)

    def _wait(self, timeout: int, *, is_partial: bool = False) -> None:
        """Wait for all, or for what is waited for while messages stream; for ever by -1 [ns]."""
        if not self._waits:
            self._prepare()
        try:
            self._gather(is_partial)
        except self._invalid_handle:
            # Something was destroyed between two calls.
            self._prepare()
            self._gather(is_partial)
        self._wait_set.wait(timeout)

    def _gather(self, is_partial: bool) -> None:
        """Put the entities into the wait set: a wait leaves only those in it that are ready."""
        self._wait_set, additions = self._waits[is_partial]
        self._wait_set.clear_entities()
        for add, handle in additions:
            add(handle)

    def _others_are_ready(self, *, is_partial: bool = False) -> bool:
        wait_set = self._wait_set
        ready = wait_set.get_ready_entities
        if is_partial:
            return bool(ready('guard_condition'))
        return bool(
            ready('guard_condition')
            or ready('service')
            or ready('client')
            or any(waitable.is_ready(wait_set) for waitable in self._entities[-1])
        )

    def _find_due(self) -> tuple[list[Any], bool]:
        """Return the timers that are due, and whether others are, which rclpy has to serve."""
        pointers = self._wait_set.get_ready_entities('timer')
        if not pointers:
            return [], False
        due = [timer for timer in self._entities[1] if timer.handle.pointer in pointers]
        plain = [timer for timer in due if not inspect.iscoroutinefunction(timer.callback)]
        return plain, len(plain) < len(due)

    def _fire(self, timers: Sequence[Any]) -> None:
        """Call what is due, unless it was called meanwhile."""
        self._absent_since = time.perf_counter()
        for timer in timers:
            call = None
            with suppress(self._invalid_handle):  # destroyed since
                call = self._take_timer(timer) if timer.is_ready() else None
            if call is not None:
                with suppress(StopIteration):
                    call().send(None)
        self._end_absence()

    def _mark_guards(self) -> None:
        """Mark guard conditions that the wait has reset: rclpy triggers those marked so again."""
        triggered = self._wait_set.get_ready_entities('guard_condition')
        for guard in self._entities[-2]:
            if guard.handle.pointer in triggered:
                guard._executor_triggered = True

    def _serve_others(self) -> None:
        """Let rclpy do one piece of work; look whether the node has changed by it."""
        self._mark_guards()
        # What is left over is found by the next wait: rclpy wakes the executor after each piece.
        self._absent_since = time.perf_counter()
        super().spin_once(0.0)
        self._end_absence()
        if not all(task.done() for task, _, _ in self._tasks) or any(
            guard._executor_triggered for guard in self._entities[-2]
        ):
            # Nothing wakes the executor for a task that still waits, nor for a guard condition
            # that was marked and not served.
            self.wake()

    def _end_absence(self) -> None:
        """Answer what was kept; look whether the node has changed by what was served."""
        self._answer_kept()
        self._note_absence()
        self._absent_since = 0.0
        if self._present_entities() != self._entities:
            self._release()

    def _note_absence(self) -> None:
        """Tell for how long no such subscription could be answered, since that was told last."""
        since, self._absent_since = self._absent_since, time.perf_counter()
        if self._on_absence is not None:
            self._on_absence(self._absent_since - since)

    def _present_entities(self) -> Entities:
        # From lists: a tuple made of a generator is allocated too large and cut, and the
        # interpreter keeps it for later; done every second, the process grows for an hour.
        present = []
        for kind in KINDS:
            entities = list(getattr(self._node, kind))
            present.append(tuple(entities))
        return tuple(present)

    def _prepare(self) -> None:
        """Build the wait set; its entities cannot be destroyed while they are in it."""
        self._release()
        self._entities = self._present_entities()
        subscriptions, timers, clients, services, guards, waitables = self._entities
        # The first wakes the executor when entities come and go, the other one on a signal.
        guards = (*guards, self._guard, self._sigint_gc)
        for entity in (*subscriptions, *timers, *clients, *services, *guards):
            self._held.enter_context(entity.handle)
        for waitable in waitables:
            self._held.enter_context(waitable)
        self._waits = [
            self._make_wait(subscriptions, timers, clients, services, guards, waitables),
            self._make_wait(subscriptions, timers, (), (), guards, ()),
        ]
        self._low_latency, self._urgent = [], []
        for entity in self._ask():
            if entity in subscriptions:
                take = entity.handle.take_message
                one = entity.handle.pointer, take, entity.msg_type, entity.raw, entity.callback
                self._low_latency.append(one)
                if self._is_urgent(entity):
                    self._urgent.append(one)

    def _make_wait(
        self,
        subscriptions: Sequence[Any],
        timers: Sequence[Any],
        clients: Sequence[Any],
        services: Sequence[Any],
        guards: Sequence[Any],
        waitables: Sequence[Any],
    ) -> tuple[Any, Additions]:
        """Return a wait set, and by what calls the entities are put into it."""
        count = self._count(
            len(subscriptions), len(guards), len(timers), len(clients), len(services)
        )
        for waitable in waitables:
            count += waitable.get_num_entities()
        wait_set = self._make_wait_set(
            count.num_subscriptions,
            count.num_guard_conditions,
            count.num_timers,
            count.num_clients,
            count.num_services,
            count.num_events,
            self._context.handle,
        )
        additions: Additions = []
        for add, kind in (
            (wait_set.add_subscription, subscriptions),
            (wait_set.add_timer, timers),
            (wait_set.add_client, clients),
            (wait_set.add_service, services),
            (wait_set.add_guard_condition, guards),
        ):
            additions += [(add, entity.handle) for entity in kind]
        for waitable in waitables:
            # An event notes its place, which stays the same; from then on it is put there without
            # the detour.
            waitable.add_to_wait_set(wait_set)
            event = getattr(waitable, '_EventHandler__event', None)
            if event is None:
                additions.append((waitable.add_to_wait_set, wait_set))
            else:
                additions.append((wait_set.add_event, event))
        return wait_set, additions

    def _release(self) -> None:
        self._wait_set = None
        self._waits, self._low_latency, self._urgent = [], [], []
        self._held.close()

    def shutdown(self, timeout_sec: float | None = None) -> bool:
        """Let go of the node's entities, and shut down."""
        self._release()
        return bool(super().shutdown(timeout_sec))


def make_executor(
    node: Any,
    low_latency: Callable[[], Sequence[Any]],
    on_absence: Callable[[float], None] | None = None,
    is_urgent: Callable[[Any], bool] = lambda subscription: False,
) -> SingleThreadedExecutor:
    """Return an executor that serves a node: a :class:`LowLatencyExecutor`, or rclpy's own.

    Parameters
    ----------
    node : rclpy.node.Node
    low_latency, on_absence, is_urgent : callable
        As for :class:`LowLatencyExecutor`.

    Returns
    -------
    SingleThreadedExecutor
        rclpy's own, which does the same at more cost, when this rclpy is not as expected; the
        node's log says so.
    """
    try:
        return LowLatencyExecutor(node, low_latency, on_absence, is_urgent)
    except (ImportError, AttributeError) as error:
        node.get_logger().info(f"rclpy's own executor is used: {error}")
    executor = SingleThreadedExecutor(context=node.context)
    executor.add_node(node)
    return executor
