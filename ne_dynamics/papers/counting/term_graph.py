"""The terms of a published form as a graph of tasks, found by running the form.

A scalar remembers the task that made it. What a form computes between two announcements of a term
(:mod:`ne_dynamics.papers.forms.bookkeeping`) is one task; it waits for the tasks that made its
operands. So neither costs nor arrows are written down by hand.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Union

from ne_dynamics.papers.counting.task_graph import GraphTask, TaskGraph
from ne_dynamics.papers.forms.arm import Arm
from ne_dynamics.papers.forms.bookkeeping import Bookkeeping
from ne_dynamics.papers.forms.formulation import Formulation

Operand = Union['Recorded', float]


class TermRecorder:
    """Collects tasks while a form runs on scalars of :meth:`number`.

    Counting is naive: products with a stored 0 or 1 count, as the authors count them.
    """

    def __init__(self) -> None:
        self._names: list[str] = []
        self._costs: list[list[int]] = []
        self._before: list[set[int]] = []
        self.enter('')

    def enter(self, term: str) -> None:
        """Begin a new task."""
        self._names.append(term)
        self._costs.append([0, 0, 0])
        self._before.append(set())

    def number(self, value: object = None) -> Recorded:
        """Return a scalar that waits for nothing: an input or a stored constant."""
        return Recorded(self, None)

    def operate(self, kind: int, operands: Sequence[Operand]) -> Recorded:
        """Enter one operation (0 product, 1 sum, 2 function) and return its result."""
        task = len(self._names) - 1
        self._costs[task][kind] += 1
        origins = {each.origin for each in operands if isinstance(each, Recorded)}
        self._before[task] |= {origin for origin in origins if origin not in (None, task)}
        return Recorded(self, task)

    def collect(self) -> TaskGraph:
        """Return the tasks that cost something."""
        kept = [index for index, cost in enumerate(self._costs) if any(cost)]
        place = {index: position for position, index in enumerate(kept)}
        tasks = []
        for index in kept:
            products, sums, functions = self._costs[index]
            before = tuple(sorted(place[other] for other in self._before[index]))
            tasks.append(GraphTask(self._names[index], products, sums, functions, before))
        return TaskGraph(tuple(tasks))


class Recorded:
    """A scalar without a value that knows the task it comes from.

    Parameters
    ----------
    recorder : TermRecorder
    origin : int or None
        Index of the task; None for inputs and constants.
    """

    __slots__ = ('origin', 'recorder')

    def __init__(self, recorder: TermRecorder, origin: int | None) -> None:
        self.recorder = recorder
        self.origin = origin

    @property
    def bookkeeping(self) -> Bookkeeping:
        """What a form reports here: every announcement of a term, and its constants."""
        return Bookkeeping(self.recorder.enter, self._keep)

    def _keep(self, value: Operand) -> Recorded:
        return value if isinstance(value, Recorded) else self.recorder.number()

    def __neg__(self) -> Recorded:
        return self

    def __add__(self, other: Operand) -> Recorded:
        return self.recorder.operate(1, (self, other))

    __radd__ = __sub__ = __rsub__ = __add__

    def __mul__(self, other: Operand) -> Recorded:
        return self.recorder.operate(0, (self, other))

    __rmul__ = __truediv__ = __rtruediv__ = __mul__

    def sin(self) -> Recorded:
        """Return the sine."""
        return self.recorder.operate(2, (self,))

    cos = sign = sin


def build_term_graph(form: Formulation, arm: Arm) -> TaskGraph:
    """Return the terms of one inverse dynamics as a graph of tasks."""
    recorder = TermRecorder()
    q, qd, qdd = ([recorder.number() for _ in range(arm.n)] for _ in range(3))
    form.inverse_dynamics(arm, q, qd, qdd, gravity=(0.0, 0.0, -9.8))
    return recorder.collect()
