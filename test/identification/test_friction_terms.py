"""The columns of friction: what the core computes for one unit of each number."""

from __future__ import annotations

import numpy as np
import pytest

from ne_dynamics.algorithms.hysteresis import compute_friction_along
from ne_dynamics.identification.regression.friction_terms import (
    ALWAYS,
    SMOOTH,
    STRIBECK,
    Term,
    adopt,
    candidates,
    compute_columns,
    compute_kept_effort,
    compute_path_columns,
    given_values,
    with_values,
)
from ne_dynamics.model.friction import FrictionModel
from ne_dynamics.model.robot import Joint

FASTEST = 2.0
GIVEN = (
    Joint('a'),
    Joint('a', gear_ratio=50.0, friction=FrictionModel(smoothing_velocity=0.03)),
    Joint(
        'a',
        friction=FrictionModel(
            static_friction=2.0,
            stribeck_velocity=0.1,
            smoothing_velocity=0.02,
            load_coefficient=0.1,
        ),
    ),
    Joint(
        'joint',
        coulomb_friction=0.4,
        friction=FrictionModel(hysteresis_friction=0.7, hysteresis_displacement=0.03),
    ),
)


def motion(seed=0):
    """Return velocity, acceleration, direction, load and position."""
    rng = np.random.default_rng(seed)
    velocity = rng.uniform(-FASTEST, FASTEST, 200)
    load = 10.0 * rng.standard_normal(200)
    return velocity, rng.standard_normal(200), np.sign(velocity), load, 0.1 * velocity.cumsum()


@pytest.mark.parametrize('joint', GIVEN, ids=['plain', 'smooth', 'shaped', 'with hysteresis'])
def test_columns_times_numbers_are_the_effort_of_the_joint(joint):
    """For every choice of terms the joint that is written has the effort that was fitted."""
    velocity, acceleration, direction, load, position = motion()
    columns = compute_columns(joint, velocity, acceleration, direction, load, FASTEST)
    columns[:, Term.HYSTERESIS], state = compute_path_columns(joint, position)
    kept = compute_kept_effort(joint, velocity, direction, load, state)
    rng = np.random.default_rng(1)
    for term in (None, *candidates(joint)):
        terms = ALWAYS if term is None else adopt(term, ALWAYS)
        values = {item: float(rng.uniform(0.5, 2.0)) for item in terms}
        expected = kept + sum(columns[:, item] * value for item, value in values.items())
        for item in STRIBECK:
            if item in values:
                expected -= columns[:, item] * values[Term.COULOMB]
        written = with_values(joint, values, FASTEST)
        found = compute_friction_along(
            written.friction,
            written.viscous_friction,
            written.coulomb_friction,
            position,
            velocity,
            load,
            direction,
        )
        found = found + written.reflected_inertia * acceleration
        assert np.allclose(found, expected, rtol=1e-9, atol=1e-9), term


def test_what_is_given_is_no_candidate():
    """Terms that a joint is given with are kept, and not fitted a second time."""
    assert set(candidates(GIVEN[0])) >= {Term.LOAD, Term.CUBIC, *SMOOTH, *STRIBECK}
    assert not {Term.LOAD, *SMOOTH, *STRIBECK} & set(candidates(GIVEN[2]))
    assert Term.HYSTERESIS in candidates(GIVEN[2])
    assert Term.HYSTERESIS not in candidates(GIVEN[3])


def test_given_numbers_are_read_back():
    """What a joint has of each term is what it is given when that is written into it."""
    joint = Joint(
        'a', viscous_friction=3.0, coulomb_friction=2.0, rotor_inertia=1e-3, gear_ratio=100.0
    )
    values = given_values(joint)
    back = with_values(joint, {term: values[term] for term in ALWAYS}, FASTEST)
    assert np.allclose(given_values(back), values, rtol=1e-12)
    assert back.gear_ratio == 100.0


def test_a_joint_without_a_ratio_gets_a_rotor_it_feels():
    """A rotor inertia found on a joint of gear ratio 0 is written with a ratio of 1."""
    found = with_values(Joint('a', gear_ratio=0.0), {Term.ROTOR: 0.4}, FASTEST)
    assert found.reflected_inertia == 0.4
