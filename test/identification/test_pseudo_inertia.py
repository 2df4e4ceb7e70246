"""Inertial parameters as a matrix, and the divergence between two bodies."""

from __future__ import annotations

import numpy as np
import pytest
from pseudo_divergence import divergence

from ne_dynamics.identification.regression.pseudo_inertia import (
    compute_hessian,
    inertia_of,
    is_body,
    nearest_body,
    pseudo_inertia,
)
from ne_dynamics.model.rigid_body import Inertia, Transform


def random_body(rng, points=6):
    """Return the inertia of a few point masses."""
    total = Inertia.zero()
    for _ in range(points):
        total += Inertia(rng.uniform(0.1, 2.0), rng.standard_normal(3), np.zeros((3, 3)))
    return total


@pytest.mark.parametrize('seed', range(4))
def test_round_trip(seed):
    """Parameters, matrix and inertia say the same."""
    inertia = random_body(np.random.default_rng(seed))
    back = inertia_of(pseudo_inertia(inertia.parameters))
    assert np.allclose(back.parameters, inertia.parameters, rtol=1e-12, atol=1e-12)


def test_matrix_is_the_integral_over_the_mass():
    """The matrix of point masses is the sum of their outer products."""
    rng = np.random.default_rng(5)
    expected, total = np.zeros((4, 4)), Inertia.zero()
    for _ in range(5):
        mass, place = rng.uniform(0.1, 2.0), rng.standard_normal(3)
        point = np.append(place, 1.0)
        expected += mass * np.outer(point, point)
        total += Inertia(mass, place, np.zeros((3, 3)))
    assert np.allclose(pseudo_inertia(total.parameters), expected, rtol=1e-12, atol=1e-12)


def test_bodies_are_told_from_what_cannot_be():
    """Negative mass, a broken triangle inequality and flat bodies are not bodies with volume."""
    good = Inertia(1.0, np.ones(3), np.diag([0.2, 0.3, 0.4]))
    assert is_body(pseudo_inertia(good.parameters))
    for mass, moments in ((-1.0, (0.2, 0.3, 0.4)), (1.0, (0.1, 0.1, 0.4)), (1.0, (0.1, 0.1, 0.2))):
        bad = Inertia(mass, np.ones(3), np.diag(moments))
        assert not is_body(pseudo_inertia(bad.parameters)), (mass, moments)


def test_nearest_body():
    """Mass and centre stay, a possible body is itself, an impossible one becomes possible."""
    good = Inertia(1.0, np.ones(3), np.diag([0.2, 0.3, 0.4]))
    assert nearest_body(good) is good
    for moments in ((0.1, 0.1, 0.4), (0.0, 0.0, 0.0), (-0.1, 0.1, 0.1)):
        near = nearest_body(Inertia(2.0, np.ones(3), np.diag(moments)))
        assert is_body(pseudo_inertia(near.parameters))
        assert near.mass == 2.0
        assert np.array_equal(near.center_of_mass, np.ones(3))


def test_divergence_is_zero_only_for_the_same_body_and_knows_no_frame():
    """D(P, P) = 0, D > 0 otherwise, and other axes or origins do not change it."""
    rng = np.random.default_rng(7)
    one, other = random_body(rng), random_body(rng)
    pair = [pseudo_inertia(body.parameters) for body in (one, other)]
    assert abs(divergence(pair[0], pair[0])) < 1e-12
    value = divergence(*pair)
    assert value > 0.1
    pose = Transform.from_xyz_rpy((0.3, -1.0, 2.0), (0.4, 1.0, -2.0))
    moved = [pseudo_inertia(body.transformed(pose).parameters) for body in (one, other)]
    assert divergence(*moved) == pytest.approx(value, rel=1e-9)
    assert divergence(-pair[0], pair[1]) == float('inf')


def test_the_hessian_is_that_of_the_divergence():
    """It agrees with differences of the value, whatever the other body is."""
    rng = np.random.default_rng(8)
    parameters = random_body(rng).parameters
    reference = pseudo_inertia(random_body(rng).parameters)
    hessian = compute_hessian(pseudo_inertia(parameters))
    steps = 1e-4 * np.eye(10)
    for row, column in np.ndindex(10, 10):
        values = [
            one
            * other
            * divergence(
                pseudo_inertia(parameters + one * steps[row] + other * steps[column]), reference
            )
            for one in (1.0, -1.0)
            for other in (1.0, -1.0)
        ]
        assert sum(values) / 4e-8 == pytest.approx(hessian[row, column], rel=1e-4, abs=1e-4)
