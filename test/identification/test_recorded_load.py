"""A load that a real arm carried, where its logs are at hand."""

from __future__ import annotations

import numpy as np
import pytest
from recorded_robots import TORQUE_PER_CURRENT, load_ur10e, read_ur10e

from ne_dynamics.identification.load.drive_gains import fit_drive_gains
from ne_dynamics.identification.load.payload_fit import fit_payload

LOADED, SAME, OTHER = (
    'ur-20_02_19_14harm50secLoad.csv',
    'ur-20_02_19_14harm50sec.csv',
    'ur-20_02_12-50sec_12harm.csv',
)
MASS = 2.805


@pytest.fixture(scope='module')
def robot(tmp_path_factory):
    """Return a UR10e."""
    return load_ur10e(tmp_path_factory.mktemp('ur10e'))


@pytest.mark.kept(1)
@pytest.mark.parametrize('name', [SAME, OTHER])
def test_the_load_of_a_ur10e(robot, name):
    """By published torques per current the mass is within a tenth, whatever motion was without."""
    fit = fit_payload(robot, read_ur10e(robot, LOADED), without=read_ur10e(robot, name))
    assert fit.inertia.mass == pytest.approx(MASS, rel=0.1)
    assert all(fit.determined[:4])
    assert (fit.rms_after[1:] < 0.3 * fit.rms_before[1:]).all()


def test_an_empty_flange_of_a_ur10e(robot):
    """Two logs without a load, of two motions and days, tell that there is none."""
    fit = fit_payload(robot, read_ur10e(robot, SAME), without=read_ur10e(robot, OTHER))
    assert fit.inertia.mass < 0.05


@pytest.mark.long
def test_gains_of_a_ur10e_are_the_same_by_two_motions(robot):
    """Gains by one motion without the load and by another agree within their deviations."""
    one = np.ones(6)
    loaded = read_ur10e(robot, LOADED, one)
    first, second = (
        fit_drive_gains(robot, loaded, MASS, without=read_ur10e(robot, name, one))
        for name in (SAME, OTHER)
    )
    assert (np.abs(first.gain - second.gain) <= first.deviation + second.deviation).all()
    assert first.determined == (True,) * 6
    assert (first.gain[:3] < TORQUE_PER_CURRENT[:3]).all()
