"""Torque per current of every joint, from logs of motor currents and a load of known mass.

A log whose `effort` is a current knows no newton: what the arm weighs by it depends on the gain of
each drive. A load of known mass sets the scale. With g the reciprocal of the gain k ::

    current = g (arm (body parameters) + load (mass, first moment, inertia)) + friction in currents

Body parameters are believed as the model has them, within a prior scale; first moment and inertia
of the load are found along, friction, rotor inertia and offset of each joint are its own and in
its own unit. The products with g make it a small nonlinear problem, of which Gauss and Newton's
method finds the minimum. Noise is on the current, where it arises: it does not draw the gains to
0.
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
from ne_dynamics.errors import InputError
from ne_dynamics.identification.evaluation import as_dynamics
from ne_dynamics.identification.load.problem import LoadProblem
from ne_dynamics.identification.load.shared_rows import (
    LoadBelief,
    LogFactors,
    choose_prior_scale,
    list_bodies,
    read_logs,
)
from ne_dynamics.identification.regression.regression_rows import PER_BODY
from ne_dynamics.identification.thresholds import LOAD
from ne_dynamics.logs import Log
from ne_dynamics.model.friction import FrictionModel
from ne_dynamics.model.rigid_body import FloatArray
from ne_dynamics.model.robot import Robot


@dataclass(frozen=True, eq=False)
class DriveGains:
    """Fitted gains of the drives with their standard deviations.

    Attributes
    ----------
    joints : tuple of str
    gain, deviation : array, shape (n,)
        Efforts per unit of the log, and standard deviations [N m/A or N/A for currents in A].
    covariance : array, shape (n, n)
        Covariance of the logarithms of the gains.
    center_of_mass : array, shape (3,)
        Centre of mass of the load, in the frame of the link [m].
    link_name : str
    rms : array, shape (n,)
        Root mean square of the residuals of the log with the load, in its unit.
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
        """Which of the gains the logs identify."""
        return tuple(bool(value) for value in self.deviation < LOAD.gain_deviation * self.gain)

    def distance(self, gains: ArrayLike) -> float:
        """Return the distance of other gains, shape (n,), in standard deviations of all together.

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
        """Return the gains as data for JSON."""
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
    """Fit the effort per logged unit (e.g. per ampere) of each joint, with a load of known mass.

    Parameters
    ----------
    model : Robot or Dynamics
        Model without the load, with a tip. For a Robot, gravity is (0, 0, -9.80665) in base
        axes. Its friction and rotor inertias are not used.
    log : Log
        Motion with the load, with the joints of the model in its order. Its efforts may be in any
        unit, such as motor currents [A].
    mass : float
        Mass of the load [kg]; > 0.
    link_name : str
        Link that carries the load: the tip (default) or a link fixed to it.
    without : Log, optional
        The same or another motion without the load, in the same units.
    cutoff_frequency : float, optional
        [Hz], see :func:`~ne_dynamics.logs.signals.filtered`.
    spread : float, optional
        Prior scale: expected relative error of the model's inertias; > 0.

    Raises
    ------
    InputError
        When a log has other joints, cannot be filtered, or has a joint that does not move or runs
        against the model, or a number is out of range.
    ModelError, PayloadError
        When there is no such link, or it is not fixed to the tip.
    IdentificationError
        When the fit does not converge.
    """
    if not (math.isfinite(mass) and mass > 0.0):
        raise InputError(f'mass: expected a finite number > 0, got {mass}')
    believed = choose_prior_scale(spread, without)
    dynamics = _without_drives(as_dynamics(model))
    carrier = Carrier.of_robot(dynamics, link_name)
    logs = read_logs(dynamics, log, without, cutoff_frequency)
    _require_motion(dynamics.robot, logs)
    may_widen = spread is None and without is None
    problem, state, ratio = _fit_gains(carrier, logs, mass, believed, may_widen=may_widen)
    if spread is None and without is not None and ratio > 2.0:
        raise InputError(
            f'log {log.source}: expected to show a load of {mass:g} kg that {without.source} does '
            f'not, got an arm {ratio:.3g} times farther from its model than it may be: are '
            'the logs exchanged, or both without the load?'
        )
    n = dynamics.robot.n
    whole = np.asarray(np.linalg.inv(problem.compute_information(state)), dtype=np.float64)
    covariance = whole[-n:, -n:]
    gain = np.exp(-state[-n:])
    return DriveGains(
        dynamics.robot.joint_names,
        gain,
        gain * np.sqrt(np.diag(covariance)),
        covariance,
        problem.find_load(state)[1:4] / mass,
        carrier.link_name,
        problem.compute_rms(state, logs[0]),
        without is not None,
    )


def _require_motion(robot: Robot, logs: Sequence[LogFactors]) -> None:
    """Refuse logs, by an InputError, in which a joint does not move, or reads 0."""
    for item in logs:
        for name, used in zip(robot.joint_names, item.used.T, strict=True):
            if not used.any():
                raise InputError(
                    f'log {item.log.source}: joint {name!r}: expected it to move, with readings '
                    'that are not all 0'
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
    robot = replace(dynamics.robot, joints=joints, coupled_drives=())
    return Dynamics(robot, dynamics.gravity, 'python', dynamics.tolerance)


class _GainProblem(LoadProblem):
    """The problem with gains, where it begins, and how its arm compares with the model."""

    has_gains = True

    def find_start(self) -> FloatArray:
        """Return the state with gains by the model as it is given.

        An InputError where that explains no reading, or the opposite of one.
        """
        factors, parts = np.zeros((2, self._gains))
        for joint in range(self._gains):
            table = np.concatenate(
                [
                    np.c_[mean[joint], friction[joint], right[joint]]
                    for right, mean, _, friction in self._parts
                ]
            )
            columns, reading = table[:, :-1], table[:, -1]
            used = np.abs(columns).max(axis=0) > 0.0
            found = np.linalg.lstsq(columns[:, used], reading, rcond=None)[0]
            if used[0]:
                factors[joint] = found[0]
                parts[joint] = np.linalg.norm(found[0] * columns[:, 0]) / np.linalg.norm(reading)
        is_clear = parts > 0.5
        wrong = (factors < 0.0) & is_clear
        if wrong.any():
            raise InputError(
                f'joint {self.robot.joint_names[int(wrong.argmax())]!r}: expected '
                "readings along the joint's positive direction, got the opposite"
            )
        clear = (factors > 0.0) & is_clear
        if not clear.any():
            raise InputError(
                'the readings: expected some that the model explains, by a factor for each joint, '
                'got none'
            )
        # What the given model does not tell of a drive is taken from the others.
        usual = float(np.exp(np.median(np.log(factors[clear]))))
        gains = np.log(np.where(clear, factors, usual))
        return np.concatenate([np.zeros(self.steps), gains])

    def compare_prior_scale(self, state: FloatArray) -> float:
        """Return how far the arm is from its model over how far it was believed to be.

        The square is the sum of squares of the steps of its bodies, over as many as the logs tell.
        """
        arm = slice(0, PER_BODY * len(list_bodies(self.robot)[1]))
        covariance = np.linalg.inv(self.compute_information(state))
        identified = float((1.0 - np.diag(covariance)[arm]).sum())
        return float(np.linalg.norm(state[arm])) / math.sqrt(max(identified, 1e-9))

    def centre(self, state: FloatArray, ratio: float) -> FloatArray:
        """Return the most likely gains whatever the arm is, and what goes with them.

        The ratio is that of :meth:`compare_prior_scale`.

        At the minimum of all unknowns together gains are too small: the smaller they are, the
        smaller a step of the arm has to be. What integrates the other unknowns out (Laplace) adds
        half the logarithm of their information's determinant to the cost, whose slope is that
        part of the unknowns that a joint tells. Where the arm is nearer to its model than it may
        be, only a part of that counts.
        """
        size, factors = self.steps, self._factors(state)
        part = min(1.0, ratio**2)
        information = self.compute_information(state)
        within = np.linalg.inv(information[:size, :size])
        slope = np.zeros(self._gains)
        for weights, (_, _, inertial, friction) in zip(self.weights, self._parts, strict=True):
            scaled = factors[:, np.newaxis, np.newaxis] * inertial
            share = np.einsum('jrk,kl,jrl->j', scaled, within, scaled + friction, optimize=True)
            slope += weights**2 * share
        result: FloatArray = state - np.linalg.inv(information)[:, size:] @ (part * slope)
        return result


def _fit_gains(
    carrier: Carrier,
    logs: Sequence[LogFactors],
    mass: float,
    believed: float,
    *,
    may_widen: bool,
) -> tuple[_GainProblem, FloatArray, float]:
    """Return a problem, its most likely gains, and how far its arm is by how far it may be.

    The arm is believed to be within a prior scale of its model; where that may widen, as far from
    it as the log shows it to be.
    """
    # The mass of the load is known, the rest is believed to be within some decimetres of the link.
    mean = np.array([mass, *[0.0] * 9])
    load = LoadBelief(mean, mass * np.array([0.0, *[0.3] * 3, *[0.3**2] * 6]))
    prior_scale, passes = believed, 3 if may_widen else 0
    while True:
        problem = _GainProblem(carrier, logs, load, prior_scale)
        state = problem.solve(problem.find_start())
        ratio = problem.compare_prior_scale(state)
        found = problem.centre(state, ratio)
        if not passes:
            return problem, found, ratio
        passes -= 1
        ratio = problem.compare_prior_scale(found)
        wider = max(ratio * prior_scale, believed)
        if wider == prior_scale:
            return problem, problem.centre(state, ratio), ratio
        prior_scale = wider
