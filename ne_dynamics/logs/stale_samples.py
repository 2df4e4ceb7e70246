"""Samples that repeat the one before: a driver that published the same reading twice."""

from __future__ import annotations

import numpy as np

from ne_dynamics.logs.log import Log, keep_samples
from ne_dynamics.logs.thresholds import FAULTS

REPEATED = 'repeated'


def without_repeated(log: Log) -> Log:
    """Return a log without samples whose positions are those of the sample before.

    Only where the robot moves by several steps of an encoder between samples: what stands, or
    creeps, may well be read the same twice. The same object when nothing is repeated.
    """
    steps = np.abs(np.diff(log.position, axis=0))
    repeated = np.zeros(log.times.size, dtype=bool)
    repeated[1:] = ~steps.any(axis=1)
    if not repeated.any():
        return log
    count = log.times.size
    # How fast a joint moves is told by three samples to either side.
    before = np.maximum(np.arange(count) - 3, 0)
    after = np.minimum(np.arange(count) + 3, count - 1)
    covered = np.abs(log.position[after] - log.position[before]) / (after - before)[:, np.newaxis]
    moving = np.zeros(count, dtype=bool)
    for joint, column in enumerate(steps.T):
        resolution = column[column > 0.0]
        if resolution.size:
            moving |= covered[:, joint] > FAULTS.encoder_steps * float(resolution.min())
    dropped = repeated & moving
    if not dropped.any() or count - int(dropped.sum()) < 2:
        return log
    return keep_samples(log, ~dropped, REPEATED)
