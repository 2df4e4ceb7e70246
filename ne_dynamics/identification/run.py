"""Fit inertias, friction and rotor inertias of a model to a log.

Efforts are linear in mass, first moment and inertia of each body, in the terms of friction that
:mod:`~ne_dynamics.identification.regression.friction_terms` lists, and in rotor inertia.
Minimised is

    sum over joints and samples huber |effort - regressor @ parameters|^2 / (2 sigma^2 c)
      + sum over bodies D(P, P_given) / (doubt scale)^2 + the numbers' own, weak, quadratic term

with numbers >= 0 where nature has it so. D is the divergence of
:mod:`~ne_dynamics.identification.regression.pseudo_inertia`: what the log does not tell stays as
it was in the given model, and every body stays one that can exist. sigma and c are each joint's
own: the standard deviation of what is left, and how many samples tell as much as one, by its
autocorrelation.

The log is read twice (:mod:`~ne_dynamics.identification.fit`): for a first fit, whose residuals
say which samples are outliers, and for the fit itself. How far the given inertias are believed
(the prior scale, option `spread`) and which terms of friction are fitted is what predicts blocks
of the log best from the others. A body that the first fit moves far is believed less than others
by a factor, its doubt (:mod:`~ne_dynamics.identification.regression.doubts`).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from concurrent.futures import Executor
from dataclasses import replace

from ne_dynamics.dynamics import Dynamics
from ne_dynamics.errors import InputError
from ne_dynamics.identification.base_estimate import correct_correlation_time
from ne_dynamics.identification.evaluation import JointResidual, as_dynamics
from ne_dynamics.identification.findings import (
    find_log_faults,
    find_result_faults,
)
from ne_dynamics.identification.fit import Fit, Fitter
from ne_dynamics.identification.fit_evidence import gather_evidence
from ne_dynamics.identification.logs_evaluation import compare_models
from ne_dynamics.identification.pieces.log_rows import LogRows
from ne_dynamics.identification.pieces.log_set import FilteredLogs, Logs
from ne_dynamics.identification.plausibility import Bounds, find_implausible_values
from ne_dynamics.identification.quality import Quality
from ne_dynamics.identification.regression.design import Design, find_bodies
from ne_dynamics.identification.regression.friction_terms import ALWAYS, SMOOTH, STRIBECK, Term
from ne_dynamics.identification.regression.selection import DROPPED
from ne_dynamics.identification.report.report import (
    BodyChange,
    DriveChange,
    Identified,
    JointChange,
    Report,
)
from ne_dynamics.identification.settings import SETTINGS, IdentificationSettings
from ne_dynamics.logs.work import Work
from ne_dynamics.model.rigid_body import FloatArray
from ne_dynamics.model.robot import Joint, Robot


def identify(
    model: Robot | Dynamics,
    log: Logs,
    *,
    cutoff_frequency: float | None = None,
    holdout: float = SETTINGS.holdout,
    spread: float | None = None,
    offsets: bool = False,
    blocks: int = SETTINGS.blocks,
    executor: Executor | None = None,
    settings: IdentificationSettings = SETTINGS,
) -> Identified:
    """Fit inertias, friction and rotor inertias of a model to one or more logs.

    Parameters
    ----------
    model : Robot or Dynamics
        Prior model. For a Robot, gravity is (0, 0, -9.80665) in base axes.
    log : Log, or sequence of them
        With the joints of the model, in its order. Samples of several logs are concatenated in
        the order given.
    cutoff_frequency : float, optional
        [Hz], see :func:`~ne_dynamics.logs.signals.filtered`.
    holdout : float
        Part of the samples, at the end, that is held out for validation; 0 to 0.9. The result is
        then fitted to all samples.
    spread : float, optional
        Prior scale: expected relative error of the given inertias; > 0. A small value keeps them
        near the given ones. Default: chosen by cross-validation.
    offsets : bool
        The constant part of the efforts is a measurement error: reported, not part of the model.
        Otherwise it is a part of the robot's friction.
    blocks : int
        Blocks of the cross-validation; 2 to 50.
    executor : Executor, optional
        Computes the parts of long logs, from :mod:`concurrent.futures` or
        ``Client.get_executor()`` of Dask; default: this process.
    settings : IdentificationSettings
        Thresholds of the fit.

    Returns
    -------
    Identified
        With the given model, unchanged, when no joint moves.

    Raises
    ------
    InputError
        When the log has other joints or cannot be filtered, or an option is out of range.
    IdentificationError
        When the fit does not converge.
    """
    _check_options(holdout, spread, blocks)
    dynamics = as_dynamics(model)
    logs = FilteredLogs.read(dynamics.robot, log, Work(executor), cutoff_frequency)
    return identify_filtered(
        dynamics,
        logs,
        holdout=holdout,
        spread=spread,
        offsets=offsets,
        blocks=blocks,
        settings=settings,
    )


def identify_filtered(
    dynamics: Dynamics,
    logs: FilteredLogs,
    *,
    holdout: float = SETTINGS.holdout,
    spread: float | None = None,
    offsets: bool = False,
    blocks: int = SETTINGS.blocks,
    settings: IdentificationSettings = SETTINGS,
    bounds: Bounds | None = None,
) -> Identified:
    """Fit a model to logs that are already read and filtered.

    Parameters
    ----------
    dynamics : Dynamics
        Prior model.
    logs : FilteredLogs
        With its joints.
    holdout, spread, offsets, blocks, settings
        As for :func:`identify`.
    bounds : mapping, optional
        Bounds of the collision shapes, which should contain the centres of mass; see
        :func:`~ne_dynamics.identification.plausibility.find_implausible_values`.

    Returns
    -------
    Identified
        As from :func:`identify`.

    Raises
    ------
    InputError
        When an option is out of range.
    IdentificationError
        When the fit does not converge.
    """
    _check_options(holdout, spread, blocks)
    total = logs.total
    fitted = total - round(holdout * total)
    if total - fitted < settings.smallest_holdout:
        fitted = total  # too little to judge by: judged by what was fitted
    dynamics, fit = _fit(dynamics, logs, fitted, blocks, settings, spread)
    identified = fit.design.apply(fit.solution, offsets=not offsets)
    tested = _with_robot(
        dynamics, fit.validated_design.apply(fit.validated_solution, offsets=True)
    )
    report = _make_report(dynamics, logs, fit, identified, tested, bounds)
    return Identified(identified, report, gather_evidence(fit, tested))


def _fit(
    dynamics: Dynamics,
    logs: FilteredLogs,
    fitted: int,
    blocks: int,
    settings: IdentificationSettings,
    spread: float | None,
) -> tuple[Dynamics, Fit]:
    """Return the fit, and the dynamics of the given robot with all drives that it asks for."""
    bodies, references, _ = find_bodies(dynamics.robot)

    def fit_to(model: Dynamics) -> Fit:
        rows = LogRows.compute(model, logs, fitted, blocks, bodies)
        return Fitter(model, rows, bodies, references, settings).run(spread)

    fit = fit_to(dynamics)
    while fit.drive is not None:
        # Everything else is chosen anew: it may have stood for the drive.
        robot = dynamics.robot
        drives = (*robot.coupled_drives, fit.drive)
        wider = _with_robot(dynamics, replace(robot, coupled_drives=drives))
        better = fit_to(wider)
        if not _is_better(better, fit):
            break
        dynamics, fit = wider, better
    return dynamics, fit


def _make_report(
    dynamics: Dynamics,
    logs: FilteredLogs,
    fit: Fit,
    identified: Robot,
    tested: Dynamics,
    bounds: Bounds | None,
) -> Report:
    """Return the report of a fit; `dynamics` of the given robot, `tested` what was judged."""
    robot, rows = dynamics.robot, fit.rows
    quality = Quality(dynamics, fit.design, fit.problem, fit.solution)
    judged = compare_models(logs, rows.fitted if rows.has_held_out else 0, dynamics, tested)
    results = [sums.describe(robot) for sums in judged]
    identifiable, found, condition = quality.excitation()
    determined = quality.determined()
    return Report(
        joints=tuple(
            _describe_joint(fit, quality, index, old, new, results[0][index], results[1][index])
            for index, (old, new) in enumerate(zip(robot.joints, identified.joints, strict=True))
        ),
        bodies=tuple(
            BodyChange(old.name, old.inertia, new.inertia, *determined.get(index, (0.0, math.nan)))
            for index, (old, new) in enumerate(zip(robot.bodies, identified.bodies, strict=True))
        ),
        findings=(
            *find_log_faults(robot, rows.summary),
            *find_bodies(robot)[2],
            *find_result_faults(results, identifiable, found, rows.has_held_out),
            *find_implausible_values(robot, identified, bounds),
        ),
        logs=tuple((item.source, item.text) for item in logs.logs),
        fitted=rows.fitted,
        held_out=logs.total - rows.fitted,
        cutoff_frequency=logs.cutoff_frequency,
        identifiable=identifiable,
        determined=found,
        condition_number=condition,
        repeated=sum(item.statistics.repeated for item in logs.logs),
        outliers=fit.outliers,
        blocks=len(fit.folds.judged),
        spread=fit.prior_scale,
        optimality_gap=fit.solution.gap,
        base_parameters=quality.base_parameters(identified, *_read_rows(fit, logs)),
        drives=_describe_drives(quality, robot, identified),
    )


def _is_better(fit: Fit, before: Fit) -> bool:
    """Return whether both joints of the drive of the fit before are predicted better with it."""
    assert before.drive is not None
    names = fit.design.robot.joint_names
    joints = [names.index(name) for name in before.drive.joints]
    after, earlier = (
        each.predicted[:, joints].sum(axis=0) / each.folds.counts[:, joints].sum(axis=0)
        for each in (fit, before)
    )
    return bool((after < earlier).all())


def _check_options(holdout: float, spread: float | None, blocks: int) -> None:
    if not 0.0 <= holdout <= 0.9:
        raise InputError(f'holdout: expected a part from 0 to 0.9, got {holdout}')
    if spread is not None and not (math.isfinite(spread) and spread > 0.0):
        raise InputError(f'spread: expected a finite number > 0, got {spread}')
    if not 2 <= blocks <= 50:
        raise InputError(f'blocks: expected a number from 2 to 50, got {blocks}')


def _read_rows(fit: Fit, logs: FilteredLogs) -> tuple[Design, FloatArray, FloatArray]:
    """Return what a log alone is asked for, the rows of all blocks, and the weights it gives.

    Offsets and rotors are asked for too where the model is better without: what was left out
    because the log hardly tells it would be taken for known, and intervals would be too narrow.
    """
    everything = fit.reduction.selected(list(range(fit.reduction.blocks)))
    design = fit.design.with_terms(
        {joint: tuple({*own, *DROPPED}) for joint, own in enumerate(fit.design.terms) if own}
    )
    correlation_time = correct_correlation_time(
        fit.correlation,
        everything.counts[0],
        design.count_parameters(),
        logs.logs[0].grid.rate,
        logs.cutoff_frequency,
    )
    return (
        design,
        design.joint_factors(everything),
        fit.weights * fit.correlation / correlation_time,
    )


def _with_robot(dynamics: Dynamics, robot: Robot) -> Dynamics:
    return Dynamics(robot, dynamics.gravity, 'python', dynamics.tolerance)


def _describe_drives(quality: Quality, given: Robot, identified: Robot) -> tuple[DriveChange, ...]:
    """Return what became of the drives that turn with several joints."""
    pairs = zip(given.coupled_drives, identified.coupled_drives, strict=True)
    return tuple(
        DriveChange(
            old,
            new,
            {
                'viscous_friction': quality.deviation(place, Term.VISCOUS),
                'coulomb_friction': quality.deviation(place, Term.COULOMB),
                'rotor_inertia': quality.deviation(place, Term.ROTOR) / new.gear_ratio**2,
            },
        )
        for place, (old, new) in enumerate(pairs, start=given.n)
    )


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
    counts = fit.folds.counts[:, index].sum() if fit.folds.judged else 0.0
    crossed = math.sqrt(fit.predicted[:, index].sum() / counts) if counts > 0.0 else math.nan
    return JointChange(
        before=before,
        after=after,
        samples=int(fit.rows.used[index]),
        numbers=_describe_numbers(quality, index, old, new, values),
        offset=values.get(Term.OFFSET, 0.0),
        cross_validated=crossed,
        noise=float(fit.sigma[index]),
        correlation=float(fit.correlation[index]),
    )


def _describe_numbers(
    quality: Quality, index: int, old: Joint, new: Joint, values: Mapping[Term, float]
) -> dict[str, tuple[float, float, float]]:
    """Return what a joint's drive and friction were and are, and the standard deviations."""
    numbers = {}
    for key, term in (
        ('viscous_friction', Term.VISCOUS),
        ('coulomb_friction', next((term for term in SMOOTH if term in values), Term.COULOMB)),
        ('rotor_inertia', Term.ROTOR),
        ('friction_offset', Term.OFFSET),
        ('square_root_friction', Term.SQUARE_ROOT),
        ('cubic_friction', Term.CUBIC),
        ('load_coefficient', Term.LOAD),
        ('static_friction', next((term for term in STRIBECK if term in values), None)),
        ('stribeck_velocity', None),
        ('smoothing_velocity', None),
        ('hysteresis_friction', Term.HYSTERESIS),
        ('hysteresis_displacement', None),
    ):
        given, fitted = (
            getattr(joint if hasattr(joint, key) else joint.friction, key) or 0.0
            for joint in (old, new)
        )
        deviation = math.nan if term is None else quality.deviation(index, term)
        if term == Term.ROTOR:
            deviation /= new.gear_ratio**2 or 1.0
        elif term in (Term.VISCOUS, Term.COULOMB, *SMOOTH) and math.isnan(deviation):
            deviation = 0.0  # of a joint that is not fitted: nothing is said of it
        if given or fitted or term in ALWAYS or key == 'coulomb_friction':
            numbers[key] = given, fitted, deviation
    return numbers
