"""The formulations on arrays, symbols and counting scalars, and what they cost."""

from __future__ import annotations

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
from ne_dynamics.papers.counting.costs import Count
from ne_dynamics.papers.counting.counting_arm import make_counting_arm
from ne_dynamics.papers.counting.counting_scalars import Counting, Tally, count_operations
from ne_dynamics.papers.forms import FORMULATIONS, computed_torque_law


def tally_of(name, n, principal_axes=False, **options):
    """Return the tally of one call on an arm as the authors count one."""
    form = FORMULATIONS[name]
    arm = make_counting_arm(form.covers, n, principal_axes)
    return count_operations(form.inverse_dynamics, arm, **options)


def row(tally, *terms):
    """Return multiplications and additions of terms, summed."""
    count = sum((tally.terms[term] for term in terms), Count())
    return count.multiplications, count.additions


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
    assert tally.total == Count(multiplications=2, additions=3)
    assert float(1.0 - x / 4.0) == 0.5
    assert float(1.0 / x) == 0.5
    assert float(x.sin()) == np.sin(2.0)
    assert float(x.cos()) == np.cos(2.0)
    assert float((-x).sign()) == -1.0
    assert tally.total == Count(multiplications=4, additions=4, functions=3)


def test_trivial_operations_are_skipped_on_request_only():
    """Products with 0 and 1 and sums with 0 count when counting is naive, and not otherwise."""
    for skip_trivial, expected in ((False, Count(4, 3)), (True, Count(0, 0))):
        tally = Tally(skip_trivial)
        x = tally.number(2.0)
        values = [x * 0.0, 0.0 * x, x * 1.0, -1.0 * x, x + 0.0, 0.0 + x, x - 0.0]
        assert [float(value) for value in values] == [0.0, 0.0, 2.0, -2.0, 2.0, 2.0, 2.0]
        assert tally.total == expected


def test_a_tally_keeps_terms_apart():
    """Operations are entered under the term named last."""
    tally = Tally()
    x = tally.number(2.0)
    tally.enter('first')
    _ = x * x
    tally.enter('second')
    _ = x + x
    tally.enter('first')
    _ = x * x
    assert tally.terms == {'first': Count(2, 0), 'second': Count(0, 1)}
    assert isinstance(x, Counting)


@pytest.mark.parametrize('name', FORMULATIONS)
def test_the_order_of_growth_is_as_published(name):
    """Naive counts are polynomials in the number of joints: linear for the recursions, cubic for
    Lagrange by 001's appendix, quartic for its plain form, cubic for the orthogonal complement.
    """
    degree = {
        'lagrange_euler_plain': 4,
        'lagrange_euler': 3,
        'natural_orthogonal_complement': 3,
    }.get(name, 1)
    joints = np.arange(2, 2 + degree + 2)
    for key in ('multiplications', 'additions'):
        counts = [getattr(tally_of(name, int(n)).total, key) for n in joints]
        assert not np.diff(counts, degree + 1).any()
        assert np.diff(counts, degree).all()


@pytest.mark.parametrize('name', FORMULATIONS)
def test_skipping_costs_less_than_counting_all(name):
    """Leaving out products with stored zeros saves operations in every form."""
    all_of_it, some = tally_of(name, 6).total, tally_of(name, 6, skip_trivial=True).total
    assert some.multiplications < all_of_it.multiplications
    assert some.additions < all_of_it.additions


@pytest.mark.parametrize('n', [1, 2, 6, 9])
def test_tables_7_1_and_7_2_of_the_textbook_are_met(n):
    """Row by row, the measured counts of algorithms 7.4.1 and 7.4.2 are those printed."""
    tally = tally_of('angeles', n, wrench=True, with_positions=True)
    assert row(tally, 'c_i') == (8 * n, 10 * n)
    assert row(tally, 'w_i') == (8 * n, 5 * n)
    assert row(tally, 'cd_i') == (20 * n, 16 * n)
    assert row(tally, 'wd_i') == (10 * n, 7 * n)
    assert row(tally, 'cdd_i') == (32 * n, 28 * n)
    assert row(tally, '1') == (3, 3)
    assert row(tally, '2') == (30, 27)
    if n > 1:
        assert row(tally, '5') == (8 * (n - 1), 4 * (n - 1))
        assert row(tally, '6') == (3 * (n - 1), 3 * (n - 1))
        assert row(tally, '7') == (44 * (n - 1), 37 * (n - 1))


@pytest.mark.parametrize('n', [1, 2, 6])
def test_principal_axes_bring_the_modified_form_to_its_printed_row(n):
    """The trace with K_i takes 6 n and 3 n as 001 table 4 says when K_i is diagonal, as there."""
    term = 'Tr{A_i K_i sigma^t}'
    tally = tally_of('modified_newton_euler', n, principal_axes=True)
    assert row(tally, term) == (6 * n, 3 * n)
    assert row(tally_of('modified_newton_euler', n), term) == (18 * n, 15 * n)
    assert row(tally, 'A_i') == (6 * n, 9 * n)
    assert row(tally, 'm_i abar_i') == (12 * n, 9 * n)
    assert row(tally, 'm_i (r_i + rbar_i) x abar_i') == (6 * n, 3 * n)


@pytest.mark.parametrize('n', [1, 2, 6])
def test_products_of_transforms_cost_what_the_appendix_says(n):
    """The order n^3 strategy takes the appendix's numbers of matrix products, row by row."""
    tally = tally_of('lagrange_euler', n)
    # The appendix does not count the 6 n multiplications inside the T_{i-1}^i themselves.
    assert row(tally, 'T_i') == (6 * n, 0)
    assert row(tally, 'T') == (32 * n * (n - 1), 24 * n * (n - 1))
    if n > 1:
        assert row(tally, 'dT') == (32 * n * (n - 1), 24 * n * (n - 1))
        assert row(tally, 'd2T') == (32 * n * (n**2 - 1) // 3, 8 * n * (n**2 - 1))
    assert row(tally, 'trace') == (8 * n * (n + 1), 8 * n**2 + 7 * n)
    gravity = row(tally, 'gravity, each', 'gravity, sum') if n > 1 else row(tally, 'gravity, each')
    assert gravity == (2 * n * (n + 1), 2 * n**2 + n)


@pytest.mark.parametrize('n', [1, 2, 6])
def test_the_recursion_costs_what_003_says_row_by_row(n):
    """Rows of 003 table 2 that are counted as set forth are met; the others differ as stated."""
    tally = tally_of('luh_walker_paul', n)
    assert row(tally, 'omega_i') == (9 * n, 7 * n)
    # Printed 9 n: the two products of w x z qd are not counted there.
    assert row(tally, 'alpha_i') == (11 * n, 9 * n)
    # With cross products; test_printed_counts.py has the way that the printed figures count.
    assert row(tally, 'a_i') == (27 * n, 21 * n)
    assert row(tally, 'abar_i') == (18 * n, 15 * n)
    assert row(tally, 'F_i') == (3 * n, 0)
    assert row(tally, 'I_i alpha_i', 'omega_i x (I_i omega_i)', 'N_i') == (24 * n, 18 * n)
    from_beyond = ('r_i x R f', 'R n') if n > 1 else ()
    moment = row(tally, 'm (r_i + rbar_i) x abar_i', 'add n', *from_beyond)
    assert moment == (21 * n - 15, 21 * n - 15)
    if n > 1:
        assert row(tally, 'f_i') == (9 * (n - 1), 9 * (n - 1))


def test_counts_with_a_wrench_add_the_load_at_the_tip():
    """A tip wrench adds its own row and what the last link does with it."""
    for name in FORMULATIONS:
        free, loaded = tally_of(name, 4).total, tally_of(name, 4, wrench=True).total
        assert loaded.additions > free.additions
        assert loaded.multiplications >= free.multiplications


def test_the_control_laws_count_their_gains():
    """Full gain matrices cost 2 n^2 products and 2 n^2 + 2 n sums."""
    n = 6
    tally = Tally()
    state = [tally.numbers([0.1] * n) for _ in range(5)]
    gain = [[1.5] * n] * n
    computed_torque_law.substituted_acceleration(*state, kp=gain, kv=gain)
    assert row(tally, 'qdd + Kv ed + Kp e') == (2 * n**2, 2 * n**2 + 2 * n)
