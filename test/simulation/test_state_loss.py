"""Joint states that stop while the arm moves: what is sent brings it to rest, as far as can be."""

from __future__ import annotations

import numpy as np
import pytest

from ne_dynamics.motion.thresholds import MOTION

pytest.importorskip('mujoco', reason='MuJoCo is not installed')

from ne_dynamics.motion.stopping import DURATIONS
from ne_dynamics.simulation.one_process_loop import differenced_velocity, encoder
from studies import state_loss
from studies.state_loss import ARM, CASES, GEARED, TIMEOUT, lose_states

SEEDS = range(6)
STANDS = 1e-3
"""A joint that is slower is held by its friction [rad/s]."""


def way_to_rest(loss):
    """Return the farthest that a joint may go [rad]: the silence, then a stop of that length.

    The fastest speed on the way is that at which the arm is found by the watchdog, or the one
    it had before: no more than the velocity limits of the motions, all of them below 3.1 rad/s.
    """
    fastest = max(loss.at_fault, ARM.limits('velocity_limit').max())
    return fastest * (TIMEOUT + MOTION.longest_brake / 2.0)


@pytest.mark.kept(2)
@pytest.mark.parametrize('seed', SEEDS)
@pytest.mark.parametrize(
    'case',
    ['gear friction, model exact', 'gear friction, masses +10 %', 'gear friction unknown'],
)
def test_an_arm_with_gears_stands(case: str, seed: int) -> None:
    """Whether model and friction are right or not, the arm is at rest, and not far away."""
    loss = lose_states(*CASES[case], 'brake', seed)
    assert loss.is_braked
    assert loss.speed < STANDS
    assert loss.moved < way_to_rest(loss)


@pytest.mark.kept(1)
@pytest.mark.parametrize('seed', SEEDS)
def test_the_commands_go_on_without_a_step(seed: int) -> None:
    """From the last answer to the brake no joint's command steps by more than its stop asks for.

    The shortest stop reverses an effort within its full range in its duration.
    """
    loss = lose_states(ARM, ARM, 'brake', seed)
    shortest = DURATIONS[np.searchsorted(DURATIONS, 0.03)]
    assert loss.command_step < 2.0 * state_loss.PERIOD / shortest


@pytest.mark.kept(1)
@pytest.mark.parametrize('seed', range(12))
def test_velocities_that_are_differences_of_coarse_positions_do_not_matter_with_gears(
    seed: int,
) -> None:
    """An encoder of 12 bits, differenced by its driver: the last of its velocities is noise."""
    sensors = [encoder(12), differenced_velocity(60.0)]
    loss = lose_states(GEARED, GEARED, 'brake', seed, sensors=sensors)
    assert loss.speed < STANDS
    assert loss.moved < way_to_rest(loss)
