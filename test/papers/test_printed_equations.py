"""Equations that the documents print wrongly: what is computed holds, the print does not."""

from __future__ import annotations

import numpy as np

from ne_dynamics.papers.counting.counting_arm import make_counting_arm
from ne_dynamics.papers.forms import FORMULATIONS
from ne_dynamics.papers.forms.lagrange_euler import velocity_coefficients
from ne_dynamics.papers.forms.transform_derivatives import ChainTransforms

N = 4
TWISTS = (0.7, -1.1, 0.4, 1.3)
LINKS = np.random.default_rng(3).uniform(-0.5, 0.5, (N, 3))
"""r_k of 003 (2.11), each in the axes of its own frame."""
Z = np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 0.0]])
"""The cross product with z, Q_j of 003 (2.7)."""
Q = np.array([0.3, -0.8, 1.2, 0.5])
STEP = 1e-4


def turn(axis, angle):
    """Return the rotation by an angle about the x or the z axis, shape (3, 3)."""
    c, s = np.cos(angle), np.sin(angle)
    if axis == 'z':
        return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
    return np.array([[1.0, 0.0, 0.0], [0.0, c, -s], [0.0, s, c]])


def rotate(q, first, last):
    """Return the axes of frame `last` in those of frame `first`, by standard DH angles."""
    result = np.eye(3)
    for joint in range(min(first, last), max(first, last)):
        result = result @ turn('z', q[joint]) @ turn('x', TWISTS[joint])
    return result if first <= last else result.T


def locate(q, i):
    """Return p_0^i of 003 (2.12)."""
    return sum(rotate(q, 0, k) @ LINKS[k - 1] for k in range(1, i + 1))


def slope(function, j):
    """Return the derivative by joint j (from 1 on), as central differences."""
    offset = STEP * np.eye(N)[j - 1]
    return (function(Q + offset) - function(Q - offset)) / (2.0 * STEP)


def test_derivatives_of_rotations_of_003():
    """(2.6), (2.9): A_0^{j-1} and z_{j-1} stand where i-1 and z_j are printed."""
    i, j = 4, 2
    expected = slope(lambda q: rotate(q, 0, i), j)
    right = rotate(Q, 0, j - 1) @ Z @ rotate(Q, j - 1, i)
    np.testing.assert_allclose(right, expected, atol=1e-7)
    printed = rotate(Q, 0, i - 1) @ Z @ rotate(Q, j - 1, i)
    assert np.abs(printed - expected).max() > 0.1


def test_derivatives_of_positions_of_003():
    """(2.13): the sum begins at k = j, where k = 1 is printed."""
    i, j = 4, 3

    def add_terms(first):
        return sum(
            rotate(Q, 0, j - 1) @ Z @ rotate(Q, j - 1, k) @ LINKS[k - 1]
            for k in range(first, i + 1)
        )

    expected = slope(lambda q: locate(q, i), j)
    np.testing.assert_allclose(add_terms(j), expected, atol=1e-7)
    assert np.abs(add_terms(1) - expected).max() > 0.01


def test_second_derivatives_of_rotations_and_positions_of_003():
    """(2.10), (2.14): A_0^{j-1} for A_0^{i-1}, and the sum of (2.14) begins at m = k."""
    i, j, k = 4, 2, 3

    def compute(start, first):
        return sum(
            rotate(Q, 0, start)
            @ Z
            @ rotate(Q, j - 1, k - 1)
            @ Z
            @ rotate(Q, k - 1, m)
            @ LINKS[m - 1]
            for m in range(first, i + 1)
        )

    def first_slope(q):
        return sum(
            rotate(q, 0, j - 1) @ Z @ rotate(q, j - 1, m) @ LINKS[m - 1] for m in range(j, i + 1)
        )

    expected = slope(first_slope, k)
    np.testing.assert_allclose(compute(j - 1, k), expected, atol=1e-7)
    assert np.abs(compute(i - 1, k) - expected).max() > 0.01
    assert np.abs(compute(j - 1, 1) - expected).max() > 0.01
    turned = slope(lambda q: rotate(q, 0, j - 1) @ Z @ rotate(q, j - 1, i), k)
    tail = Z @ rotate(Q, j - 1, k - 1) @ Z @ rotate(Q, k - 1, i)
    np.testing.assert_allclose(rotate(Q, 0, j - 1) @ tail, turned, atol=1e-7)
    assert np.abs(rotate(Q, 0, i - 1) @ tail - turned).max() > 0.1


def test_the_mass_belongs_before_the_arms_to_the_mass_centre():
    """001 (4.11), 003 (4.15): I alpha + w x I w is J's part less m times the terms of rbar."""
    rng = np.random.default_rng(5)
    points, masses = rng.normal(size=(9, 3)), rng.uniform(0.5, 2.0, 9)
    alpha, w = rng.normal(size=(2, 3))
    mass, center = masses.sum(), masses @ points / masses.sum()
    about_origin = sum(m * np.outer(p, p) for m, p in zip(masses, points, strict=True))
    spread = about_origin - mass * np.outer(center, center)

    def turning(dyadic):
        inertia = np.trace(dyadic) * np.eye(3) - dyadic
        return inertia @ alpha + np.cross(w, inertia @ w)

    arms = np.cross(center, np.cross(alpha, center))
    arms += np.cross(center, np.cross(w, np.cross(w, center)))
    expected = turning(spread)
    np.testing.assert_allclose(turning(about_origin) - mass * arms, expected, atol=1e-12)
    assert np.abs(turning(about_origin) - arms - expected).max() > 0.1


def test_the_link_vector_of_000():
    """(3.41): the link vector in its own frame is (a, d eta, d gamma), as (3.18) says."""
    a, d, theta, alpha = 0.4, 0.3, 0.9, -0.6
    before = np.array([a * np.cos(theta), a * np.sin(theta), d])
    own = (turn('z', theta) @ turn('x', alpha)).T @ before
    eta, gamma = np.sin(alpha), np.cos(alpha)
    np.testing.assert_allclose(own, [a, d * eta, d * gamma], atol=1e-15)
    assert np.abs(own - [a, d * gamma, d * gamma]).max() > 0.1


def test_the_acceleration_of_001():
    """(4.7): the angular accelerations count once, outside the double sum."""
    i = 4
    rates, accelerations = np.random.default_rng(7).normal(size=(2, N))

    def motion(t):
        return locate(Q + rates * t + 0.5 * accelerations * t**2, i)

    expected = (motion(STEP) - 2.0 * motion(0.0) + motion(-STEP)) / STEP**2
    joints = range(1, i + 1)
    slopes = {j: slope(lambda q: locate(q, i), j) for j in joints}
    bends = {
        (j, k): slope(
            lambda q, j=j: sum(
                rotate(q, 0, j - 1) @ Z @ rotate(q, j - 1, m) @ LINKS[m - 1]
                for m in range(j, i + 1)
            ),
            k,
        )
        for j in joints
        for k in joints
    }
    centrifugal = sum(bends[j, k] * rates[j - 1] * rates[k - 1] for j in joints for k in joints)
    inertial = sum(slopes[j] * accelerations[j - 1] for j in joints)
    np.testing.assert_allclose(inertial + centrifugal, expected, atol=1e-6)
    printed = sum(slopes[j] * accelerations[k - 1] for j in joints for k in joints)
    assert np.abs(printed + centrifugal - expected).max() > 0.1
    assert np.abs(i * inertial + centrifugal - expected).max() > 0.1


def test_the_indices_of_the_velocity_coefficients_of_001():
    """Below (2.11): the trace with d2T/dq_j dq_k and dT/dq_i is C^i_jk, printed C^k_ij."""
    form = FORMULATIONS['luh_walker_paul']
    arm = make_counting_arm(form.covers, N)
    rates, zero = np.array([0.7, -1.1, 0.4, 0.9]), np.zeros(N)
    coefficients = np.array(velocity_coefficients(arm, ChainTransforms(arm, Q)))
    expected = form.inverse_dynamics(arm, Q, rates, zero, gravity=(0.0, 0.0, 0.0))
    found = np.einsum('ijk,j,k->i', coefficients, rates, rates)
    np.testing.assert_allclose(found, expected, atol=1e-12)
    printed = np.einsum('ijk,i,j->k', coefficients, rates, rates)
    assert np.abs(printed - expected).max() > 0.1


def test_the_products_of_pairs_of_001():
    """Appendix: the printed sum takes q (q + 1)/2 products of rates, not q (q - 1)/2."""
    for q in range(1, 9):
        others = 16 * q + 16 * q * (q - 1) // 2 + 64
        printed = 17 * q * (q + 1) // 2 + 64
        assert q * (q + 1) // 2 + others == printed
        assert q * (q - 1) // 2 + others == printed - q
