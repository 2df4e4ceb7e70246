"""Where the printed counts of 003 come from: tables 1 and 2."""

from __future__ import annotations

from ne_dynamics.papers.counting.explained_rows import ExplainedRow as Row
from ne_dynamics.papers.counting.explained_rows import rows_by_term, sum_of_rows, terms
from ne_dynamics.papers.counting.measured_costs import CountSetting
from ne_dynamics.papers.counting.polynomials import Polynomial, polynomial
from ne_dynamics.papers.counting.printed_tables import TOTAL
from ne_dynamics.papers.counting.sources import GAIN_TERMS, Source, count_times, done

N = polynomial(1, 0)
PLAIN = CountSetting('lagrange_euler_plain')
LUH = CountSetting('luh_walker_paul', relative_acceleration='scalar_products')
"""With ``w x (w x b) = w (w . b) - b (w . w)``, w . w formed once a link, as table 2 counts."""
LUH_LOADED = CountSetting(
    'luh_walker_paul', as_published=True, relative_acceleration='scalar_products'
)

SLOPES = count_times(lambda n: ((i, j) for i in range(1, n + 1) for j in range(i, n + 1)))
"""Derivatives of T_0^j by q_i, i <= j."""
TURNED_SLOPES = count_times(lambda n: ((i, j) for i in range(2, n + 1) for j in range(i, n + 1)))
"""Those that a product with T_0^{i-1} takes."""
D_TRACES = count_times(
    lambda n: (
        (i, j, k) for i in range(1, n + 1) for j in range(1, i + 1) for k in range(i, n + 1)
    )
)
"""Traces of D: j <= i <= k, n (n + 1) (n + 2) / 6."""
H_TRACES = count_times(
    lambda n: (
        (i, j, k, m)
        for i in range(1, n + 1)
        for k in range(1, n + 1)
        for j in range(1, k + 1)
        for m in range(k, n + 1)
    )
)
"""Traces of H as printed: j <= k <= m for every i, m < i among them."""
H_SUMS = count_times(
    lambda n: (
        (i, j, k, m)
        for i in range(1, n + 1)
        for k in range(1, n + 1)
        for j in range(1, k + 1)
        for m in range(k + 1, n + 1)
    )
)


def _trace(times: Polynomial) -> tuple[Source, ...]:
    """Return a trace as 003 counts one: four products of 4x4 matrices and the trace."""
    return done(times.scaled(4), '4x4 product'), done(times, '4x4 trace')


TABLE_1 = (
    *rows_by_term('003 table 1', PLAIN, 'T'),
    Row(
        '003 table 1',
        'gravity, each',
        (
            done(TURNED_SLOPES, '4x4 product'),
            # An inner product of four, and m g rbar.
            done(SLOPES.scaled(8), 'product'),
            done(SLOPES.scaled(3), 'sum'),
        ),
        'a derivative formed anew, times m g rbar, whose 4 products are constants here',
        terms(PLAIN, 'gravity, each'),
    ),
    *rows_by_term('003 table 1', PLAIN, 'gravity, sum'),
    Row(
        '003 table 1',
        'D, each trace',
        _trace(D_TRACES),
        'two derivatives, J, the product of both sides; a derivative by q_1 takes no product here',
        terms(PLAIN, 'D, each trace'),
    ),
    *rows_by_term('003 table 1', PLAIN, 'D, sum'),
    Row(
        '003 table 1',
        'H, each trace',
        _trace(H_TRACES),
        'two products for the second derivative, J, the product of both sides; n^4/6 traces, '
        'symmetric in j and k, not restricted to m >= i; ours n^4/8, of m >= i only',
        terms(PLAIN, 'H, each trace'),
    ),
    Row(
        '003 table 1',
        'H, sum',
        (done(H_SUMS, 'sum'),),
        'as the traces; those of m < i vanish',
        terms(PLAIN, 'H, sum'),
    ),
    Row('003 table 1', 'qdd + Kv ed + Kp e', (GAIN_TERMS,)),
    *rows_by_term('003 table 1', PLAIN, 'tau'),
    Row('003 table 1', TOTAL, sum_of_rows('003 table 1'), 'see H', (*terms(PLAIN), GAIN_TERMS)),
)

N_I = terms(LUH, 'm (r_i + rbar_i) x abar_i', 'r_i x R f', 'R n', 'add n')

TABLE_2 = (
    *rows_by_term('003 table 2', LUH, 'omega_i'),
    Row(
        '003 table 2',
        'alpha_i',
        (done(N, 'rotation'), done(N.scaled(3), 'sum')),
        'the 2 products of w x z qd are left out',
        terms(LUH, 'alpha_i'),
    ),
    *rows_by_term('003 table 2', LUH, 'a_i', 'abar_i', 'F_i'),
    *rows_by_term('003 table 2', LUH_LOADED, 'f_i'),
    Row('003 table 2', 'N_i', terms(LUH, 'I_i alpha_i', 'omega_i x (I_i omega_i)', 'N_i')),
    Row(
        '003 table 2',
        'n_i',
        (*N_I, done(N, 'sum of vectors')),
        'with r_i + rbar_i, a constant here, summed each time',
        N_I,
    ),
    Row('003 table 2', 'qdd + Kv ed + Kp e', (GAIN_TERMS,)),
    Row(
        '003 table 2',
        TOTAL,
        sum_of_rows('003 table 2'),
        'the rows leave out the entries of R_i (4n; 0) and tau_i (3n; 2n); ours without tip force',
        (*terms(LUH), GAIN_TERMS),
    ),
)

ROWS = (*TABLE_1, *TABLE_2)
