"""From what was recorded to a model, by the commands.

The commands are what the fit explains, not the efforts that the arm reports: they are efforts in
the units of the model whatever the driver reports, and what a controller has to send is what is
asked for.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from ne_dynamics.commission.fits.friction import refine_friction
from ne_dynamics.commission.fits.lost_motion import tell_lost_motion
from ne_dynamics.commission.fits.uneven_friction import find_uneven_friction
from ne_dynamics.commission.record import Record
from ne_dynamics.dynamics import Dynamics
from ne_dynamics.errors import IdentificationError
from ne_dynamics.identification import Report, evaluate, identify
from ne_dynamics.logs import Finding, Log
from ne_dynamics.model.rigid_body import FloatArray
from ne_dynamics.model.robot import Robot


class FittedModel(NamedTuple):
    """What a fit has found.

    The report is on inertias, and on the friction that they were fitted with; friction, on lost
    motion, and what differs with the position.
    """

    robot: Robot
    report: Report
    friction: tuple[Finding, ...]


CUTOFFS = (None, 8.0, 5.0, 3.0)
"""Cut-off frequencies of the fit, one after the other until it converges [Hz]; None: by the
spectra."""


def acting_log(record: Record, delay: float) -> Log:
    """Return positions with the commands that acted at their time.

    The delay is from the stamp of a state to when the command that answers it begins to act [s].
    """
    record = record.answered
    return record.commands.acting(record.times, record.position, delay)


def fit_records(
    given: Dynamics,
    records: Sequence[Record],
    delay: float,
    friction: Robot | None = None,
) -> FittedModel:
    """Fit a model to records, and then its friction by itself.

    Parameters
    ----------
    given : Dynamics
    records : sequence of Record
    delay : float
        As for :func:`acting_log` [s].
    friction : Robot, optional
        From whose friction the fit begins, by an earlier one: static friction and its width are
        kept while inertias are fitted.

    Raises
    ------
    IdentificationError
        When it cannot be fitted with any cut-off frequency; the message says why.
    """
    logs = [acting_log(record, delay) for record in records]
    if friction is not None:
        given = _with_friction_of(given, friction)
    fitted = _fit_once(given, logs)
    if _find_loose(fitted.robot) - _find_loose(given.robot):
        # Lost motion was taken for inertia and viscous friction: they are fitted again with it.
        fitted = _fit_once(_with_friction_of(given, fitted.robot), logs)
    return fitted


def _fit_once(given: Dynamics, logs: Sequence[Log]) -> FittedModel:
    failure = IdentificationError('not fitted')
    for cutoff in CUTOFFS:
        try:
            fitted = identify(given, logs, holdout=0.2, cutoff_frequency=cutoff)
            break
        except IdentificationError as error:
            failure = error
    else:
        raise failure
    if fitted.report.has_errors:
        worst = next(item for item in fitted.report.findings if item.severity == 'error')
        raise IdentificationError(f'the excitation cannot be used: {worst.element}: {worst.what}')
    dynamics = Dynamics(fitted.robot, given.gravity, 'python')
    robot = refine_friction(dynamics, logs)
    refined = Dynamics(robot, given.gravity, 'python')
    lost = tell_lost_motion(refined, np.median(logs[0].position, axis=0))
    return FittedModel(robot, fitted.report, (*lost, *find_uneven_friction(refined, logs)))


def _find_loose(robot: Robot) -> set[str]:
    """Return the names of joints with lost motion."""
    return {joint.name for joint in robot.joints if joint.friction.has_hysteresis}


def _with_friction_of(dynamics: Dynamics, other: Robot) -> Dynamics:
    joints = tuple(
        replace(
            joint,
            viscous_friction=rubbing.viscous_friction,
            coulomb_friction=rubbing.coulomb_friction,
            friction=rubbing.friction,
        )
        for joint, rubbing in zip(dynamics.robot.joints, other.joints, strict=True)
    )
    return Dynamics(replace(dynamics.robot, joints=joints), dynamics.gravity, 'python')


def judge_record(dynamics: Dynamics, record: Record, delay: float) -> FloatArray:
    """Return the RMS effort of each joint that a model leaves of a record, shape (n,).

    Only where the joint moves: what holds one that sticks is anything up to its friction. NaN for
    a joint that does not.
    """
    judged = evaluate(dynamics, acting_log(record, delay))
    squares = (judged.signals.effort - judged.model_effort) ** 2
    left = np.ma.array(squares, mask=~judged.signals.usable).mean(axis=0)
    return np.asarray(np.sqrt(left.filled(np.nan)))
