"""After a fault that latches the arm is carried and damped: rows that the failure table calls so.

Speeds are by the velocity limits of the joints; see `fault_speeds.py` in test/support.
"""

from __future__ import annotations

import pytest

pytest.importorskip('mujoco', reason='MuJoCo is not installed')

from fault_speeds import FRICTIONS, FROZEN, MASSES, SCENARIOS, FaultArm

from ne_dynamics.control.guards.state_guard import FaultKind
from ne_dynamics.control.tuning import OnFault

SHAKING = ('velocities in degrees', 'shaking by a hidden delay')
BELIEVED = [
    name for name, scenario in SCENARIOS.items() if scenario.row != FROZEN and name not in SHAKING
]
UNSEEN = [name for name, scenario in SCENARIOS.items() if scenario.row == FROZEN]
ALLOWED = 0.2
"""Rise of a speed after a fault."""

FALLING = 2.0
"""Rise within 0.5 s of a joint that nobody sees, without friction, its weight 10 % off."""


@pytest.fixture(scope='module')
def arm() -> FaultArm:
    """Return the shipped arm."""
    return FaultArm()


@pytest.mark.kept(2)
@pytest.mark.parametrize('masses', MASSES)
@pytest.mark.parametrize('friction', FRICTIONS)
@pytest.mark.parametrize('name', BELIEVED)
def test_no_joint_gets_faster(arm, name, friction, masses) -> None:
    after = arm.run(SCENARIOS[name], friction, masses, OnFault.DAMP)
    if after is None:
        assert friction > 0.0
        return
    assert after.believed.all()
    assert (after.largest <= after.at_fault + ALLOWED).all()


@pytest.mark.kept(1)
@pytest.mark.parametrize('masses', MASSES)
@pytest.mark.parametrize('friction', FRICTIONS)
@pytest.mark.parametrize('name', UNSEEN)
def test_a_frozen_encoder_lets_no_joint_get_faster(arm, name, friction, masses) -> None:
    """Nobody sees the joint: with a right model no joint gets faster for 0.5 s, and with 5 % of
    friction for 3 s, whatever the masses are. In between a joint falls, by what the model is off.
    """
    after = arm.run(SCENARIOS[name], friction, masses, OnFault.DAMP)
    if after is None:
        assert friction > 0.0
        return
    assert not after.believed.all() or after.kind is FaultKind.FOLLOWING
    if friction == FRICTIONS[-1]:
        assert (after.largest <= after.at_fault + ALLOWED).all()
    elif masses == 1.0:
        assert (after.largest_soon <= after.at_fault + ALLOWED).all()
    else:
        assert (after.largest_soon <= after.at_fault + FALLING).all()


@pytest.mark.kept(1)
@pytest.mark.parametrize('friction', FRICTIONS)
@pytest.mark.parametrize('name', SHAKING)
def test_an_arm_that_shakes_beyond_its_limits_calms_down(arm, name, friction) -> None:
    """Velocities in degrees, or a delay that no state shows, shake the arm beyond its limits
    before anybody can know: it gets slower, and never as fast as one that is left.
    """
    after = arm.run(SCENARIOS[name], friction, 1.0, OnFault.DAMP)
    if after is None:
        assert friction == FRICTIONS[-1]
        return
    left = arm.run(SCENARIOS[name], friction, 1.0, OnFault.LEAVE)
    assert after.at_end.max() < 0.5 * after.at_fault.max()
    assert after.largest.max() < left.largest.max()
