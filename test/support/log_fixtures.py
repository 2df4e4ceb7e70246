"""Fixtures: a log that tests of several folders read."""

from pathlib import Path

import pytest

ARM = Path(__file__).resolve().parents[2] / 'config' / 'six_axis_arm.urdf'


@pytest.fixture(scope='session')
def given():
    """Return the arm as its description has it."""
    import ne_dynamics as ned

    return ned.load_urdf(ARM, tip_link='tcp')


@pytest.fixture(scope='session')
def truth(given):
    """Return the arm as it is: other masses, centres, inertias and friction."""
    recorded_motion = pytest.importorskip('recorded_motion', reason='mujoco is missing')
    return recorded_motion.altered(given, 3)


@pytest.fixture(scope='session')
def log(truth):
    """Return 20 s of the arm as it is, with noise on the efforts and a coarse encoder."""
    import recorded_motion

    return recorded_motion.recorded(truth, 20.0)
