"""The formulations on arrays, symbols and counting scalars, and what they cost."""

import numpy as np
import pytest
from formulation_cases import (
    GRAVITY,
    TOLERANCE,
    arm_for,
    random_motion,
    relative_error,
)

from ne_dynamics.codegen.program import trace
from ne_dynamics.codegen.python_kernel import PythonKernel
from ne_dynamics.papers.counting.counting_scalars import Tally
from ne_dynamics.papers.forms import FORMULATIONS


@pytest.mark.parametrize('name', FORMULATIONS)
def test_traced_formulations_give_what_floats_give(name):
    """Run on symbols, a formulation becomes source that gives its torques."""
    rng = np.random.default_rng(12)
    n = 3
    arm = arm_for(name, rng, n)
    function = FORMULATIONS[name].inverse_dynamics
    program = trace(
        name,
        (('q', n), ('qd', n), ('qdd', n), ('wrench', 6)),
        (n,),
        lambda q, qd, qdd, wrench: function(arm, q, qd, qdd, gravity=GRAVITY, wrench=wrench),
    )
    motion = random_motion(rng, n)
    arguments = [np.array(getattr(motion, key)) for key in ('q', 'qd', 'qdd', 'wrench')]
    expected = function(
        arm, motion.q, motion.qd, motion.qdd, gravity=GRAVITY, wrench=motion.wrench
    )
    assert relative_error(PythonKernel(program).single(*arguments), expected) <= TOLERANCE


@pytest.mark.parametrize('skip_trivial', [False, True], ids=['naive', 'skipping'])
@pytest.mark.parametrize('name', FORMULATIONS)
def test_counting_does_not_change_the_torques(name, skip_trivial):
    """Counting scalars carry the very values that floats have."""
    rng = np.random.default_rng(13)
    arm = arm_for(name, rng, 5)
    motion = random_motion(rng, 5)
    tally = Tally(skip_trivial)
    arguments = [tally.numbers(getattr(motion, key)) for key in ('q', 'qd', 'qdd')]
    function = FORMULATIONS[name].inverse_dynamics
    counted = function(arm, *arguments, gravity=GRAVITY, wrench=tally.numbers(motion.wrench))
    plain = function(arm, motion.q, motion.qd, motion.qdd, gravity=GRAVITY, wrench=motion.wrench)
    assert relative_error([float(effort) for effort in counted], plain) <= 1e-13
    assert tally.total.functions == 2 * sum(not link.is_prismatic for link in arm.links)
