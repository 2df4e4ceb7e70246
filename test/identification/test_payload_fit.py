"""What hung on the flange, from motions of an arm that is not as its model."""

from __future__ import annotations

from dataclasses import replace

import loaded_motion
import numpy as np
import pytest
import yaml
from loaded_motion import LOAD, alter, record

import ne_dynamics as ned
from ne_dynamics.errors import InputError, ModelError, PayloadError
from ne_dynamics.identification.load.payload_fit import fit_payload
from ne_dynamics.identification.load.payload_parameters import describe_payload, format_parameters
from ne_dynamics.identification.regression.pseudo_inertia import is_body, pseudo_inertia
from ne_dynamics.logs.log import Log

LOAD_VALUES = np.r_[LOAD.mass, LOAD.center_of_mass, LOAD.inertia_about_com[np.triu_indices(3)]]


@pytest.mark.kept(1)
@pytest.mark.parametrize('seed', range(3))
@pytest.mark.parametrize('other_motion', [False, True])
def test_two_logs_tell_all_ten_parameters(seed, other_motion, given):
    """Of an arm 20 % off, with unknown friction, two logs tell the whole load."""
    truth = alter(given, seed)
    log = record(truth.with_payload(LOAD), seed)
    fit = fit_payload(given, log, without=record(truth, seed + 100 * other_motion, noise=0.2))
    assert fit.inertia.mass == pytest.approx(LOAD.mass, abs=0.02)
    np.testing.assert_allclose(fit.inertia.center_of_mass, LOAD.center_of_mass, atol=0.003)
    assert (np.abs(fit.values - LOAD_VALUES) <= 4.0 * fit.deviation).all()
    assert all(fit.determined[:4])
    assert is_body(pseudo_inertia(fit.inertia.parameters))
    assert (fit.rms_after < 0.3).all()


@pytest.mark.kept(1)
@pytest.mark.parametrize('seed', range(4))
def test_one_log_counts_what_may_be_wrong_with_the_arm(seed, given):
    """One log of an arm 20 % off tells the load within deviations that are larger."""
    truth = alter(given, seed, shift=0.005)
    log = record(truth.with_payload(LOAD), seed)
    alone = fit_payload(given, log)
    assert abs(alone.inertia.mass - LOAD.mass) <= 3.0 * alone.deviation[0]
    off = np.abs(alone.inertia.center_of_mass - LOAD.center_of_mass)
    assert (off <= 3.0 * alone.deviation[1:4]).all()
    pair = fit_payload(given, log, without=record(truth, seed))
    assert pair.deviation[0] < alone.deviation[0]


def test_deviations_of_one_log_count_how_far_the_arm_is_off(given, monkeypatch):
    """Of arms 20 % and 2 cm off, nine numbers of ten are within two deviations, few refused."""
    dynamics = ned.Dynamics(given, backend='python')
    monkeypatch.setattr(loaded_motion, 'RATE', 50.0)
    inside, refused = [], 0
    for seed in range(3000, 3008):
        log = record(alter(given, seed).with_payload(LOAD), seed)
        try:
            fit = fit_payload(dynamics, log)
        except PayloadError:
            refused += 1
            continue
        inside.append(np.abs(fit.values - LOAD_VALUES) <= 2.0 * fit.deviation)
    assert refused <= 1
    assert np.mean(inside) >= 0.9


def test_nothing_on_the_flange_is_no_load(given):
    """Two logs of the arm alone tell that there is nothing."""
    truth = alter(given, 0)
    fit = fit_payload(given, record(truth, 5), without=record(truth, 0))
    assert fit.inertia.is_zero or fit.inertia.mass < 0.02
    text = '\n'.join(describe_payload(fit))
    assert 'nan' not in text


def test_what_a_slow_motion_does_not_tell_is_said(given):
    """Without accelerations the inertia is that of a ball, and the parameters say so."""
    truth = alter(given, 0)
    log, without = (record(robot, 0, speed=0.12) for robot in (truth.with_payload(LOAD), truth))
    fit = fit_payload(given, log, without=without)
    assert fit.determined[0]
    assert not any(fit.determined[4:])
    assert is_body(pseudo_inertia(fit.inertia.parameters))
    assert 'The log does not tell ixx' in format_parameters(fit)


def test_the_parameters_are_those_of_the_node(given):
    """The YAML text sets the node's payload to what was fitted, digit for digit."""
    from ne_dynamics.ros.settings.parameters import PayloadSettings

    truth = alter(given, 0)
    fit = fit_payload(given, record(truth.with_payload(LOAD), 0), without=record(truth, 0))
    found = yaml.safe_load(format_parameters(fit))['/**']['ros__parameters']['payload']
    settings = PayloadSettings(
        **{key: tuple(value) if isinstance(value, list) else value for key, value in found.items()}
    )
    assert settings.mass == fit.inertia.mass
    assert settings.inertia == tuple(fit.values[4:])
    assert settings.com == tuple(fit.inertia.center_of_mass)
    assert settings.link == given.tip.name
    assert fit.as_json()['mass'] == settings.mass


@pytest.mark.parametrize(
    ('change', 'error', 'message'),
    [
        ({'link_name': 'nowhere'}, ModelError, 'nowhere'),
        ({'link_name': 'forearm'}, PayloadError, 'does not move against the tip'),
        ({'spread': 0.0}, InputError, 'spread: expected a finite number > 0, got 0'),
        ({'without': 'still'}, InputError, 'expected joints that move'),
        ({'without': 'loaded'}, PayloadError, 'are the two logs exchanged'),
        ({'without': 'names'}, InputError, 'expected the joints'),
    ],
)
def test_refusals(change, error, message, given):
    """What does not tell a load is an error that says why."""
    truth = alter(given, 0)
    log, loaded = record(truth, 0), record(truth.with_payload(LOAD), 0)
    others = {
        'still': Log.from_samples(
            log.joint_names, log.times, log.position[:1] + 0.0 * log.position, log.effort
        ),
        'loaded': loaded,
        'names': replace(log, joint_names=tuple(reversed(log.joint_names))),
    }
    arguments = {key: others.get(value, value) for key, value in change.items()}
    with pytest.raises(error, match=message):
        fit_payload(given, log, **arguments)
