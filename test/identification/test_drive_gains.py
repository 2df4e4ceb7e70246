"""Torque per current of the joints, from a load of known mass."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from loaded_motion import LOAD, alter, record

from ne_dynamics.errors import InputError, ModelError
from ne_dynamics.identification.load.drive_gains import fit_drive_gains
from ne_dynamics.logs.log import Log

GAINS = np.array([14.0, 12.0, 11.0, 9.0, 10.0, 8.0])


def in_currents(log, gains=GAINS):
    """Return a log with motor currents in the place of efforts."""
    return replace(log, effort=log.effort / gains)


@pytest.mark.kept(2)
@pytest.mark.parametrize('seed', range(2))
@pytest.mark.parametrize('other_motion', [False, True])
def test_two_logs_and_a_mass_tell_the_gains(seed, other_motion, given):
    """Of an arm 20 % off, with unknown friction, every gain comes within its deviation."""
    truth = alter(given, seed)
    log = in_currents(record(truth.with_payload(LOAD), seed))
    without = in_currents(record(truth, seed + 100 * other_motion))
    found = fit_drive_gains(given, log, LOAD.mass, without=without)
    assert (np.abs(found.gain - GAINS) <= 4.0 * found.deviation).all()
    np.testing.assert_allclose(found.gain[1:], GAINS[1:], rtol=0.05)
    assert all(found.determined[1:])
    np.testing.assert_allclose(found.center_of_mass, LOAD.center_of_mass, atol=0.01)
    assert found.distance(GAINS) < 4.0 < found.distance(1.2 * GAINS)


def test_one_log_tells_them_less_well(given):
    """Without the other log the arm's weight is what is believed of it: deviations are larger."""
    truth = alter(given, 0, shift=0.005)
    log, without = (in_currents(record(robot, 0)) for robot in (truth.with_payload(LOAD), truth))
    alone = fit_drive_gains(given, log, LOAD.mass)
    pair = fit_drive_gains(given, log, LOAD.mass, without=without)
    assert (alone.deviation > pair.deviation).all()
    assert (np.abs(alone.gain - GAINS) <= 4.0 * alone.deviation).all()
    assert not alone.is_difference
    with pytest.raises(InputError, match='expected 6 numbers > 0'):
        alone.distance([1.0, 2.0])


@pytest.mark.kept(1)
@pytest.mark.parametrize('seed', [0, 4, 6])
def test_one_log_of_an_arm_farther_off_than_believed(seed, given):
    """Centres 2 cm off: deviations are so much larger that they cover the gains all the same."""
    log = in_currents(record(alter(given, seed).with_payload(LOAD), seed))
    found = fit_drive_gains(given, log, LOAD.mass)
    assert (np.abs(found.gain - GAINS) <= 2.0 * found.deviation).all()
    assert (found.deviation < 0.2 * found.gain).all()


@pytest.mark.kept(1)
@pytest.mark.parametrize('exchanged', [False, True])
def test_logs_that_do_not_show_the_load_are_refused(exchanged, given):
    """Twice the arm alone, or the log with the load in the other's place, tells no gain."""
    truth = alter(given, 0)
    other = truth.with_payload(LOAD) if exchanged else truth
    log, without = in_currents(record(truth, 0)), in_currents(record(other, 100))
    with pytest.raises(InputError, match='log motion: expected to show a load of 3 kg'):
        fit_drive_gains(given, log, LOAD.mass, without=without)


def test_gains_are_as_the_mass_is(given):
    """Twice the mass that the load had makes the gains twice as large: the log has no newton."""
    truth = alter(given, 0)
    log, without = (in_currents(record(robot, 0)) for robot in (truth.with_payload(LOAD), truth))
    one, two = (
        fit_drive_gains(given, log, mass, without=without, spread=20.0)
        for mass in (LOAD.mass, 2.0 * LOAD.mass)
    )
    np.testing.assert_allclose(two.gain[1:] / one.gain[1:], 2.0, rtol=0.05)


@pytest.mark.parametrize(
    ('change', 'error', 'message'),
    [
        ({'mass': 0.0}, InputError, 'mass: expected a finite number > 0, got 0'),
        ({'mass': np.nan}, InputError, 'mass: expected a finite number > 0, got nan'),
        ({'link_name': 'nowhere'}, ModelError, 'nowhere'),
        ({'spread': -1.0}, InputError, 'spread: expected'),
        ({'gains': -GAINS}, InputError, "joint 'joint_1': expected readings along"),
        ({'still': True}, InputError, "joint 'joint_3': expected it to move"),
    ],
)
def test_refusals(change, error, message, given):
    """What does not tell the gains is an error that names what was wrong."""
    log = record(alter(given, 0).with_payload(LOAD), 0)
    if change.pop('still', False):
        position = log.position.copy()
        position[:, 2] = 0.5
        log = Log.from_samples(log.joint_names, log.times, position, log.effort)
    arguments = {'mass': LOAD.mass} | change
    with pytest.raises(error, match=message):
        fit_drive_gains(given, in_currents(log, arguments.pop('gains', GAINS)), **arguments)
