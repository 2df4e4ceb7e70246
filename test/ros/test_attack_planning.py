"""Attack: what is overtaken, worker that cannot answer."""

from __future__ import annotations

import os
import signal
import sys
import time
from concurrent.futures import TimeoutError as FutureTimeout

import numpy as np
import pytest

pytest.importorskip('rclpy')
from held_worker import held_up
from node_bench import SLOW_STATES
sys.path.insert(0, os.path.dirname(__file__))
from test_follow_joint_trajectory import GOAL, STEP, STILL, Q, active, client  # noqa: F401

from ne_dynamics.ros.running.worker_process import PLANNING, WorkerLostError, WorkerProcess


def test_a_topic_trajectory_newer_than_a_goal_counts(bench, active, monkeypatch) -> None:
    """Both are planned beside; the newer one is the topic's."""
    with monkeypatch.context() as patch, held_up(PLANNING):
        patch.setattr('ne_dynamics.ros.follow_joint_trajectory.FEW', 0)
        patch.setattr('ne_dynamics.ros.trajectory_planning.FEW', 0)
        patch.setattr('ne_dynamics.ros.configured_arm.SMALL', 0)
        goal = active.send_accepted((1.0, GOAL))
        bench.trajectories.publish(bench.trajectory((1.0, Q - STEP)))
        bench.spin(lambda: bench.node.configured.planning.is_busy, 'the message')
    bench.settle()
    for _ in range(40):
        end = active.desired(Q, dt=0.1)
        time.sleep(0.01)
        if np.abs(end - Q).max() > 0.02:
            break
    for _ in range(15):
        last = active.desired(end, dt=0.1)
        end = last
    np.testing.assert_allclose(last, Q - STEP, atol=1e-9)


def test_a_goal_newer_than_a_topic_trajectory_counts(bench, active, monkeypatch) -> None:
    with monkeypatch.context() as patch, held_up(PLANNING):
        patch.setattr('ne_dynamics.ros.follow_joint_trajectory.FEW', 0)
        patch.setattr('ne_dynamics.ros.configured_arm.SMALL', 0)
        bench.trajectories.publish(bench.trajectory((1.0, Q - STEP)))
        bench.spin(lambda: bench.node.configured.planning.is_busy, 'the message')
        PLANNING.submit(time.sleep, 1.0)
        goal = active.send_accepted((1.0, GOAL))
    time.sleep(0.5)
    bench.settle()
    active.desired(Q)
    time.sleep(1.0)
    for _ in range(40):
        end = active.desired(Q, dt=0.1)
        time.sleep(0.01)
        if np.abs(end - Q).max() > 0.02:
            break
    for _ in range(15):
        end = active.desired(end, dt=0.1)
    if goal.end.done():
        print('goal ended:', active.result(goal))
    np.testing.assert_allclose(end, GOAL, atol=1e-9)


def test_mode_changed_and_back(bench, active, monkeypatch) -> None:
    """Led by hand meanwhile: what was sent before does not set off."""
    with monkeypatch.context() as patch, held_up(PLANNING):
        patch.setattr('ne_dynamics.ros.configured_arm.SMALL', 0)
        bench.trajectories.publish(bench.trajectory((1.0, Q - STEP)))
        bench.spin(lambda: bench.node.configured.planning.is_busy, 'the message')
        bench.set(mode='gravity_compensation')
        active.desired(Q)
        active.desired(Q + 0.05)
        bench.set(mode='computed_torque')
        active.desired(Q + 0.05)
    bench.settle()
    time.sleep(0.5)
    for _ in range(20):
        end = active.desired(Q + 0.05, dt=0.1)
    np.testing.assert_allclose(end, Q + 0.05, atol=1e-9)


def test_limits_changed_meanwhile(bench, active, monkeypatch) -> None:
    """Refused by what counts now: when_infeasible follow -> refuse while it is planned."""
    bench.set(trajectory__when_infeasible='follow')
    with monkeypatch.context() as patch, held_up(PLANNING):
        patch.setattr('ne_dynamics.ros.configured_arm.SMALL', 0)
        mid = Q + 3 * STEP
        bench.trajectories.publish(bench.trajectory((2.0, Q + 0.01), (2.02, mid), (5.0, Q)))
        bench.spin(lambda: bench.node.configured.planning.is_busy, 'the message')
        bench.set(trajectory__when_infeasible='refuse')
    bench.settle()
    time.sleep(0.5)
    ends = [active.desired(Q, dt=0.1) for _ in range(3)]
    assert np.abs(ends[-1] - Q).max() < 1e-9, bench.said()[-3:]


def test_shadowed_by_the_working_directory(bench, active, tmp_path, monkeypatch) -> None:
    """Another version of the package where the node was started: the node lives on."""
    import shutil

    import ne_dynamics

    shutil.copytree(os.path.dirname(ne_dynamics.__file__), tmp_path / 'ne_dynamics')
    file = tmp_path / 'ne_dynamics/ros/trajectory_planning.py'
    file.write_text(file.read_text().replace('def plan_message', 'def plan_text'))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr('ne_dynamics.ros.configured_arm.SMALL', 0)
    PLANNING.stop()
    time.sleep(0.2)
    bench.trajectories.publish(bench.trajectory((1.0, Q - STEP)))
    try:
        bench.spin(lambda: bench.node.configured.planning.is_busy, 'the message')
        bench.spin(lambda: not bench.node.configured.planning.is_busy, 'the plan')
        active.desired(Q)
    finally:
        PLANNING.stop()


def test_a_stopped_process_is_given_up_whatever_it_was_to_get() -> None:
    worker = WorkerProcess('test', longest_work=0.3)
    worker.submit(int).result()
    pid = worker.pid
    os.kill(pid, signal.SIGSTOP)
    future = worker.submit(len, bytes(1_000_000))
    try:
        with pytest.raises(WorkerLostError):
            future.result(10.0)
    finally:
        os.kill(pid, signal.SIGKILL)


def test_an_error_that_cannot_be_unpickled_is_not_the_end(tmp_path, monkeypatch) -> None:
    (tmp_path / 'two_arguments.py').write_text(
        'class Two(Exception):\n    def __init__(self, first, second):\n'
        '        super().__init__(first)\n\ndef fail():\n    raise Two(1, 2)\n'
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    from two_arguments import fail

    worker = WorkerProcess('test', longest_work=2.0)
    failing = worker.submit(fail)
    following = worker.submit(divmod, 7, 2)
    assert following.result(20.0) == (3, 1)
    with pytest.raises(Exception):
        failing.result(1.0)


def test_a_stream_is_followed_though_motions_may_be_slowed_down(bench) -> None:
    """Positions 100 times a second, for now: each message overtakes the plan of the one before."""
    bench.start(trajectory__when_infeasible='slow_down', interpolation_method='splines')
    bench.answer(bench.joint_state(Q))
    bench.answer(bench.joint_state(Q))

    def path(since: float) -> np.ndarray:
        return Q + 0.2 * (1.0 - np.cos(since))

    rate, base, begin = 100.0, bench.time, time.monotonic()
    state_due = message_due = 0.0
    measured, errors = Q, []
    while (now := time.monotonic() - begin) < 3.0:
        if now >= state_due:
            state_due = now + 0.004
            bench.time = base + now
            bench.joint_states.publish(bench.joint_state(measured, dt=0.0))
            if bench.efforts:
                measured = np.array(bench.efforts[-1].position)
                errors.append(np.abs(measured - path(now)).max())
        if now >= message_due:
            message_due += 1.0 / rate
            message = bench.trajectory((2.0 / rate, path(now + 2.0 / rate)))
            bench.trajectories.publish(message)
        bench.executor.spin_once(timeout_sec=0.0005)
    assert max(errors[len(errors) // 2 :]) < 0.05
