"""The verdict on a long run, on records made up for it. No process, no clock."""

import json

import numpy as np
import pytest

from benchmark.soak_record import (
    NODE,
    RELAY,
    Responder,
    SoakRecord,
    longest_pause,
    match,
    table,
)

MILLISECOND = 1_000_000
PERIOD = 2 * MILLISECOND
START = 1_800_000_000_000_000_000
"""Nanoseconds as clocks have them: too many digits for a float."""


def responder(states, missed=(), memory=100.0, latency=300_000):
    """Return one that misses the states of these indices; `memory` in MB, one number or many."""
    latencies = np.full(len(states), latency)
    latencies[list(missed)] = -1
    memory = np.atleast_1d(np.asarray(memory, dtype=float)) * 2**20
    if memory.size == 1:
        memory = np.repeat(memory, 31)
    times = np.linspace(0.0, (len(states) + 1) * PERIOD * 1e-9, memory.size)
    return Responder(latencies, 5 * PERIOD, 1.0, times, memory)


def record(seconds=60, node=(), relay=(), memory=100.0, **others):
    """Return a record of a run at 500 states a second."""
    states = START + PERIOD * np.arange(500 * seconds)
    responders = {NODE: responder(states, node, memory), RELAY: responder(states, relay)}
    return SoakRecord(float(seconds), states, responders, **others)


def test_a_quiet_run_passes():
    """No growth, no misses and no faults: nothing is found."""
    assert record().failures() == []
    assert table(record()).endswith('\npassed')


def check(run, reason):
    """Check that a run fails for a reason; '' for none."""
    failures = run.failures()
    assert (reason in failures[0] and len(failures) == 1) if reason else not failures


# ---- what was recorded


def test_each_state_has_its_command():
    """Prompt answers are matched one to one; what nobody answered is -1."""
    states = START + PERIOD * np.arange(6)
    commands = states[[0, 1, 3, 5]] + [300, 400, 500, 600]
    np.testing.assert_array_equal(match(states, commands), [300, 400, -1, 500, -1, 600])
    np.testing.assert_array_equal(match(states, np.empty(0, dtype=np.int64)), [-1] * 6)


@pytest.mark.parametrize('pause', [1, 3, 50, 400])
def test_a_pause_costs_the_states_in_it_and_no_more(pause):
    """A responder with a queue of one that pauses answers two of the states of the pause."""
    states = START + PERIOD * np.arange(1000)
    sent = [state + 1000 for state in states[:100]]
    resumed = states[100 + pause] + 1000
    sent += [resumed, resumed + 1000]  # the one in hand, and the newest
    sent += [state + 1000 for state in states[100 + pause + 1 :]]
    latencies = match(states, np.array(sent))
    assert (latencies < 0).sum() == pause - 1
    assert latencies.max() <= PERIOD + 2000
    assert (latencies[100 + pause + 1 :] == 1000).all()
    assert longest_pause(np.array(sent)) == PERIOD * (pause + 1)


# ---- memory and misses

MINUTES = np.linspace(0.0, 30.0, 181)
PAUSES = {index for start in range(0, 30000, 1000) for index in range(start, start + 40)}


@pytest.mark.parametrize(
    ('memory', 'reason'),
    [
        (np.where(MINUTES < 0.9, 90.0, 100.0), ''),
        (np.where(MINUTES < 10.0, 100.0, 100.99), ''),
        (np.where(MINUTES < 10.0, 100.0, 101.0), 'memory of the node grew by 1.00 MB after 60 s'),
        ([*np.linspace(100.0, 110.0, 180), 100.0], 'memory of the node grew'),
    ],
    ids=['in the first minute', 'less than 1 MB', '1 MB', 'given back at the end'],
)
def test_growth_counts_after_the_first_minute(memory, reason):
    """Up to the largest value: memory given back at the end does not undo it."""
    check(record(1800, memory=memory), reason)


@pytest.mark.parametrize(
    ('node', 'relay', 'reason'),
    [
        (range(5000, 5400), (), ''),
        (range(250, 30000, 500), (), 'the node missed 60 states more than the relay'),
        ((), range(250, 30000, 500), ''),
        (sorted(PAUSES | {*range(7, 30000, 100)}), range(7, 30000, 100), 'missed'),
    ],
    ids=['one long pause', 'a steady excess', 'of the relay', 'a pause at every change'],
)
def test_misses_that_are_not_chance_are_found(node, relay, reason):
    """A pause of the machine that meets the node alone proves nothing, whatever its length; one
    state a second, or thirty pauses in a minute, that only the node has, are a fault of it.
    """
    check(record(60, node=node, relay=relay), reason)


def test_a_node_that_never_answers_is_found():
    """No answer at all fails even the shortest run, and has no latency."""
    silent = record(15, node=range(7500))
    check(silent, 'missed 7500 states more')
    assert silent.figures()['responders'][NODE]['latency p50 [us]'] is None


def test_chance_is_rarely_blamed():
    """Of runs in which node and relay fare alike, bursts included, one in a hundred may fail."""
    rng = np.random.default_rng(5)
    failed = 0
    for _ in range(400):
        missed = []
        for _ in range(2):
            bursts = rng.integers(0, 29000, rng.poisson(20))
            lengths = np.ceil(rng.pareto(1.0, bursts.size) * 3.0).clip(1, 900).astype(int)
            missed.append(
                sorted({i for b, k in zip(bursts, lengths, strict=True) for i in range(b, b + k)})
            )
        failed += bool(record(60, *missed).failures())
    assert failed <= 4


# ---- faults, and the output


def test_faults_and_refused_parameters_are_found():
    """None was provoked: each one fails the run, by name."""
    failures = record(faults={'joint_states stopped': 2}, refusals=['mode: no such']).failures()
    assert len(failures) == 2
    assert "'joint_states stopped' reported 2 times" in failures[0]
    assert 'mode: no such' in failures[1]


def test_the_table_says_what_was_set_and_found():
    """Settings, figures of both and the reasons are in it; the same figures go to JSON."""
    run = record(
        node=range(100),
        settings={'state_timeout [s]': 5.0},
        counts={'trajectories': 30},
        faults={'joint_states gap': 1},
        remarks={'load average': '4.0'},
    )
    text = table(run)
    for words in ('state_timeout [s] 5.0', 'trajectories 30', 'load average', 'p99', 'FAILED'):
        assert words in text
    figures = json.loads(json.dumps(run.figures(), allow_nan=False))
    assert figures['responders'][NODE]['missed'] == 100
    assert figures['responders'][NODE]['answered'] == 29900
    assert figures['responders'][RELAY]['latency p50 [us]'] == 300.0
    assert figures['failures'] == run.failures()
