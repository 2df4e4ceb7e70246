"""What a hand feels beside the inertia of an arm in mode gravity_compensation."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tuned_arm import ROBOT

from ne_dynamics import Dynamics
from ne_dynamics.control.hand_guiding import HandGuiding, HandGuidingSettings
from ne_dynamics.dynamics.compensation import Compensation, Terms
from ne_dynamics.errors import ParameterError
from ne_dynamics.motion.waypoints import resting_state
from ne_dynamics.ros.settings.configuration import make_tuning
from ne_dynamics.ros.settings.controlled_arm import controlled_arm
from ne_dynamics.ros.settings.parameters import PARAMETERS

JOINTS = tuple(replace(joint, coulomb_friction=0.1 * joint.effort_limit) for joint in ROBOT.joints)
RUBBING = replace(ROBOT, joints=JOINTS)
DYNAMICS = Dynamics(RUBBING, backend='python')
PLAIN = Compensation(DYNAMICS, Terms(), None, 0.001)
LIMITS = np.array([2.0, 2.0, 2.0, 1.0, 1.0, np.inf])
RNG_SEED = 11


def states(count=50, speed=3.0):
    """Return positions and velocities at random."""
    rng = np.random.default_rng(RNG_SEED)
    positions, velocities = rng.uniform(-1.0, 1.0, (2, count, 6))
    return zip(2.0 * positions, speed * velocities, strict=True)


def test_damping_takes_the_kinetic_energy_at_its_rate() -> None:
    """The power of what is added to gravity is -2 d T, whatever the joints weigh."""
    guiding = HandGuiding(HandGuidingSettings(damping=3.0))
    for q, qd in states():
        added = guiding.effort(PLAIN, q, qd) - DYNAMICS.gravity_torque(q)
        assert added @ qd == pytest.approx(-6.0 * DYNAMICS.kinetic_energy(q, qd))


def test_beyond_the_speed_limit_the_arm_is_braked_and_within_it_not() -> None:
    """Energy is taken by braking (1 - 1/rho), of which every joint has its part."""
    guiding = HandGuiding(HandGuidingSettings(braking=20.0), LIMITS)
    for q, qd in states():
        rho = (np.abs(qd) / LIMITS).max()
        assert guiding.excess(qd) == pytest.approx(rho)
        rate = 20.0 * max(0.0, 1.0 - 1.0 / rho)
        added = guiding.effort(PLAIN, q, qd) - DYNAMICS.gravity_torque(q)
        expected = -rate * DYNAMICS.mass_matrix(q) @ qd
        np.testing.assert_allclose(added, expected, atol=1e-9)


def test_less_than_the_friction_of_the_model_is_taken_off() -> None:
    """What is added drives each joint with no more than its share of friction, 0 at rest and
    beyond the speed limit.
    """
    guiding = HandGuiding(HandGuidingSettings(friction=0.6, braking=1e-9), LIMITS)
    coulomb = RUBBING.joint_values('coulomb_friction')
    viscous = RUBBING.joint_values('viscous_friction')
    for q, qd in states(speed=1.5):
        added = guiding.effort(PLAIN, q, qd) - DYNAMICS.gravity_torque(q)
        friction = coulomb + viscous * np.abs(qd)
        assert (added * np.sign(qd) >= -1e-6).all()
        assert (np.abs(added) <= 0.6 * friction + 1e-6).all()
        still = guiding.effort(PLAIN, q, 0.0 * qd)
        np.testing.assert_allclose(still, DYNAMICS.gravity_torque(q), atol=1e-9)
        fast = guiding.effort(PLAIN, q, np.full(6, 1.01)) - DYNAMICS.gravity_torque(q)
        np.testing.assert_allclose(fast, 0.0, atol=1e-6)


def test_speed_limits_are_in_the_order_of_the_command() -> None:
    """One for each joint, as `joints` has them; another number of them is refused."""
    names = ROBOT.joint_names[::-1]
    chosen = {'backend': 'python', 'mode': 'gravity_compensation', 'joints': names}
    chosen['hand_guiding.speed_limit'] = tuple(LIMITS[::-1])
    settings = PARAMETERS.changed(chosen)
    arm = controlled_arm(settings, ROBOT)
    law = make_tuning(settings, arm)[0].law
    expected = HandGuiding(settings.hand_guiding, LIMITS)
    compensation = Compensation(arm.dynamics, Terms(), None, 0.001)
    for q, qd in states(5):
        np.testing.assert_allclose(
            law.effort(q, qd, resting_state(q)), expected.effort(compensation, q, qd), atol=1e-9
        )
    wrong = PARAMETERS.changed({**chosen, 'hand_guiding.speed_limit': (1.0, 2.0)})
    with pytest.raises(ParameterError, match=r'hand_guiding.speed_limit: expected 1 or 6 values'):
        make_tuning(wrong, arm)
