"""What comes on the way of a motion with a pace of its own: in closed loop with MuJoCo."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip('mujoco', reason='MuJoCo is not installed')

from motion_loop import PERIOD
from paced_loop import MODEL, START, PacedLoop, make_task

from ne_dynamics import Dynamics
from ne_dynamics.simulation.altered_robot import with_hung_mass
from ne_dynamics.simulation.mujoco_model import MujocoArm

SEEDS = range(4)
STRONG = np.full(6, 1e4)
NEAR = 5e-3
"""What an arm may be off its path when that is new to the controller, sampling and all [rad]."""

ON_PATH = 2e-3
"""The same where nothing is new [rad]."""

EVERY_MOTION = ['quintic', 'splines', 'linear']


def on_its_way(task, share=0.4, **changes):
    """Return a loop that has followed a task for a share of the time that it takes."""
    loop = PacedLoop(task, **changes)
    plan = loop.controller.motion.follow(task.waypoints)
    loop.run(share * (plan.duration or task.duration))
    return loop


def goes_on(loop, seconds=8.0, speed=1e-3):
    """Return what is recorded of the whole way, once the arm has arrived."""
    for _ in range(round(seconds / PERIOD)):
        loop.step()
        if np.abs(loop.arm.position - loop.task.path.points[-1]).max() < speed:
            break
    loop.run(0.1)
    return loop.recording()


def keeps_to_its_path(loop, found) -> None:
    """Require that the arm stays on its path and arrives, with no motor at its limit for long."""
    assert loop.off_path(found).max() <= NEAR
    assert loop.longest_saturation(found) <= 0.01
    assert np.abs(found.position[-1] - loop.task.path.points[-1]).max() < 1e-3


# ---- the model, and what it feels


@pytest.mark.parametrize('seed', SEEDS)
def test_a_payload_that_is_set_slows_the_rest_of_the_path(seed) -> None:
    loaded = with_hung_mass(MODEL, 2.0, np.zeros(3))
    task = make_task('quintic', seed)
    held = np.abs(Dynamics(loaded, backend='python').gravity_torque(task.path.points[::50]))
    task = task._replace(limits=np.maximum(task.limits, 1.2 * held.max(axis=0)))
    loop = on_its_way(task, **{'transition_time': 0.0})
    arm = MujocoArm(loaded, period=PERIOD)
    loop.pick_up(arm)
    loop.adopt(**{'payload.mass': 2.0})
    found = goes_on(loop)
    keeps_to_its_path(loop, found)


@pytest.mark.parametrize('seed', SEEDS)
def test_a_limit_that_is_lowered_slows_the_rest_of_the_path(seed) -> None:
    """Motors that had a tenth more when the motion was planned: nearer than by the clock.

    It was as fast as they let it then: what they cannot brake in time is off the path.
    """
    task = make_task('quintic', seed)
    off = {}
    for how in ('slow_down', 'follow'):
        loop = on_its_way(task._replace(limits=1.1 * task.limits), when_infeasible=how)
        loop.limits = task.limits
        loop.adopt(effort_limits=tuple(task.limits))
        off[how] = loop.off_path(goes_on(loop, 4.0)).max()
    assert off['slow_down'] < 0.1 * off['follow']


@pytest.mark.parametrize('seed', SEEDS)
def test_a_path_waits_for_a_joint_that_is_held(seed) -> None:
    off = {}
    for how in ('slow_down', 'follow'):
        task = make_task('quintic', seed)
        loop = on_its_way(task, when_infeasible=how)
        place, until = loop.arm.position[1], loop.arm.time + 0.5

        def hold(arm, effort, place=place, until=until):
            held = np.zeros(6)
            if arm.time < until:
                held[1] = -2e4 * (arm.position[1] - place) - 400.0 * arm.velocity[1]
            return held

        loop.disturbances.append(hold)
        first = len(loop.speeds)
        loop.run(0.5)
        slowest = min(loop.speeds[first:])
        found = goes_on(loop, 4.0)
        off[how] = loop.off_path(found).max()
        if how == 'slow_down':
            assert slowest < 0.5
        assert np.abs(found.position[-1] - task.path.points[-1]).max() < 1e-3
    assert off['slow_down'] < 0.3 * off['follow']


# ---- scaling


@pytest.mark.parametrize('kind', EVERY_MOTION)
@pytest.mark.parametrize('seed', SEEDS)
def test_a_scaled_motion_stays_on_its_path(seed, kind) -> None:
    task = make_task(kind, seed)
    loop = on_its_way(task, 0.2)
    for factor, seconds in ((0.5, 0.4), (0.0, 0.5), (1.0, 0.0)):
        loop.controller.motion.scale_speed(factor)
        loop.run(seconds)
        if factor == 0.0:
            assert loop.controller.motion.speed < 1e-6
            assert np.abs(loop.arm.velocity).max() < 5e-3
    found = goes_on(loop)
    keeps_to_its_path(loop, found)


@pytest.mark.parametrize('kind', EVERY_MOTION)
def test_what_comes_while_paused_moves_nothing_until_resumed(kind) -> None:
    task = make_task(kind, 0)
    loop = PacedLoop(task)
    loop.controller.motion.scale_speed(0.0)
    loop.run(0.3)
    loop.controller.motion.follow(task.waypoints)
    found = loop.run(0.5)
    assert np.abs(found.position - START).max() < 1e-9
    assert np.abs(found.desired - START).max() < 1e-9
    loop.controller.motion.scale_speed(1.0)
    found = goes_on(loop)
    keeps_to_its_path(loop, found)


@pytest.mark.parametrize('factor', [0.5, 0.2])
@pytest.mark.parametrize('seed', SEEDS)
def test_a_motion_replaced_while_scaled_goes_on_in_position_and_velocity(seed, factor) -> None:
    task, other = make_task('quintic', seed), make_task('quintic', seed + 100)
    loop = on_its_way(task, 0.3, limits=STRONG)
    loop.controller.motion.scale_speed(factor)
    loop.run(0.3)
    loop.controller.motion.follow(other.waypoints)
    loop.run(0.3)
    rows = np.array([state[:2] for state in loop.desired[-200:]])
    step = np.abs(np.diff(rows[:, 1], axis=0)).max(axis=1)
    off = np.abs(np.diff(rows[:, 0], axis=0) - PERIOD * 0.5 * (rows[1:, 1] + rows[:-1, 1])).max()
    assert step.max() < 20.0 * PERIOD
    assert off < 1e-6


# ---- holds


STOPS = [(seed, state) for state in ('full', 'slowed', 'scaled', 'paused') for seed in range(10)]


@pytest.mark.parametrize(('seed', 'state'), STOPS)
def test_a_motion_that_is_given_up_stops_on_its_path(seed, state) -> None:
    task = make_task('quintic', seed)
    limits = task.limits if state == 'slowed' else 3.0 * task.limits
    loop = on_its_way(task, limits=limits)
    if state in ('scaled', 'paused'):
        loop.controller.motion.scale_speed(0.5 if state == 'scaled' else 0.0)
        loop.run(0.4 if state == 'scaled' else 0.1)
    before = loop.recording().command[-1]
    loop.controller.motion.hold()
    found = loop.run(1.0)
    steps = np.abs(np.diff(np.vstack((before, found.command)), axis=0))
    assert loop.off_path(found).max() <= ON_PATH
    # Where braking asks for more effort than going on it has to wait, with all there is.
    at_most = (np.abs(found.command) > 0.981 * loop.limits).any(axis=1)
    assert PERIOD * at_most.sum() <= 0.05
    # A tenth of what is between the limits of a motor.
    assert (steps <= 0.2 * loop.limits).all()
    assert np.abs(found.velocity[-1]).max() < 1e-3
