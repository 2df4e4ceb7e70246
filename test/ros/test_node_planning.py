"""Large trajectories are planned by another process: slow, dead or absent, it costs no state."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from ne_dynamics.ros.thresholds import NODE

pytest.importorskip('rclpy', reason='needs ROS 2 for Python: pip install "ne_dynamics[ros]"')

from held_worker import being_planned, held_up

from ne_dynamics.ros.running.worker_process import PLANNING, WorkerLostError, WorkerProcess

Q = np.array([0.3, -0.6, 1.1, 0.4, -0.5, 0.2])
STILL = np.zeros(6)
COUNT = 2_000
PATIENCE = 120.0


def long_way(bench):
    """Return a trajectory of thousands of points, in 2 s from rest at Q to rest 0.4 further."""
    share, step = np.arange(1, COUNT + 1)[:, np.newaxis] / COUNT, np.full(6, 0.4)
    positions = Q + step * (3.0 * share**2 - 2.0 * share**3)
    velocities = step * 3.0 * (share - share**2)
    return bench.trajectory(*zip(2.0 * share[:, 0], positions, velocities, strict=True))


@pytest.fixture
def holding(bench):
    """Return the bench of a node that holds an arm at Q."""
    bench.start()
    bench.desired(Q)
    return bench


def until_planned(bench) -> None:
    """Serve the node until what it was sent waits for the next state."""
    controller = bench.node.configured.controller
    bench.spin(lambda: controller.motion.plans, 'the plan')


def test_states_are_answered_while_it_is_planned(holding) -> None:
    """However long it takes the arm is held; then the motion begins with the next state."""
    with being_planned(holding, long_way(holding)):
        for _ in range(20):
            np.testing.assert_array_equal(holding.desired(Q), Q)
    until_planned(holding)
    np.testing.assert_allclose(holding.desired(Q), Q, atol=1e-12)
    np.testing.assert_allclose(holding.desired(Q, dt=1.0), Q + 0.2, atol=1e-9)


def test_what_is_planned_is_forgotten_when_the_node_is_deactivated(holding) -> None:
    """Who activates the node again finds the arm held."""
    with being_planned(holding, long_way(holding)):
        assert holding.change_state('deactivate')
        assert holding.change_state('activate')
        holding.desired(Q)
    holding.settle()
    for _ in range(3):
        np.testing.assert_array_equal(holding.desired(Q, dt=0.5), Q)


def test_a_process_that_is_killed_is_replaced(holding) -> None:
    """Another one does what it was asked for; nothing is lost, and states are answered."""
    with being_planned(holding, long_way(holding)) as pid:
        os.kill(pid, 9)
        until_planned(holding)
    assert PLANNING.pid != pid
    holding.desired(Q)
    np.testing.assert_allclose(holding.desired(Q, dt=1.0), Q + 0.2, atol=1e-9)


def test_without_the_process_small_plans_go_on(holding, monkeypatch) -> None:
    """What is large is dropped with the reason, what is small is planned by the node itself."""
    monkeypatch.setattr(sys, 'executable', '/nowhere/python')
    PLANNING.stop()
    holding.send_trajectory(long_way(holding))
    holding.hear('joint_trajectory dropped', 'planning', '/nowhere/python')
    np.testing.assert_array_equal(holding.desired(Q), Q)
    holding.set(trajectory__when_infeasible='slow_down')
    holding.send_trajectory(holding.trajectory((1.0, Q + 0.2, STILL)))
    until_planned(holding)
    holding.desired(Q)
    np.testing.assert_allclose(holding.desired(Q, dt=1.5), Q + 0.2, atol=1e-9)


def test_the_working_directory_is_nobodys_package(make_worker, tmp_path, monkeypatch) -> None:
    """What is called as the package is, in the folder where the node was started, is not it."""
    package = tmp_path / 'ne_dynamics'
    package.mkdir()
    (package / '__init__.py').write_text('raise RuntimeError("not this one")')
    monkeypatch.chdir(tmp_path)
    assert make_worker().submit(divmod, 7, 2).result() == (3, 1)


def test_limits_changed_meanwhile(holding, monkeypatch) -> None:
    """What is planned by parameters that have changed is planned again, by those that count."""
    holding.set(trajectory__when_infeasible='follow')
    monkeypatch.setitem(vars(NODE), 'small_message', 0)
    message = holding.trajectory((2.0, Q + 0.01), (2.02, Q + 0.6), (5.0, Q))
    with being_planned(holding, message):
        holding.set(trajectory__when_infeasible='refuse')
    holding.hear('joint_trajectory dropped', 'expected at most')
    np.testing.assert_array_equal(holding.desired(Q, dt=2.0), Q)


def test_a_stream_is_followed_though_motions_may_be_slowed_down(bench) -> None:
    """What is within the limits is planned at once, a hundred times a second."""
    bench.start(trajectory__when_infeasible='slow_down', interpolation_method='splines')
    measured, errors = bench.desired(Q), []

    def path(since: float) -> np.ndarray:
        return Q + 0.2 * (1.0 - np.cos(since))

    for step in range(70):
        bench.send_trajectory(bench.trajectory((0.02, path(0.01 * step + 0.02))))
        measured = bench.desired(measured, dt=0.01)
        errors.append(np.abs(measured - path(0.01 * step)).max())
    assert max(errors[50:]) < 0.02


def test_an_error_that_cannot_be_unpickled_is_not_the_end(
    make_worker, tmp_path, monkeypatch
) -> None:
    """Those that come after it are done, by another process."""
    (tmp_path / 'two_arguments.py').write_text(
        'class Two(Exception):\n    def __init__(self, first, second):\n'
        '        super().__init__(first)\n\ndef fail():\n    raise Two(1, 2)\n'
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    from two_arguments import fail

    worker = make_worker(longest_work=2.0)
    failing = worker.submit(fail)
    following = worker.submit(divmod, 7, 2)
    assert following.result(20.0) == (3, 1)
    with pytest.raises(WorkerLostError):
        failing.result(1.0)


def test_it_ends_with_the_node_whatever_ends_that() -> None:
    """A node that is killed leaves no process behind, whatever that was doing."""
    code = (
        'from ne_dynamics.ros.running.worker_process import PLANNING\n'
        'import time\n'
        'PLANNING.submit(int).result()\n'
        'PLANNING.submit(time.sleep, 1000.0)\n'
        'print(PLANNING.pid, flush=True)\n'
        'input()\n'
    )
    with subprocess.Popen(
        [sys.executable, '-c', code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as node:
        assert node.stdout is not None
        pid = int(node.stdout.readline())
        os.kill(pid, 0)
        node.kill()
    deadline = time.monotonic() + PATIENCE
    while is_alive(pid):
        assert time.monotonic() < deadline
        time.sleep(0.01)


def is_alive(pid: int) -> bool:
    """Return whether there is such a process that has not ended."""
    try:
        with open(f'/proc/{pid}/stat', encoding='ascii') as file:
            return file.read().rpartition(')')[2].split()[0] != 'Z'
    except FileNotFoundError:
        return False


@pytest.fixture
def make_worker():
    """Return what makes workers, which are ended after the test."""
    workers = []

    def make(**arguments):
        workers.append(WorkerProcess('test', **arguments))
        return workers[-1]

    yield make
    for worker in workers:
        worker.stop()


def test_what_takes_too_long_is_given_up(make_worker) -> None:
    """The process is ended with it, and another one does what comes next; so is what a process
    that stands still was to get: it does not fit into the buffer of a socket.
    """
    worker = make_worker(longest_work=0.2)
    with pytest.raises(WorkerLostError, match=r'no answer in 0\.2 s'):
        worker.submit(time.sleep, 60.0).result()
    assert worker.submit(divmod, 7, 2).result() == (3, 1)
    os.kill(worker.pid, signal.SIGSTOP)
    with pytest.raises(WorkerLostError):
        worker.submit(len, bytes(1_000_000)).result(PATIENCE)


def test_what_is_no_longer_wanted_is_not_begun(make_worker) -> None:
    """One that is cancelled before its turn costs nothing, and those after it are done."""
    worker = make_worker()
    worker.submit(int).result()
    with held_up(worker):
        first, second, third = (worker.submit(divmod, 7, divisor) for divisor in (1, 0, 3))
        assert second.cancel()
    assert first.result() == (7, 0)
    assert third.result() == (2, 1)
    assert second.cancelled()
