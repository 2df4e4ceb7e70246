"""What each formulation costs, measured, beside what the documents print."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ne_dynamics.algorithms.mechanism import DEFAULT_TOLERANCE, build_mechanism
from ne_dynamics.algorithms.newton_euler import newton_euler
from ne_dynamics.codegen.program import Program, trace
from ne_dynamics.codegen.symbols import OperationCount
from ne_dynamics.errors import MissingDependencyError
from ne_dynamics.model.robot import Robot
from ne_dynamics.papers import robots
from ne_dynamics.papers.counting.claims import JOINTS, list_claims
from ne_dynamics.papers.counting.costs import FITTED_FROM, Cost
from ne_dynamics.papers.counting.every_row import EVERY_ROW
from ne_dynamics.papers.counting.explained_rows import DERIVED, IMPOSSIBLE, MEASURED
from ne_dynamics.papers.counting.measured_costs import CostMeter, CountSetting
from ne_dynamics.papers.counting.printed_tables import REMARKS, TABLES
from ne_dynamics.papers.counting.sources import add_costs
from ne_dynamics.papers.forms import FORMULATIONS
from ne_dynamics.papers.studies.report import Progress, ReportTable, StudyReport, ignore_progress

NAME = 'counts'
LONGEST = 12
"""Joints of the longest arm whose operations are counted."""

LEAST_PRINTED = 'Li & Sankar (1992), Lagrange'
"""The row of 004 table 7.3 that takes fewest operations for six joints."""


def study(largest: int = LONGEST, progress: Progress = ignore_progress) -> StudyReport:
    """Measure every formulation for 1 to `largest` joints and compare with what is printed.

    Parameters
    ----------
    largest : int
        At least 7, so that the fit of the order n^4 form is checked.
    progress : Progress
    """
    meter = CostMeter(largest)
    steps = len(FORMULATIONS) + 2
    measured = []
    for index, name in enumerate(FORMULATIONS):
        measured.append(
            (
                name,
                meter.fit_cost(CountSetting(name)),
                meter.count(name, JOINTS, skip_trivial=True),
            )
        )
        progress(index + 1, steps)
    printed, printed_data = _explain_printed(meter)
    claims = list_claims(meter)
    progress(steps - 1, steps)
    traced, traced_data, missing = _count_traced(meter)
    progress(steps, steps)
    tables = (
        _tabulate_totals(measured, largest),
        *printed,
        ReportTable(
            'What the documents say in numbers besides',
            ('where', 'claim', 'how it follows', 'ours'),
            claims,
            in_document=False,
        ),
        traced,
    )
    data = {
        'n': largest,
        'formulations': {
            name: _as_data(meter, name, cost, skipped, largest) for name, cost, skipped in measured
        },
        'printed': printed_data,
        'claims': [claim._asdict() for claim in claims],
        'traced': traced_data,
        'missing': missing,
    }
    return StudyReport(NAME, tables, data)


def _as_data(
    meter: CostMeter, name: str, cost: Cost, skipped: OperationCount, largest: int
) -> dict[str, object]:
    return {
        'multiplications': str(cost.multiplications),
        'additions': str(cost.additions),
        'skipping_zeros_and_ones': {f'n={JOINTS}': [skipped.multiplications, skipped.additions]},
        'measured': [
            [n, meter.count(name, n).multiplications, meter.count(name, n).additions]
            for n in range(1, largest + 1)
        ],
    }


def _tabulate_totals(
    measured: Sequence[tuple[str, Cost, OperationCount]], largest: int
) -> ReportTable:
    return ReportTable(
        'Measured cost of one inverse dynamics, general revolute arm of n joints',
        (
            'formulation',
            'multiplications',
            'additions',
            f'n = {JOINTS}',
            'skipping 0 and 1',
        ),
        [
            (
                name,
                str(cost.multiplications),
                str(cost.additions),
                str(cost.for_joints(JOINTS)),
                str(skipped),
            )
            for name, cost, skipped in measured
        ],
        f'Counted for n = 1 to {largest}; each formula meets every count from '
        f'n = {FITTED_FROM} on exactly. The last columns are multiplications; additions for '
        f'n = {JOINTS}. Counted as the authors do, products with a stored 0 or 1 '
        'count; the last column leaves them out. No friction, no tip wrench, full inertia tensors '
        'where the form knows them.',
    )


def _explain_printed(meter: CostMeter) -> tuple[list[ReportTable], list[dict[str, object]]]:
    """Return the printed rows by where they come from, and the same as data."""
    lines: dict[str, list[Sequence[str]]] = {MEASURED: [], DERIVED: [], IMPOSSIBLE: []}
    data: list[dict[str, object]] = []
    for item in EVERY_ROW:
        printed = TABLES[item.table][item.row]
        ours = add_costs(item.ours, meter) if item.ours else None
        how = ' + '.join(source.text for source in item.sources)
        shown = '' if ours is None else str(ours)
        head = item.table, item.row, str(printed)
        lines[item.status].append(
            {
                MEASURED: (*head, how),
                DERIVED: (*head, how, shown, item.why),
                IMPOSSIBLE: (*head, shown, item.why),
            }[item.status]
        )
        data.append(
            {
                'table': item.table,
                'row': item.row,
                'printed': [str(formula) for formula in printed],
                'status': item.status,
                'from': how,
                'ours': None if ours is None else [str(formula) for formula in ours],
                'why': item.why,
            }
        )
    return [_tabulate_statuses(), *_tabulate_printed(lines)], data


def _tabulate_printed(lines: Mapping[str, Sequence[Sequence[str]]]) -> list[ReportTable]:
    """Return the tables of printed rows, by their status."""
    return [
        ReportTable(
            'Printed rows that the code, run, meets',
            ('table', 'row', 'printed', 'measured as'),
            lines[MEASURED],
            in_document=False,
        ),
        ReportTable(
            'Printed rows that follow from the number of times each operation is done',
            ('table', 'row', 'printed', 'follows from', 'ours', 'what the print means'),
            lines[DERIVED],
            'Elementary operations with what one of them takes, measured. Ours: what the same '
            'work takes in the code, where that is another number.',
            in_document=False,
        ),
        ReportTable(
            'Printed rows that nothing here gives',
            ('table', 'row', 'printed', 'ours', 'why'),
            lines[IMPOSSIBLE],
            in_document=False,
        ),
    ]


def _tabulate_statuses() -> ReportTable:
    """Return how many rows of each printed table are measured, derived, impossible."""
    rows = []
    for table in (*TABLES, 'all'):
        found = [item.status for item in EVERY_ROW if table in (item.table, 'all')]
        rows.append(
            (table, *(str(found.count(status)) for status in (MEASURED, DERIVED, IMPOSSIBLE)))
        )
    return ReportTable(
        'Where the printed rows come from',
        ('table', 'measured', 'derived', 'not to be had'),
        rows,
        'Printed and measured counts are multiplications; additions. '
        + ' '.join(f'{name}: {remark}.' for name, remark in REMARKS.items()),
        in_document=False,
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


def list_robots(*lengths: int) -> list[tuple[str, Robot]]:
    """Return general arms of these numbers of joints, and the Puma 560, by name."""
    return [
        *((f'general, {n} joint{"s" if n > 1 else ""}', robots.chain(n)) for n in lengths),
        ('Puma 560', robots.puma560().robot),
    ]


def find_cheapest(meter: CostMeter, n: int) -> tuple[str, OperationCount]:
    """Return the form that takes fewest operations for n joints, and what it takes."""
    counts = {name: meter.count(name, n) for name in FORMULATIONS}
    return min(counts.items(), key=lambda item: item[1].arithmetic)


def _saved(count: OperationCount, traced: OperationCount) -> str:
    """Return how much less the traced equations take than so many operations."""
    return f'{100 * (1 - traced.arithmetic / count.arithmetic):.0f} %'


def _count_traced(meter: CostMeter) -> tuple[ReportTable, dict[str, list[int]], list[str]]:
    cases = list_robots(1, 2, 3, 6, 7, LONGEST)
    missing = []
    try:
        cases.append(('UR5', robots.ur5().robot))
    except MissingDependencyError as error:
        missing.append(f'UR5 is left out: {error}')
    least = TABLES['004 table 7.3'][LEAST_PRINTED]
    rows, data = [], {}
    for name, robot in cases:
        count = trace_inverse_dynamics(robot).count()
        form, cheapest = find_cheapest(meter, robot.n)
        rows.append(
            (
                name,
                str(count.multiplications),
                str(count.additions),
                str(count.functions),
                f'{_saved(cheapest, count)} ({form})',
                _saved(least.for_joints(robot.n), count),
            )
        )
        data[name] = [count.multiplications, count.additions, count.functions]
    table = ReportTable(
        'What runs: the recursion traced for one robot',
        (
            'robot',
            'multiplications',
            'additions',
            'sines and cosines',
            'less than the cheapest form above',
            f'less than {LEAST_PRINTED}, printed',
        ),
        rows,
        'The last columns compare multiplications and additions together with the general counts '
        'for as many joints. Puma 560 with rotor inertia and friction.'
        + ''.join(f' {line}' for line in missing),
    )
    return table, data, missing
