"""Fit inertias, friction and rotor inertias of a model to a log.

Efforts are linear in mass, first moment and inertia of each body, in the terms of friction that
:mod:`~ne_dynamics.identification.friction_terms` lists, and in rotor inertia. Minimised is

    sum over joints and samples huber |effort - regressor @ parameters|^2 / (2 sigma^2 c)
      + 1/spread^2 sum over bodies D(P, P_given) + the numbers' own, weak, quadratic term

with numbers >= 0 where nature has it so. D is the divergence of
:mod:`~ne_dynamics.identification.pseudo_inertia`: what the log does not tell stays as it was in
the given model, and every body stays one that can exist. sigma and c are each joint's own: the
standard deviation of what is left, and how many samples tell as much as one, by its
autocorrelation.

The log is read twice (:mod:`~ne_dynamics.identification.fit`): for a first fit, whose residuals
say which samples are outliers, and for the fit itself. How far the given inertias are believed
(spread) and which terms of friction are fitted is what predicts blocks of the log best from the
others.
"""

from __future__ import annotations

import math

from ne_dynamics.dynamics import Dynamics
from ne_dynamics.errors import InputError
from ne_dynamics.identification.evaluation import (
    JointResidual,
    as_dynamics,
    model_effort,
    require_joints,
    residuals,
)
from ne_dynamics.identification.findings import (
    find_implausible_masses,
    find_log_faults,
    find_opposed,
    find_result_faults,
)
from ne_dynamics.identification.fit import Fit, Fitter
from ne_dynamics.identification.friction_terms import SMOOTH, STRIBECK, Term
from ne_dynamics.identification.log import Log
from ne_dynamics.identification.quality import Quality
from ne_dynamics.identification.report import (
    BodyChange,
    Identified,
    JointChange,
    Report,
)
from ne_dynamics.identification.signals import filtered
from ne_dynamics.model.robot import Joint, Robot

__all__ = ['BodyChange', 'Identified', 'JointChange', 'Report', 'identify']

DEFAULT_HOLDOUT = 0.25
DEFAULT_BLOCKS = 5
SMALLEST_HOLDOUT = 10
OUTLIER = 0.5
"""Weight below which an effort is called an outlier."""


def identify(
    model: Robot | Dynamics,
    log: Log,
    *,
    cutoff_frequency: float | None = None,
    holdout: float = DEFAULT_HOLDOUT,
    spread: float | None = None,
    offsets: bool = False,
    blocks: int = DEFAULT_BLOCKS,
) -> Identified:
    """Fit inertias, friction and rotor inertias of a model to a log.

    Parameters
    ----------
    model : Robot or Dynamics
        What is believed so far. A Robot stands upright: gravity (0, 0, -9.80665) in base axes.
    log : Log
        With the joints of the model, in its order.
    cutoff_frequency : float, optional
        [Hz], see :func:`~ne_dynamics.identification.signals.filtered`.
    holdout : float
        Part of the log, at its end, that is predicted by a fit to the rest; 0 to 0.9. The result
        is then fitted to all of it.
    spread : float, optional
        How far the given inertias may be off, as a part of themselves; > 0. Small: stay near.
        Default: what predicts blocks of the log best.
    offsets : bool
        Whether the constant part of each joint's measured effort is an error of the measurement,
        and so no part of the robot.
    blocks : int
        In which the fitted part of the log is predicted from itself; 2 to 50.

    Returns
    -------
    Identified
        With the given model, unchanged, when no joint moves.

    Raises
    ------
    InputError
        When the log has other joints or cannot be filtered, or an option is out of range.
    IdentificationError
        When the fit does not reach its minimum.
    """
    _check_options(holdout, spread, blocks)
    dynamics = as_dynamics(model)
    robot = dynamics.robot
    require_joints(robot, log)
    signals = filtered(log, robot.limits('effort_limit'), cutoff_frequency)
    total = signals.times.size
    fitted = total - round(holdout * total)
    if total - fitted < SMALLEST_HOLDOUT:
        fitted = total  # too little to judge by: judged by what was fitted
    given_effort = model_effort(dynamics, signals)
    # What runs against the model is an error of the log: nothing is to be learnt from it.
    believed = ~find_opposed(signals, given_effort)
    fit = Fitter(dynamics, signals, fitted, blocks, believed).run(spread)
    identified = fit.design.apply(fit.solution, offsets=not offsets)
    quality = Quality(dynamics, fit.design, fit.problem, fit.solution)
    judged = slice(fitted, None) if fitted < total else slice(None)
    tested = fit.design.apply(fit.judged_solution, offsets=True)
    tested_effort = model_effort(_with_robot(dynamics, tested), signals)
    results = [
        residuals(robot, signals.effort[judged], effort[judged])
        for effort in (given_effort, tested_effort)
    ]
    identifiable, found, condition = quality.excitation()
    determined = quality.determined()
    findings = (
        *find_log_faults(robot, signals, fitted, given_effort),
        *fit.findings,
        *find_result_faults(results, identifiable, found, fitted < total),
        *find_implausible_masses(robot, identified),
    )
    joints = tuple(
        _describe_joint(fit, quality, index, old, new, results[0][index], results[1][index])
        for index, (old, new) in enumerate(zip(robot.joints, identified.joints, strict=True))
    )
    bodies = tuple(
        BodyChange(old.name, old.inertia, new.inertia, *determined.get(index, (0.0, math.nan)))
        for index, (old, new) in enumerate(zip(robot.bodies, identified.bodies, strict=True))
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
        determined=found,
        condition_number=condition,
        repeated=signals.repeated,
        outliers=int(((fit.huber < OUTLIER) & fit.used).sum()),
        blocks=len(fit.folds.judged),
        spread=fit.spread,
        optimality_gap=fit.solution.gap,
        base_parameters=quality.base_parameters(identified),
    )
    return Identified(identified, report)


def _check_options(holdout: float, spread: float | None, blocks: int) -> None:
    if not 0.0 <= holdout <= 0.9:
        raise InputError(f'holdout: expected a part from 0 to 0.9, got {holdout}')
    if spread is not None and not (math.isfinite(spread) and spread > 0.0):
        raise InputError(f'spread: expected a finite number > 0, got {spread}')
    if not 2 <= blocks <= 50:
        raise InputError(f'blocks: expected a number from 2 to 50, got {blocks}')


def _with_robot(dynamics: Dynamics, robot: Robot) -> Dynamics:
    return Dynamics(robot, dynamics.gravity, 'python', dynamics.tolerance)


def _describe_joint(
    fit: Fit,
    quality: Quality,
    index: int,
    old: Joint,
    new: Joint,
    before: JointResidual,
    after: JointResidual,
) -> JointChange:
    """Return what became of one joint."""
    values = fit.design.term_values(fit.solution, index)
    coulomb = next((term for term in SMOOTH if term in values), Term.COULOMB)
    drive = {
        'rotor_inertia': (
            old.rotor_inertia,
            new.rotor_inertia,
            quality.deviation(index, Term.ROTOR) / (new.gear_ratio**2 or 1.0),
        ),
        'friction_offset': (
            old.friction.friction_offset,
            new.friction.friction_offset,
            quality.deviation(index, Term.OFFSET),
        ),
    }
    static = next((term for term in STRIBECK if term in values), None)
    for key, term in (
        ('square_root_friction', Term.SQUARE_ROOT),
        ('cubic_friction', Term.CUBIC),
        ('load_coefficient', Term.LOAD),
        ('static_friction', static),
        ('stribeck_velocity', None),
        ('smoothing_velocity', None),
    ):
        given, fitted = getattr(old.friction, key) or 0.0, getattr(new.friction, key) or 0.0
        if given or fitted:
            deviation = math.nan if term is None else quality.deviation(index, term)
            drive[key] = given, fitted, deviation
    counts = fit.folds.counts[:, index].sum() if fit.folds.judged else 0.0
    crossed = math.sqrt(fit.predicted[:, index].sum() / counts) if counts > 0.0 else math.nan
    return JointChange(
        before=before,
        after=after,
        samples=int(fit.used[:, index].sum()),
        viscous=(
            old.viscous_friction,
            new.viscous_friction,
            _finite_or_zero(quality.deviation(index, Term.VISCOUS)),
        ),
        coulomb=(
            old.coulomb_friction,
            new.coulomb_friction,
            _finite_or_zero(quality.deviation(index, coulomb)),
        ),
        offset=values.get(Term.OFFSET, 0.0),
        cross_validated=crossed,
        drive=drive,
        noise=float(fit.sigma[index]),
        correlation=float(fit.correlation[index]),
    )


def _finite_or_zero(value: float) -> float:
    return value if math.isfinite(value) else 0.0
