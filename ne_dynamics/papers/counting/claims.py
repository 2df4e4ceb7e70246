"""Figures that the documents state in their text, and how each follows."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import NamedTuple

from ne_dynamics.codegen.symbols import OperationCount
from ne_dynamics.model.dh import load_dh
from ne_dynamics.papers import robots
from ne_dynamics.papers.counting.elementary_costs import measure_elementary_cost
from ne_dynamics.papers.counting.expansion import count_terms
from ne_dynamics.papers.counting.measured_costs import (
    CostMeter,
    CountSetting,
    measure_gains,
    measure_strobing,
)
from ne_dynamics.papers.counting.polynomials import Polynomial, polynomial
from ne_dynamics.papers.counting.printed_tables import TABLES, TOTAL
from ne_dynamics.papers.counting.sources import count_times
from ne_dynamics.shipped import shipped_file

JOINTS = 6

ADD_TIME, MULTIPLY_TIME, FETCH_TIME = 0.5e-6, 3.3e-6, 0.45e-6
"""PDP 11/45, integers, as 003 section 5 has them from its data sheet [s]."""

GAIN = 100.0
"""Kp of 003 section 5 [1/s^2]."""

HALF_SQUARE = polynomial(Fraction(1, 2), Fraction(1, 2), 0)
"""n (n + 1) / 2."""


class Claim(NamedTuple):
    """What a document says in numbers.

    Attributes
    ----------
    where, says : str
        Document and section, and the figure.
    follows : str
        How it follows from what is printed or measured.
    ours : str
        The same of the code.
    """

    where: str
    says: str
    follows: str
    ours: str


def estimate_time(count: OperationCount) -> float:
    """Return how long 003 section 5 reckons for so many operations [s]."""
    return count.multiplications * (MULTIPLY_TIME + FETCH_TIME) + count.additions * (
        ADD_TIME + FETCH_TIME
    )


def printed_law(table: str) -> OperationCount:
    """Return the total of 003 table 1 or 2 for six joints."""
    return TABLES[table][TOTAL].for_joints(JOINTS)


def measure_law(meter: CostMeter, formulation: str) -> OperationCount:
    """Return what the control law of 003 takes with a form for six joints, gains included."""
    return meter.count(formulation, JOINTS) + measure_gains(meter.largest).for_joints(JOINTS)


def compare_counts(dear: OperationCount, cheap: OperationCount) -> tuple[float, float, float]:
    """Return how many times dearer one is: multiplications, additions, both together."""
    return (
        dear.multiplications / cheap.multiplications,
        dear.additions / cheap.additions,
        dear.arithmetic / cheap.arithmetic,
    )


def split_off_half_squares(formula: Polynomial) -> tuple[Fraction, Polynomial]:
    """Return k and the rest of a formula of second degree: ``k n (n + 1) / 2 + rest``."""
    k = 2 * Fraction(formula.coefficients[2])
    return k, formula - HALF_SQUARE.scaled(k)


def count_outward_links_of_pairs() -> Polynomial:
    """Return the links that move when joints j and k do, j <= k, over all pairs: links j to n."""
    return count_times(
        lambda n: (
            (j, k, link)
            for j in range(1, n + 1)
            for k in range(j, n + 1)
            for link in range(j, n + 1)
        )
    )


def list_claims(meter: CostMeter) -> list[Claim]:
    """Return the claims, with what was measured."""
    return [
        *_claims_of_000(meter),
        *_claims_of_001(meter),
        *_claims_of_003(meter),
        *_claims_of_004(meter),
    ]


def _claims_of_000(meter: CostMeter) -> list[Claim]:
    link = meter.fit_cost(CountSetting('sasaki_symbolic'))
    lagrange = meter.fit_cost(CountSetting('lagrange_euler'))
    six_link = count_terms(load_dh(shipped_file('six_link_dh.yaml')))
    general = ', '.join(f'{count_terms(robots.chain(n))} of {n}' for n in (3, 4, 5))
    return [
        Claim(
            '000 section 1',
            "Lagrange's equations of six joints have several thousand terms",
            'its own manipulator; the efforts multiplied out into products of sines, cosines, '
            'velocities and accelerations with one constant each, sin^2 as 1 - cos^2',
            f'{six_link} terms; of the Puma 560 {count_terms(robots.puma560().robot)}; of a '
            f'general arm {general} joints',
        ),
        Claim(
            '000 abstract',
            'more links hardly make the calculation more intricate',
            'the recursion does the same for each link: its operations grow with n',
            f'{link}; the Lagrangian form {lagrange}',
        ),
    ]


def _claims_of_001(meter: CostMeter) -> list[Claim]:
    strobed = measure_strobing('mass_matrix', meter.largest)
    full = meter.count('luh_walker_paul', JOINTS)
    parts = [split_off_half_squares(formula) for formula in strobed]
    pairs = measure_strobing('velocity_coefficients', meter.largest)
    printed = TABLES['001 table 3'][TOTAL]
    return [
        Claim(
            '001 section 6',
            'the Newton-Euler set takes (K + D) n: a linear computation scheme',
            f'table 3: {printed}',
            str(meter.fit_cost(CountSetting('luh_walker_paul'))),
        ),
        Claim(
            '001 section 6',
            'M by strobing takes k n (n + 1)/2 + d n (n + 1)/2',
            'column j moves links j to n only, and by symmetry rows j to n are enough; section 7 '
            'has terms in n besides',
            '; '.join(f'{k} n (n + 1)/2 and {rest}' for k, rest in parts)
            + f'; at n = {JOINTS} {strobed.for_joints(JOINTS)}, where {JOINTS} whole recursions '
            f'take {JOINTS * full.multiplications}; {JOINTS * full.additions}',
        ),
        Claim(
            '001 section 6',
            'all C^i_jk by strobing take k n (n + 1)(2n + 1)/6 + d n (n + 1)/2',
            f'joints j and k move links min(j, k) to n, in all {count_outward_links_of_pairs()}; '
            'inward every one of the n (n + 1)/2 runs passes n links, so d grows with n',
            f'{pairs}; every run in full',
        ),
    ]


def _claims_of_003(meter: CostMeter) -> list[Claim]:
    dear, cheap = printed_law('003 table 1'), printed_law('003 table 2')
    our_dear = measure_law(meter, 'lagrange_euler_plain')
    our_cheap = measure_law(meter, 'luh_walker_paul')
    printed, measured = compare_counts(dear, cheap), compare_counts(our_dear, our_cheap)
    return [
        Claim(
            '003 section 5',
            'the Lagrangian law takes about 100 times the operations of the recursion, n = 6',
            f'tables 1 and 2: {dear} against {cheap}, {printed[0]:.0f}; {printed[1]:.0f} times',
            f'{our_dear} against {our_cheap}, {measured[0]:.0f}; {measured[1]:.0f} '
            f'times, all operations {measured[2]:.0f} times',
        ),
        Claim(
            '003 section 5',
            'about 3 ms by the recursion on a PDP 11/45',
            f'{cheap.multiplications} x (3.3 + 0.45) us + {cheap.additions} x (0.5 + 0.45) us = '
            f'{1e3 * estimate_time(cheap):.2f} ms',
            f'{1e3 * estimate_time(our_cheap):.2f} ms; by the Lagrangian law '
            f'{1e3 * estimate_time(our_dear):.0f} ms',
        ),
        Claim(
            '003 section 5',
            "Kp = 100, since an arm's natural frequency is hardly over ten hertz",
            "e'' + Kv e' + Kp e = 0 has the natural frequency sqrt(Kp)",
            f'{math.sqrt(GAIN):g} rad/s, which is {math.sqrt(GAIN) / math.tau:.2f} Hz; ten hertz '
            f'take Kp = {(math.tau * 10.0) ** 2:.0f}',
        ),
    ]


def _claims_of_004(meter: CostMeter) -> list[Claim]:
    printed = TABLES['004 (7.43)']['n = 6'].for_joints(JOINTS)
    ours = meter.count('angeles', JOINTS)
    turn, cross = (
        measure_elementary_cost(name) for name in ('rotation by (7.23)', 'cross product')
    )
    return [
        Claim('004 below (7.24)', 'a rotation takes 8; 4', 'its components', str(turn)),
        Claim(
            '004 below algorithm 7.4.1',
            'a cross product takes 6; 3',
            'its components',
            str(cross),
        ),
        Claim(
            '004 below (7.43)',
            f'{printed} take a few microseconds on a modern processor',
            f'one operation each cycle of 1 GHz: {1e-3 * printed.arithmetic:.2f} us',
            f'{ours}: {1e-3 * ours.arithmetic:.2f} us; `lanes` times what runs here',
        ),
    ]
