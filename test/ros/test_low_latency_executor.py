"""The low-latency executor serves all that a node has, and gives way where rclpy is another."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence

import pytest

pytest.importorskip('rclpy', reason='needs ROS 2 for Python')

from rclpy.context import Context
from rclpy.duration import Duration
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from std_msgs.msg import Int32
from std_srvs.srv import Trigger

from ne_dynamics.ros.running.low_latency_executor import LowLatencyExecutor, make_executor
from ne_dynamics.ros.running.private_domain import private_domain

PATIENCE = 120.0


@pytest.fixture
def node() -> Iterator[Node]:
    context = Context()
    context.init(domain_id=private_domain())
    node = Node('prompt', context=context, namespace=f'/prompt_{time.monotonic_ns()}')
    node.create_timer(0.05, lambda: None)
    yield node
    node.destroy_node()
    context.try_shutdown()


def spin(executor: SingleThreadedExecutor, until: Callable[[], bool]) -> None:
    """Serve until something is so."""
    deadline = time.monotonic() + PATIENCE
    while not until():
        assert time.monotonic() < deadline
        executor.spin_once()


def connect(node: Node, topics: Sequence[str], served: list[str]) -> tuple[list, list]:
    """Return publishers and subscriptions of topics, which say when they are served."""
    return (
        [node.create_publisher(Int32, topic, 10) for topic in topics],
        [
            node.create_subscription(Int32, topic, lambda _, topic=topic: served.append(topic), 10)
            for topic in topics
        ],
    )


def publish(publishers: Sequence) -> None:
    """Publish to all, and wait until it has arrived."""
    for publisher in publishers:
        publisher.publish(Int32())
        assert publisher.wait_for_all_acked(Duration(seconds=PATIENCE))


def test_the_last_state_waits_for_what_was_sent_before_it(node: Node) -> None:
    """Those before it do not: none is lost where the queue holds one."""
    served: list[str] = []
    publishers, subscriptions = connect(node, ['sensor', 'plan', 'state'], served)
    sensor, plan, state = publishers

    def work(_: Int32) -> None:
        for sent, expected in (
            ([state], []),
            ([], []),
            ([sensor], []),
            ([state], ['state', 'sensor']),
            ([sensor, state], ['state']),
        ):
            served.clear()
            publish(sent)
            executor.answer_urgent(keeps_last=True)
            assert served == expected
        served.append('planned')

    subscriptions[1].callback = work
    executor = LowLatencyExecutor(
        node, lambda: subscriptions, is_urgent=lambda one: not one.topic_name.endswith('plan')
    )
    spin(executor, lambda: all(p.get_subscription_count() for p in publishers))
    publish([plan])
    spin(executor, lambda: 'planned' in served)
    assert served == ['state', 'planned', 'sensor', 'state']
    executor.shutdown()


def test_urgent_subscriptions_are_answered_in_the_middle_of_other_work(node: Node) -> None:
    """In their order; not the others, and none in the middle of their own answers."""
    served: list[str] = []
    absences: list[float] = []
    publishers, subscriptions = connect(node, ['sensor', 'plan', 'state'], served)
    executor = LowLatencyExecutor(
        node,
        lambda: subscriptions,
        absences.append,
        lambda subscription: not subscription.topic_name.endswith('plan'),
    )

    def work() -> None:
        for _ in range(2):
            publish(publishers)
            executor.answer_urgent()
            served.append('pause')

    guard = node.create_guard_condition(work)
    spin(executor, lambda: all(p.get_subscription_count() for p in publishers))
    absences.clear()
    begin = time.perf_counter()
    guard.trigger()
    spin(executor, lambda: 'pause' in served)
    assert served[:6] == ['sensor', 'state', 'pause'] * 2
    assert len(absences) >= 3
    assert 0.0 < sum(absences) < time.perf_counter() - begin
    spin(executor, lambda: served.count('plan') == 2)
    executor.shutdown()


def test_everything_else_is_served_while_messages_stream(node: Node) -> None:
    """Services, timers, guard conditions, tasks and other subscriptions get their turn."""
    served: dict[str, int] = dict.fromkeys(('prompt', 'other', 'timer', 'guard', 'task'), 0)

    def count(key: str) -> Callable[..., None]:
        def callback(*_: object) -> None:
            served[key] += 1

        return callback

    prompt = node.create_subscription(Int32, 'prompt', count('prompt'), 10)
    node.create_subscription(Int32, 'other', count('other'), 10)
    node.create_timer(0.001, count('timer'))
    guard = node.create_guard_condition(count('guard'))
    node.create_service(Trigger, 'service', lambda _, response: response)
    client = node.create_client(Trigger, 'service')
    publishers = [node.create_publisher(Int32, topic, 10) for topic in ('prompt', 'other')]
    executor = LowLatencyExecutor(node, lambda: [prompt])
    spin(executor, client.service_is_ready)
    for _ in range(5):
        before = dict(served)
        threading.Thread(target=guard.trigger).start()
        executor.create_task(count('task'))
        answer = client.call_async(Trigger.Request())

        def all_served(before: dict[str, int] = before, answer=answer) -> bool:
            for publisher in publishers:
                publisher.publish(Int32())
            return answer.done() and all(served[key] > before[key] for key in served)

        spin(executor, all_served)
    executor.shutdown()


def test_another_rclpy_is_served_by_its_own_executor(
    node: Node, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """Where an internal is missing the log says so, and rclpy's executor serves the node."""
    assert type(make_executor(node, tuple)) is LowLatencyExecutor
    assert not capfd.readouterr().err
    for name in ('rclpy.waitable.NumberOfEntities', 'rclpy.node.Node.waitables'):
        with monkeypatch.context() as patch:
            patch.delattr(name)
            executor = make_executor(node, tuple)
        assert type(executor) is SingleThreadedExecutor
        (line,) = capfd.readouterr().err.splitlines()
        assert name.rpartition('.')[2] in line
        assert 'INFO' in line
    ticks: list[None] = []
    node.create_timer(0.001, lambda: ticks.append(None))
    spin(executor, lambda: len(ticks) > 2)
    executor.shutdown()


def test_tasks_that_come_together_are_all_served(node: Node) -> None:
    """Several tasks made at once are done without another event to wake the executor."""
    for timer in list(node.timers):
        node.destroy_timer(timer)
    executor = LowLatencyExecutor(node, lambda: ())
    done: list[int] = []
    for number in range(3):
        executor.create_task(done.append, number)
    thread = threading.Thread(target=spin, args=(executor, lambda: len(done) == 3), daemon=True)
    thread.start()
    thread.join(PATIENCE)
    assert sorted(done) == [0, 1, 2]
    executor.shutdown()
