"""Mass, centre of mass and inertia of a load from a motion that excites them.

First a linear fit (:mod:`~ne_dynamics.identification.load.problem`), which also finds the
noise of each joint, and how many samples tell as much as one. What it says of the load alone, all
else left open, is a triangle R and a vector z: the likelihood is ``|R phi - z|^2 / 2`` in the ten
parameters phi. Then the load is found that a body can have, the minimum of that plus a weak
divergence from a ball of the load's own mass: what the log does not tell is that ball's, and said
to be.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ne_dynamics.control import PAYLOAD, Carrier
from ne_dynamics.dynamics import Dynamics
from ne_dynamics.errors import PayloadError
from ne_dynamics.identification.evaluation import as_dynamics
from ne_dynamics.identification.load.problem import LoadProblem
from ne_dynamics.identification.load.shared_rows import (
    LoadBelief,
    LogFactors,
    choose_prior_scale,
    read_logs,
)
from ne_dynamics.identification.regression.pseudo_inertia import (
    compute_hessian,
    compute_width,
    inertia_of,
    pseudo_inertia,
)
from ne_dynamics.identification.regression.regression_rows import PER_BODY
from ne_dynamics.identification.regression.solver import Problem, minimize
from ne_dynamics.identification.thresholds import LOAD
from ne_dynamics.logs import Log
from ne_dynamics.model.rigid_body import FloatArray, Inertia
from ne_dynamics.model.robot import Robot

NO_BELIEF = LoadBelief(np.zeros(10), np.full(10, 100.0))
"""Of mass, first moment and inertia of the load [SI]: no limit, but a number for what is not
told."""


NAMES = ('mass', 'x', 'y', 'z', 'ixx', 'ixy', 'ixz', 'iyy', 'iyz', 'izz')


@dataclass(frozen=True, eq=False)
class PayloadFit:
    """A fitted payload with standard deviations.

    Attributes
    ----------
    inertia : Inertia
        In the frame of the link; mass 0 if no payload was found.
    deviation : array, shape (10,)
        Standard deviations of mass [kg], centre of mass [m], and inertia about it: xx, xy, xz,
        yy, yz, zz [kg m^2]; if no payload was found, of the mass alone.
    determined : array of bool, shape (10,)
        Which of them the log identifies; the others are those of a sphere of that mass.
    link_name : str
    joints : tuple of str
    rms_before, rms_after : array, shape (n,)
        Root mean squares of the residuals of the log with the payload, for the fitted arm without
        and with the payload [N m or N].
    is_difference : bool
        Whether there was a log without the payload.
    duration : float
        Duration of the log with the payload [s].
    """

    inertia: Inertia
    deviation: FloatArray
    determined: tuple[bool, ...]
    link_name: str
    joints: tuple[str, ...]
    rms_before: FloatArray
    rms_after: FloatArray
    is_difference: bool
    duration: float

    @property
    def values(self) -> FloatArray:
        """Mass, centre of mass, and inertia about it: xx, xy, xz, yy, yz, zz."""
        tensor = self.inertia.inertia_about_com[np.triu_indices(3)]
        return np.array([self.inertia.mass, *self.inertia.center_of_mass, *tensor])

    def as_json(self) -> dict[str, Any]:
        """Return the payload as data for JSON."""
        values = self.values
        return {
            'link': self.link_name,
            'mass': float(values[0]),
            'mass_deviation': float(self.deviation[0]),
            'center_of_mass': values[1:4].tolist(),
            'center_of_mass_deviation': self.deviation[1:4].tolist(),
            'inertia': values[4:].tolist(),
            'inertia_deviation': self.deviation[4:].tolist(),
            'determined': dict(zip(NAMES, self.determined, strict=True)),
            'source': 'two logs' if self.is_difference else 'one log',
            'duration': self.duration,
            'joints': [
                {'joint': name, 'rms_without_load': float(before), 'rms_with_load': float(after)}
                for name, before, after in zip(
                    self.joints, self.rms_before, self.rms_after, strict=True
                )
            ],
        }


def fit_payload(
    model: Robot | Dynamics,
    log: Log,
    link_name: str = '',
    *,
    without: Log | None = None,
    cutoff_frequency: float | None = None,
    spread: float | None = None,
) -> PayloadFit:
    """Fit mass, centre of mass and inertia of a payload to a log of a motion.

    Parameters
    ----------
    model : Robot or Dynamics
        Model without the payload, with a tip. For a Robot, gravity is (0, 0, -9.80665) in base
        axes.
    log : Log
        Motion with the payload, with the joints of the model in its order.
    link_name : str
        Link in whose frame the payload is described: the tip (default) or a link fixed to it.
    without : Log, optional
        The same or another motion without the payload. Errors of the model appear in both logs
        and are not attributed to the payload.
    cutoff_frequency : float, optional
        [Hz], see :func:`~ne_dynamics.logs.signals.filtered`.
    spread : float, optional
        Prior scale: expected relative error of the model's inertias; > 0.

    Raises
    ------
    InputError
        When a log has other joints, cannot be filtered or shows no motion, or the spread is out of
        range.
    ModelError
        When there is no such link.
    PayloadError
        When mass or centre of mass cannot be identified from the log, or are not those of a
        payload; the message says what is missing.
    """
    is_free = spread is None
    prior_scale = choose_prior_scale(spread, without)
    dynamics = as_dynamics(model)
    carrier = Carrier.of_robot(dynamics, link_name)
    logs = read_logs(dynamics, log, without, cutoff_frequency)
    if is_free and without is None:
        problem, steps = _solve_by_log(carrier, logs)
    else:
        problem = LoadProblem(carrier, logs, NO_BELIEF, prior_scale)
        steps = problem.solve(np.zeros(problem.size))
    first = problem.steps - PER_BODY
    # All of the load, and nothing else: the last rows of the triangle.
    factor = problem.compute_triangle(np.zeros(problem.size))[first:, first:]
    factor[:, :-1] /= NO_BELIEF.width
    unloaded = steps.copy()
    unloaded[first:] = 0.0
    before, after = (problem.compute_rms(part, logs[0]) for part in (unloaded, steps))
    inertia, covariance, prior = _find_body(factor)
    _refuse_unidentifiable(inertia, covariance, carrier.link_name)
    deviation = np.sqrt(np.diag(covariance))
    determined = deviation < 0.5 * np.sqrt(np.diag(prior))
    if inertia.mass <= PAYLOAD.significant_deviations * deviation[0]:
        inertia, deviation[1:], determined[1:] = Inertia.zero(), 0.0, False
    return PayloadFit(
        inertia,
        deviation,
        tuple(bool(value) for value in determined),
        carrier.link_name,
        dynamics.robot.joint_names,
        before,
        after,
        without is not None,
        float(log.times[-1] - log.times[0]),
    )


def _solve_by_log(carrier: Carrier, logs: Sequence[LogFactors]) -> tuple[LoadProblem, FloatArray]:
    """Return problem and solution with what the log shows of the errors of its arm.

    What is believed of the arm tells one log's load from these. Of some beliefs that is taken
    which makes the log likeliest, all that is unknown integrated out: with R the triangle in units
    of what is believed and r what is left, exp(-r^2 / 2) / det R.
    """
    problems = [
        LoadProblem(carrier, logs, NO_BELIEF, prior_scale, shift)
        for prior_scale in LOAD.arm_prior_scales
        for shift in LOAD.arm_shifts
    ]
    start = np.zeros(problems[0].size)
    widest = problems[-1]
    widest.solve(start)
    evidence = []
    for problem in problems:
        problem.weights = widest.weights
        diagonal = np.abs(np.diag(problem.compute_triangle(start)))
        evidence.append(-0.5 * float(diagonal[-1]) ** 2 - float(np.log(diagonal[:-1]).sum()))
    chosen = problems[int(np.argmax(evidence))]
    return chosen, chosen.solve(start)


def _find_body(factor: FloatArray) -> tuple[Inertia, FloatArray, FloatArray]:
    """Return the most likely body, and covariances of its description after and before.

    A PayloadError where the mass is not identifiable, or none that a load can have.
    """
    upper, right = factor[:-1, :-1], factor[:-1, -1]
    found = np.linalg.solve(upper, right)
    inverse = np.linalg.inv(upper)
    covariance = inverse @ inverse.T
    mass, deviation = float(found[0]), math.sqrt(covariance[0, 0])
    if deviation > max(PAYLOAD.mass_deviation, LOAD.mass_deviation_share * abs(mass)):
        raise PayloadError(
            f'the motion does not tell the mass: {mass:.3g} +- {deviation:.2g} kg; move more '
            'joints, farther and faster, and give a log of the arm without the load'
        )
    if mass < -PAYLOAD.significant_deviations * deviation:
        raise PayloadError(
            f'a load of {mass:.3g} +- {deviation:.2g} kg is not possible: is the model too heavy '
            '(has a tool of it been taken off), a sign wrong, or are the two logs exchanged?'
        )
    # From the ball it differs by several times itself.
    prior_scale, ball = 3.0, _make_ball(max(mass, 0.5 * deviation), upper, right)
    reference = pseudo_inertia(ball.parameters)
    problem = Problem(
        factor,
        reference[np.newaxis],
        np.array([prior_scale]),
        np.zeros(0),
        np.zeros(0),
        np.zeros(0, bool),
    )
    pseudo = minimize(problem).pseudo_inertias[0]
    inertia = inertia_of(pseudo)
    information = upper.T @ upper + compute_hessian(pseudo) / prior_scale**2
    slope = _slope(inertia)
    after = slope @ np.linalg.inv(information) @ slope.T
    own = prior_scale * _slope(ball) @ compute_width(reference)
    return inertia, after, own @ own.T


def _make_ball(mass: float, upper: FloatArray, right: FloatArray) -> Inertia:
    """Return a ball of a mass about where the log has its centre."""
    prior = np.diag([0.0, *[1.0 / (mass * 0.3)] * 3, *[1.0 / (mass * 0.1)] * 6])
    table = np.concatenate([np.c_[upper, right], np.c_[prior, np.zeros(10)]])
    first = np.linalg.lstsq(table[:, :-1], table[:, -1], rcond=None)[0][1:4]
    aluminium = 2700.0  # [kg/m^3]
    radius = (3.0 * mass / (4.0 * math.pi * aluminium)) ** (1.0 / 3.0)
    return Inertia(mass, first / mass, 0.4 * mass * radius**2 * np.eye(3))


def _slope(inertia: Inertia) -> FloatArray:
    """Return the derivative of `PayloadFit.values` in the ten parameters, shape (10, 10)."""
    parameters = inertia.parameters
    columns = []
    # Nearly linear: the size of a step is of no matter.
    sizes = 1e-6 * np.maximum(np.abs(parameters), 1e-3 * inertia.mass)
    for size, step in zip(sizes, np.diag(sizes), strict=True):
        after, before = (_describe_parameters(parameters + side) for side in (step, -step))
        columns.append((after - before) / (2.0 * size))
    return np.stack(columns, axis=1)


def _describe_parameters(parameters: FloatArray) -> FloatArray:
    """Return mass, centre of mass and inertia about it of ten parameters, of a body or not."""
    pseudo = pseudo_inertia(parameters)
    mass, first = pseudo[3, 3], pseudo[:3, 3]
    second_moment = pseudo[:3, :3] - np.outer(first, first) / mass
    tensor = np.trace(second_moment) * np.eye(3) - second_moment
    return np.array([mass, *(first / mass), *tensor[np.triu_indices(3)]])


def _refuse_unidentifiable(inertia: Inertia, covariance: FloatArray, link_name: str) -> None:
    """Refuse a centre of mass that is not identifiable, or that of no load, by a PayloadError."""
    deviation = np.sqrt(np.diag(covariance))
    if inertia.mass <= PAYLOAD.significant_deviations * deviation[0]:
        return
    limit = max(LOAD.com_deviation, LOAD.moment_deviation / inertia.mass)
    unknown = [
        f'{axis} (+- {value:.2g} m)'
        for axis, value in zip('xyz', deviation[1:4], strict=True)
        if value > limit
    ]
    if unknown:
        raise PayloadError(
            f'the motion does not tell the centre of mass along {" and ".join(unknown)} of '
            f'{link_name!r}: turn the flange more (the mass is known: {inertia.mass:.3f} +- '
            f'{deviation[0]:.2g} kg)'
        )
    distance = float(np.linalg.norm(inertia.center_of_mass))
    doubt = PAYLOAD.significant_deviations * float(deviation[1:4].max())
    if distance - doubt > PAYLOAD.farthest_com:
        raise PayloadError(
            f'a centre of mass {distance:.2f} m from {link_name!r} is farther away than '
            f'{PAYLOAD.farthest_com:g} m: does something touch the arm?'
        )
