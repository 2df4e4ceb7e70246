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


@pytest.mark.kept(9)
@pytest.mark.parametrize('n', range(1, 9))
@pytest.mark.parametrize(
    'names', [GENERAL, ['craig'], ['sasaki_symbolic']], ids=['general', 'craig', 'sasaki']
)
def test_formulations_equal_the_production_recursion(names, n):
    """On random arms, of the most general kind that each form covers, tip wrench included.

    Of the general forms: sliding joints, full inertia tensors, friction.
    """
    rng = np.random.default_rng([4, n, len(names[0])])
    for index in range(ARMS):
        arm = arm_for(names[0], rng, n)
        motion = random_motion(rng, n)
        arguments = motion.q, motion.qd, motion.qdd
        production = ned.Dynamics(arm.robot(), gravity=GRAVITY, backend='python')
        expected = production.inverse_dynamics(*arguments, wrench=motion.wrench)
        for name in names:
            function = FORMULATIONS[name].inverse_dynamics
            computed = function(arm, *arguments, gravity=GRAVITY, wrench=motion.wrench)
            error = relative_error(computed, expected)
            assert error <= TOLERANCE, f'{name}: {error:.2g} on arm {index} of {n} joints'


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

        def compute(arm=arm, motion=motion, **more):
            arguments = motion.q, motion.qd, motion.qdd
            function = FORMULATIONS[name].inverse_dynamics
            return function(arm, *arguments, gravity=GRAVITY, wrench=motion.wrench, **more)

        production = ned.Dynamics(arm.robot(), gravity=GRAVITY, backend='python')
        arguments = motion.q, motion.qd, motion.qdd, motion.wrench, motion.base_motion
        moving = compute(base_motion=motion.base_motion)
        assert relative_error(moving, production.inverse_dynamics(*arguments)) <= TOLERANCE
        assert relative_error(compute(base_motion=[0.0] * 9), compute()) <= 1e-12
