"""Which processor does which task when: list scheduling by the critical path.

A processor does one operation a step, of any kind, and a task without a break. Handing a result
from one processor to another takes no time, so these schedules bound real ones from below.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass

from ne_dynamics.errors import InputError
from ne_dynamics.papers.counting.task_graph import TaskGraph


@dataclass(frozen=True)
class Schedule:
    """Start and processor of every task of a graph.

    Attributes
    ----------
    graph : TaskGraph
    processors : int
        How many there are.
    starts : tuple of int
        Step before which the task begins, counted from 0.
    places : tuple of int
        Processor of each task, from 0.
    """

    graph: TaskGraph
    processors: int
    starts: tuple[int, ...]
    places: tuple[int, ...]

    @property
    def steps(self) -> int:
        """When the last task ends."""
        ends = (
            start + task.steps for start, task in zip(self.starts, self.graph.tasks, strict=True)
        )
        return max(ends, default=0)


def lower_bound(graph: TaskGraph, processors: int) -> int:
    """Return a number of steps that no schedule on so many processors can go below.

    The critical path, or the work shared out evenly, whichever is longer.
    """
    longest = sum(task.steps for task in graph.find_critical_path())
    return max(longest, -(-graph.work // processors))


def schedule_tasks(graph: TaskGraph, processors: int) -> Schedule:
    """Return a schedule on a number of processors.

    Whenever a processor is free it takes, of the tasks that wait for nothing more, the one with
    the longest chain of work behind it (Hu's rule). Such a schedule is at most ``2 - 1 / k`` times
    as long as the best one on k processors (Graham).

    Parameters
    ----------
    graph : TaskGraph
    processors : int

    Raises
    ------
    InputError
        When there is no processor.
    """
    if processors < 1:
        raise InputError(f'processors: expected at least 1, got {processors}')
    tasks = graph.tasks
    remaining, after = graph.remaining_steps(), graph.list_followers()
    waits = [len(task.before) for task in tasks]
    ready = [(-remaining[index], index) for index, count in enumerate(waits) if count == 0]
    heapq.heapify(ready)
    free = list(range(min(processors, max(1, len(tasks)))))
    running: list[tuple[int, int]] = []
    starts, places = [0] * len(tasks), [0] * len(tasks)
    now = 0
    while ready or running:
        while ready and free:
            _, index = heapq.heappop(ready)
            starts[index], places[index] = now, heapq.heappop(free)
            heapq.heappush(running, (now + tasks[index].steps, index))
        now = running[0][0]
        while running and running[0][0] == now:
            _, index = heapq.heappop(running)
            heapq.heappush(free, places[index])
            for follower in after[index]:
                waits[follower] -= 1
                if waits[follower] == 0:
                    heapq.heappush(ready, (-remaining[follower], follower))
    return Schedule(graph, processors, tuple(starts), tuple(places))


def fewest_processors(graph: TaskGraph, steps: int) -> int:
    """Return the smallest number of processors whose schedule takes no more than so many steps.

    Raises
    ------
    InputError
        When the critical path is longer.
    """
    longest = lower_bound(graph, len(graph.tasks) or 1)
    if steps < longest:
        raise InputError(f'steps: expected at least the critical path, {longest}, got {steps}')
    processors = max(1, -(-graph.work // max(1, steps)))  # fewer cannot do the work in time
    while schedule_tasks(graph, processors).steps > steps:
        processors += 1
    return processors
