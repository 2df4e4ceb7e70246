"""The longest chain in an expression graph, and the motion of the six-link manipulator."""

from __future__ import annotations

import numpy as np
import pytest

from ne_dynamics.codegen.source import trace
from ne_dynamics.papers.counting.critical_path import find_critical_path
from ne_dynamics.papers.studies import six_link


def test_the_critical_path_is_the_longest_chain():
    """Of sin(x) y + z and x y the first waits longest: a function, a product, a sum."""
    program = trace('f', (('x', 3),), (2,), lambda x: [x[0].sin() * x[1] + x[2], x[0] * x[1]])
    path = find_critical_path(program)
    assert (path.multiplications, path.additions, path.functions) == (1, 1, 1)
    assert path.steps == 3


@pytest.mark.parametrize('duration', [0.3, 1.0, 7.0])
def test_the_trapezoid_begins_and_ends_at_rest_where_it_should(duration):
    """Thirds of acceleration, coasting and braking lead from one pose to the other, smoothly."""
    start, end = np.array([0.2, -1.0]), np.array([1.0, 2.0])
    time = np.linspace(0.0, duration, 3001)
    q, qd, qdd = six_link.trapezoid(start, end, duration, time)
    np.testing.assert_allclose(q[[0, -1]], [start, end], atol=1e-12)
    np.testing.assert_allclose(qd[[0, -1]], 0.0, atol=1e-12)
    np.testing.assert_allclose(np.abs(qdd).max(0), 4.5 * np.abs(end - start) / duration**2)
    np.testing.assert_allclose(np.gradient(q, time, axis=0)[1:-1], qd[1:-1], atol=0.01 / duration)
    assert np.abs(np.diff(q, axis=0)).max() <= np.abs(qd).max() * duration / 3000 * (1 + 1e-9)
