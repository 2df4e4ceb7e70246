"""Threads share large batches where that is faster, and only there."""

import math

import numpy as np
import pytest

import ne_dynamics as ned
from ne_dynamics.codegen.llvm import thread_pool
from ne_dynamics.codegen.llvm.thread_pool import Sharing
from ne_dynamics.shipped import shipped_file

LEAST, SAMPLES = 100, 10_000


class Machine:
    """A clock that computations move: a row takes one unit alone, and `together` with others."""

    def __init__(self, together):
        self.now = 0.0
        self.together = together
        self.is_shared = False
        self.calls = 0
        self.rows = []

    def run(self, start, stop):
        self.rows += range(start, stop)
        self.now += (stop - start) * (self.together if self.is_shared else 1.0)
        return True

    def run_together(self, work, threads):
        self.calls += 1
        self.is_shared = True
        result = work()
        self.is_shared = False
        return result


@pytest.fixture
def use(monkeypatch):
    """Return what puts a machine, whose threads start in one unit, in the place of this one."""

    def put(together):
        machine = Machine(together)
        monkeypatch.setattr(thread_pool.time, 'perf_counter', lambda: machine.now)
        monkeypatch.setattr(thread_pool, 'run_together', machine.run_together)
        monkeypatch.setattr(thread_pool, 'measure_delay', lambda threads: 1.0)
        return machine

    return put


@pytest.mark.parametrize(
    ('together', 'are_used'), [(0.5, True), (0.8, True), (0.9, False), (1.25, False)]
)
def test_threads_are_used_where_they_pay(together, are_used, use):
    """Threads that gain too little, as on siblings of one core, are given up."""
    machine = use(together)
    most_rows = np.array([float(LEAST)])
    sharing = Sharing(most_rows, LEAST)
    for _ in range(6):
        machine.rows = []
        assert sharing.run(machine.run, SAMPLES, 2)
        assert sorted(machine.rows) == list(range(SAMPLES))  # each once
    assert machine.calls == (6 if are_used else 3)
    assert math.isinf(most_rows[0]) != are_used


def test_a_row_that_is_refused_refuses_the_batch(use):
    """Whether alone or shared, one bad row makes the answer no."""
    machine = use(0.5)
    for bad in (0, LEAST, SAMPLES - 1):
        sharing = Sharing(np.array([float(LEAST)]), LEAST)

        def run(start, stop, bad=bad):
            return machine.run(start, stop) and not start <= bad < stop

        assert not sharing.run(run, SAMPLES, 2)
    assert machine.calls == 2


@pytest.mark.parametrize(('samples', 'is_shared'), [(4096, False), (4097, True)])
def test_a_batch_for_one_thread_is_not_shared(samples, is_shared, compiler, monkeypatch):
    """Threads take 4096 samples at least: a batch of so many is computed by the caller alone."""
    asked = []

    class Watched(Sharing):
        def run(self, run, samples, threads):
            asked.append((samples, threads))
            return run(0, samples)

    monkeypatch.setattr(thread_pool, 'Sharing', Watched)
    robot = ned.load_urdf(shipped_file('six_axis_arm.urdf'), tip_link='tcp')
    dynamics = ned.Dynamics(robot, threads=2)
    for _ in range(2):
        assert dynamics.gravity_torque(np.zeros((samples, 6))).shape == (samples, 6)
    assert asked == ([(samples, 2)] * 2 if is_shared else [])
