"""When a log, a model or a load is remarked on: each threshold, just inside and just outside."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import ne_dynamics as ned
from ne_dynamics.errors import ModelError, PayloadError
from ne_dynamics.identification.evaluation import JointResidual
from ne_dynamics.identification.findings import find_log_faults, find_result_faults
from ne_dynamics.identification.load.drive_gains import DriveGains
from ne_dynamics.identification.load.payload_fit import _find_body, _refuse_unidentifiable
from ne_dynamics.identification.report.report import JointChange
from ne_dynamics.identification.report.words import judge_joint
from ne_dynamics.identification.signal_summary import SignalSummary, SignalSums
from ne_dynamics.identification.writing.write_back import _check, write_urdf
from ne_dynamics.model.rigid_body import Inertia
from ne_dynamics.shipped import shipped_file

FILE = shipped_file('six_axis_arm.urdf')
ARM = ned.load_urdf(FILE, tip_link='shoulder')


def find_signal_faults(**changes):
    """Return the codes of what is doubtful about a log of one joint."""
    one, none = np.ones(1), np.zeros(1)
    summary = SignalSummary(one, one, ((),), True, none, one > 0.0, none, one < 0.0, none)
    changed = replace(summary, **{key: np.array([value]) for key, value in changes.items()})
    return {finding.code for finding in find_log_faults(ARM, changed)}


def find_poor_excitation(determined):
    """Return the codes of what is doubtful about a fit that tells some of 30 directions."""
    return {finding.code for finding in find_result_faults([(), ()], 30, determined, True)}


def find_worse_residual(measured, before, after):
    """Return the codes of what is doubtful about a joint's residuals."""
    residuals = [
        (JointResidual('turn', 'N m', measured, measured, rest, 0.0),) for rest in (before, after)
    ]
    return {finding.code for finding in find_result_faults(residuals, 0, 0, True)}


@pytest.mark.parametrize(
    ('find', 'inside', 'outside', 'code'),
    [
        (
            lambda part: find_signal_faults(acceleration_noise=part),
            0.29,
            0.31,
            'acceleration-noisy',
        ),
        (lambda part: find_signal_faults(velocity_error=part), 0.095, 0.105, 'velocity-disagrees'),
        (find_poor_excitation, 10, 9, 'excitation-poor'),
        (lambda rest: find_worse_residual(10.0, 1.0, rest), 1.19, 1.21, 'not-better'),
        (lambda rest: find_worse_residual(10.0, 0.01, rest), 0.0295, 0.0305, 'not-better'),
    ],
)
def test_what_is_doubtful_is_named_just_beyond_its_threshold(find, inside, outside, code):
    assert code not in find(inside)
    assert code in find(outside)


@pytest.mark.parametrize(
    ('product', 'power', 'is_opposed'),
    [(-0.49, -0.5, False), (-0.51, -0.5, True), (-0.9, -0.095, False), (-0.9, -0.105, True)],
)
def test_a_sign_is_wrong_where_effort_and_power_run_against_the_model(product, power, is_opposed):
    """The effort by its correlation, the power by what goes to and fro."""
    rows = dict.fromkeys(list(SignalSums.__dataclass_fields__)[1:], np.ones(1))
    sums = SignalSums(100, **rows)
    sums = replace(sums, product=np.array([product]), power=np.array([power]))
    assert sums.find_opposed().tolist() == [is_opposed]


@pytest.mark.parametrize(
    ('before', 'after', 'verdict'),
    [
        (5.0, 0.195, 'The residual is about the noise.'),
        (5.0, 0.205, 'Well explained;'),
        (5.0, 0.99, 'Well explained;'),
        (5.0, 1.01, 'Better than before, but with a large residual'),
        (1.22, 1.01, 'Better than before, but with a large residual'),
        (1.2, 1.01, 'Hardly better than before.'),
        (1.0, 1.19, 'Hardly better than before.'),
        (1.0, 1.21, 'Worse than before:'),
    ],
)
def test_the_verdict_on_a_joint(before, after, verdict):
    """Of an effort of 10 N m with a noise floor of 0.1 N m."""
    residuals = (JointResidual('turn', 'N m', 10.0, 10.0, rest, 0.0) for rest in (before, after))
    joint = JointChange(*residuals, 100, {}, 0.0, 0.0, 0.0, 1.0)
    assert verdict in judge_joint(joint, 0.1, True).text


@pytest.mark.parametrize(('deviation', 'is_told'), [(1.9, True), (2.1, False)])
def test_a_mass_is_told_to_a_fifth(deviation, is_told):
    """Of ten kilograms."""
    factor = np.diag([1.0 / deviation, *[1e3] * 9, 0.0])
    factor[:, -1] = [10.0 / deviation, *[0.0] * 3, *[10.0, 0.0, 10.0, 0.0, 0.0, 10.0], 0.0]
    if is_told:
        assert _find_body(factor)[0].mass == pytest.approx(10.0, rel=0.1)
        return
    with pytest.raises(PayloadError, match='does not tell the mass'):
        _find_body(factor)


@pytest.mark.parametrize(('mass', 'limit'), [(4.0, 0.06), (0.5, 0.12)])
def test_a_centre_of_mass_is_told_to_some_centimetres(mass, limit):
    """Or the first moment, of a small load."""
    load = Inertia(mass, np.zeros(3), 0.01 * np.eye(3))

    def check(deviation):
        _refuse_unidentifiable(load, np.diag([1e-4, *[deviation**2] * 3, *[1.0] * 6]), 'flange')

    check(0.95 * limit)
    with pytest.raises(PayloadError, match='does not tell the centre of mass'):
        check(1.05 * limit)


def test_a_drive_gain_is_told_to_a_fifth():
    gain, deviation = np.array([10.0, 10.0]), np.array([1.9, 2.1])
    none = np.zeros(2)
    found = DriveGains(('a', 'b'), gain, deviation, np.eye(2), np.zeros(3), 'tip', none, True)
    assert found.determined == (True, False)


@pytest.mark.parametrize(('change', 'is_written'), [(0.7e-9, False), (1.5e-9, True)])
def test_numbers_that_are_the_same_to_nine_digits_stay_as_they_are_written(change, is_written):
    text = FILE.read_text(encoding='utf-8')
    assert (write_urdf(text, _heavier(1.0 + change)) != text) == is_written


def test_what_is_written_has_to_come_back_to_seven_digits():
    text = FILE.read_text(encoding='utf-8')
    _check(text, _heavier(1.0 + 0.7e-7))
    with pytest.raises(ModelError, match='expected the inertia that was written'):
        _check(text, _heavier(1.0 + 1.5e-7))


def _heavier(factor):
    """Return the arm with one mass that is larger by a factor."""
    return ARM.with_links(
        replace(link, inertia=replace(link.inertia, mass=factor * link.inertia.mass))
        if link.name == 'shoulder'
        else link
        for link in ARM.links
    )
