"""A log of sines, whatever arm it is of."""

import numpy as np

from ne_dynamics.logs.log import Log

RATE = 100.0


def make_log(robot, *, amplitude=1.0, frequency=0.2):
    """Return a log of sines with noise on the efforts."""
    rng = np.random.default_rng(0)
    times = np.arange(2000) / RATE
    phase = 2.0 * np.pi * frequency * times[:, np.newaxis] + np.arange(robot.n)
    position = amplitude * np.sin(phase)
    effort = 10.0 * np.cos(phase) + 0.1 * rng.standard_normal(position.shape)
    return Log.from_samples(robot.joint_names, times, position, effort)
