"""Torque per current of every joint, from logs of motor currents and a load of known mass.

A log whose `effort` is a current knows no newton: what the arm weighs by it depends on the gain of
each drive. A load of known mass sets the scale. With g the reciprocal of the gain k ::

    current = g (arm (body parameters) + load (mass, first moment, inertia)) + friction in currents

Body parameters are believed as the model has them, within a spread; first moment and inertia of
the load are found along, friction, rotor inertia and offset of each joint are its own and in its
own unit. The products with g make it a small nonlinear problem, of which Gauss and Newton's method
finds the minimum. Noise is on the current, where it arises: it does not draw the gains to 0.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ne_dynamics.control import Carrier
from ne_dynamics.dynamics import Dynamics
from ne_dynamics.errors import IdentificationError, InputError
from ne_dynamics.identification.evaluation import as_dynamics, rms
from ne_dynamics.identification.load.shared_rows import (
    Layout,
    LogFactors,
    choose_spread,
    compare_spread,
    compute_used_rms,
    make_layout,
    read_logs,
)
from ne_dynamics.identification.regression.regression_rows import PER_BODY, generate_rows
from ne_dynamics.logs import Log
from ne_dynamics.logs.likeness import count_alike
from ne_dynamics.model.friction import FrictionModel
from ne_dynamics.model.rigid_body import FloatArray
from ne_dynamics.model.robot import Robot

LARGEST_RADIUS = 0.3
"""How far the centre of the load may be from its link, about [m]; its inertia is believed to be at
most about its mass times the square of that."""

GAIN_SPREAD = 3.0
"""Width of the logarithm of a gain beforehand: nothing is believed of it."""

PASSES, ITERATIONS = 4, 400
FIRST_SIGMA, SMALLEST_SIGMA = 0.1, 1e-4
"""Parts of a joint's current: sigma of the first fit, and the least of all."""

CLEAR = 0.5
"""A joint's reading tells its gain roughly when the given model makes this part of it."""

CONVERGED = 1e-8
"""Relative decrease of the cost below which a fit is done."""

SPREAD_PASSES = 3
"""How often the spread of the arm of one log is found anew."""

UNLIKE = 2.0
"""How many times farther than believed the arm of two logs may be from its model."""

DETERMINED = 0.2
"""A gain is the logs' when its standard deviation is below this part of it."""


@dataclass(frozen=True, eq=False)
class DriveGains:
    """Gains of the drives and how well they are known.

    Attributes
    ----------
    joints : tuple of str
    gain, deviation : array, shape (n,)
        Efforts per unit of the log, and standard deviations [N m/A or N/A for currents in A].
    covariance : array, shape (n, n)
        Of the logarithms of the gains.
    center_of_mass : array, shape (3,)
        Of the load, in the frame of the link [m].
    link_name : str
    rms : array, shape (n,)
        What is left of the loaded log, in its unit.
    is_difference : bool
        Whether there was a log without the load.
    """

    joints: tuple[str, ...]
    gain: FloatArray
    deviation: FloatArray
    covariance: FloatArray
    center_of_mass: FloatArray
    link_name: str
    rms: FloatArray
    is_difference: bool

    @property
    def determined(self) -> tuple[bool, ...]:
        """Which of the gains the logs tell."""
        return tuple(bool(value) for value in self.deviation < DETERMINED * self.gain)

    def distance(self, gains: ArrayLike) -> float:
        """Return how many standard deviations other gains are away, all joints together.

        Parameters
        ----------
        gains : array-like, shape (n,)

        Raises
        ------
        InputError
            When they are not n positive numbers.
        """
        other = np.asarray(gains, dtype=np.float64)
        if other.shape != self.gain.shape or not (np.isfinite(other) & (other > 0.0)).all():
            raise InputError(f'gains: expected {self.gain.size} numbers > 0, got {gains!r}')
        off = np.log(other / self.gain)
        return math.sqrt(float(off @ np.linalg.solve(self.covariance, off)))

    def as_json(self) -> dict[str, Any]:
        """Return the gains as what JSON can hold."""
        return {
            'source': 'two logs' if self.is_difference else 'one log',
            'link': self.link_name,
            'center_of_mass': self.center_of_mass.tolist(),
            'covariance_of_logarithms': self.covariance.tolist(),
            'joints': [
                {
                    'joint': name,
                    'gain': float(gain),
                    'deviation': float(deviation),
                    'determined': is_told,
                    'rms_left': float(left),
                }
                for name, gain, deviation, is_told, left in zip(
                    self.joints,
                    self.gain,
                    self.deviation,
                    self.determined,
                    self.rms,
                    strict=True,
                )
            ],
        }


def fit_drive_gains(
    model: Robot | Dynamics,
    log: Log,
    mass: float,
    link_name: str = '',
    *,
    without: Log | None = None,
    cutoff_frequency: float | None = None,
    spread: float | None = None,
) -> DriveGains:
    """Fit the effort per unit of a log of every joint to a load of known mass.

    Parameters
    ----------
    model : Robot or Dynamics
        Without the load, with a tip. A Robot stands upright: gravity (0, 0, -9.80665) in base
        axes. Its friction and rotors are not used.
    log : Log
        With the joints of the model, in its order: of a motion with the load. Its efforts are in
        any unit, motor currents [A] for one.
    mass : float
        Of the load [kg]; > 0.
    link_name : str
        To which it is fixed, the tip or a link that is fixed to it. Default: the tip.
    without : Log, optional
        Of the same or another motion without the load, in the same units.
    cutoff_frequency : float, optional
        [Hz], see :func:`~ne_dynamics.logs.signals.filtered`.
    spread : float, optional
        How far the inertias of the arm may be off, as a part of themselves; > 0.

    Returns
    -------
    DriveGains

    Raises
    ------
    InputError
        When a log has other joints, cannot be filtered, or has a joint that does not move or runs
        against the model, or a number is out of range.
    ModelError, PayloadError
        When there is no such link, or it moves against the tip.
    IdentificationError
        When the fit does not reach its minimum.
    """
    is_free = spread is None
    if not (math.isfinite(mass) and mass > 0.0):
        raise InputError(f'mass: expected a finite number > 0, got {mass}')
    spread = choose_spread(spread, without)
    dynamics = _without_drives(as_dynamics(model))
    carrier = Carrier.of_robot(dynamics, link_name)
    logs = read_logs(dynamics, log, without, cutoff_frequency)
    for item in logs:
        for name, used in zip(dynamics.robot.joint_names, item.used.T, strict=True):
            if not used.any():
                raise InputError(
                    f'log {item.log.source}: joint {name!r}: expected it to move, with readings '
                    'that are not all 0'
                )
    problem = _Problem(make_layout(carrier, logs, spread), logs, mass)
    state = problem.solve(dynamics)
    ratio = problem.compare_spread(state)
    if is_free and without is not None and ratio > UNLIKE:
        raise InputError(
            f'log {log.source}: expected to show a load of {mass:g} kg that {without.source} does '
            f'not, got an arm {ratio:.3g} times farther from its model than it may be: are the '
            'logs exchanged, or both without the load?'
        )
    believed = spread
    for _ in range(SPREAD_PASSES if is_free and without is None else 0):
        # The model may be farther off than was believed, and so may be the gains.
        ratio = problem.compare_spread(problem.centre(state, min(1.0, ratio**2)))
        if max(ratio * spread, believed) == spread:
            break
        spread = max(ratio * spread, believed)
        problem = _Problem(make_layout(carrier, logs, spread), logs, mass)
        state = problem.solve(dynamics)
        ratio = problem.compare_spread(state)
    state = problem.centre(state, min(1.0, ratio**2))
    n = dynamics.robot.n
    whole = np.asarray(np.linalg.inv(problem.information(state)), dtype=np.float64)
    covariance = whole[-n:, -n:]
    gain = np.exp(-state[-n:])
    load = problem.load(state)
    left = problem.residuals(dynamics, state, logs[0])
    return DriveGains(
        dynamics.robot.joint_names,
        gain,
        gain * np.sqrt(np.diag(covariance)),
        covariance,
        load[1:4] / mass,
        carrier.link_name,
        compute_used_rms(left, logs[0]),
        without is not None,
    )


def _without_drives(dynamics: Dynamics) -> Dynamics:
    """Return the dynamics without friction and rotors, which are in another unit than the log."""
    joints = tuple(
        replace(
            joint,
            viscous_friction=0.0,
            coulomb_friction=0.0,
            rotor_inertia=0.0,
            friction=FrictionModel(),
            effort_limit=math.inf,
        )
        for joint in dynamics.robot.joints
    )
    robot = replace(dynamics.robot, joints=joints)
    return Dynamics(robot, dynamics.gravity, 'python', dynamics.tolerance)


class _Problem:
    """The nonlinear problem; a state is steps of the unknowns, then the logarithms of 1/gain."""

    def __init__(self, layout: Layout, logs: Sequence[LogFactors], mass: float) -> None:
        self._layout, self._logs = layout, logs
        self._n = layout.robot.n
        first = PER_BODY * len(layout.bodies)
        # The load: its mass is known, the rest is believed to be near the link.
        known = np.zeros(PER_BODY)
        known[0] = mass
        width = np.diag([0.0, *[mass * LARGEST_RADIUS] * 3, *[mass * LARGEST_RADIUS**2] * 6])
        tip = PER_BODY * layout.bodies.index(layout.robot.tip.body)
        self._load = known, width
        self._parts, self._columns = [], []
        for item in logs:
            maps, means = layout.maps[int(item.is_loaded)].copy(), layout.means.copy()
            means[:, first:] = 0.0
            if item.is_loaded:
                means[:, tip : tip + PER_BODY] += layout.load_to_body @ known
                maps[:, :, layout.first_load :] = maps[:, :, layout.first_load :] @ width
            factors = item.reduction.factors[0]
            self._parts.append(
                (
                    factors[:, :, -1],
                    np.einsum('jrc,jc->jr', factors[:, :, :first], means[:, :first]),
                    factors[:, :, :first] @ maps[:, :first],
                    factors[:, :, first:-1] @ maps[:, first:],
                )
            )
            self._columns.append((means, maps))
        self._first = first
        self._weights = [np.ones(self._n) for _ in logs]

    def load(self, state: FloatArray) -> FloatArray:
        """Return the ten parameters of the load in the frame of its link."""
        known, width = self._load
        result: FloatArray = known + width @ state[self._layout.first_load : self._layout.size]
        return result

    def residuals(self, dynamics: Dynamics, state: FloatArray, item: LogFactors) -> FloatArray:
        """Return what is left of each sample of a log, shape (M, n), in its unit."""
        means, maps = self._columns[self._logs.index(item)]
        columns = means + maps @ state[: self._layout.size]
        columns[:, : self._first] *= np.exp(state[-self._n :])[:, np.newaxis]
        result = np.zeros(item.used.shape)
        bodies = list(self._layout.bodies)
        for rows in generate_rows(dynamics, dynamics, item.signals, bodies):
            left = rows.effort - np.einsum('sjc,jc->sj', rows.matrix, columns)
            result[rows.samples] = left
        return result

    def solve(self, dynamics: Dynamics) -> FloatArray:
        """Return the state at the minimum, with the noise that is left at it."""
        sizes = [np.maximum(rms(item.signals.effort), 1e-9) for item in self._logs]
        alike = [np.ones(self._n) for _ in self._logs]
        self._weights = [1.0 / (FIRST_SIGMA * size) for size in sizes]
        state = np.concatenate([np.zeros(self._layout.size), self._first_gains()])
        for turn in range(2 * PASSES):
            state = self._minimum(state)
            if turn == PASSES - 1:
                alike = [
                    count_alike(self.residuals(dynamics, state, item), item.used)
                    for item in self._logs
                ]
            for place, item in enumerate(self._logs):
                left = np.square(self._left(state, place)).sum(axis=1)
                counts = item.reduction.counts[0]
                free = np.maximum(counts - state.size / self._n / len(self._logs), 4.0)
                sigma = np.maximum(np.sqrt(left / free), SMALLEST_SIGMA * sizes[place])
                self._weights[place] = 1.0 / (sigma * np.sqrt(alike[place]))
        return self._minimum(state)

    def _first_gains(self) -> FloatArray:
        """Return the logarithms of 1/gain by the model as it is given."""
        factors, parts = np.zeros(self._n), np.zeros(self._n)
        for joint in range(self._n):
            table = np.concatenate(
                [
                    np.c_[mean[joint], friction[joint], right[joint]]
                    for right, mean, _, friction in self._parts
                ]
            )
            used = np.abs(table[:, :-1]).max(axis=0) > 0.0
            found = np.linalg.lstsq(table[:, :-1][:, used], table[:, -1], rcond=None)[0]
            if used[0]:
                factors[joint] = found[0]
                parts[joint] = np.linalg.norm(found[0] * table[:, 0]) / np.linalg.norm(
                    table[:, -1]
                )
        wrong = (factors < 0.0) & (parts > CLEAR)
        if wrong.any():
            raise InputError(
                f'joint {self._layout.robot.joint_names[int(wrong.argmax())]!r}: expected '
                "readings along the joint's positive direction, got the opposite"
            )
        clear = (factors > 0.0) & (parts > CLEAR)
        if not clear.any():
            raise InputError(
                'the readings: expected some that the model explains, by a factor for each joint, '
                'got none'
            )
        # What the given model does not tell of a drive is taken from the others.
        usual = float(np.exp(np.median(np.log(factors[clear]))))
        result: FloatArray = np.log(np.where(clear, factors, usual))
        return result

    def _left(self, state: FloatArray, place: int) -> FloatArray:
        """Return what is left of a log's triangles, shape (n, C + 1)."""
        right, mean, inertial, friction = self._parts[place]
        steps, factors = state[: self._layout.size], np.exp(state[-self._n :])
        result: FloatArray = (
            right - factors[:, np.newaxis] * (mean + inertial @ steps) - friction @ steps
        )
        return result

    def _system(self, state: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the Jacobian of the weighted residuals and what was believed, and these."""
        size, n = self._layout.size, self._n
        factors = np.exp(state[-n:])
        rows, left = [], []
        for place, (_, mean, inertial, friction) in enumerate(self._parts):
            jacobian = np.zeros((*mean.shape, size + n))
            jacobian[:, :, :size] = factors[:, np.newaxis, np.newaxis] * inertial + friction
            own = factors[:, np.newaxis] * (mean + inertial @ state[:size])
            for joint in range(n):
                jacobian[joint, :, size + joint] = own[joint]
            weights = self._weights[place][:, np.newaxis]
            rows.append((weights[:, :, np.newaxis] * jacobian).reshape(-1, size + n))
            left.append((weights * self._left(state, place)).ravel())
        believed = np.concatenate([np.ones(size), np.full(n, 1.0 / GAIN_SPREAD)])
        rows.append(np.diag(believed))
        steps = np.concatenate([state[:size], np.zeros(n)])
        left.append(-believed * steps)
        return np.concatenate(rows), np.concatenate(left)

    def information(self, state: FloatArray) -> FloatArray:
        """Return the inverse of the covariance of a state."""
        jacobian, _ = self._system(state)
        result: FloatArray = jacobian.T @ jacobian
        return result

    def compare_spread(self, state: FloatArray) -> float:
        """Return how far the arm is from its model over how far it was believed to be."""
        covariance = np.asarray(np.linalg.inv(self.information(state)), dtype=np.float64)
        return compare_spread(self._layout.robot, state, covariance)

    def centre(self, state: FloatArray, part: float) -> FloatArray:
        """Return the most likely gains whatever the arm is, and what goes with them.

        At the minimum of all unknowns together gains are too small: the smaller they are, the
        smaller a step of the arm has to be. What integrates the other unknowns out (Laplace) adds
        half the logarithm of their information's determinant to the cost, whose slope is that
        part of the unknowns that a joint tells. Where the arm is nearer to its model than it may
        be, only a part of that counts.
        """
        size, factors = self._layout.size, np.exp(state[-self._n :])
        information = self.information(state)
        within = np.linalg.inv(information[:size, :size])
        slope = np.zeros(self._n)
        for weights, (_, _, inertial, friction) in zip(self._weights, self._parts, strict=True):
            scaled = factors[:, np.newaxis, np.newaxis] * inertial
            told = np.einsum('jrk,kl,jrl->j', scaled, within, scaled + friction, optimize=True)
            slope += weights**2 * told
        result: FloatArray = state - np.linalg.inv(information)[:, size:] @ (part * slope)
        return result

    def _cost(self, state: FloatArray) -> float:
        _, left = self._system(state)
        return 0.5 * float(left @ left)

    def _minimum(self, state: FloatArray) -> FloatArray:
        """Return the minimum by Gauss and Newton's method with line search."""
        cost = self._cost(state)
        for _ in range(ITERATIONS):
            jacobian, left = self._system(state)
            change = np.linalg.lstsq(jacobian, left, rcond=None)[0]
            length = 1.0
            while True:
                trial = state + length * change
                value = self._cost(trial)
                if value <= cost:
                    break
                length *= 0.5
                if length < 1e-8:
                    return state
            is_done = cost - value <= CONVERGED * max(cost, 1.0)
            state, cost = trial, value
            if is_done:
                return state
        raise IdentificationError(
            f'the gains of the drives: expected a minimum after {ITERATIONS} steps of Gauss and '
            "Newton's method, got none: the readings or the model are out of proportion"
        )
