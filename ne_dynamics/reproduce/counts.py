"""What each formulation costs, measured, beside what the documents print."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from ne_dynamics.algorithms.mechanism import DEFAULT_TOLERANCE
from ne_dynamics.bench import robots
from ne_dynamics.codegen.programs import ProgramSet
from ne_dynamics.codegen.source import Program
from ne_dynamics.codegen.symbols import Symbol
from ne_dynamics.errors import MissingDependencyError
from ne_dynamics.formulations import FORMULATIONS
from ne_dynamics.formulations.counting import Count, Tally, count_operations
from ne_dynamics.formulations.random_arms import counting_arm
from ne_dynamics.model.robot import Robot
from ne_dynamics.reproduce.polynomials import Polynomial, fit
from ne_dynamics.reproduce.printed import REMARKS, TABLES, TOTAL, row
from ne_dynamics.reproduce.report import Report, Table

NAME = 'counts'
LARGEST_N = 12
FITTED_FROM = 2
"""A recursion's first link may be cheaper than its share."""

SHOWN_N = 6

GAINS = Count(2, 4)
"""What 003 adds for each joint: qdd + Kv ed + Kp e with diagonal gains."""


class Cost(NamedTuple):
    """Multiplications and additions as polynomials in the number of joints."""

    multiplications: Polynomial
    additions: Polynomial

    def text(self) -> str:
        """Return both formulas."""
        return f'{self.multiplications}; {self.additions}'

    def at(self, n: int) -> str:
        """Return both numbers for n joints."""
        return f'{self.multiplications(n)}; {self.additions(n)}'


@dataclass(frozen=True)
class Comparison:
    """Printed rows and the measured terms that do the same work.

    Attributes
    ----------
    table : str
    rows : tuple of str
        Printed rows, summed.
    formulation : str
    terms : tuple of str
        Measured terms, summed; empty for the total.
    why : str
        Where a difference comes from.
    principal_axes : bool
        Whether inertia tensors are diagonal.
    as_published : bool
        Whether the tip wrench, and positions and velocities where the form gives them, count.
    with_gains : bool
        Whether :data:`GAINS` are added.
    """

    table: str
    rows: tuple[str, ...]
    formulation: str
    terms: tuple[str, ...] = ()
    why: str = ''
    principal_axes: bool = False
    as_published: bool = False
    with_gains: bool = False


COMPARISONS = (
    Comparison(
        '001 table 1',
        ('Lagrange',),
        'lagrange_euler',
        why='see table 2',
        principal_axes=True,
    ),
    Comparison('001 table 2', ('T',), 'lagrange_euler', ('T',), 'the 6n products inside T'),
    Comparison('001 table 2', ('dT',), 'lagrange_euler', ('dT',)),
    Comparison('001 table 2', ('d2T',), 'lagrange_euler', ('d2T',)),
    Comparison(
        '001 table 2',
        ('kinetic sum J_q',),
        'lagrange_euler',
        ('kinetic sum J_q',),
        'the row leaves out the products of dT with the accelerations; here qd_j qd_k is formed '
        'once for all q, and of a symmetric pair one is added',
    ),
    Comparison('001 table 2', ('trace',), 'lagrange_euler', ('trace',)),
    Comparison(
        '001 table 2', ('gravity',), 'lagrange_euler', ('gravity',), 'the sums over q are shared'
    ),
    Comparison(
        '001 table 1',
        ('Newton-Euler',),
        'luh_walker_paul',
        why='see table 3',
        principal_axes=True,
    ),
    Comparison('001 table 3', ('omega_i',), 'luh_walker_paul', ('omega_i',)),
    Comparison(
        '001 table 3',
        ('alpha_i',),
        'luh_walker_paul',
        ('alpha_i',),
        'w x z qd takes 2 products a link, which the row leaves out',
    ),
    Comparison(
        '001 table 3',
        ('A_i', 'a_i', 'abar_i'),
        'luh_walker_paul',
        ('a_i', 'abar_i'),
        'as two double cross products; the authors build A_i once and use it twice',
    ),
    Comparison(
        '001 table 3',
        ('I_i alpha_i', 'omega_i x (I_i omega_i)'),
        'luh_walker_paul',
        ('N_i',),
        'two full 3 x 3 products, stored zeros included; one sum of vectors stands in "add n"',
        principal_axes=True,
    ),
    Comparison(
        '001 table 3',
        ('f_i', 'm (r_i + rbar_i) x abar_i', 'r_i x R f', 'R n', 'add n'),
        'luh_walker_paul',
        ('F_i', 'n_i', 'f_i', 'tau_i'),
        'nothing is rotated into the last link without a tip wrench; tau_i takes a rotation row',
        principal_axes=True,
    ),
    Comparison(
        '001 table 1',
        ('modified Newton-Euler',),
        'modified_newton_euler',
        why='see table 4',
        principal_axes=True,
    ),
    Comparison('001 table 4', ('omega_i',), 'modified_newton_euler', ('omega_i',)),
    Comparison(
        '001 table 4',
        ('alpha_i',),
        'modified_newton_euler',
        ('alpha_i',),
        'w x z qd takes 2 products a link, which the row leaves out',
    ),
    Comparison('001 table 4', ('A_i',), 'modified_newton_euler', ('A_i',)),
    Comparison(
        '001 table 4',
        ('a_i',),
        'modified_newton_euler',
        ('a_i',),
        'the first link rotates gravity',
    ),
    Comparison('001 table 4', ('m_i abar_i',), 'modified_newton_euler', ('m_i abar_i',)),
    Comparison('001 table 4', ('f_i',), 'modified_newton_euler', ('f_i',)),
    Comparison(
        '001 table 4',
        ('Tr{A_i K_i sigma^t}',),
        'modified_newton_euler',
        ('Tr{A_i K_i sigma^t}',),
        principal_axes=True,
    ),
    Comparison(
        '001 table 4',
        ('m (r_i + rbar_i) x abar_i',),
        'modified_newton_euler',
        ('m_i (r_i + rbar_i) x abar_i',),
    ),
    Comparison(
        '001 table 4',
        ('r_i x R f', 'R n', 'add n'),
        'modified_newton_euler',
        ('r_i x R f', 'R n', 'add n'),
        'nothing comes from beyond the last link without a tip wrench; 9 sums of "add n" a link '
        'do the work, 15 are printed',
    ),
    Comparison(
        '003 table 1',
        (TOTAL,),
        'lagrange_euler_plain',
        why='H by symmetry in j and k: n^4/8 traces here, n^4/3 there; d2T is multiplied out for '
        'each',
        with_gains=True,
    ),
    Comparison(
        '003 table 2',
        (TOTAL,),
        'luh_walker_paul',
        why='w x z qd and the products inside R_i count here; no tip wrench',
        with_gains=True,
    ),
    Comparison('003 table 2', ('omega_i',), 'luh_walker_paul', ('omega_i',)),
    Comparison('003 table 2', ('alpha_i',), 'luh_walker_paul', ('alpha_i',), '2 products more'),
    Comparison('003 table 2', ('a_i',), 'luh_walker_paul', ('a_i',), 'one sum less a link'),
    Comparison(
        '003 table 2',
        ('abar_i',),
        'luh_walker_paul',
        ('abar_i',),
        'three cross products and two sums are 18 and 15',
    ),
    Comparison('003 table 2', ('F_i',), 'luh_walker_paul', ('F_i',)),
    Comparison('003 table 2', ('f_i',), 'luh_walker_paul', ('f_i',), 'no tip force'),
    Comparison('003 table 2', ('N_i',), 'luh_walker_paul', ('N_i',)),
    Comparison('003 table 2', ('n_i',), 'luh_walker_paul', ('n_i',), 'no tip wrench'),
    Comparison(
        '004 table 7.1',
        (TOTAL,),
        'angeles',
        ('Q_i', 'c_i', 'w_i', 'cd_i', 'wd_i', 'cdd_i'),
        'Q_i is never multiplied out: (7.23), (7.24) use its factors',
        as_published=True,
    ),
    Comparison('004 table 7.1', ('Q_i',), 'angeles', ('Q_i',), 'as above', as_published=True),
    *(
        Comparison('004 table 7.1', (name,), 'angeles', (name,), as_published=True)
        for name in ('w_i', 'cd_i', 'wd_i', 'cdd_i')
    ),
    Comparison(
        '004 table 7.2',
        (TOTAL,),
        'angeles',
        ('1', '2', '5', '6', '7'),
        as_published=True,
    ),
    *(
        Comparison('004 table 7.2', (name,), 'angeles', (name,), as_published=True)
        for name in ('1', '2', '5', '6', '7')
    ),
    Comparison(
        '004 (7.43)',
        (TOTAL,),
        'angeles',
        why='less 4n for Q_i; tau_i takes the rotation that the algorithm forgets (2n, n)',
        as_published=True,
    ),
    Comparison(
        '004 table 7.3',
        ('Luh et al. (1980), Newton-Euler',),
        'luh_walker_paul',
        why='counted by others "as set forth" in the paper; less is thrown away here',
    ),
    Comparison(
        '004 table 7.3',
        ('Walker & Orin (1982), Newton-Euler',),
        'angeles',
        why='a relative of algorithms 7.4.1 and 7.4.2; without positions, velocities and tip '
        'wrench, which no torque needs',
    ),
)
"""Printed rows that something measured stands beside. The rest is listed without."""


def study(
    largest: int = LARGEST_N, progress: Callable[[int, int], None] = lambda done, total: None
) -> Report:
    """Measure every formulation for 1 to `largest` joints and compare with what is printed.

    Parameters
    ----------
    largest : int
        At least 7, so that the fit of the order n^4 form is checked.
    progress : callable
        ``progress(done, total)``.
    """
    meter = _Meter(largest)
    steps = len(FORMULATIONS) + 2
    measured = []
    for index, name in enumerate(FORMULATIONS):
        measured.append((name, meter.cost(name), meter.at(name, SHOWN_N, skip_trivial=True)))
        progress(index + 1, steps)
    compared, comparison_data = _comparisons(meter)
    progress(steps - 1, steps)
    traced, traced_data, missing = _traced()
    parallel, parallel_data = _parallel(largest)
    progress(steps, steps)
    tables = (
        _totals(measured, largest),
        compared,
        _printed_only(),
        traced,
        parallel,
    )
    data = {
        'n': largest,
        'formulations': {
            name: {
                'multiplications': str(cost.multiplications),
                'additions': str(cost.additions),
                'skipping_zeros_and_ones': {
                    f'n={SHOWN_N}': [skipped.multiplications, skipped.additions]
                },
                'measured': [
                    [n, meter.at(name, n).multiplications, meter.at(name, n).additions]
                    for n in range(1, largest + 1)
                ],
            }
            for name, cost, skipped in measured
        },
        'compared': comparison_data,
        'traced': traced_data,
        'missing': missing,
        'parallel': parallel_data,
    }
    return Report(NAME, tables, data)


class _Meter:
    """Counts, once for each arm and way of counting."""

    def __init__(self, largest: int) -> None:
        self.largest = largest
        self._tallies: dict[tuple[Any, ...], Tally] = {}

    def tally(
        self,
        name: str,
        n: int,
        principal_axes: bool = False,
        as_published: bool = False,
        skip_trivial: bool = False,
    ) -> Tally:
        key = (name, n, principal_axes, as_published, skip_trivial)
        if key not in self._tallies:
            form = FORMULATIONS[name]
            options: dict[str, Any] = {}
            if as_published and name == 'angeles':
                options['with_positions'] = True
            self._tallies[key] = count_operations(
                form.function,
                counting_arm(form.covers, n, principal_axes),
                wrench=as_published,
                skip_trivial=skip_trivial,
                **options,
            )
        return self._tallies[key]

    def at(self, name: str, n: int, skip_trivial: bool = False) -> Count:
        return self.tally(name, n, skip_trivial=skip_trivial).total

    def cost(
        self,
        name: str,
        terms: Sequence[str] = (),
        principal_axes: bool = False,
        as_published: bool = False,
        with_gains: bool = False,
    ) -> Cost:
        counts = {}
        for n in range(FITTED_FROM, self.largest + 1):
            tally = self.tally(name, n, principal_axes, as_published)
            parts = [tally.terms.get(term, Count()) for term in terms] or [tally.total]
            if with_gains:
                parts.append(Count(GAINS.multiplications * n, GAINS.additions * n))
            counts[n] = sum(parts, Count())
        return Cost(
            fit({n: count.multiplications for n, count in counts.items()}),
            fit({n: count.additions for n, count in counts.items()}),
        )


def _totals(measured: Sequence[tuple[str, Cost, Count]], largest: int) -> Table:
    return Table(
        'Measured cost of one inverse dynamics, general revolute arm of n joints',
        ('formulation', 'multiplications', 'additions', f'n = {SHOWN_N}', 'skipping 0 and 1'),
        [
            (
                name,
                str(cost.multiplications),
                str(cost.additions),
                cost.at(SHOWN_N),
                f'{skipped.multiplications}; {skipped.additions}',
            )
            for name, cost, skipped in measured
        ],
        f'Counted for n = 1 to {largest}; each formula meets every count from n = {FITTED_FROM} '
        f'on exactly. The last columns are multiplications; additions for n = {SHOWN_N}. Counted '
        'as the authors do, products with a stored 0 or 1 count; the last column leaves them '
        'out. No friction, no tip wrench, full inertia tensors where the form knows them.',
    )


def _comparisons(meter: _Meter) -> tuple[Table, list[dict[str, Any]]]:
    rows, data = [], []
    for item in COMPARISONS:
        found = meter.cost(
            item.formulation, item.terms, item.principal_axes, item.as_published, item.with_gains
        )
        printed = Cost(
            sum((row(item.table, name).multiplications for name in item.rows), Polynomial(())),
            sum((row(item.table, name).additions for name in item.rows), Polynomial(())),
        )
        more = Cost(
            found.multiplications - printed.multiplications, found.additions - printed.additions
        )
        same = not more.multiplications.coefficients and not more.additions.coefficients
        rows.append(
            (
                item.table,
                ' + '.join(item.rows),
                printed.text(),
                'met' if same else found.text(),
                '' if same else more.at(SHOWN_N),
                '' if same else item.why,
            )
        )
        data.append(
            {
                'table': item.table,
                'rows': list(item.rows),
                'formulation': item.formulation,
                'terms': list(item.terms),
                'printed': [str(printed.multiplications), str(printed.additions)],
                'measured': [str(found.multiplications), str(found.additions)],
                'met': same,
                'difference': '' if same else item.why,
            }
        )
    table = Table(
        'Printed and measured: multiplications; additions',
        ('table', 'row', 'printed', 'measured', f'more at n = {SHOWN_N}', 'why'),
        rows,
        ' '.join(f'{name}: {remark}.' for name, remark in REMARKS.items()),
    )
    return table, data


def _printed_only() -> Table:
    compared = {(item.table, name) for item in COMPARISONS for name in item.rows}
    rows = [
        (
            line.table,
            line.row,
            f'{line.multiplications}; {line.additions}',
            f'{line.multiplications(SHOWN_N)}; {line.additions(SHOWN_N)}',
        )
        for lines in TABLES.values()
        for line in lines
        if (line.table, line.row) not in compared
    ]
    return Table(
        'Printed rows with nothing measured beside them',
        ('table', 'row', 'printed', f'n = {SHOWN_N}'),
        rows,
        'Totals repeat rows above; the forms of other authors are not built here; the terms of '
        '003 table 1 are grouped in another way in our code; 001 table 5 has its own table below.',
    )


def program(robot: Robot) -> Program:
    """Return the inverse dynamics that runs for a robot, traced."""
    programs = ProgramSet(robot, (0.0, 0.0, -9.80665), DEFAULT_TOLERANCE)
    return programs.program('inverse_dynamics')


def _traced() -> tuple[Table, dict[str, Any], list[str]]:
    cases: list[tuple[str, Robot]] = [
        (f'general, {n} joint{"s" if n > 1 else ""}', robots.chain(n))
        for n in (1, 2, 3, 6, 7, LARGEST_N)
    ]
    cases.append(('Puma 560', robots.puma560().robot))
    missing = []
    try:
        cases.append(('UR5', robots.ur5().robot))
    except MissingDependencyError as error:
        missing.append(f'UR5 is left out: {error}')
    rows, data = [], {}
    for name, robot in cases:
        count = program(robot).count()
        rows.append((name, str(count.multiplications), str(count.additions), str(count.functions)))
        data[name] = [count.multiplications, count.additions, count.functions]
    table = Table(
        'What runs: the recursion traced for one robot',
        ('robot', 'multiplications', 'additions', 'sines and cosines'),
        rows,
        ' '.join(['Puma 560 with rotor inertia and friction.', *missing]),
    )
    return table, data, missing


@dataclass(frozen=True)
class CriticalPath:
    """The longest chain of operations each of which waits for the one before.

    Attributes
    ----------
    multiplications, additions, functions : int
        On the longest chain, when every operation takes one step.
    """

    multiplications: int
    additions: int
    functions: int

    @property
    def steps(self) -> int:
        """Length of the chain."""
        return self.multiplications + self.additions + self.functions


def critical_path(traced: Program) -> CriticalPath:
    """Return the critical path of a traced function: its time on any number of processors."""
    graph = traced.graph
    kinds = {'mul': 0, 'scale': 0, 'div': 0, 'add': 1, 'sub': 1, 'sin': 2, 'cos': 2, 'sign': 2}
    longest: dict[int, tuple[int, int, int]] = {}
    for index in graph.live(traced.outputs):
        before = max((longest[i] for i in graph.arguments(index)), key=sum, default=(0, 0, 0))
        kind = kinds.get(graph.nodes[index][0])
        longest[index] = (
            before
            if kind is None
            else (before[0] + (kind == 0), before[1] + (kind == 1), before[2] + (kind == 2))
        )
    ends = [longest[out.index] for out in traced.outputs if isinstance(out, Symbol)]
    return CriticalPath(*max(ends, key=sum, default=(0, 0, 0)))


def _parallel(largest: int) -> tuple[Table, dict[str, Any]]:
    printed = row('001 table 5', TOTAL)
    rows, data = [], {}
    cases: list[tuple[str, int, Robot]] = [
        (f'general, {n} joint{"s" if n > 1 else ""}', n, robots.chain(n))
        for n in (1, 2, 3, 6, largest)
    ]
    cases.append(('Puma 560', 6, robots.puma560().robot))
    for name, n, robot in cases:
        traced = program(robot)
        path, count = critical_path(traced), traced.count()
        operations = count.multiplications + count.additions + count.functions
        rows.append(
            (
                name,
                f'{printed.multiplications(n)}; {printed.additions(n)}',
                f'{path.multiplications}; {path.additions}',
                str(path.steps),
                f'{operations / path.steps:.1f}',
            )
        )
        data[name] = {
            'multiplications': path.multiplications,
            'additions': path.additions,
            'functions': path.functions,
            'operations_per_step': operations / path.steps,
        }
    table = Table(
        'Steps that cannot be done side by side: 001 table 5 and our expression graph',
        ('robot', '001 table 5', 'ours', 'all steps', 'operations a step'),
        rows,
        f'Printed: {printed.multiplications}; {printed.additions}, terms side by side, the '
        'operations of one term one after another. Ours: the longest chain in the graph, every '
        'operation one step on a processor of its own, sums in the order in which they are '
        'written; the last column is how many processors that would keep busy.',
    )
    return table, data
