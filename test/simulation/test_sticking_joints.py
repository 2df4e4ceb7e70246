"""A joint that sticks is told from a frozen encoder: several arms in closed loop with MuJoCo."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip('mujoco', reason='MuJoCo is not installed')

from sticking_arms import (
    ARMS,
    freezing_case,
    load_arm,
    make_loop,
    random_motion,
    resting_case,
    run_until_fault,
    sensors,
    sticking_case,
    with_friction,
)

from ne_dynamics.control.guards.state_guard import FaultKind

FROZEN = (FaultKind.FROZEN_POSITION, FaultKind.VELOCITY)


@pytest.mark.kept(2)
@pytest.mark.parametrize('share', [0.005, 0.01, 0.02])
@pytest.mark.parametrize('name', ARMS)
def test_friction_that_nobody_knows_is_no_frozen_encoder(name, share) -> None:
    """With friction of up to 0.02 of the effort limits no arm is given up for a frozen position; a
    joint that never breaks away, half its way behind for 1 s, is one that does not follow.
    """
    motion = random_motion(name, np.random.default_rng(1), (0.5, 0.8), 2.5)
    plant = with_friction(load_arm(name), share)
    run = make_loop(name, motion, plant, sensors(20, 'true')).watch(3.2)
    if run.fault is not None:
        assert run.fault.kind is FaultKind.FOLLOWING
        assert run.error.max() > 0.4


@pytest.mark.kept(2)
@pytest.mark.parametrize('seed', range(200))
def test_no_friction_is_taken_for_a_frozen_encoder(seed) -> None:
    """Whatever the friction, at rest and in motion, what the model knows of it, masses, encoders,
    gains, and where velocities come from.
    """
    case = sticking_case(seed)
    run = case.loop.watch(case.duration + 0.8)
    assert run.fault is None or run.fault.kind not in FROZEN, (case.label, run.fault)


@pytest.mark.kept(3)
@pytest.mark.parametrize('seed', range(120))
def test_an_encoder_that_freezes_in_motion_is_found_within_50_ms(seed) -> None:
    case = freezing_case(seed)
    run = case.loop.watch(case.begin + 0.3)
    assert run.fault is not None, case.label
    assert run.fault.kind in FROZEN
    assert 0.0 < run.fault_time - case.begin <= 0.0501, case.label


@pytest.mark.kept(1)
@pytest.mark.parametrize('seed', range(40))
def test_an_encoder_that_freezes_at_rest_is_found_when_it_matters(seed) -> None:
    """Of an arm without friction that has moved before the joint is below 4 times its velocity
    limit when it is found; where it is not, it is below that limit.
    """
    case = resting_case(seed, has_moved=True)
    fault, _, speed = run_until_fault(case)
    assert speed < (1.0 if fault is None else 4.0), case.label
