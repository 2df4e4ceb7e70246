"""Fit the inertias and the joint friction of a model to a log.

Efforts are linear in mass, first moment and inertia of each body and in viscous and Coulomb
friction. Minimised is

    sum over joints |effort - regressor @ parameters|^2 / (2 sigma_joint^2)
      + 1/spread^2 sum over bodies D(P, P_given) + friction's own, weak, quadratic term

with friction >= 0. D is the divergence of :mod:`~ne_dynamics.identification.pseudo_inertia`: what
the log does not tell stays as it was in the given model, and every body stays one that can exist.
The problem is convex; Newton's method with line search solves it, friction's bounds by projection
(Bertsekas 1982). sigma is each joint's own residual, found by repeating the fit.

Rotor inertia is not fitted: the given model's counts.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ne_dynamics.dynamics import Dynamics
from ne_dynamics.errors import InputError
from ne_dynamics.identification.evaluation import (
    JointResidual,
    as_dynamics,
    model_effort,
    require_joints,
    residuals,
    rms,
)
from ne_dynamics.identification.log import Log
from ne_dynamics.identification.lumps import with_body_inertias
from ne_dynamics.identification.pseudo_inertia import (
    divergence,
    divergence_slopes,
    inertia_of,
    nearest_body,
    pseudo_inertia,
)
from ne_dynamics.identification.signals import Signals, filtered
from ne_dynamics.model.rigid_body import FloatArray, Inertia
from ne_dynamics.model.robot import Finding, Robot

DEFAULT_SPREAD = 0.5
"""How far the given inertias are believed to be off, as a part of themselves."""

DEFAULT_HOLDOUT = 0.25
PER_BODY = 10
FRICTION_SPREAD = 0.3
"""How large friction may be, as a part of the effort of its joint, before the prior is felt."""

PASSES = 4
"""Fits, each with the residuals of the one before as sigma."""

FIRST_SIGMA = 0.1
SMALLEST_SIGMA = 1e-4
"""Parts of a joint's effort: sigma of the first fit, and the least of all."""

CHUNK = 2000
ITERATIONS = 200
UNMOVED = 1e-4
"""A body or friction that moved by less than this part of its spread is left as it was."""

SMALLEST_HOLDOUT = 10
POOR_EXCITATION = 1.0 / 3.0
"""Part of the identifiable directions below which a log tells too little."""

OPPOSED = -0.5
"""Correlation of measured and computed effort from which the sign is wrong."""

NOISY = 0.3
"""Part of the acceleration that may be noise."""

VELOCITY_ERROR = 0.1
"""Part of the velocity by which the log's own may differ."""

WORSE = 1.2
"""How many times larger a residual is called worse: noise makes some of it."""


@dataclass(frozen=True, eq=False)
class BodyChange:
    """What became of one moving body, with all links that are fixed to it.

    Attributes
    ----------
    name : str
        Link that the joint moves.
    before, after : Inertia
        In the body's frame.
    determined : float
        How much of its ten parameters the log determined, 0 (as given) to 1.
    """

    name: str
    before: Inertia
    after: Inertia
    determined: float


@dataclass(frozen=True)
class JointChange:
    """What became of one joint's friction, and how well its effort is explained.

    Attributes
    ----------
    before, after : JointResidual
        Of the given and of the identified model, on the part of the log that was not fitted.
    samples : int
        That were fitted, out of those of this joint.
    viscous, coulomb : tuple of float
        Before, after, and the standard deviation of the latter [N m s/rad or N s/m; N m or N].
    offset : float
        [N m or N]; 0 unless it was asked for.
    """

    before: JointResidual
    after: JointResidual
    samples: int
    viscous: tuple[float, float, float]
    coulomb: tuple[float, float, float]
    offset: float


@dataclass(frozen=True, eq=False)
class Report:
    """How an identification went.

    Attributes
    ----------
    joints : tuple of JointChange
    bodies : tuple of BodyChange
    findings : tuple of Finding
        An 'error' means that the result is not to be used.
    log : str
        What was read.
    fitted, held_out : int
        Filtered samples.
    cutoff_frequency : float
        [Hz]
    identifiable : int
        Directions in the space of inertial parameters that some motion could determine.
    determined : int
        Those that this log determined better than they were believed before.
    condition_number : float
        Largest over smallest singular value of the weighted regressor in the identifiable
        directions, parameters in units of their spread.
    """

    joints: tuple[JointChange, ...]
    bodies: tuple[BodyChange, ...]
    findings: tuple[Finding, ...]
    log: str
    fitted: int
    held_out: int
    cutoff_frequency: float
    identifiable: int
    determined: int
    condition_number: float

    @property
    def has_errors(self) -> bool:
        """True when the result is not to be used."""
        return any(finding.severity == 'error' for finding in self.findings)

    def as_json(self) -> dict[str, Any]:
        """Return the report as what JSON can hold."""
        return {
            'log': self.log,
            'fitted_samples': self.fitted,
            'held_out_samples': self.held_out,
            'cutoff_frequency': self.cutoff_frequency,
            'identifiable_directions': self.identifiable,
            'determined_directions': self.determined,
            'condition_number': (
                self.condition_number if math.isfinite(self.condition_number) else None
            ),
            'joints': [
                {
                    'joint': joint.before.name,
                    'unit': joint.before.unit,
                    'rms_measured': joint.before.rms_measured,
                    'rms_difference_before': joint.before.rms_difference,
                    'rms_difference_after': joint.after.rms_difference,
                    'fitted_samples': joint.samples,
                    'offset': joint.offset,
                    **{
                        key: dict(zip(('before', 'after', 'deviation'), values, strict=True))
                        for key, values in (
                            ('viscous_friction', joint.viscous),
                            ('coulomb_friction', joint.coulomb),
                        )
                    },
                }
                for joint in self.joints
            ],
            'bodies': [
                {
                    'link': body.name,
                    'determined': body.determined,
                    **{
                        key: {
                            'mass': inertia.mass,
                            'center_of_mass': inertia.center_of_mass.tolist(),
                            'inertia_about_com': inertia.inertia_about_com.tolist(),
                        }
                        for key, inertia in (('before', body.before), ('after', body.after))
                    },
                }
                for body in self.bodies
            ],
            'findings': [
                {
                    'severity': finding.severity,
                    'code': finding.code,
                    'element': finding.element,
                    'message': finding.message,
                }
                for finding in self.findings
            ],
        }


@dataclass(frozen=True, eq=False)
class Identified:
    """An identified model.

    Attributes
    ----------
    robot : Robot
        The given one with other inertias and friction.
    report : Report
    """

    robot: Robot
    report: Report


def identify(
    model: Robot | Dynamics,
    log: Log,
    *,
    cutoff_frequency: float | None = None,
    holdout: float = DEFAULT_HOLDOUT,
    spread: float = DEFAULT_SPREAD,
    offsets: bool = False,
) -> Identified:
    """Fit inertias and friction of a model to a log.

    Parameters
    ----------
    model : Robot or Dynamics
        What is believed so far. A Robot stands upright: gravity (0, 0, -9.80665) in base axes.
    log : Log
        With the joints of the model, in its order.
    cutoff_frequency : float, optional
        [Hz], see :func:`~ne_dynamics.identification.signals.filtered`.
    holdout : float
        Part of the log, at its end, that is not fitted but predicted; 0 to 0.9.
    spread : float
        How far the given inertias may be off, as a part of themselves; > 0. Small: stay near.
    offsets : bool
        Whether each joint's measured effort may be off by a constant, which is not part of the
        robot.

    Returns
    -------
    Identified
        With the given model, unchanged, when no joint moves.

    Raises
    ------
    InputError
        When the log has other joints or cannot be filtered, or an option is out of range.
    """
    if not 0.0 <= holdout <= 0.9:
        raise InputError(f'holdout: expected a part from 0 to 0.9, got {holdout}')
    if not (math.isfinite(spread) and spread > 0.0):
        raise InputError(f'spread: expected a finite number > 0, got {spread}')
    dynamics = as_dynamics(model)
    robot = dynamics.robot
    require_joints(robot, log)
    signals = filtered(log, robot.limits('effort_limit'), cutoff_frequency)
    total = signals.times.size
    fitted = total - round(holdout * total)
    if total - fitted < SMALLEST_HOLDOUT:
        fitted = total  # too little to judge by: judged by what was fitted
    problem = _Problem(dynamics, signals, fitted, spread, offsets)
    solution = problem.solve()
    identified, bodies = problem.applied(solution)
    judged = slice(fitted, None) if fitted < total else slice(None)
    measured = signals.effort[judged]
    before = model_effort(dynamics, signals)
    after = model_effort(
        Dynamics(identified, dynamics.gravity, 'python', dynamics.tolerance), signals
    )
    results = [
        residuals(robot, measured, effort[judged])
        for effort in (before, after + problem.offsets_of(solution))
    ]
    identifiable, determined, condition = problem.excitation(solution)
    findings = (
        *_log_findings(robot, signals, fitted, before),
        *problem.findings,
        *_result_findings(results, identifiable, determined, fitted < total),
    )
    deviations = problem.friction_deviations(solution)
    joints = tuple(
        JointChange(
            before=results[0][index],
            after=results[1][index],
            samples=int(problem.used[:, index].sum()),
            viscous=(old.viscous_friction, new.viscous_friction, float(deviations[0, index])),
            coulomb=(old.coulomb_friction, new.coulomb_friction, float(deviations[1, index])),
            offset=float(problem.offsets_of(solution)[index]),
        )
        for index, (old, new) in enumerate(zip(robot.joints, identified.joints, strict=True))
    )
    report = Report(
        joints=joints,
        bodies=bodies,
        findings=findings,
        log=log.summary(),
        fitted=fitted,
        held_out=total - fitted,
        cutoff_frequency=signals.cutoff_frequency,
        identifiable=identifiable,
        determined=determined,
        condition_number=condition,
    )
    return Identified(identified, report)


@dataclass(frozen=True, eq=False)
class _Solution:
    """Parameters as steps from the given model, in units of their spread, and their spread."""

    step: FloatArray
    covariance: FloatArray
    information: FloatArray


class _Problem:
    """The sums over the log, and the fit.

    Columns: ten parameters of each body that is fitted, then n viscous, n Coulomb, and n offsets
    when they are wanted; all as steps from the given model in units of their spread.
    """

    def __init__(
        self,
        dynamics: Dynamics,
        signals: Signals,
        fitted: int,
        spread: float,
        offsets: bool,
    ) -> None:
        robot = dynamics.robot
        self._dynamics, self._signals, self._robot = dynamics, signals, robot
        self._spread, self._with_offsets = spread, offsets
        self.findings: list[Finding] = []
        measured = signals.effort.any(axis=0)
        self.used: NDArray[np.bool_] = signals.usable[:fitted] & measured
        self._bodies, self._references = self._fitted_bodies()
        self._inertial = PER_BODY * len(self._bodies)
        self._scale = self._scales(fitted)
        self._lower = np.full(self._scale.shape[0], -np.inf)
        friction = np.concatenate(
            [robot.joint_values('viscous_friction'), robot.joint_values('coulomb_friction')]
        )
        chosen = self._friction
        self._lower[chosen] = -friction / np.diag(self._scale)[chosen]
        self._normal, self._right, self._squares = self._sums(fitted)

    @property
    def _friction(self) -> slice:
        return slice(self._inertial, self._inertial + 2 * self._robot.n)

    def _fitted_bodies(self) -> tuple[list[int], list[FloatArray]]:
        """Return the bodies that have a mass, and what they are believed to be."""
        chosen, references = [], []
        for index, body in enumerate(self._robot.bodies):
            if not body.inertia.mass > 0.0:
                self.findings.append(
                    Finding(
                        'warning',
                        'body-without-mass',
                        f'link {body.name!r}',
                        f'expected a mass > 0 to start from, got {body.inertia.mass:g} kg: '
                        'left as it is',
                    )
                )
                continue
            near = nearest_body(body.inertia)
            if near is not body.inertia:
                self.findings.append(
                    Finding(
                        'warning',
                        'given-inertia-impossible',
                        f'link {body.name!r}',
                        'the given inertia is not that of a body with volume: the nearest one '
                        'that is was taken to start from',
                    )
                )
            chosen.append(index)
            references.append(pseudo_inertia(near.parameters))
        return chosen, references

    def _scales(self, fitted: int) -> FloatArray:
        """Return the matrix that turns steps in units of their spread into parameters."""
        n = self._robot.n
        blocks = []
        for reference in self._references:
            # D is half the squared step near the given model.
            _, hessian = divergence_slopes(reference, reference)
            blocks.append(np.linalg.inv(np.linalg.cholesky(hessian)).T)
        size = self._inertial + (3 if self._with_offsets else 2) * n
        scale = np.zeros((size, size))
        for index, block in enumerate(blocks):
            place = slice(PER_BODY * index, PER_BODY * (index + 1))
            scale[place, place] = self._spread * block
        effort = FRICTION_SPREAD * np.maximum(rms(self._signals.effort[:fitted]), 1e-6)
        speed = np.maximum(rms(self._signals.velocity[:fitted]), 1e-3)
        rest = [effort / speed, effort, effort][: 3 if self._with_offsets else 2]
        np.fill_diagonal(scale[self._inertial :, self._inertial :], np.concatenate(rest))
        return scale

    def _rows(self, part: slice) -> FloatArray:
        """Return the regressor of a part of the log, shape (samples, n, columns)."""
        signals, n = self._signals, self._robot.n
        motion = (signals.position[part], signals.velocity[part], signals.acceleration[part])
        samples = motion[0].shape[0]
        full = self._dynamics.regressor(*motion).reshape(samples, n, -1, PER_BODY)
        rows = np.zeros((samples, n, self._scale.shape[0]))
        rows[:, :, : self._inertial] = full[:, :, self._bodies].reshape(samples, n, -1)
        joints = np.arange(n)
        rows[:, joints, self._inertial + joints] = motion[1]
        rows[:, joints, self._inertial + n + joints] = signals.direction[part]
        if self._with_offsets:
            rows[:, joints, self._inertial + 2 * n + joints] = 1.0
        result: FloatArray = rows @ self._scale
        return result

    def _sums(self, fitted: int) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return for each joint the normal matrix, right side and square of what is left."""
        n, size = self._robot.n, self._scale.shape[0]
        normal, right, squares = np.zeros((n, size, size)), np.zeros((n, size)), np.zeros(n)
        rest = self._signals.effort - model_effort(self._dynamics, self._signals)
        correction = self._reference_correction()
        for start in range(0, fitted, CHUNK):
            part = slice(start, min(start + CHUNK, fitted))
            rows = self._rows(part)
            # The fit starts from bodies that can exist, which the given ones may not be.
            errors = rest[part] - rows @ correction
            for joint in range(n):
                use = self.used[part, joint]
                matrix, error = rows[use, joint], errors[use, joint]
                normal[joint] += matrix.T @ matrix
                right[joint] += matrix.T @ error
                squares[joint] += float(error @ error)
        return normal, right, squares

    def _reference_correction(self) -> FloatArray:
        """Return the step from the given bodies to those that the fit starts from."""
        step = np.zeros(self._scale.shape[0])
        for index, (body, reference) in enumerate(
            zip(self._bodies, self._references, strict=True)
        ):
            place = slice(PER_BODY * index, PER_BODY * (index + 1))
            given = self._robot.bodies[body].inertia.parameters
            start = nearest_body(self._robot.bodies[body].inertia).parameters
            if np.array_equal(reference, pseudo_inertia(given)):
                continue
            step[place] = np.linalg.solve(self._scale[place, place], start - given)
        return step

    # ---- the fit

    def solve(self) -> _Solution:
        """Fit, find the noise of each joint from what is left, and fit again."""
        size = self._scale.shape[0]
        effort = np.maximum(rms(self._signals.effort), 1e-9)
        counts = self.used.sum(axis=0)
        sigma = FIRST_SIGMA * effort
        step = np.maximum(np.zeros(size), self._lower)
        normal = np.zeros((size, size))
        for _ in range(PASSES):
            weights = np.where(counts > 0, 1.0 / sigma**2, 0.0)
            normal = np.tensordot(weights, self._normal, axes=1)
            step = self._minimum(normal, weights @ self._right, step)
            left = (
                self._squares
                - 2.0 * self._right @ step
                + np.einsum('jkl,k,l->j', self._normal, step, step)
            )
            free = np.maximum(counts - size / self._robot.n, 1.0)
            sigma = np.maximum(np.sqrt(np.maximum(left, 0.0) / free), SMALLEST_SIGMA * effort)
        _, hessian = self._prior_slopes(step)
        covariance = np.asarray(np.linalg.inv(normal + hessian), dtype=np.float64)
        return _Solution(step, covariance, normal)

    def _parts(self, step: FloatArray) -> Iterator[tuple[slice, FloatArray, FloatArray]]:
        """Yield for each body where its columns are, its pseudo-inertia and the given one."""
        for index, reference in enumerate(self._references):
            place = slice(PER_BODY * index, PER_BODY * (index + 1))
            change = pseudo_inertia(self._scale[place, place] @ step[place])
            yield place, reference + change, reference

    def _prior(self, step: FloatArray) -> float:
        """Return the regularisation; infinite where a body cannot exist."""
        rest = step[self._inertial :]
        distances = [divergence(pseudo, given) for _, pseudo, given in self._parts(step)]
        return 0.5 * float(rest @ rest) + sum(distances) / self._spread**2

    def _prior_slopes(self, step: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return gradient and Hessian of the regularisation."""
        gradient, hessian = step.copy(), np.eye(step.size)
        for place, pseudo, given in self._parts(step):
            scale = self._scale[place, place] / self._spread
            slope, curvature = divergence_slopes(pseudo, given)
            gradient[place] = scale.T @ slope / self._spread
            hessian[place, place] = scale.T @ curvature @ scale
        return gradient, hessian

    def _minimum(self, normal: FloatArray, right: FloatArray, start: FloatArray) -> FloatArray:
        """Return the minimum by Newton's method, bounds by projection."""

        def cost(step: FloatArray) -> float:
            return self._prior(step) + 0.5 * float(step @ normal @ step) - float(right @ step)

        step, present = start, cost(start)
        for _ in range(ITERATIONS):
            gradient, hessian = self._prior_slopes(step)
            gradient = gradient + normal @ step - right
            hessian = hessian + normal
            free = (step > self._lower) | (gradient < 0.0)
            change = np.zeros_like(step)
            change[free] = -np.linalg.solve(hessian[np.ix_(free, free)], gradient[free])
            decrease = -float(gradient @ change)
            if decrease <= 1e-12 * max(1.0, abs(present)):
                break
            length = 1.0
            while True:
                trial = np.maximum(step + length * change, self._lower)
                value = cost(trial)
                if value <= present + min(1e-4 * float(gradient @ (trial - step)), 0.0):
                    step, present = trial, value
                    break
                length *= 0.5
                if length < 1e-10:
                    return step
        return step

    # ---- what came out

    def applied(self, solution: _Solution) -> tuple[Robot, tuple[BodyChange, ...]]:
        """Return the identified robot, and what became of its bodies."""
        robot, step = self._robot, solution.step
        prior = self._scale @ self._scale.T
        posterior = self._scale @ solution.covariance @ self._scale.T
        inertias: dict[int, Inertia] = {}
        determined = dict.fromkeys(range(len(robot.bodies)), 0.0)
        for body, (place, pseudo, _) in zip(self._bodies, self._parts(step), strict=True):
            ratio = np.diag(posterior)[place] / np.diag(prior)[place]
            determined[body] = float(np.clip(1.0 - np.sqrt(ratio), 0.0, 1.0).mean())
            if np.abs(step[place]).max() >= UNMOVED:
                inertias[body] = inertia_of(pseudo)
        identified = with_body_inertias(robot, inertias)
        n = robot.n
        moved = np.abs(step[self._friction]) >= UNMOVED
        amounts = np.concatenate(
            [robot.joint_values('viscous_friction'), robot.joint_values('coulomb_friction')]
        )
        amounts = amounts + moved * (self._scale @ step)[self._friction]
        amounts = np.maximum(amounts, 0.0)
        identified = replace(
            identified,
            joints=tuple(
                replace(
                    joint,
                    viscous_friction=float(amounts[index]),
                    coulomb_friction=float(amounts[n + index]),
                )
                for index, joint in enumerate(robot.joints)
            ),
        )
        changes = tuple(
            BodyChange(old.name, old.inertia, new.inertia, determined[index])
            for index, (old, new) in enumerate(zip(robot.bodies, identified.bodies, strict=True))
        )
        return identified, changes

    def offsets_of(self, solution: _Solution) -> FloatArray:
        """Return the constant part of the measured efforts, shape (n,) [N m or N]."""
        if not self._with_offsets:
            return np.zeros(self._robot.n)
        parameters: FloatArray = self._scale @ solution.step
        return parameters[-self._robot.n :]

    def friction_deviations(self, solution: _Solution) -> FloatArray:
        """Return the standard deviations of viscous and Coulomb friction, shape (2, n)."""
        posterior = self._scale @ solution.covariance @ self._scale.T
        deviations: FloatArray = np.sqrt(np.diag(posterior)[self._friction])
        return deviations.reshape(2, -1)

    def excitation(self, solution: _Solution) -> tuple[int, int, float]:
        """Return how many directions exist, how many were found, and the condition number."""
        rng = np.random.default_rng(0)
        motion = rng.uniform(-1.0, 1.0, (3, 40 * len(self._robot.bodies), self._robot.n))
        motion[0] *= np.pi
        full = self._dynamics.regressor(*motion)
        samples, n = full.shape[:2]
        chosen = full.reshape(samples, n, -1, PER_BODY)[:, :, self._bodies]
        inner = slice(0, self._inertial)
        rows = chosen.reshape(samples * n, -1) @ self._scale[inner, inner]
        _, sizes, directions = np.linalg.svd(rows, full_matrices=False)
        base = directions[: int((sizes > 1e-8 * sizes[0]).sum())] if sizes.size else directions
        # What friction and offsets could explain as well does not count.
        normal, outer = solution.information, slice(self._inertial, None)
        mixed = normal[inner, outer]
        friction = normal[outer, outer] + np.eye(mixed.shape[1])
        known = normal[inner, inner] - mixed @ np.linalg.solve(friction, mixed.T)
        values = np.linalg.eigvalsh(base @ known @ base.T)
        if values.size == 0 or not values[-1] > 0.0:
            return base.shape[0], 0, math.inf
        smallest = max(float(values[0]), 1e-15 * float(values[-1]))
        return base.shape[0], int((values > 1.0).sum()), math.sqrt(values[-1] / smallest)


def _log_findings(robot: Robot, signals: Signals, fitted: int, given: FloatArray) -> list[Finding]:
    """Return what is doubtful about a log."""
    findings = []

    def add(severity: str, code: str, name: str, message: str) -> None:
        findings.append(Finding(severity, code, f'joint {name!r}', message))

    for joint, measured in zip(robot.joints, signals.effort.T, strict=True):
        if not measured.any():
            add(
                'error',
                'effort-zero',
                joint.name,
                'the effort is 0 throughout: expected what the motor applied',
            )
    if not signals.usable[:fitted].any():
        findings.append(
            Finding(
                'warning',
                'no-excitation',
                'log',
                'no joint moves with an effort below its limit: nothing can be identified, the '
                'model is left as it is',
            )
        )
        return findings
    scale = rms(signals.acceleration)
    for index, joint in enumerate(robot.joints):
        measured, computed = signals.effort[:, index], given[:, index]
        if not measured.any():
            continue
        if signals.saturated[index] > 0.0:
            add(
                'warning',
                'effort-saturated',
                joint.name,
                f'the effort is at its limit in {signals.saturated[index]:.1%} of the samples, '
                'which are left out',
            )
        if not signals.moves[index]:
            add(
                'warning',
                'joint-still',
                joint.name,
                'it does not move: its effort is not used (what sticks may carry any), and its '
                'friction stays as given',
            )
            continue
        if signals.acceleration_noise[index] > NOISY * scale[index]:
            add(
                'warning',
                'acceleration-noisy',
                joint.name,
                f'position noise alone makes {signals.acceleration_noise[index]:.3g} of '
                f'{scale[index]:.3g} of its acceleration: move faster, or lower the cut-off',
            )
        use = signals.usable[:, index]
        size = np.linalg.norm(measured[use]) * np.linalg.norm(computed[use])
        if size > 0.0 and float(measured[use] @ computed[use]) < OPPOSED * size:
            add(
                'error',
                'wrong-sign',
                joint.name,
                "the measured effort runs against the model's: expected the effort along the "
                "joint's positive direction",
            )
        if signals.measured_velocity is not None:
            _check_velocity(signals, index, joint.name, add)
    return findings


def _check_velocity(signals: Signals, index: int, name: str, add: Any) -> None:
    derived = signals.velocity[:, index]
    assert signals.measured_velocity is not None
    error = float(rms(signals.measured_velocity[:, index] - derived) / rms(derived))
    if error > VELOCITY_ERROR:
        add(
            'warning',
            'velocity-disagrees',
            name,
            f'the velocity of the log is {error:.0%} off the derivative of its position, which '
            'is used: units, sign, or a slow filter in the driver?',
        )


def _result_findings(
    results: Sequence[tuple[JointResidual, ...]],
    identifiable: int,
    determined: int,
    held_out: bool,
) -> list[Finding]:
    findings = []
    if 0 < determined < POOR_EXCITATION * identifiable:
        findings.append(
            Finding(
                'warning',
                'excitation-poor',
                'log',
                f'it tells {determined} of {identifiable} directions of the inertial parameters: '
                'the others stay as given; move all joints, farther and faster',
            )
        )
    for before, after in zip(*results, strict=True):
        if after.rms_difference > WORSE * before.rms_difference:
            part = 'that was not fitted' if held_out else 'that was fitted'
            findings.append(
                Finding(
                    'warning',
                    'not-better',
                    f'joint {before.name!r}',
                    f'on the part of the log {part} the identified model is off by '
                    f'{after.rms_difference:.3g} {after.unit}, the given one by '
                    f'{before.rms_difference:.3g} {before.unit}',
                )
            )
    return findings
