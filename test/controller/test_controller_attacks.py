"""References that stop, hop and come back, at places and times where much depends on it."""

import numpy as np
from controller_arm import ZERO, N, Q
from controller_bench import ControllerBench

LIMIT = 2.8
"""Of the third joint [rad]; it may have 3.1 rad/s."""


def move(dynamics, q, qd, effort, period=0.002, parts=4):
    """Return the state of the arm after a period under an effort."""
    step = period / parts
    for _ in range(parts):
        bias = dynamics.inverse_dynamics(q, qd, ZERO)
        acceleration = np.linalg.solve(dynamics.mass_matrix(q), effort - bias)
        q, qd = q + step * (qd + 0.5 * step * acceleration), qd + step * acceleration
    return q, qd


def test_an_arm_whose_reference_stops_changing_does_not_pass_its_position_limit(program, dynamics):
    """In the middle of what would have ended just there, long before `reference_timeout`."""
    only = np.where(np.arange(N) == 2, 1.0, 0.0)
    speed, slower = 3.1 * only, -31.0 * only
    q, qd = np.where(only > 0.0, LIMIT - 0.155, Q), speed
    with ControllerBench(program, N, transition_time=0.0, state_effort='ignore') as bench:
        bench.states(q, qd)
        assert bench.activate()
        command = bench.follow(q, qd, slower)
        farthest = -np.inf
        for _ in range(150):
            q, qd = move(dynamics, q, qd, command)
            farthest = max(farthest, q[2])
            bench.states(q, qd)
            assert bench.update()
            command = bench.commands
        (line,) = bench.log
    assert farthest < LIMIT + 0.005
    assert line == "reference moves, but does not change: the arm is held (joint 'joint_3')"


def test_a_slow_controller_in_front_may_come_to_a_position_limit(program, dynamics):
    """At 50 Hz, with a quintic that ends at the limit: its references are no old ones."""
    with ControllerBench(program, N, transition_time=0.0, state_effort='ignore') as bench:
        q, qd = np.where(np.arange(N) == 2, LIMIT - 1.0, Q), ZERO
        start = q
        bench.states(q, qd)
        assert bench.activate()
        bench.references(q)
        for index in range(800):
            if index % 10 == 0:
                s = min(index * 0.002 / 1.2, 1.0)
                way = 10.0 * s**3 - 15.0 * s**4 + 6.0 * s**5
                rate = (30.0 * s**2 - 60.0 * s**3 + 30.0 * s**4) / 1.2
                bend = (60.0 * s - 180.0 * s**2 + 120.0 * s**3) / 1.2**2
                only = np.where(np.arange(N) == 2, 1.0, 0.0)
                bench.references(start + way * only, rate * only, bend * only)
            assert bench.update()
            q, qd = move(dynamics, q, qd, bench.commands)
            bench.states(q, qd)
        assert bench.log == []


def test_a_reference_that_jumped_does_not_come_within_reach_by_waiting(bench, dynamics):
    """However long it stays there with its velocity: it would have to come to where the arm is."""
    for index in range(200):
        bench.follow(Q + 1e-12 * (index % 2))
    bench.references(Q + 0.1, np.full(N, 2.0))
    for _ in range(300):
        assert bench.update()
        np.testing.assert_allclose(bench.commands, dynamics.gravity_torque(Q), atol=1e-9)
    (line,) = bench.log
    assert line.startswith('reference jumps')


def test_a_reference_that_begins_where_the_arm_stands_is_followed(bench, dynamics):
    """An arm in somebody's way, or with friction that the model lacks, is held somewhere else."""
    bench.references(np.full(N, np.nan))
    there = Q + 0.1
    bench.states(there, ZERO, ZERO)
    assert bench.update()
    assert len(bench.log) == 1
    for _ in range(400):
        found = bench.follow(there)
    assert bench.log == []
    np.testing.assert_allclose(found, dynamics.gravity_torque(there), atol=1e-9)


def test_a_reference_at_rest_does_not_take_the_brake_from_an_arm_at_speed(program, dynamics):
    """One that begins where the arm is on its way to a position limit waits until it rests."""
    only = np.where(np.arange(N) == 2, 1.0, 0.0)
    q, qd = np.where(only > 0.0, LIMIT - 0.155, Q), 3.1 * only
    with ControllerBench(program, N, transition_time=0.0, state_effort='ignore') as bench:
        bench.states(q, qd)
        assert bench.activate()
        command = bench.follow(q, qd, -31.0 * only)
        assert bench.set({'transition_time': 0.2}) == ''
        bench.references(np.full(N, np.nan))
        farthest = -np.inf
        for index in range(300):
            q, qd = move(dynamics, q, qd, command)
            farthest = max(farthest, q[2])
            bench.states(q, qd)
            if index == 10:
                bench.references(q)
            if index == 200:
                assert bench.log[-1].startswith('reference jumps')
                bench.references(q)
            assert bench.update()
            command = bench.commands
        assert bench.log == []
    assert farthest < LIMIT + 0.001
