"""When the error of the computed-torque law vanishes: conditions (a) to (c) of 003."""

import re

import numpy as np
import pytest

from ne_dynamics.algorithms.gain_conditions import find_broken_conditions


def slowest_decay(kp, kv):
    """Return how fast the slowest error of e'' + Kv e' + Kp e = 0 vanishes [1/s]."""
    n = len(kp)
    rates = np.linalg.eigvals(np.block([[np.zeros((n, n)), np.eye(n)], [-kp, -kv]]))
    return -rates.real.max()


def random_gains(rng, n):
    """Return symmetric gains with few enough different numbers that conditions often fail."""
    turn = np.linalg.qr(rng.normal(size=(n, n)))[0] if rng.random() < 0.5 else np.eye(n)
    other = np.linalg.qr(rng.normal(size=(n, n)))[0] if rng.random() < 0.3 else turn
    kp = turn @ np.diag(rng.choice([-1.0, 0.0, 1.0, 2.0, 3.0], n, p=[0.05, 0.1] + [0.85 / 3] * 3))
    kv = other @ np.diag(rng.choice([-1.0, 0.0, 1.0, 2.0], n, p=[0.05, 0.35, 0.3, 0.3]))
    kp, kv = kp @ turn.T, kv @ other.T
    return 0.5 * (kp + kp.T), 0.5 * (kv + kv.T)


def test_for_symmetric_gains_the_conditions_are_those_of_a_vanishing_error():
    """The error vanishes by the eigenvalues of its equation exactly when nothing is found; with
    random symmetric matrices, many of them singular, of few different eigenvalues.
    """
    rng = np.random.default_rng(31)
    met = 0
    for index in range(600):
        kp, kv = random_gains(rng, 1 + index % 4)
        found = find_broken_conditions(kp, kv)
        assert (not found) == (slowest_decay(kp, kv) > 1e-6), (kp, kv, found)
        met += not found
    assert 100 < met < 500


@pytest.mark.parametrize(
    ('kp', 'kv', 'expected'),
    [
        (np.diag([1.0, 0.0, 1.0]), np.eye(3), 'kp b an error of joint 2 may stay'),
        (np.zeros((2, 2)), np.eye(2), 'kp b an error of joint 1, joint 2 may stay'),
        (np.diag([1.0, -4.0]), np.eye(2), r'kp b .* semidefinite \(lowest .* -4\)'),
        (np.eye(2), np.diag([3.0, -1.0]), r'kv a .* semidefinite \(lowest .* -1\)'),
        (
            [[2.0, 1.0], [0.5, 2.0]],
            np.eye(2),
            r'kp b .*not symmetric \(1 for joint 1 by joint 2, 0\.5 for joint 2 by joint 1\)',
        ),
        (np.eye(2), [[2.0, 1.0], [0.0, 2.0]], r'kv a .*not symmetric \(1 for joint 1 by .*, 0 '),
        (np.diag([1.0, 2.0]), np.diag([1.0, 0.0]), 'kv c damps no oscillation of joint 2'),
        (np.eye(2), [[1.0, -1.0], [-1.0, 1.0]], 'kv c damps no oscillation of joint 1, joint 2'),
        (np.eye(1), np.zeros((1, 1)), 'kv c damps no oscillation of joint 1'),
    ],
)
def test_what_is_broken_is_named(kp, kv, expected):
    """Matrix, condition and joints are those that are wrong."""
    (broken,) = find_broken_conditions(np.array(kp), np.array(kv))
    gain, condition, reason = expected.split(' ', 2)
    assert (broken.gain, broken.condition) == (gain, condition)
    assert re.search(reason.removeprefix('.*'), broken.reason)
