"""Short runs of the fuzz, and a check that it finds what it is there to find."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from ne_dynamics.control.controller import Controller
from ne_dynamics.control.stages.limits import EffortLimiter, LimitedEffort
from ne_dynamics.errors import InputError
from ne_dynamics.ros.thresholds import NODE
from ne_dynamics.ros.watching import reporter

SEED = 20240607
MESSAGES = 400
DDS_MESSAGES = 300


def plan_of(number: int):
    """Return a run without a compiler: that takes longer than the run."""
    from fuzz_messages import plan

    chosen = plan(SEED, number)
    return replace(chosen, parameters=chosen.parameters | {'backend': 'python'})


def run_of(context, number: int):
    from fuzz_messages import MessageSource
    from fuzz_node import run

    chosen = plan_of(number)
    tally, violation, _ = run(chosen, MessageSource(chosen).steps(MESSAGES), context)
    return tally, violation


def first_clause(context, numbers=range(1, 7)) -> str:
    """Return what did not hold first in some runs."""
    violations = (run_of(context, number)[1] for number in numbers)
    return next((found.clause for found in violations if found is not None), 'none')


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

    report, violations = fuzz_process(SEED, DDS_MESSAGES)
    assert not violations, '\n'.join([*violations, report])


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
    assert first_clause(context) == clause


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
    assert first_clause(context) == clause


def test_it_finds_silence_floods_and_lost_messages(context, monkeypatch) -> None:
    """States that are never answered again, lines without end, and missing counts are found."""

    def refuse(*_) -> None:
        raise InputError('position: not today')

    # Of the node alone: the check knows what is right.
    silent = replace(NODE, warning_period=0.0)
    for owner, name, fault, clause in (
        (Controller, 'answer', refuse, 'good states are answered again'),
        (reporter, 'NODE', silent, 'no log flood'),
        (
            reporter.Reporter,
            'drop',
            lambda *_: None,
            'every state is answered or counted as dropped',
        ),
    ):
        with monkeypatch.context() as patch:
            patch.setattr(owner, name, fault)
            assert first_clause(context) == clause
