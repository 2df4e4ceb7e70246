"""What every comparison with an oracle shares: backends under test, tolerance, error measure."""

import functools
import os
from dataclasses import replace

import numpy as np

import ne_dynamics as ned

BACKENDS = ['python', 'compiled']
"""Backends that every oracle test runs on; add a name here and all of them do."""

COMPILED = frozenset(BACKENDS) - {'python'}
"""Backends that run the generated source that 'python' runs, but compile it first: minutes."""

EVERYTHING = os.environ.get('NE_DYNAMICS_ORACLES') == 'all'
"""Run the compiled backends on every case too."""

TOLERANCE = 1e-9
"""Largest relative error against an oracle; see :func:`relative_error`."""

GRAVITY = (0.3, -0.2, -9.80665)
"""Gravity of most comparisons [m/s^2]: tilted, so that no component is hidden."""


def backend_cases(cases, for_compiled):
    """Return pairs of backend and case, to parametrise a test with ``indirect=['backend']``.

    Parameters
    ----------
    cases : iterable
        Cases of the backend that does not compile.
    for_compiled : callable
        Takes a case and tells whether the compiled backends run it as well. With the
        environment variable ``NE_DYNAMICS_ORACLES=all`` they run every case.

    Returns
    -------
    list of (str, case)
    """
    return [
        (backend, case)
        for backend in BACKENDS
        for case in cases
        if backend not in COMPILED or EVERYTHING or for_compiled(case)
    ]


def relative_error(computed, expected, scale=None):
    """Return the largest deviation, relative to the largest torque of the sample.

    This is the one measure behind every claim of agreement in this folder.

    Parameters
    ----------
    computed : array-like
        Our result.
    expected : array-like
        The oracle's result, of the same shape.
    scale : float, optional
        Magnitude that the deviation is measured against. Default: the largest magnitude in
        `expected`. Torques that can vanish (gravity, Coriolis) pass the largest torque of the
        whole sample.

    Returns
    -------
    float
        Infinite when a value is not finite.
    """
    computed = np.asarray(computed, dtype=float)
    expected = np.asarray(expected, dtype=float)
    assert computed.shape == expected.shape, f'shape {computed.shape}, oracle {expected.shape}'
    if expected.size == 0:
        return 0.0
    deviation = float(np.abs(computed - expected).max())
    scale = float(np.abs(expected).max()) if scale is None else float(scale)
    if not (np.isfinite(deviation) and np.isfinite(scale)):
        return np.inf
    if deviation == 0.0:
        return 0.0
    return deviation / scale if scale > 0.0 else np.inf


@functools.cache
def urdf_dynamics(
    urdf, backend, gravity=GRAVITY, base_link=None, tip_link=None, locked=(), wrench_link=None
):
    """Return our :class:`ne_dynamics.Dynamics` of a URDF, built once a test session.

    Parameters
    ----------
    urdf : str or Path
        Text or file.
    backend : str
    gravity : tuple of float
        [m/s^2], in base axes.
    base_link, tip_link : str, optional
        Chain; the whole tree without them.
    locked : tuple of (str, float)
        Joints locked and where [rad or m].
    wrench_link : str, optional
        Makes this link the tip of a whole tree.
    """
    robot = ned.load_urdf(
        urdf, base_link=base_link, tip_link=tip_link, locked_joints=dict(locked) or None
    )
    if wrench_link is not None:
        robot = replace(robot, tip_link=wrench_link)
    return ned.Dynamics(robot, gravity=gravity, backend=backend)
