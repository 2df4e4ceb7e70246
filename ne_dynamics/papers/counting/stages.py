"""The side-by-side arrangement of 001 table 5, as tasks in stages.

The table lists five terms done one after another, then n outward stages and n inward ones; within
a stage all terms go side by side, and a stage waits for the one before. Costs are those of a link
in table 4. Two rows are taken apart where the table implies it:

- m_i abar_i stands beside a_i, and both need R a_{i-1}. The product is a task of its own,
  counted with a_i as in table 4; m_i abar_i begins with A_i (r_i + rbar_i), which does not need
  it.
- "add n" has 15 additions a link in table 4, an inward stage 12, of which R n_{i+1} takes 6. So 6
  of the 15 follow it, and 9 do not wait for it.

A force is taken one link ahead of its moment, so r_i x R f finds R f ready.
"""

from __future__ import annotations

from dataclasses import dataclass

from ne_dynamics.codegen.symbols import OperationCount
from ne_dynamics.papers.counting.printed_tables import TABLES
from ne_dynamics.papers.counting.schedule import fewest_processors, lower_bound, schedule_tasks
from ne_dynamics.papers.counting.task_graph import GraphTask, TaskGraph, count_steps

LEADING = ('omega_1', 'alpha_1', 'A_1', 'omega_2', 'alpha_2')
"""Rows of table 5 that come one after another before the first stage."""

ROTATION = OperationCount(9, 6)
"""What a matrix times a vector takes."""


@dataclass(frozen=True)
class Arrangement:
    """The stages of table 5.

    Attributes
    ----------
    leading : TaskGraph
        Done one after another.
    outward, inward : TaskGraph
        One stage each; there are n of both.
    """

    leading: TaskGraph
    outward: TaskGraph
    inward: TaskGraph

    def count_longest_chain(self, n: int) -> OperationCount:
        """Return what the longest chain takes, for n joints."""
        stages = self.leading, *n * (self.outward, self.inward)
        return count_steps(task for stage in stages for task in stage.find_critical_path())

    def schedule_steps(self, n: int, processors: int) -> int:
        """Return the steps for n joints on a number of processors, every stage scheduled."""
        leading, outward, inward = (
            schedule_tasks(stage, processors).steps
            for stage in (self.leading, self.outward, self.inward)
        )
        return leading + n * (outward + inward)

    def fewest_processors(self) -> tuple[int, int]:
        """Return how many processors an outward and an inward stage take to be no longer."""
        outward, inward = (
            fewest_processors(stage, lower_bound(stage, len(stage.tasks)))
            for stage in (self.outward, self.inward)
        )
        return outward, inward


def arrange_table_5() -> Arrangement:
    """Return the arrangement with the costs that 001 prints."""
    leading = [
        _task(name, TABLES['001 table 5'][name].for_joints(1), *([index - 1] if index else []))
        for index, name in enumerate(LEADING)
    ]
    return Arrangement(TaskGraph(tuple(leading)), _outward_stage(), _inward_stage())


def _task(name: str, cost: OperationCount, *before: int) -> GraphTask:
    return GraphTask(name, cost, before)


def _cost_of_link(name: str) -> OperationCount:
    """Return what one more link adds to a row of table 4."""
    printed = TABLES['001 table 4'][name]
    return printed.for_joints(2) - printed.for_joints(1)


def _outward_stage() -> TaskGraph:
    return TaskGraph(
        (
            _task('R a_{i-1}', ROTATION),
            _task('a_i', _cost_of_link('a_i') - ROTATION, 0),
            _task('A_i (r_i + rbar_i)', ROTATION),
            _task('m_i abar_i', _cost_of_link('m_i abar_i') - ROTATION, 0, 2),
            _task('omega_{i+2}', _cost_of_link('omega_i')),
            _task('alpha_{i+2}', _cost_of_link('alpha_i')),
            _task('A_{i+1}', _cost_of_link('A_i')),
            _task('Tr{A_i K_i sigma^t}', _cost_of_link('Tr{A_i K_i sigma^t}')),
            _task('m (r + rbar) x abar, i-1', _cost_of_link('m (r_i + rbar_i) x abar_i')),
        )
    )


def _inward_stage() -> TaskGraph:
    after_rotation = OperationCount(0, 6)
    return TaskGraph(
        (
            _task('R n_{i+1}', _cost_of_link('R n')),
            _task('f_{i-1}', _cost_of_link('f_i')),
            _task('r_i x R f', _cost_of_link('r_i x R f')),
            _task('add n, the rest', _cost_of_link('add n') - after_rotation),
            _task('add n, after R n', after_rotation, 0, 2, 3),
        )
    )
