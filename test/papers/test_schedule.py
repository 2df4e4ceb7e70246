"""Task graphs of one inverse dynamics, their longest chains and their schedules."""

import numpy as np
import pytest

from ne_dynamics.codegen.symbols import OperationCount
from ne_dynamics.errors import InputError
from ne_dynamics.papers.counting.schedule import fewest_processors, lower_bound, schedule_tasks
from ne_dynamics.papers.counting.stages import arrange_table_5
from ne_dynamics.papers.counting.task_graph import (
    GraphTask,
    TaskGraph,
    count_steps,
)
from ne_dynamics.papers.studies import concurrency

SEEDS = range(12)


def random_graph(seed):
    """Return a graph of 1 to 60 tasks of 0 to 9 steps with random arrows."""
    rng = np.random.default_rng([5, seed])
    tasks = []
    for index in range(int(rng.integers(1, 61))):
        before = [i for i in range(index) if rng.random() < 3.0 / (index + 1)]
        cost = (int(value) for value in rng.integers(0, 4, 3))
        tasks.append(GraphTask(f't{index}', OperationCount(*cost), tuple(before)))
    return TaskGraph(tuple(tasks))


def longest_chain(graph):
    """Return the length of the longest chain, found by walking every task's predecessors."""
    ends = {}
    for index, task in enumerate(graph.tasks):
        ends[index] = task.steps + max((ends[other] for other in task.before), default=0)
    return max(ends.values())


def check(schedule):
    """Assert that a schedule can be carried out, from its starts and places alone."""
    tasks = schedule.graph.tasks
    assert len(schedule.starts) == len(schedule.places) == len(tasks)
    work_of_processor = {}
    for task, start, place in zip(tasks, schedule.starts, schedule.places, strict=True):
        assert start >= 0
        assert 0 <= place < schedule.processors
        for other in task.before:
            assert schedule.starts[other] + tasks[other].steps <= start, task.name
        steps = range(start, start + task.steps)
        taken = work_of_processor.setdefault(place, set())
        assert taken.isdisjoint(steps), f'{task.name}: processor {place} does two tasks at once'
        taken.update(steps)
    ends = [start + task.steps for start, task in zip(schedule.starts, tasks, strict=True)]
    assert schedule.steps == max(ends)


def graphs_of_six_joints():
    """Return the graphs that the study schedules, by name."""
    stages = arrange_table_5()
    return {
        'outward stage': stages.outward,
        'inward stage': stages.inward,
        **concurrency.build_graphs(6),
    }


GRAPHS = graphs_of_six_joints()


@pytest.mark.parametrize('processors', [1, 2, 3, 7, 100])
@pytest.mark.parametrize('seed', SEEDS)
def test_schedules_keep_precedence_and_the_number_of_processors(seed, processors):
    """On random graphs no task starts before those that it waits for have ended, no processor
    does two at once, and the length is within Graham's bound of what is possible at all.
    """
    graph = random_graph(seed)
    schedule = schedule_tasks(graph, processors)
    check(schedule)
    bound = lower_bound(graph, processors)
    assert bound <= schedule.steps <= (2.0 - 1.0 / processors) * bound + 1e-9


@pytest.mark.parametrize('graph', [*GRAPHS.values(), *map(random_graph, SEEDS)])
def test_one_processor_takes_the_sum_and_many_take_the_longest_chain(graph):
    """One processor takes the work of all tasks, one for each task the longest chain."""
    assert schedule_tasks(graph, 1).steps == sum(task.steps for task in graph.tasks) == graph.work
    steps = schedule_tasks(graph, len(graph.tasks)).steps
    assert steps == longest_chain(graph) == count_steps(graph.find_critical_path()).total
    fewest = fewest_processors(graph, steps)
    assert schedule_tasks(graph, fewest).steps == steps
    assert fewest == 1 or schedule_tasks(graph, fewest - 1).steps > steps


def test_graphs_and_numbers_that_make_no_sense_are_refused():
    """A task that waits for a later one, no processor, and too few steps are named."""
    with pytest.raises(InputError, match=r"task 'b': expected to wait for tasks before index 0"):
        TaskGraph((GraphTask('b', OperationCount(1), (1,)), GraphTask('a', OperationCount(1), ())))
    graph = TaskGraph(
        (GraphTask('a', OperationCount(1, 2), ()), GraphTask('b', OperationCount(1), (0,)))
    )
    with pytest.raises(InputError, match='processors: expected at least 1, got 0'):
        schedule_tasks(graph, 0)
    with pytest.raises(InputError, match='steps: expected at least the critical path, 4, got 3'):
        fewest_processors(graph, 3)
    with pytest.raises(InputError, match='joints: expected at least 2'):
        concurrency.study(1)
