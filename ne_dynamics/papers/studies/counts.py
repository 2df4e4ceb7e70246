"""What each formulation costs, measured, beside what the documents print."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ne_dynamics.algorithms.mechanism import DEFAULT_TOLERANCE, build_mechanism
from ne_dynamics.algorithms.newton_euler import newton_euler
from ne_dynamics.bench import robots
from ne_dynamics.codegen.source import Program, trace
from ne_dynamics.errors import MissingDependencyError
from ne_dynamics.model.robot import Robot
from ne_dynamics.papers.counting.comparisons import COMPARISONS
from ne_dynamics.papers.counting.counting_scalars import Count
from ne_dynamics.papers.counting.measured_costs import FITTED_FROM, Cost, CostMeter
from ne_dynamics.papers.counting.polynomials import Polynomial
from ne_dynamics.papers.counting.printed_tables import REMARKS, TABLES, row
from ne_dynamics.papers.forms import FORMULATIONS
from ne_dynamics.papers.studies.report import StudyReport, Table

NAME = 'counts'
LARGEST_N = 12
SHOWN_N = 6


def study(
    largest: int = LARGEST_N, progress: Callable[[int, int], None] = lambda done, total: None
) -> StudyReport:
    """Measure every formulation for 1 to `largest` joints and compare with what is printed.

    Parameters
    ----------
    largest : int
        At least 7, so that the fit of the order n^4 form is checked.
    progress : callable
        ``progress(done, total)``.
    """
    meter = CostMeter(largest)
    steps = len(FORMULATIONS) + 2
    measured = []
    for index, name in enumerate(FORMULATIONS):
        measured.append(
            (name, meter.fit_cost(name), meter.count(name, SHOWN_N, skip_trivial=True))
        )
        progress(index + 1, steps)
    compared, comparison_data = _compare_with_printed(meter)
    progress(steps - 1, steps)
    traced, traced_data, missing = _count_traced()
    progress(steps, steps)
    tables = (
        _tabulate_totals(measured, largest),
        compared,
        _tabulate_printed_only(),
        traced,
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
                    [n, meter.count(name, n).multiplications, meter.count(name, n).additions]
                    for n in range(1, largest + 1)
                ],
            }
            for name, cost, skipped in measured
        },
        'compared': comparison_data,
        'traced': traced_data,
        'missing': missing,
    }
    return StudyReport(NAME, tables, data)


def _tabulate_totals(measured: Sequence[tuple[str, Cost, Count]], largest: int) -> Table:
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


def _compare_with_printed(meter: CostMeter) -> tuple[Table, list[dict[str, object]]]:
    rows, data = [], []
    for item in COMPARISONS:
        found = meter.fit_cost(
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


def _tabulate_printed_only() -> Table:
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
        '003 table 1 are grouped in another way in our code; for 001 table 5 see concurrency.',
    )


def trace_inverse_dynamics(robot: Robot) -> Program:
    """Return the inverse dynamics that runs for a robot, traced."""
    mechanism = build_mechanism(robot, DEFAULT_TOLERANCE)
    return trace(
        'inverse_dynamics',
        tuple((name, robot.n) for name in ('q', 'qd', 'qdd')),
        (robot.n,),
        lambda q, qd, qdd: newton_euler(mechanism, q, qd, qdd, gravity=(0.0, 0.0, -9.80665)),
    )


def _count_traced() -> tuple[Table, dict[str, list[int]], list[str]]:
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
        count = trace_inverse_dynamics(robot).count()
        rows.append((name, str(count.multiplications), str(count.additions), str(count.functions)))
        data[name] = [count.multiplications, count.additions, count.functions]
    table = Table(
        'What runs: the recursion traced for one robot',
        ('robot', 'multiplications', 'additions', 'sines and cosines'),
        rows,
        ' '.join(['Puma 560 with rotor inertia and friction.', *missing]),
    )
    return table, data, missing
