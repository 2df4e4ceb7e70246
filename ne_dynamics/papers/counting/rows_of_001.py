"""Where the printed counts of 001 come from: tables 1 to 5."""

from __future__ import annotations

from ne_dynamics.papers.counting.explained_rows import ExplainedRow as Row
from ne_dynamics.papers.counting.explained_rows import rows_by_term, sum_of_rows, terms
from ne_dynamics.papers.counting.measured_costs import CountSetting
from ne_dynamics.papers.counting.polynomials import polynomial
from ne_dynamics.papers.counting.printed_tables import TOTAL
from ne_dynamics.papers.counting.sources import count_times, done, one_link, printed_rows

N = polynomial(1, 0)
INNER = polynomial(1, -1)
"""All links but the last."""

LAGRANGE = CountSetting('lagrange_euler')
LUH = CountSetting('luh_walker_paul', relative_acceleration='matrix')
"""With A_i built once a link, as table 3 counts."""
LUH_LOADED = CountSetting('luh_walker_paul', as_published=True, relative_acceleration='matrix')
MODIFIED = CountSetting('modified_newton_euler', principal_axes=True)
MODIFIED_LOADED = CountSetting('modified_newton_euler', principal_axes=True, as_published=True)

NO_PRODUCTS = 'the 2 products of w x z qd are left out'
ALPHA = (done(N, 'rotation'), done(N.scaled(3), 'sum'))
LAST_MOMENT = (
    'n_{n+1} is turned as well; here it comes in the axes of frame n, so n - 1 rotations are done'
)
UNCOUNTED = 'the rows leave out the entries of R_i (4n; 0) and tau_i (3n; 2n)'

RATES = count_times(
    lambda n: (
        (j, k, q) for q in range(1, n + 1) for k in range(1, q + 1) for j in range(1, k + 1)
    )
)
"""Products qd_j qd_k, for each link anew, j <= k <= q."""
MIXED = count_times(
    lambda n: ((j, k, q) for q in range(1, n + 1) for k in range(1, q + 1) for j in range(1, k))
)
"""The same with j < k."""
SLOPES = count_times(lambda n: ((j, q) for q in range(1, n + 1) for j in range(1, q + 1)))
"""First derivatives of T_0^q, j <= q."""
BRACKET_SUMS = count_times(
    lambda n: (
        (q, index)
        for q in range(1, n + 1)
        # Of q first derivatives, of q^2 second ones, and of the two.
        for index in range((q - 1) + (q**2 - 1) + 1)
    )
)
"""Sums of matrices in the bracket of the kinetic term, no symmetry used."""


TABLE_2 = (
    *rows_by_term('001 table 2', LAGRANGE, 'T', 'dT', 'd2T', 'trace'),
    Row('001 table 2', 'gravity', terms(LAGRANGE, 'gravity, each', 'gravity, sum')),
    Row(
        '001 table 2',
        'kinetic sum J_q',
        (
            done(RATES, 'product'),
            done(SLOPES, '4x4 matrix scaled'),
            done(MIXED, '4x4 matrix scaled'),
            done(BRACKET_SUMS, '4x4 sum'),
            done(SLOPES.scaled(-2), '4x4 sum'),
            done(N, '4x4 product'),
        ),
        'the products of second derivatives with qd_j^2 are left out; the sum over q of '
        '16 q (q + 1) + 32 additions is printed as that of 16 q (q - 1) + 32',
        terms(LAGRANGE, 'kinetic sum J_q'),
    ),
    Row(
        '001 table 2',
        TOTAL,
        sum_of_rows('001 table 2'),
        'ours has the entries of T_i (6n; 0) and the sum with gravity (0; n) as well',
        terms(LAGRANGE),
    ),
)

TABLE_3 = (
    *rows_by_term('001 table 3', LUH, 'omega_i'),
    Row('001 table 3', 'alpha_i', ALPHA, NO_PRODUCTS, terms(LUH, 'alpha_i')),
    *rows_by_term('001 table 3', LUH, 'A_i', 'a_i', 'abar_i'),
    Row(
        '001 table 3',
        'f_i',
        (done(INNER, 'vector scaled'), done(INNER, 'rotation'), done(INNER, 'sum of vectors')),
        'm abar of the last link (3; 0) is left out',
        terms(LUH, 'F_i', 'f_i'),
    ),
    *rows_by_term(
        '001 table 3',
        LUH,
        'I_i alpha_i',
        'omega_i x (I_i omega_i)',
        'm (r_i + rbar_i) x abar_i',
    ),
    *rows_by_term('001 table 3', LUH_LOADED, 'r_i x R f'),
    Row('001 table 3', 'R n', (done(N, 'rotation'),), LAST_MOMENT, terms(LUH_LOADED, 'R n')),
    Row(
        '001 table 3',
        'add n',
        (done(N.scaled(5), 'sum of vectors'),),
        'one sum for each of the five terms of (3.20); four sums add five terms',
        terms(LUH_LOADED, 'N_i', 'add n'),
    ),
    Row('001 table 3', TOTAL, sum_of_rows('001 table 3'), UNCOUNTED, terms(LUH)),
)

TABLE_4 = (
    *rows_by_term('001 table 4', MODIFIED, 'omega_i'),
    Row('001 table 4', 'alpha_i', ALPHA, NO_PRODUCTS, terms(MODIFIED, 'alpha_i')),
    *rows_by_term('001 table 4', MODIFIED, 'A_i'),
    Row(
        '001 table 4',
        'a_i',
        (
            done(INNER, 'matrix times vector'),
            done(INNER, 'rotation'),
            done(INNER, 'sum of vectors'),
        ),
        'a_{n-1} is not turned into the last link, as m_n abar_n takes it (9; 6)',
        terms(MODIFIED, 'a_i'),
    ),
    *rows_by_term('001 table 4', MODIFIED, 'm_i abar_i', 'f_i', 'Tr{A_i K_i sigma^t}'),
    Row(
        '001 table 4',
        'm (r_i + rbar_i) x abar_i',
        terms(MODIFIED, 'm_i (r_i + rbar_i) x abar_i'),
    ),
    *rows_by_term('001 table 4', MODIFIED_LOADED, 'r_i x R f'),
    Row('001 table 4', 'R n', (done(N, 'rotation'),), LAST_MOMENT, terms(MODIFIED_LOADED, 'R n')),
    Row(
        '001 table 4',
        'add n',
        (),
        'the figure of table 3; (5.2) has four terms, which take three sums of vectors, 9n, and '
        'four, 12n, when counted as there',
        terms(MODIFIED_LOADED, 'add n'),
    ),
    Row('001 table 4', TOTAL, sum_of_rows('001 table 4'), UNCOUNTED, terms(MODIFIED)),
)

TABLE_5 = (
    *(
        Row('001 table 5', f'{name}_{link}', (one_link(MODIFIED, f'{name}_i', link),))
        for name, link in (('omega', 1), ('A', 1), ('omega', 2))
    ),
    *(
        Row(
            '001 table 5',
            f'alpha_{link}',
            (done(polynomial(1), 'rotation'), done(polynomial(3), 'sum')),
            NO_PRODUCTS,
            (one_link(MODIFIED, 'alpha_i', link),),
        )
        for link in (1, 2)
    ),
    Row(
        '001 table 5',
        'outward, side by side',
        (done(N, 'matrix times vector'), done(N, 'rotation'), done(N, 'sum of vectors')),
        'the longest of the terms done side by side, a_i; `concurrency` arranges them',
    ),
    Row(
        '001 table 5',
        'inward, side by side',
        (done(N, 'rotation'), done(N.scaled(2), 'sum of vectors')),
        'the longest chain of the terms done side by side: R n and the two sums that follow it; '
        '`concurrency` arranges them',
    ),
    Row('001 table 5', TOTAL, sum_of_rows('001 table 5')),
)

TABLE_1 = tuple(
    Row('001 table 1', form, (printed_rows(table, TOTAL),), '', terms(setting))
    for form, table, setting in (
        ('Lagrange', '001 table 2', LAGRANGE),
        ('Newton-Euler', '001 table 3', LUH),
        ('modified Newton-Euler', '001 table 4', MODIFIED),
    )
)

ROWS = (*TABLE_1, *TABLE_2, *TABLE_3, *TABLE_4, *TABLE_5)
