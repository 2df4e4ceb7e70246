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
from ne_dynamics.codegen.symbols import OperationCount
from ne_dynamics.papers.counting.counting_scalars import Counting, Tally
from ne_dynamics.papers.forms import FORMULATIONS


@pytest.mark.parametrize('name', FORMULATIONS)
def test_arrays_give_what_floats_give(name):
    """One call on arrays, an entry a sample, gives the torques of a call a sample."""
    rng = np.random.default_rng(11)
    n = 4
    arm = arm_for(name, rng, n)
    function = FORMULATIONS[name].inverse_dynamics
    motions = [random_motion(rng, n) for _ in range(3)]
    columns = [
        list(np.array([getattr(motion, key) for motion in motions]).T)
        for key in ('q', 'qd', 'qdd', 'wrench')
    ]
    batch = function(arm, *columns[:3], gravity=GRAVITY, wrench=columns[3])
    for index, motion in enumerate(motions):
        single = function(
            arm, motion.q, motion.qd, motion.qdd, gravity=GRAVITY, wrench=motion.wrench
        )
        assert relative_error([effort[index] for effort in batch], single) <= 1e-12


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


def test_a_counting_scalar_counts_every_operation():
    """Sums and differences are additions, products and quotients multiplications, a change of
    sign is nothing.
    """
    tally = Tally()
    x, y = tally.numbers([2.0, 3.0])
    assert float((x + y) * (x - 1.0) / y - -x) == pytest.approx(2.0 * 5.0 / 6.0 + 2.0)
    assert tally.total == OperationCount(multiplications=2, additions=3)
    assert float(1.0 - x / 4.0) == 0.5
    assert float(1.0 / x) == 0.5
    assert float(x.sin()) == np.sin(2.0)
    assert float(x.cos()) == np.cos(2.0)
    assert float((-x).sign()) == -1.0
    assert tally.total == OperationCount(multiplications=4, additions=4, functions=3)


def test_trivial_operations_are_skipped_on_request_only():
    """Products with 0 and 1 and sums with 0 count when counting is naive, and not otherwise."""
    for skip_trivial, expected in ((False, OperationCount(4, 3)), (True, OperationCount(0, 0))):
        tally = Tally(skip_trivial)
        x = tally.number(2.0)
        values = [x * 0.0, 0.0 * x, x * 1.0, -1.0 * x, x + 0.0, 0.0 + x, x - 0.0]
        assert [float(value) for value in values] == [0.0, 0.0, 2.0, -2.0, 2.0, 2.0, 2.0]
        assert tally.total == expected


def test_a_tally_keeps_terms_apart():
    """Terms add up by name; each entry is a task that waits for those that made its operands."""
    tally = Tally()
    x = tally.number(2.0)
    tally.enter('first')
    squared = x * x
    tally.enter('second')
    _ = squared + x
    tally.enter('first')
    _ = x * x
    assert tally.terms == {'first': OperationCount(2, 0), 'second': OperationCount(0, 1)}
    assert isinstance(x, Counting)
    waits = [(task.name, task.before) for task in tally.build_graph().tasks]
    assert waits == [('first', ()), ('second', (0,)), ('first', ())]
