"""What hung on the flange while a log was recorded, by the estimator of the node."""

from __future__ import annotations

import numpy as np

from ne_dynamics.control import (
    Carrier,
    MotionWindows,
    PayloadEstimate,
    PayloadSource,
    estimate_payload,
)
from ne_dynamics.dynamics import Dynamics
from ne_dynamics.errors import InputError
from ne_dynamics.identification.evaluation import as_dynamics, require_joints
from ne_dynamics.logs import Log
from ne_dynamics.model.robot import Robot


def is_slow(model: Robot | Dynamics, log: Log) -> bool:
    """Return whether most of a log is slow enough for :func:`identify_payload`."""
    require_joints(as_dynamics(model).robot, log)
    windows = _gather(log).windows()
    slow = [window.is_slow for window in windows]
    # Of nothing there is no fit either: the estimator says what is missing.
    return not slow or float(np.mean(slow)) >= 0.5


def identify_payload(model: Robot | Dynamics, log: Log, link_name: str = '') -> PayloadEstimate:
    """Estimate mass and centre of mass of a payload from a log of held poses or slow motion.

    Parameters
    ----------
    model : Robot or Dynamics
        Model without the payload, with a tip. For a Robot, gravity is (0, 0, -9.80665) in base
        axes.
    log : Log
        With the joints of the model, in its order: held poses, or a slow motion.
    link_name : str
        Link in whose frame the payload is described: the tip (default) or a link fixed to it.

    Raises
    ------
    InputError
        When the log has other joints, or its sampling rate is too low.
    ModelError
        When there is no such link.
    PayloadError
        When the payload cannot be identified from the log; the message says what is missing.
    """
    dynamics = as_dynamics(model)
    require_joints(dynamics.robot, log)
    carrier = Carrier.of_robot(dynamics, link_name)
    return estimate_payload(carrier, _gather(log).windows(), PayloadSource.EFFORT)


def _gather(log: Log) -> MotionWindows:
    """Return the windows of a log."""
    try:
        return MotionWindows.of_log(log.times, log.position, log.effort)
    except InputError as error:
        raise InputError(f'log {log.source}: {error}') from error
