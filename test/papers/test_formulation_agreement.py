"""Every published formulation against the production recursion."""

import os

import numpy as np
import pytest
from formulation_cases import (
    GENERAL,
    GRAVITY,
    TOLERANCE,
    arm_for,
    random_motion,
    relative_error,
)

import ne_dynamics as ned
from ne_dynamics.papers.forms import FORMULATIONS

ARMS = 125 if os.environ.get('NE_DYNAMICS_ORACLES') == 'all' else 25
"""Of each number of joints from 1 to 8: 200 in all, or 1000."""


def production(arm):
    """Return the production recursion for the very same arm."""
    return ned.Dynamics(arm.robot(), gravity=GRAVITY, backend='python')


def check_arms(names, n):
    """Compare formulations on :data:`ARMS` random arms of n joints, tip wrench included."""
    rng = np.random.default_rng([4, n, len(names[0])])
    for index in range(ARMS):
        arm = arm_for(names[0], rng, n)
        motion = random_motion(rng, n)
        arguments = motion.q, motion.qd, motion.qdd
        expected = production(arm).inverse_dynamics(*arguments, wrench=motion.wrench)
        for name in names:
            function = FORMULATIONS[name].inverse_dynamics
            computed = function(arm, *arguments, gravity=GRAVITY, wrench=motion.wrench)
            error = relative_error(computed, expected)
            assert error <= TOLERANCE, f'{name}: {error:.2g} on arm {index} of {n} joints'


@pytest.mark.kept(3)
@pytest.mark.parametrize('n', range(1, 9))
def test_general_formulations_equal_the_production_recursion(n):
    """On random standard arms with sliding joints, full inertia tensors, friction and tip
    wrench, every general formulation gives the production recursion's torques.
    """
    check_arms(GENERAL, n)


@pytest.mark.kept(3)
@pytest.mark.parametrize('n', range(1, 9))
def test_craig_equals_the_production_recursion(n):
    """On random arms in modified frames, of the same generality, Craig's form does."""
    check_arms(['craig'], n)


@pytest.mark.kept(3)
@pytest.mark.parametrize('n', range(1, 9))
def test_sasaki_equals_the_production_recursion(n):
    """On 1000 random revolute arms with axial moments and centres half-way, Sasaki's form does."""
    check_arms(['sasaki_symbolic'], n)


@pytest.mark.kept(2)
@pytest.mark.parametrize('name', FORMULATIONS)
def test_a_moving_base_equals_production(name):
    """A base that turns and accelerates changes the torques of every form as in the production
    recursion, which test/oracles compares with Pinocchio's free flyer.
    """
    rng = np.random.default_rng(42)
    for index in range(24):
        n = 1 + index % 8
        arm = arm_for(name, rng, n)
        motion = random_motion(rng, n)
        arguments = motion.q, motion.qd, motion.qdd
        more = {'wrench': motion.wrench, 'base_motion': motion.base_motion}
        computed = FORMULATIONS[name].inverse_dynamics(arm, *arguments, gravity=GRAVITY, **more)
        expected = production(arm).inverse_dynamics(*arguments, **more)
        assert relative_error(computed, expected) <= TOLERANCE
        at_rest = FORMULATIONS[name].inverse_dynamics(
            arm, *arguments, gravity=GRAVITY, wrench=motion.wrench, base_motion=[0.0] * 9
        )
        fixed = FORMULATIONS[name].inverse_dynamics(
            arm, *arguments, gravity=GRAVITY, wrench=motion.wrench
        )
        assert relative_error(at_rest, fixed) <= 1e-12


def test_positions_and_velocities_do_not_change_the_torques():
    """Algorithm 7.4.1 as printed, with c_i and cd_i, gives the very same torques."""
    rng = np.random.default_rng(43)
    arm = arm_for('angeles', rng, 6)
    motion = random_motion(rng, 6)
    function = FORMULATIONS['angeles'].inverse_dynamics
    arguments = motion.q, motion.qd, motion.qdd
    short = function(arm, *arguments, gravity=GRAVITY)
    assert function(arm, *arguments, gravity=GRAVITY, with_positions=True) == short
