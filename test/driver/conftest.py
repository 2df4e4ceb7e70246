"""Arms, and what simulated arms near them did: made once for all tests of the driver."""

from __future__ import annotations

import pytest
from driver_arms import load_shipped, simulate

from ne_dynamics.dynamics import Dynamics


@pytest.fixture(scope='session')
def forearm():
    """Return the first three joints of the shipped arm."""
    return load_shipped('forearm')


@pytest.fixture(scope='session')
def dynamics(forearm):
    """Return their dynamics."""
    return Dynamics(forearm, backend='python')


@pytest.fixture(scope='session')
def planted(forearm):
    """Return what an arm near them did under commands: MuJoCo moved it."""
    pytest.importorskip('mujoco', reason='mujoco is missing')
    return simulate(forearm, 1)
