"""The four-point Runge-Kutta simulation: its order, and what it conserves."""

import numpy as np
import pytest

from ne_dynamics.papers.forms.rk4 import runge_kutta_step, simulate


def test_errors_and_energy_drift_fall_with_the_fourth_power_of_the_step():
    def swing(steps):
        """Return the last state of two coupled pendulums, and how far their energy has moved."""

        def acceleration(time, q, qd):
            pull = 3.0 * np.sin(q[1] - q[0])
            return [-9.8 * np.sin(q[0]) + pull, -9.8 * np.sin(q[1]) - pull]

        run = simulate(acceleration, [0.9, -0.5], [0.5, -1.0], step=1.0 / steps, steps=steps)
        first, second = run.q.T
        energy = 0.5 * (run.qd**2).sum(axis=1) - 9.8 * (np.cos(first) + np.cos(second))
        energy -= 3.0 * np.cos(second - first)
        return np.concatenate([run.q[-1], run.qd[-1]]), np.abs(energy - energy[0]).max()

    reference, _ = swing(1600)
    ends, drifts = zip(*map(swing, (50, 100, 200)), strict=True)
    errors = np.abs(np.array(ends) - reference).max(axis=1)
    assert np.log2(errors[:-1] / errors[1:]) == pytest.approx([4.0, 4.0], abs=0.2)
    assert (np.log2(np.array(drifts[:-1]) / drifts[1:]) > 3.7).all()


def test_one_step_of_a_polynomial_is_exact():
    """A rate that is a cubic in time is integrated without error: Simpson's rule."""
    stepped = runge_kutta_step(lambda t, y: [4.0 * t**3 - t], 0.5, [1.0], 0.25)
    exact = 1.0 + (0.75**4 - 0.5**4) - 0.5 * (0.75**2 - 0.5**2)
    assert stepped == [pytest.approx(exact, rel=1e-14)]
