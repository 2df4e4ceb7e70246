"""Which inertial and friction parameters the efforts of a robot depend on by themselves."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ne_dynamics.dynamics import Dynamics
from ne_dynamics.excitation.limits import ExcitationLimits
from ne_dynamics.excitation.thresholds import EXCITATION
from ne_dynamics.identification.base_estimate import find_independent
from ne_dynamics.identification.quality import NAMES, UNITS
from ne_dynamics.identification.regression.design import find_bodies
from ne_dynamics.identification.regression.friction_terms import ALWAYS, Term, given_values
from ne_dynamics.identification.regression.pseudo_inertia import compute_width
from ne_dynamics.identification.regression.regression_rows import PER_BODY
from ne_dynamics.identification.thresholds import IDENTIFICATION, REGRESSION
from ne_dynamics.model.rigid_body import FloatArray

TERMS = ALWAYS
"""Friction and drive of a joint whose columns compete with those of the inertias: viscous,
Coulomb, rotor, offset."""


_TERM_NAMES = {
    Term.VISCOUS: 'viscous_friction',
    Term.COULOMB: 'coulomb_friction',
    Term.ROTOR: 'reflected_inertia',
    Term.OFFSET: 'friction_offset',
}


@dataclass(frozen=True, eq=False)
class ParameterColumns:
    """Columns of the regressor that are independent, and what they stand for.

    Attributes
    ----------
    inertial : int array, shape (p_i,)
        Among the 10 b columns of :meth:`~ne_dynamics.Dynamics.regressor`.
    joints : int array, shape (p_f,)
        Joint of each friction column.
    terms : int array, shape (p_f,)
        Its place in :data:`TERMS`.
    scales : array, shape (p_i + p_f,)
        How large the identification expects an error of each to be.
    names, units : tuple of str, length p_i + p_f
    values : array, shape (p_i + p_f,)
        Of the given model; what acts like a column is in it.
    """

    inertial: NDArray[np.intp]
    joints: NDArray[np.intp]
    terms: NDArray[np.intp]
    scales: FloatArray
    names: tuple[str, ...]
    units: tuple[str, ...]
    values: FloatArray

    @property
    def size(self) -> int:
        """Number of columns."""
        return self.scales.size


def compute_friction_columns(
    velocity: FloatArray, acceleration: FloatArray, largest: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the columns of :data:`TERMS`, and their derivatives, shape (N, n, 4) each.

    These are by velocity and by acceleration, shape (N, n). The change of sign is smoothed by the
    largest velocities, shape (n,).
    """
    width = EXCITATION.coulomb_width * largest
    sign = np.tanh(velocity / width)
    one, none = np.ones_like(velocity), np.zeros_like(velocity)
    return (
        np.stack([velocity, sign, acceleration, one], axis=2),
        np.stack([one, (1.0 - sign**2) / width, none, none], axis=2),
        np.stack([none, none, one, none], axis=2),
    )


def find_columns(
    dynamics: Dynamics, limits: ExcitationLimits, start: FloatArray
) -> ParameterColumns:
    """Return the columns that motions within limits can tell apart.

    Of the rows of random motions, see
    :func:`~ne_dynamics.identification.base_estimate.find_independent`. Joints that do not move are
    at the start, shape (n,).
    """
    robot, n = dynamics.robot, dynamics.n
    bodies, references, _ = find_bodies(robot)
    rng = np.random.default_rng(0)
    samples = 20 * (len(robot.bodies) + 4)
    q = np.where(limits.moves, rng.uniform(limits.lower, limits.upper, (samples, n)), start)
    velocity, acceleration = (
        np.where(limits.moves, rng.uniform(-1.0, 1.0, (samples, n)) * size, 0.0)
        for size in (limits.velocity, limits.acceleration)
    )
    largest = np.where(limits.moves, limits.velocity, 1.0)
    inertial = dynamics.regressor(q, velocity, acceleration).reshape(samples * n, -1)
    friction, _, _ = compute_friction_columns(velocity, acceleration, largest)
    count = len(TERMS)
    rows = np.zeros((samples, n, n, count))
    # A joint that stands sticks: only its load is felt, by which efforts are judged.
    joints = np.flatnonzero(limits.moves)
    rows[:, joints, joints] = friction[:, joints]
    fitted = np.array([PER_BODY * body + k for body in bodies for k in range(PER_BODY)], np.intp)
    others = rows.reshape(samples * n, -1)
    is_read = np.tile(limits.moves, samples)
    stacked = np.hstack([inertial[:, fitted], others])[is_read]
    chosen = find_independent(stacked, fitted.size)
    combinations = np.linalg.lstsq(stacked[:, chosen], stacked, rcond=None)[0]
    combinations[np.abs(combinations) < EXCITATION.negligible_share] = 0.0
    given = np.array([given_values(joint)[list(TERMS)] for joint in robot.joints])
    everything = np.concatenate([dynamics.inertial_parameters()[fitted], given.ravel()])
    scales = np.concatenate([_inertial_scales(references), _friction_scales(limits, friction)])
    names, units = _name(dynamics, fitted)
    own = chosen[chosen >= fitted.size] - fitted.size
    return ParameterColumns(
        fitted[chosen[chosen < fitted.size]],
        own // count,
        own % count,
        scales[chosen],
        tuple(names[column] for column in chosen),
        tuple(units[column] for column in chosen),
        combinations @ everything,
    )


def _inertial_scales(references: FloatArray) -> FloatArray:
    """Return the deviation of each parameter of bodies believed to `reference_prior_scale`."""
    scales = [
        IDENTIFICATION.reference_prior_scale * np.linalg.norm(compute_width(each), axis=1)
        for each in references
    ]
    return np.concatenate([*scales, np.zeros(0)])


def _friction_scales(limits: ExcitationLimits, columns: FloatArray) -> FloatArray:
    """Return what makes `friction_prior_scale` of the effort a joint may use."""
    size = np.sqrt((columns**2).mean(axis=0))
    effort = np.where(np.isfinite(limits.effort), limits.effort, 1.0)
    scales = (
        REGRESSION.friction_prior_scale * effort[:, np.newaxis] / np.where(size > 0.0, size, 1.0)
    )
    return scales.ravel()


def _name(dynamics: Dynamics, fitted: NDArray[np.intp]) -> tuple[list[str], list[str]]:
    robot = dynamics.robot
    names = [f'{robot.bodies[c // PER_BODY].name}.{NAMES[c % PER_BODY]}' for c in fitted]
    units = [UNITS[c % PER_BODY] for c in fitted]
    for joint in robot.joints:
        is_slide = joint.type.is_prismatic
        kinds = {
            Term.VISCOUS: 'N s/m' if is_slide else 'N m s/rad',
            Term.COULOMB: joint.type.effort_unit,
            Term.ROTOR: 'kg' if is_slide else 'kg m^2',
            Term.OFFSET: joint.type.effort_unit,
        }
        names += [f'{joint.name}.{_TERM_NAMES[term]}' for term in TERMS]
        units += [kinds[term] for term in TERMS]
    return names, units
