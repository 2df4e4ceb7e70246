"""Motions that the motors are too weak for go slower on their path: in closed loop with MuJoCo."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip('mujoco', reason='MuJoCo is not installed')

from paced_loop import PacedLoop, make_task

SEEDS = (0, 1, 3, 8, 15, 19)
"""Those that were hardest among the first twenty."""
STRONG = np.full(6, 1e4)
NEAR = 2e-3
"""What an arm may be off its path beside what sampling costs [rad]."""

CUBIC_NEAR = 5e-3
"""The same where accelerations make steps, as cubic segments have them at their points [rad]."""


def nominal(task):
    """Return how far strong motors get off the path, due to states that come now and then."""
    loop = PacedLoop(task, STRONG, when_infeasible='follow')
    loop.controller.motion.follow(task.waypoints)
    return loop.off_path(loop.run(task.duration + 0.3)).max()


@pytest.mark.parametrize('kind', ['quintic', 'cubic', 'splines', 'planner', 'linear'])
@pytest.mark.parametrize('seed', SEEDS)
def test_weak_motors_cost_time_and_no_path(seed, kind) -> None:
    task = make_task(kind, seed)
    loop = PacedLoop(task)
    planned = loop.controller.motion.follow(task.waypoints).duration or task.duration
    found = loop.run(1.5 * planned + 0.5)
    off = loop.off_path(found).max()
    near = CUBIC_NEAR if kind == 'cubic' else NEAR
    assert off <= near or off <= near + nominal(task)
    assert loop.longest_saturation(found) <= (0.02 if kind == 'cubic' else 0.01)
    assert np.abs(found.position[-1] - task.path.points[-1]).max() <= NEAR
