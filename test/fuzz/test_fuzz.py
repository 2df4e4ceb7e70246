"""Short runs of the fuzz, and a check that it finds what it is there to find."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from ne_dynamics.control.stages.limits import EffortLimiter, LimitedEffort
from ne_dynamics.ros.thresholds import NODE

SEED = 20240607
MESSAGES = 400
DDS_MESSAGES = 500


def plan_of(number: int):
    """Return a run without a compiler: that takes longer than the run."""
    from fuzz_messages import plan

    chosen = plan(SEED, number)
    return replace(chosen, parameters=chosen.parameters | {'backend': 'python'})


def run_of(context, number: int, messages: int = MESSAGES):
    from fuzz_messages import MessageSource
    from fuzz_node import run

    chosen = plan_of(number)
    tally, violation, _ = run(chosen, MessageSource(chosen).steps(messages), context)
    return tally, violation


@pytest.mark.kept(2)
@pytest.mark.parametrize('number', range(5))
def test_messages_of_all_kinds(context, number: int) -> None:
    """Whatever comes, commands stay finite and limited, nothing escapes, good states count."""
    tally, violation = run_of(context, number)
    assert violation is None, f'seed {SEED} run {number}: {violation}'
    assert tally.messages >= MESSAGES
    assert tally.events['states answered'] > 0.1 * MESSAGES
    assert tally.drops.total() > 0


def test_messages_over_dds(action) -> None:
    """The node as a process keeps the same rules, and ends in order."""
    pytest.importorskip('rclpy', reason='needs ROS 2 for Python: pip install "ne_dynamics[ros]"')
    from fuzz_process import fuzz_process

    report, violations = fuzz_process(plan_of(1), DDS_MESSAGES)
    assert not violations, '\n'.join([*violations, report])


def test_a_command_may_follow_a_gap_that_the_node_excuses() -> None:
    """Where nothing says when a state was answered, the node may have been busy before it."""
    pytest.importorskip('rclpy', reason='needs ROS 2 for Python: pip install "ne_dynamics[ros]"')
    from fuzz_process import TIMEOUT, largest_elapsed
    from motion_loop import node_controller, shipped_arm

    rate, still, place = 1000.0, np.zeros(6), np.full(6, 0.3)
    controller = node_controller(shipped_arm(), effort_rate_limit=(rate,), state_effort='ignore')
    before = controller.update(place, still, 0.0, 0.0)
    controller.accept.guard.excuse(0.05)
    after = controller.update(place - 0.4, still, TIMEOUT + 0.018, TIMEOUT + 0.018)
    assert after.fault is None
    step = np.abs(after.effort - before.effort).max()
    assert step == pytest.approx(rate * (TIMEOUT + 0.018))
    assert step <= rate * largest_elapsed(None, 1, 0.0)


def test_what_is_sent_as_bytes_holds_nothing_of_the_memory(context) -> None:
    """Between fields, and behind the last, a writer leaves what was there."""
    from fuzz_messages import MessageSource
    from padding import serialize
    from rclpy.serialization import deserialize_message, serialize_message

    known = 0
    for step in MessageSource(plan_of(0)).steps(200):
        if not hasattr(type(step.message), '_TYPE_SUPPORT') or step.kind.startswith('~/'):
            continue
        known += 1
        first = serialize(step.message)
        # Other messages leave other bytes behind.
        others = [serialize_message(step.message) for _ in range(3)]
        assert len(first) == len(others[0])
        assert serialize(step.message) == first
        read = deserialize_message(bytes(first), type(step.message))
        assert repr(read) == repr(deserialize_message(others[0], type(step.message)))
    assert known > 100


def _not_finite(limiter, effort, dt):
    return LimitedEffort(effort * np.nan, None)


def _beyond_the_limit(limiter, effort, dt):
    return LimitedEffort(1.1 * limiter.limits, None)


def _without_rate(limiter, effort, dt):
    limiter.last = np.minimum(np.maximum(effort, -limiter.limits), limiter.limits)
    return LimitedEffort(limiter.last, None)


@pytest.mark.kept(1)
@pytest.mark.parametrize(
    ('fault', 'clause'),
    [
        (_not_finite, 'a command is finite'),
        (_beyond_the_limit, 'a command is within the limits'),
        (_without_rate, 'no step beyond the rate limit'),
    ],
)
def test_it_finds_bad_commands(context, monkeypatch, fault, clause: str) -> None:
    """A limiter that lets something pass is found out."""
    monkeypatch.setattr(EffortLimiter, 'apply', fault)
    assert run_of(context, 1)[1].clause == clause


@pytest.mark.kept(1)
@pytest.mark.parametrize(
    ('where', 'clause'),
    [
        ('joint_trajectory.JointTrajectoryTopic.on_message', 'no exception escapes a callback'),
        ('configured_arm.ConfiguredArm.end_commanding', 'no traceback in the log'),
    ],
)
def test_it_finds_exceptions(context, monkeypatch, where: str, clause: str) -> None:
    """An exception out of a callback is found, also where rclpy swallows it."""

    def broken(*_) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(f'ne_dynamics.ros.{where}', broken)
    assert run_of(context, 0)[1].clause == clause


def test_it_finds_silence_floods_and_lost_messages(context, monkeypatch) -> None:
    """States that are never answered again, lines without end, and missing counts are found."""
    from ne_dynamics.control.controller import Controller
    from ne_dynamics.errors import InputError
    from ne_dynamics.ros.watching.reporter import Reporter

    def refuse(*_) -> None:
        raise InputError('position: not today')

    with monkeypatch.context() as patch:
        patch.setattr(Controller, 'answer', refuse)
        assert run_of(context, 0)[1].clause == 'good states are answered again'
    with monkeypatch.context() as patch:
        # Of the node alone: the check knows what is right.
        silent = replace(NODE, warning_period=0.0)
        patch.setattr('ne_dynamics.ros.watching.reporter.NODE', silent)
        assert run_of(context, 0)[1].clause == 'no log flood'
    with monkeypatch.context() as patch:
        patch.setattr(Reporter, 'drop', lambda *_: None)
        clauses = {run_of(context, number)[1].clause for number in (0, 1)}
        assert clauses == {'every state is answered or counted as dropped'}
