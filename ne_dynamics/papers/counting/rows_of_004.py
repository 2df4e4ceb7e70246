"""Where the printed counts of 004 come from: its lists, tables 7.1 to 7.4, (7.42) and (7.43)."""

from __future__ import annotations

from ne_dynamics.papers.counting.explained_rows import ExplainedRow as Row
from ne_dynamics.papers.counting.explained_rows import rows_by_term, terms
from ne_dynamics.papers.counting.measured_costs import CountSetting
from ne_dynamics.papers.counting.polynomials import polynomial
from ne_dynamics.papers.counting.printed_tables import TABLES, TOTAL
from ne_dynamics.papers.counting.sources import done, printed_rows

N = polynomial(1, 0)
ANGELES = CountSetting('angeles', as_published=True)
SLIDING = CountSetting('angeles', as_published=True, sliding=True)
LUH = CountSetting('luh_walker_paul')
OUTWARD = ('Q_i', 'c_i', 'w_i', 'cd_i', 'wd_i', 'cdd_i')

Q_BY_FACTORS = 'the matrix formed; (7.23) and (7.24) use its factors and do not need it'

LIST_TURNING = (
    Row('004 list (i)', 'Q_i', terms(LUH, 'R_i'), Q_BY_FACTORS, terms(ANGELES, 'Q_i')),
    *rows_by_term('004 list (i)', ANGELES, *OUTWARD[1:]),
)

LIST_SLIDING = (
    Row(
        '004 list (ii)',
        'Q_i',
        (done(N, 'rotation matrix formed'),),
        'as for a joint that turns; of one that slides Q_i is a constant',
        terms(SLIDING, 'Q_i'),
    ),
    *rows_by_term('004 list (ii)', SLIDING, *OUTWARD[1:-1]),
    Row(
        '004 list (ii)',
        'cdd_i',
        (
            done(N, 'rotation by (7.23)'),
            done(N.scaled(2), 'cross product'),
            done(N.scaled(2), 'sum of vectors'),
            done(N.scaled(3), 'sum'),
        ),
        'bd_i e_i, added to v_i twice, is one component in F_i only, where v_i is not; turned '
        'with the rest it takes 2 products and a sum more',
        terms(SLIDING, 'cdd_i'),
    ),
)

TABLE_7_1 = (
    Row('004 table 7.1', 'Q_i', terms(LUH, 'R_i'), Q_BY_FACTORS, terms(ANGELES, 'Q_i')),
    *rows_by_term('004 table 7.1', ANGELES, 'w_i', 'cd_i', 'wd_i', 'cdd_i'),
    Row(
        '004 table 7.1',
        TOTAL,
        (printed_rows('004 list (i)', *OUTWARD),),
        'c_i included; ours less Q_i',
        terms(ANGELES, *OUTWARD),
    ),
)

INWARD = ('1', '2', '5', '6', '7')

TABLE_7_2 = (
    *rows_by_term('004 table 7.2', ANGELES, *INWARD),
    Row('004 table 7.2', TOTAL, terms(ANGELES, *INWARD)),
)

TOTALS = (
    Row('004 (7.42)', 'dynamics, n = 6', (printed_rows('004 table 7.2', TOTAL, at=6),)),
    Row(
        '004 (7.43)',
        TOTAL,
        (printed_rows('004 table 7.1', TOTAL), printed_rows('004 table 7.2', TOTAL)),
        'ours less Q_i (4n; 0), with the rotation that tau_i takes and the algorithm leaves out '
        '(2n; n), and with the tip wrench moved to the mass centre (6; 6)',
        terms(ANGELES),
    ),
    Row('004 (7.43)', 'n = 6', (printed_rows('004 (7.43)', TOTAL, at=6),)),
)

NOT_BUILT = 'the form is not in the documents and not built here'
ONLY_SIX = f'printed for n = 6 alone; {NOT_BUILT}'

OWN_FORMS = {
    'Luh et al. (1980), Newton-Euler': Row(
        '004 table 7.3',
        'Luh et al. (1980), Newton-Euler',
        (),
        'counted by Hollerbach as set forth in the paper (001 section 6), which is not among the '
        'documents; ours with the equations of 001 and 003',
        terms(LUH),
    ),
    'Walker & Orin (1982), Newton-Euler': Row(
        '004 table 7.3',
        'Walker & Orin (1982), Newton-Euler',
        (),
        'their form is not in the documents; ours is 004, whose multiplications by (7.43) are the '
        'same, without positions, velocities and tip wrench',
        terms(CountSetting('angeles')),
    ),
}

TABLE_7_3 = tuple(
    OWN_FORMS.get(name, Row('004 table 7.3', name, (), NOT_BUILT))
    for name in TABLES['004 table 7.3']
)

SIX_BY_NO_FORMULA = {
    'Hollerbach & Sahar (1983), Newton-Euler': ONLY_SIX,
    'Kane & Levinson (1983), Kane': ONLY_SIX,
    'Balafoutis & Patel (1991), tensor': 'the formula of table 7.3 gives 489; 421, one addition '
    'more; which of the two is meant the document does not tell',
}
"""Rows of table 7.4 that table 7.3 does not give, and why."""

TABLE_7_4 = tuple(
    Row('004 table 7.4', name, (), SIX_BY_NO_FORMULA[name])
    if name in SIX_BY_NO_FORMULA
    else Row('004 table 7.4', name, (printed_rows('004 table 7.3', name, at=6),))
    for name in TABLES['004 table 7.4']
)

ROWS = (
    *LIST_TURNING,
    *LIST_SLIDING,
    *TABLE_7_1,
    *TABLE_7_2,
    *TABLE_7_3,
    *TABLE_7_4,
    *TOTALS,
)
