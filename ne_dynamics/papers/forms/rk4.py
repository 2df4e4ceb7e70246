"""Simulation by the four-point Runge-Kutta method.

Source: 001 section 7. The state is y = (gamma, theta), rates before positions, as there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from ne_dynamics.errors import InputError
from ne_dynamics.model.robot import FloatArray
from ne_dynamics.papers.forms.generic_scalars import Scalar, Scalars

Acceleration = Callable[[float, list[Scalar], list[Scalar]], Scalars]
"""``acceleration(t, q, qd)``: n scalars."""


@dataclass(frozen=True, eq=False)
class SimulatedMotion:
    """A motion, sampled.

    Attributes
    ----------
    time : array, shape (N,)
        [s]
    q, qd : array, shape (N, n)
        Positions [rad or m] and velocities.
    """

    time: FloatArray
    q: FloatArray
    qd: FloatArray


def runge_kutta_step(
    derivative: Callable[[float, list[Scalar]], Scalars],
    time: float,
    y: Scalars,
    step: float,
) -> list[Scalar]:
    """Return the state one step later.

    Parameters
    ----------
    derivative : callable
        ``derivative(t, y)`` returns as many scalars as y has: g of the document, where it does
        not depend on time.
    time, step : float
        [s]; the step is the document's epsilon.
    y : sequence of scalars
    """
    half, late = time + 0.5 * step, time + step
    # 001 section 7: h_1 to h_4.
    h1 = [step * value for value in derivative(time, list(y))]
    h2 = [
        step * value
        for value in derivative(half, [x + 0.5 * h for x, h in zip(y, h1, strict=True)])
    ]
    h3 = [
        step * value
        for value in derivative(half, [x + 0.5 * h for x, h in zip(y, h2, strict=True)])
    ]
    h4 = [step * value for value in derivative(late, [x + h for x, h in zip(y, h3, strict=True)])]
    # 001 section 7: y_{n+1} = y_n + (h_1 + 2 h_2 + 2 h_3 + h_4) / 6.
    return [
        x + (a + 2.0 * b + 2.0 * c + d) / 6.0
        for x, a, b, c, d in zip(y, h1, h2, h3, h4, strict=True)
    ]


def simulate(
    acceleration: Acceleration,
    q: Sequence[float],
    qd: Sequence[float],
    *,
    step: float,
    steps: int,
) -> SimulatedMotion:
    """Integrate accelerations from a starting state.

    Parameters
    ----------
    acceleration : callable
        ``acceleration(t, q, qd)``.
    q, qd : sequence of n floats
        State at time 0.
    step : float
        [s]
    steps : int

    Returns
    -------
    SimulatedMotion
        ``steps + 1`` samples.

    Raises
    ------
    InputError
        When the step is not positive, or `q` and `qd` differ in length.
    """
    if not (np.isfinite(step) and step > 0.0):
        raise InputError(f'step: expected more than 0 s, got {step}')
    if steps < 0:
        raise InputError(f'steps: expected 0 or more, got {steps}')
    if len(q) != len(qd):
        raise InputError(f'qd: expected {len(q)} numbers, as q has, got {len(qd)}')
    n = len(q)

    def derivative(time: float, y: list[Scalar]) -> list[Scalar]:
        # 001 section 7: y = (gamma, theta), so its rate is (f(gamma, theta), gamma). ERRATUM: the
        # scan writes g = (f, y) for g = (f, gamma).
        gamma, theta = y[:n], y[n:]
        return [*acceleration(time, theta, gamma), *gamma]

    y: list[Scalar] = [*(float(value) for value in qd), *(float(value) for value in q)]
    states = [y]
    for index in range(steps):
        y = runge_kutta_step(derivative, index * step, y, step)
        states.append(y)
    table = np.array(states, dtype=np.float64)
    time = np.array([index * step for index in range(steps + 1)], dtype=np.float64)
    return SimulatedMotion(time=time, q=table[:, n:], qd=table[:, :n])
