"""A model from several logs, and from long ones."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from long_logs import cut_short, swinging_log
from short_arm import short_arm

import ne_dynamics as ned
from ne_dynamics.errors import InputError
from ne_dynamics.identification.run import identify

OPTIONS = {'spread': 0.5, 'cutoff_frequency': 3.9}


@pytest.fixture(scope='module')
def given():
    """Return the first joints of the shipped arm."""
    return ned.load_urdf(short_arm())


@pytest.fixture(scope='module')
def heavier(given):
    """Return an arm that is heavier than the given one, and rubs."""
    joints = [replace(joint, viscous_friction=2.0, coulomb_friction=1.0) for joint in given.joints]
    links = [
        replace(link, inertia=replace(link.inertia, mass=1.2 * link.inertia.mass))
        if link.inertia.mass > 0.0
        else link
        for link in given.links
    ]
    return replace(given.with_links(links), joints=tuple(joints))


@pytest.fixture(scope='module')
def logs(heavier):
    """Return two logs of it, of other motions."""
    return [swinging_log(heavier, 40.0, seed=seed) for seed in (1, 2)]


def test_a_log_in_pieces_gives_what_it_gives_in_one(given, heavier, monkeypatch):
    """Friction and residuals are the same to a thousandth, whether the log is cut or not."""
    log = swinging_log(heavier, 80.0)
    whole = identify(given, log, **OPTIONS).report
    cut_short(monkeypatch)
    cut = identify(given, log, **OPTIONS).report
    assert (cut.fitted, cut.held_out, cut.log) == (whole.fitted, whole.held_out, whole.log)
    for one, other in zip(whole.joints, cut.joints, strict=True):
        assert one.samples == other.samples
        assert other.viscous[1] == pytest.approx(one.viscous[1], abs=1e-3)
        assert other.coulomb[1] == pytest.approx(one.coulomb[1], abs=2e-3)
        assert other.after.rms_difference == pytest.approx(one.after.rms_difference, rel=1e-2)
        assert other.before.rms_difference == pytest.approx(one.before.rms_difference, rel=1e-6)


def test_two_logs_tell_more_than_one(given, logs):
    """Samples of all logs are fitted, and friction is known better than by each alone."""
    both = identify(given, logs, **OPTIONS).report
    alone = [identify(given, log, **OPTIONS).report for log in logs]
    counts = [report.fitted + report.held_out for report in alone]
    assert both.fitted + both.held_out == sum(counts)
    assert [source for source, _ in both.logs] == ['swing', 'swing']
    assert both.log == f'{alone[0].log}; {alone[1].log}'
    for index, joint in enumerate(both.joints):
        assert abs(joint.viscous[1] - 2.0) < 0.1
        assert all(joint.viscous[2] < report.joints[index].viscous[2] for report in alone)


def test_logs_of_other_rates(given, logs):
    """A log at half the rate goes with one at the full rate: both are filtered alike."""
    half = replace(
        logs[1],
        times=logs[1].times[::2],
        position=logs[1].position[::2],
        effort=logs[1].effort[::2],
    )
    report = identify(given, [logs[0], half], **OPTIONS).report
    for joint in report.joints:
        assert abs(joint.viscous[1] - 2.0) < 0.1
        assert joint.after.rms_difference < 0.1


def test_a_joint_that_stands_in_one_log(given, heavier, logs):
    """A joint that stands in one log counts by the other; what moves in none is said to stand."""
    position, effort = logs[1].position.copy(), logs[1].effort.copy()
    position[:, -1] = 0.3
    still = replace(logs[1], position=position, effort=effort)
    report = identify(given, [logs[0], still], **OPTIONS).report
    first = identify(given, logs[0], **OPTIONS).report
    assert 'joint-still' not in {finding.code for finding in report.findings}
    samples = first.joints[-1].samples
    assert abs(report.joints[-1].samples - samples) < 0.02 * samples
    nowhere = replace(logs[0], position=logs[0].position * (1, 1, 0))
    report = identify(given, [nowhere, still], **OPTIONS).report
    assert 'joint-still' in {finding.code for finding in report.findings}


def test_a_joint_without_effort_in_one_log(given, logs):
    """Efforts that are 0 in one log only are an error that names the log."""
    silent = replace(logs[1], effort=logs[1].effort * (1.0, 1.0, 0.0), source='silent.csv')
    report = identify(given, [logs[0], silent], **OPTIONS).report
    (finding,) = [finding for finding in report.findings if finding.severity == 'error']
    assert (finding.code, finding.element) == ('effort-zero', "joint 'joint_3'")
    assert 'throughout in silent.csv: expected' in finding.what


def test_no_logs_and_other_joints_are_refused(given, logs):
    """No log at all, or one of another arm among several, is refused by name."""
    with pytest.raises(InputError, match='logs: expected at least one'):
        identify(given, [])
    other = replace(logs[1], joint_names=tuple('abc'), source='other.csv')
    with pytest.raises(InputError, match=r'log other\.csv: expected the joints joint_1.* got a,'):
        identify(given, [logs[0], other])


def test_tiny_steps_and_large_stamps(given, logs):
    """A log whose clock counts since 1970 gives what it gives from 0 on."""
    late = replace(logs[0], times=logs[0].times + 1.7e9)
    found, plain = (identify(given, log, **OPTIONS).report for log in (late, logs[0]))
    for one, other in zip(found.joints, plain.joints, strict=True):
        assert one.viscous[1] == pytest.approx(other.viscous[1], abs=1e-2)
    fast = replace(logs[0], times=1e-7 * logs[0].times)
    with pytest.raises(InputError, match='cut-off'):
        identify(given, fast, cutoff_frequency=1e9)
    assert np.isfinite(plain.joints[0].noise)
