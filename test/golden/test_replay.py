"""Recorded sessions of the node, told again: it answers as it did."""

import json
from pathlib import Path

import numpy as np
import pytest
from build_control_msgs import importable

RECORDINGS = Path(__file__).parent / 'recordings'
INDEX = json.loads((RECORDINGS / 'index.json').read_text())['recordings']

LAST_DIGITS = (1e-15, -1e-15, 1e-14, -1e-14, 1e-13, -1e-13)
"""Parts of the positions: what other orders of adding make of them, about."""

MOST_GROWN, LARGEST_GROWN = 5.0, 1e-4
"""A difference is that of the last digits when it is no more than so many times what these make
of the session, and no more than that at all."""

ROUNDED = 2e-3
"""By which properties differ that are kept with four digits."""


@pytest.fixture(scope='module')
def context(found_messages):
    """Return a context whose nodes are found by nobody; the action is there where it can be."""
    pytest.importorskip('rclpy', reason='needs ROS 2 for Python: pip install "ne_dynamics[ros]"')
    from virtual_world import closed_context

    with importable(found_messages):
        context = closed_context(29)
        yield context
        context.try_shutdown()


def read(name):
    """Return a recording."""
    from recording import Recording

    return Recording.read(RECORDINGS / f'{name}.npz')


def flat(properties):
    """Return the numbers of properties by name."""
    found = {}
    for name, value in properties.items():
        if isinstance(value, dict):
            found |= {f'{name} {key}': one for key, one in value.items()}
        elif isinstance(value, list):
            found |= {f'{name} {row}: {fault}': time for row, (fault, time) in enumerate(value)}
        elif value is not None:
            found[name] = value
    return found


@pytest.mark.parametrize('name', INDEX)
def test_replay(name, context, found_messages):
    """Told the same at the same times, the node sends the same commands, to 1e-9 of the largest,
    at the same times; its faults, the levels of its diagnostics and its answers are the same, and
    so are the properties of the index.
    """
    from comparison import TOLERANCE, compare, measure

    if INDEX[name]['needs_control_msgs'] and found_messages.missing:
        pytest.skip(f'no control_msgs, and it cannot be built: {found_messages.missing}')
    recording = read(name)
    outputs = recording.replay(context)
    difference = compare(recording, outputs)
    if not difference.is_small and not difference.lines:
        # Processors add in other orders. Where a session grows the last digits of its positions
        # into more, as a joint does that is predicted without friction, so much may differ.
        assert difference.largest <= LARGEST_GROWN, str(difference)
        others = (compare(recording, recording.replay(context, nudge)) for nudge in LAST_DIGITS)
        assert any(
            difference.largest <= MOST_GROWN * max(other.largest, TOLERANCE) for other in others
        ), str(difference)
    else:
        assert difference.is_small, str(difference)
    expected = flat(INDEX[name]['properties'])
    assert flat(measure(recording, outputs)) == pytest.approx(expected, rel=ROUNDED, abs=1e-6)


def test_each_scenario_is_recorded():
    pytest.importorskip('mujoco', reason='needs MuJoCo: pip install "ne_dynamics[sim]"')
    from scenarios import SCENARIOS

    names = sorted(scenario.name for scenario in SCENARIOS)
    assert names == sorted(INDEX) == sorted(path.stem for path in RECORDINGS.glob('*.npz'))


@pytest.fixture(scope='module')
def replayed(context):
    """Return a recording and what the node says again; who changes that sets it right."""
    recording = read('malformed')
    return recording, recording.replay(context)


@pytest.mark.parametrize('joint', [0, 3])
def test_a_small_perturbation_is_seen(joint, replayed):
    from comparison import compare

    recording, outputs = replayed
    push = 1e-6 * recording.commands.scale * (np.arange(len(recording.commands.scale)) == joint)
    stored = set(recording.commands.rows.tolist())
    between = [row for row in range(len(outputs.commands)) if row not in stored]
    for row in (between[len(between) // 2], max(stored) // 8 * 8):
        time, data = outputs.commands[row]
        outputs.commands[row] = time, data + push
        assert not compare(recording, outputs).is_small
        outputs.commands[row] = time, data
    assert compare(recording, outputs).is_small


def test_what_is_lost_or_late_is_seen(replayed):
    from comparison import compare
    from node_outputs import Event

    recording, outputs = replayed
    time, data = outputs.commands.pop(40)
    assert compare(recording, outputs).lines
    outputs.commands.insert(40, (time + 1, data))
    assert compare(recording, outputs).lines
    outputs.commands[40] = time, data
    assert not compare(recording, outputs).lines
    outputs.events.append(Event((time, 'fault', 'another one')))
    assert compare(recording, outputs).lines
    outputs.events.pop()
