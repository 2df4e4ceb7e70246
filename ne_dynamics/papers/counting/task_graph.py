"""Work as a graph of tasks: what each one costs, and which ones it waits for.

A task of one operation is a node of traced equations; a task of several is a term of a published
form, done by one processor from its first operation to its last.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ne_dynamics.codegen.program import Program
from ne_dynamics.codegen.symbols import OperationCount
from ne_dynamics.errors import InputError


class GraphTask(NamedTuple):
    """One piece of work.

    Attributes
    ----------
    name : str
    cost : OperationCount
        Divisions are multiplications, differences additions.
    before : tuple of int
        Indices of the tasks that must have ended before it starts.
    """

    name: str
    cost: OperationCount
    before: tuple[int, ...]

    @property
    def steps(self) -> int:
        """How long one processor takes, an operation a step."""
        return self.cost.total


@dataclass(frozen=True)
class TaskGraph:
    """Tasks in an order in which those that are waited for come first.

    Attributes
    ----------
    tasks : tuple of GraphTask

    Raises
    ------
    InputError
        When a task waits for itself or for a later one.
    """

    tasks: tuple[GraphTask, ...]

    def __post_init__(self) -> None:
        for index, task in enumerate(self.tasks):
            for other in task.before:
                if not 0 <= other < index:
                    raise InputError(
                        f'task {task.name!r}: expected to wait for tasks before index {index}, '
                        f'got {other}'
                    )

    @property
    def work(self) -> int:
        """Steps of all tasks together: the time of one processor."""
        return sum(task.steps for task in self.tasks)

    def remaining_steps(self) -> list[int]:
        """Return for each task the longest chain from its start to the end of all work."""
        remaining = [task.steps for task in self.tasks]
        for index in reversed(range(len(self.tasks))):
            for other in self.tasks[index].before:
                remaining[other] = max(
                    remaining[other], self.tasks[other].steps + remaining[index]
                )
        return remaining

    def list_followers(self) -> list[list[int]]:
        """Return for each task the indices of those that wait for it."""
        after: list[list[int]] = [[] for _ in self.tasks]
        for index, task in enumerate(self.tasks):
            for other in task.before:
                after[other].append(index)
        return after

    def find_critical_path(self) -> tuple[GraphTask, ...]:
        """Return the longest chain of tasks each of which waits for the one before.

        Its steps are the time on any number of processors.
        """
        remaining, after = self.remaining_steps(), self.list_followers()
        path: list[GraphTask] = []
        ready: Sequence[int] = [i for i, task in enumerate(self.tasks) if not task.before]
        while ready:
            index = max(ready, key=remaining.__getitem__)
            path.append(self.tasks[index])
            ready = after[index]
        return tuple(path)


def count_steps(tasks: Iterable[GraphTask]) -> OperationCount:
    """Return what tasks take together."""
    return sum((task.cost for task in tasks), OperationCount())


def build_operation_graph(traced: Program) -> TaskGraph:
    """Return traced equations as a graph of tasks of one operation.

    Inputs, constants and changes of sign cost nothing and are no tasks. Sums stay in the order in
    which they are written.
    """
    graph = traced.graph
    tasks: list[GraphTask] = []
    task_of: dict[int, int] = {}
    for index in graph.live(traced.outputs):
        cost = graph.count_nodes([index])
        if cost == OperationCount():
            continue
        before = {task_of[i] for i in graph.arguments(index) if i in task_of}
        task_of[index] = len(tasks)
        tasks.append(GraphTask(f'{graph.nodes[index][0]} {index}', cost, tuple(sorted(before))))
    return TaskGraph(tuple(tasks))
