"""From what was recorded to a model, by the commands.

The commands are what the fit explains, not the efforts that the arm reports: they are efforts in
the units of the model whatever the driver reports, and what a controller has to send is what is
asked for. A command acts from `delay` after its state on until the next one does, so at a state it
is that of `delay` and half a period before that acts in the mean.
"""

from __future__ import annotations

import numpy as np

from ne_dynamics.commission.record import Record
from ne_dynamics.dynamics import Dynamics
from ne_dynamics.errors import IdentificationError
from ne_dynamics.identification.evaluation import evaluate
from ne_dynamics.identification.identify import identify
from ne_dynamics.identification.log import Log
from ne_dynamics.identification.report import Identified
from ne_dynamics.model.rigid_body import FloatArray

HOLDOUT = 0.2

CUTOFFS = (None, 8.0, 5.0, 3.0)
"""Cut-off frequencies of the fit, one after the other until it converges [Hz]; None: by the
spectra."""


def acting_log(record: Record, delay: float) -> Log:
    """Return positions with the commands that acted at their time.

    Parameters
    ----------
    record : Record
    delay : float
        See :class:`~ne_dynamics.commission.delay.FoundDelay` [s].
    """
    record = record.answered
    period = float(np.median(np.diff(record.times)))
    late = delay + 0.5 * period
    effort = np.column_stack(
        [np.interp(record.times - late, record.times, column) for column in record.command.T]
    )
    kept = record.times >= record.times[0] + late
    return Log.from_samples(
        record.joint_names, record.times[kept], record.position[kept], effort[kept]
    )


def fit_record(given: Dynamics, record: Record, delay: float) -> Identified:
    """Fit a model to a record.

    Raises
    ------
    IdentificationError
        When it cannot be fitted with any cut-off frequency; the message says why.
    """
    log, failure = acting_log(record, delay), IdentificationError('not fitted')
    for cutoff in CUTOFFS:
        try:
            fitted = identify(given, log, holdout=HOLDOUT, cutoff_frequency=cutoff)
            break
        except IdentificationError as error:
            failure = error
    else:
        raise failure
    if fitted.report.has_errors:
        worst = next(item for item in fitted.report.findings if item.severity == 'error')
        raise IdentificationError(
            f'the excitation cannot be used: {worst.element}: {worst.message}'
        )
    return fitted


def judge_record(dynamics: Dynamics, record: Record, delay: float) -> FloatArray:
    """Return the RMS effort of each joint that a model leaves of a record, shape (n,).

    Only where the joint moves: what holds one that sticks is anything up to its friction. NaN for
    a joint that does not.
    """
    judged = evaluate(dynamics, acting_log(record, delay))
    rest = judged.signals.effort - judged.model_effort
    moving = judged.signals.usable
    left = np.full(rest.shape[1], np.nan)
    for joint, (values, chosen) in enumerate(zip(rest.T, moving.T, strict=True)):
        if chosen.any():
            left[joint] = np.sqrt(np.mean(values[chosen] ** 2))
    return left
