"""What processors side by side would take of one inverse dynamics: 001 section 6, table 5."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, astuple
from typing import NamedTuple

from ne_dynamics.codegen.program import trace
from ne_dynamics.codegen.symbols import OperationCount
from ne_dynamics.errors import InputError
from ne_dynamics.papers import robots
from ne_dynamics.papers.counting.counting_arm import make_counting_arm
from ne_dynamics.papers.counting.counting_scalars import count_operations
from ne_dynamics.papers.counting.printed_tables import TABLES, TOTAL
from ne_dynamics.papers.counting.schedule import fewest_processors, lower_bound, schedule_tasks
from ne_dynamics.papers.counting.stages import Arrangement, arrange_table_5
from ne_dynamics.papers.counting.task_graph import TaskGraph, build_operation_graph, count_steps
from ne_dynamics.papers.forms import FORMULATIONS
from ne_dynamics.papers.studies.counts import list_robots, trace_inverse_dynamics
from ne_dynamics.papers.studies.report import ReportTable, StudyReport

NAME = 'concurrency'
PROCESSORS = (1, 2, 3, 4, 5, 6, 8, 10, 12, 14, 16, 20, 24, 32)
FORM = 'modified_newton_euler'
COMPARED = ('lagrange_euler', 'luh_walker_paul', FORM)
"""The forms of 001, of which it says that the last leaves more to do side by side."""
IN_STAGES = '001 table 5, in its stages'


class Curve(NamedTuple):
    """Steps against the number of processors.

    Attributes
    ----------
    label : str
    steps, bounds : list of int
        For each of :data:`PROCESSORS`; the bound is what no schedule on so many can go below.
    """

    label: str
    steps: list[int]
    bounds: list[int]


def build_graphs(n: int) -> dict[str, TaskGraph]:
    """Return the work of one inverse dynamics of a general arm, by what the tables call it.

    The form is the modified Newton-Euler form: its terms as the code runs, with axial moments, and
    with general tensors its operations, of which products with 0 and 1 are left out. The recursion
    is the one that runs in this package.
    """
    return {
        'terms of the form, by what they wait for': build_terms(FORM, n),
        'operations of the form': build_operations(FORM, n),
        'operations of the traced recursion': build_operation_graph(
            trace_inverse_dynamics(robots.chain(n))
        ),
    }


def build_terms(name: str, n: int) -> TaskGraph:
    """Return the terms of a form for a general revolute arm, with axial moments."""
    form = FORMULATIONS[name]
    arm = make_counting_arm(form.covers, n, principal_axes=True)
    return count_operations(form.inverse_dynamics, arm).build_graph()


def build_operations(name: str, n: int) -> TaskGraph:
    """Return the operations of a form for a general revolute arm, with general tensors."""
    form = FORMULATIONS[name]
    arm = make_counting_arm(form.covers, n)
    traced = trace(
        name,
        tuple((argument, n) for argument in ('q', 'qd', 'qdd')),
        (n,),
        lambda q, qd, qdd: form.inverse_dynamics(arm, q, qd, qdd, gravity=(0.0, 0.0, -9.8)),
    )
    return build_operation_graph(traced)


def study(n: int = 6) -> tuple[StudyReport, tuple[Curve, ...]]:
    """Schedule one inverse dynamics on 1 to 32 processors, and without limit.

    Parameters
    ----------
    n : int
        Joints of the general revolute arm, at least 2: table 5 begins with two links.

    Returns
    -------
    report : StudyReport
    curves : tuple of Curve
        Table 5, the form's operations, and ours.

    Raises
    ------
    InputError
        When there are fewer joints.
    """
    if n < 2:
        raise InputError(f'joints: expected at least 2, as 001 table 5 has, got {n}')
    arrangement, graphs = arrange_table_5(), build_graphs(n)
    curves = (
        _curve_of_arrangement(arrangement, n),
        *(_curve(label, graph) for label, graph in graphs.items()),
    )
    summary, summary_data = _summarise(arrangement, graphs, n)
    forms_table, forms_data = _compare_forms(n)
    robots_table, robots_data = _compare_robots()
    report = StudyReport(
        NAME,
        (summary, _tabulate_steps(curves, n), forms_table, robots_table),
        {
            'n': n,
            'summary': summary_data,
            'steps': {
                curve.label: [[k, steps] for k, steps in zip(PROCESSORS, curve.steps, strict=True)]
                for curve in curves
            },
            'forms': forms_data,
            'robots': robots_data,
        },
    )
    return report, curves


COLUMNS = (
    'operations',
    'on the longest chain',
    'steps',
    'at best times as fast',
    'processors for that',
)


class _Entry(NamedTuple):
    """What is told of a graph of tasks.

    Attributes
    ----------
    label : str
    work : int
        Operations.
    path : OperationCount
        Of the longest chain.
    fewest : int
        Processors that are as fast as any number of them.
    """

    label: str
    work: int
    path: OperationCount
    fewest: int

    @classmethod
    def of_graph(cls, label: str, graph: TaskGraph) -> _Entry:
        """Return the entry of a graph."""
        path = count_steps(graph.find_critical_path())
        return cls(label, graph.work, path, fewest_processors(graph, path.total))

    @property
    def speedup(self) -> float:
        """How many times as fast as one processor any number of them can be."""
        return self.work / self.path.total

    @property
    def cells(self) -> tuple[str, ...]:
        """The texts for `COLUMNS`."""
        words = self.work, self.path, self.path.total, f'{self.speedup:.3g}', self.fewest
        return tuple(map(str, words))

    @property
    def data(self) -> dict[str, object]:
        """The same as numbers."""
        return {
            'operations': self.work,
            'critical_path': [*astuple(self.path)],
            'ideal_speedup': self.speedup,
            'processors': self.fewest,
        }


def _curve(label: str, graph: TaskGraph) -> Curve:
    return Curve(
        label,
        [schedule_tasks(graph, k).steps for k in PROCESSORS],
        [lower_bound(graph, k) for k in PROCESSORS],
    )


def _curve_of_arrangement(arrangement: Arrangement, n: int) -> Curve:
    stages = arrangement.outward, arrangement.inward
    return Curve(
        IN_STAGES,
        [arrangement.schedule_steps(n, k) for k in PROCESSORS],
        [
            arrangement.leading.work + n * sum(lower_bound(stage, k) for stage in stages)
            for k in PROCESSORS
        ],
    )


def _summarise(
    arrangement: Arrangement, graphs: Mapping[str, TaskGraph], n: int
) -> tuple[ReportTable, list[dict[str, object]]]:
    whole = TABLES['001 table 4'][TOTAL].for_joints(n)
    chain = arrangement.count_longest_chain(n)
    outward, inward = arrangement.fewest_processors()
    entries = [
        _Entry(IN_STAGES, whole.arithmetic, chain, max(outward, inward)),
        *(_Entry.of_graph(label, graph) for label, graph in graphs.items()),
    ]
    printed = TABLES['001 table 5'][TOTAL]
    return (
        ReportTable(
            f'One inverse dynamics of a general arm of {n} joints, side by side',
            ('tasks', *COLUMNS),
            [(entry.label, *entry.cells) for entry in entries],
            f'Printed in 001 table 5: {printed}, here {printed.for_joints(n)}; its stages come '
            f'out at {chain}, on {max(outward, inward)} processors. A step is one '
            'operation of a processor, of any kind. The chain in multiplications; additions; its '
            'steps hold the sine or cosine, too, where it begins with one. Operations of table 5: '
            'the total of table 4. Terms: axial moments as in 001, each term one task. '
            'Operations: full tensors, each operation one task, products with 0 and 1 left out, '
            'equal ones done once, sums in the order in which they are written.',
        ),
        [{'graph': entry.label, **entry.data} for entry in entries],
    )


def _compare_forms(n: int) -> tuple[ReportTable, list[dict[str, object]]]:
    rows, data = [], []
    for tasks, build in (('terms', build_terms), ('operations', build_operations)):
        for name in COMPARED:
            entry = _Entry.of_graph(name, build(name, n))
            rows.append((name, tasks, *entry.cells))
            data.append({'form': name, 'tasks': tasks, **entry.data})
    table = ReportTable(
        f'The forms of 001, {n} joints, side by side',
        ('form', 'tasks', *COLUMNS),
        rows,
        '001 has it that the modified form lets more be done side by side than the other two. '
        'Terms and operations as above; only the modified form takes axial moments as such.',
        in_document=False,
    )
    return table, data


def _tabulate_steps(curves: Sequence[Curve], n: int) -> ReportTable:
    rows = [
        (str(k), *(f'{curve.steps[place]} ({curve.bounds[place]})' for curve in curves))
        for place, k in enumerate(PROCESSORS)
    ]
    return ReportTable(
        f'Steps on k processors, {n} joints',
        ('k', *(curve.label for curve in curves)),
        rows,
        'List scheduling, the longest chain first. In brackets what no schedule can go below: '
        'the work shared out evenly, or the longest chain. Handing a result over takes no time. '
        'Table 5 counts all stages alike, with terms of links that an arm does not have: on one '
        'processor that is more than table 4.',
        in_document=False,
    )


def _compare_robots() -> tuple[ReportTable, dict[str, dict[str, float]]]:
    printed = TABLES['001 table 5'][TOTAL]
    rows, data = [], {}
    for name, robot in list_robots(1, 2, 3, 6, 12):
        entry = _Entry.of_graph(name, build_operation_graph(trace_inverse_dynamics(robot)))
        counts = printed.for_joints(robot.n), entry.path, entry.path.total
        rows.append((name, *map(str, counts), f'{entry.speedup:.1f}', str(entry.fewest)))
        data[name] = {**asdict(entry.path), 'operations_per_step': entry.speedup}
    table = ReportTable(
        'The longest chain of the traced recursion, by robot',
        ('robot', '001 table 5', 'ours', 'all steps', 'operations a step', 'processors for that'),
        rows,
        'Multiplications; additions. Operations a step: how many processors the chain would keep '
        'busy on average.',
        in_document=False,
    )
    return table, data
