"""The operation counts that the documents print, row by row, as they stand there.

The documents are numbered as in :mod:`ne_dynamics.papers.forms`. Nothing here is corrected:
:data:`REMARKS` names the totals that do not add up in a document.
"""

from __future__ import annotations

from fractions import Fraction

from ne_dynamics.papers.counting.costs import Cost
from ne_dynamics.papers.counting.polynomials import Polynomial, polynomial

F = Fraction
P = polynomial
TOTAL = 'total'


PRINTED: dict[str, tuple[tuple[str, Polynomial, Polynomial], ...]] = {
    '001 table 1': (
        ('Lagrange', P(F(81, 6), F(165, 2), 5, 0), P(F(40, 3), 58, F(-64, 3), 0)),
        ('Newton-Euler', P(108, -12), P(100, -9)),
        ('modified Newton-Euler', P(90, -27), P(88, -24)),
    ),
    '001 table 2': (
        ('T', P(32, -32, 0), P(24, -24, 0)),
        ('dT', P(32, -32, 0), P(24, -24, 0)),
        ('d2T', P(F(32, 3), 0, F(-32, 3), 0), P(8, 0, -8, 0)),
        ('kinetic sum J_q', P(F(17, 6), F(17, 2), F(209, 3), 0), P(F(16, 3), 0, F(80, 3), 0)),
        ('trace', P(8, 8, 0), P(8, 7, 0)),
        ('gravity', P(2, 2, 0), P(2, 1, 0)),
        (TOTAL, P(F(81, 6), F(165, 2), 5, 0), P(F(40, 3), 58, F(-64, 3), 0)),
    ),
    '001 table 3': (
        ('omega_i', P(9, 0), P(7, 0)),
        ('alpha_i', P(9, 0), P(9, 0)),
        ('A_i', P(6, 0), P(9, 0)),
        ('a_i', P(18, 0), P(15, 0)),
        ('abar_i', P(9, 0), P(9, 0)),
        ('f_i', P(12, -12), P(9, -9)),
        ('I_i alpha_i', P(9, 0), P(6, 0)),
        ('omega_i x (I_i omega_i)', P(15, 0), P(9, 0)),
        ('m (r_i + rbar_i) x abar_i', P(6, 0), P(3, 0)),
        ('r_i x R f', P(6, 0), P(3, 0)),
        ('R n', P(9, 0), P(6, 0)),
        ('add n', P(0), P(15, 0)),
        (TOTAL, P(108, -12), P(100, -9)),
    ),
    '001 table 4': (
        ('omega_i', P(9, 0), P(7, 0)),
        ('alpha_i', P(9, 0), P(9, 0)),
        ('A_i', P(6, 0), P(9, 0)),
        ('a_i', P(18, -18), P(15, -15)),
        ('m_i abar_i', P(12, 0), P(9, 0)),
        ('f_i', P(9, -9), P(9, -9)),
        ('Tr{A_i K_i sigma^t}', P(6, 0), P(3, 0)),
        ('m (r_i + rbar_i) x abar_i', P(6, 0), P(3, 0)),
        ('r_i x R f', P(6, 0), P(3, 0)),
        ('R n', P(9, 0), P(6, 0)),
        ('add n', P(0), P(15, 0)),
        (TOTAL, P(90, -27), P(88, -24)),
    ),
    '001 table 5': (
        ('omega_1', P(9), P(7)),
        ('alpha_1', P(9), P(9)),
        ('A_1', P(6), P(9)),
        ('omega_2', P(9), P(7)),
        ('alpha_2', P(9), P(9)),
        ('outward, side by side', P(18, 0), P(15, 0)),
        ('inward, side by side', P(9, 0), P(12, 0)),
        (TOTAL, P(27, 42), P(27, 41)),
    ),
    '003 table 1': (
        ('T', P(32, -32, 0), P(24, -24, 0)),
        ('gravity, each', P(36, -28, 0), P(F(51, 2), F(-45, 2), 0)),
        ('gravity, sum', P(0), P(F(1, 2), F(-1, 2), 0)),
        ('D, each trace', P(F(128, 3), 128, F(256, 3), 0), P(F(65, 2), F(195, 2), 65, 0)),
        ('D, sum', P(0), P(F(1, 6), 0, F(-1, 6), 0)),
        ('H, each trace', P(F(128, 3), 128, F(256, 3), 0, 0), P(F(65, 2), F(195, 2), 65, 0, 0)),
        ('H, sum', P(0), P(F(1, 6), 0, F(-1, 6), 0, 0)),
        ('qdd + Kv ed + Kp e', P(2, 0), P(4, 0)),
        ('tau', P(1, 2, 0, 0), P(1, 1, 0, 0)),
        (
            TOTAL,
            P(F(128, 3), F(515, 3), F(850, 3), F(82, 3), 0),
            P(F(98, 3), F(787, 6), F(640, 3), F(131, 6), 0),
        ),
    ),
    '003 table 2': (
        ('omega_i', P(9, 0), P(7, 0)),
        ('alpha_i', P(9, 0), P(9, 0)),
        ('a_i', P(27, 0), P(22, 0)),
        ('abar_i', P(15, 0), P(14, 0)),
        ('F_i', P(3, 0), P(0)),
        ('f_i', P(9, -9), P(9, -6)),
        ('N_i', P(24, 0), P(18, 0)),
        ('n_i', P(21, -15), P(24, -15)),
        ('qdd + Kv ed + Kp e', P(2, 0), P(4, 0)),
        (TOTAL, P(119, -24), P(107, -21)),
    ),
    '004 list (i)': (
        ('Q_i', P(4, 0), P(0)),
        ('c_i', P(8, 0), P(10, 0)),
        ('w_i', P(8, 0), P(5, 0)),
        ('cd_i', P(20, 0), P(16, 0)),
        ('wd_i', P(10, 0), P(7, 0)),
        ('cdd_i', P(32, 0), P(28, 0)),
    ),
    '004 list (ii)': (
        ('Q_i', P(4, 0), P(0)),
        ('c_i', P(16, 0), P(15, 0)),
        ('w_i', P(8, 0), P(4, 0)),
        ('cd_i', P(14, 0), P(11, 0)),
        ('wd_i', P(8, 0), P(4, 0)),
        ('cdd_i', P(20, 0), P(19, 0)),
    ),
    '004 table 7.1': (
        ('Q_i', P(4, 0), P(0)),
        ('w_i', P(8, 0), P(5, 0)),
        ('cd_i', P(20, 0), P(16, 0)),
        ('wd_i', P(10, 0), P(7, 0)),
        ('cdd_i', P(32, 0), P(28, 0)),
        (TOTAL, P(82, 0), P(66, 0)),
    ),
    '004 table 7.2': (
        ('1', P(3), P(3)),
        ('2', P(30), P(27)),
        ('5', P(8, -8), P(4, -4)),
        ('6', P(3, -3), P(3, -3)),
        ('7', P(44, -44), P(37, -37)),
        (TOTAL, P(55, -22), P(44, -14)),
    ),
    '004 table 7.3': (
        ('Hollerbach (1980), Lagrange', P(412, -277), P(320, -201)),
        ('Luh et al. (1980), Newton-Euler', P(150, -48), P(131, -48)),
        ('Walker & Orin (1982), Newton-Euler', P(137, -22), P(101, -11)),
        ('Khalil et al. (1986), Newton-Euler', P(105, -92), P(94, -86)),
        ('Angeles et al. (1989), Kane', P(105, -109), P(90, -105)),
        ('Balafoutis & Patel (1991), tensor', P(93, -69), P(81, -65)),
        ('Li & Sankar (1992), Lagrange', P(88, -69), P(76, -66)),
    ),
    '004 table 7.4': (
        ('Hollerbach (1980), Lagrange', P(2195), P(1719)),
        ('Luh et al. (1980), Newton-Euler', P(852), P(738)),
        ('Walker & Orin (1982), Newton-Euler', P(800), P(595)),
        ('Hollerbach & Sahar (1983), Newton-Euler', P(688), P(558)),
        ('Kane & Levinson (1983), Kane', P(646), P(394)),
        ('Khalil et al. (1986), Newton-Euler', P(538), P(478)),
        ('Angeles et al. (1989), Kane', P(521), P(435)),
        ('Balafoutis & Patel (1991), tensor', P(489), P(420)),
        ('Li & Sankar (1992), Lagrange', P(459), P(390)),
    ),
    '004 (7.42)': (('dynamics, n = 6', P(308), P(250)),),
    '004 (7.43)': (
        (TOTAL, P(137, -22), P(110, -14)),
        ('n = 6', P(800), P(646)),
    ),
}
"""Name, multiplications and additions of each row, by document and table."""

TABLES = {
    table: {name: Cost(multiplications, additions) for name, multiplications, additions in rows}
    for table, rows in PRINTED.items()
}
"""What each row prints, by document and table, and by the name of the row."""

REMARKS = {
    '004 list (i)': 'for a joint that turns, list (ii) for one that slides; entered n times',
    '001 table 1': 'the rows of table 2 add up to this total; the appendix, which prints the same '
    'two polynomials, has multiplications and additions swapped',
    '004 table 7.1': 'the rows add up to 74n and 56n; the total holds the positions c_i as well '
    '(8n and 10n), which have no row',
    '004 table 7.4': 'Balafoutis & Patel: 420 additions printed, 421 by the formula of table 7.3',
}
"""Where the rows of a printed table do not add up, or only seem not to."""
