"""Settings that come again, or late, make no command step, whatever the controller is about."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest
from geared_arm import with_path_friction
from tuned_arm import ROBOT, ZERO, Q, follow, make_tuning

from ne_dynamics import Dynamics
from ne_dynamics.control.controller import Controller
from ne_dynamics.control.guards.state_guard import Fault, FaultKind, StateLimits, StateRefused
from ne_dynamics.control.observer import DisturbanceTuning
from ne_dynamics.control.tuning import Tuning
from ne_dynamics.motion.waypoints import TrajectoryPoint

STEP = 0.002


def tuning(**options) -> Tuning:
    """Return a tuning, by default of the shipped arm."""
    dynamics = Dynamics(options.pop('robot', ROBOT), backend='python')
    return make_tuning(dynamics=dynamics, states=StateLimits(0.5), **options)


def observing() -> DisturbanceTuning:
    """Return how an observer compensates."""
    return DisturbanceTuning(
        compensates=True,
        cutoff_frequency=3.0,
        velocity_lag=0.0,
        lag_periods=0.0,
        bounds=np.full(6, np.inf),
        contact_cutoff_frequency=30.0,
        least_contact=np.full(6, np.inf),
    )


SITUATIONS = {
    'a path with friction that depends on it': tuning(
        robot=with_path_friction(ROBOT, 0.1, 0.02), disturbance=observing()
    ),
    'drives that close a loop': tuning(drives_close_loop=True),
    'without a transition time': tuning(transition_time=0.0),
    'with an observer': tuning(disturbance=observing()),
}


def answers(chosen: Tuning, *, again: bool, faulty: bool = False) -> Iterator[np.ndarray]:
    """Yield effort and setpoint of a motion with gaps in the states, and of what follows it.

    Parameters
    ----------
    chosen : Tuning
    again : bool
        Whether the same settings come again and again.
    faulty : bool
        Whether a fault that latches comes in the middle.
    """
    controller = Controller(chosen)
    controller.update(Q, ZERO, 0.0, 0.0)
    follow(controller, TrajectoryPoint(0.5, Q + 0.6))
    now, place, velocity = 0.0, Q, ZERO
    for index in range(1, 500):
        now += STEP if index % 40 else 20.0 * STEP
        if again and index % 8 == 0:
            controller.adopt(replace(controller.tuning))
        if faulty and index == 150:
            controller.trip(FaultKind.FOLLOWING, 'for the test')
            controller.accept.guard.trip(Fault(FaultKind.FOLLOWING, 'for the test', True))
        with contextlib.suppress(StateRefused):
            tick = controller.update(place, velocity, now, now)
            yield np.concatenate((tick.effort, tick.desired.position, tick.desired.velocity))
            # The arm is a little behind, and turns a little slower.
            place, velocity = tick.desired.position - 0.01, 0.95 * tick.desired.velocity
            if faulty and index > 150:
                place, velocity = Q + 1e-3 * min(index - 150, 100), ZERO


@pytest.mark.kept(4)
@pytest.mark.parametrize('faulty', [False, True])
@pytest.mark.parametrize('situation', SITUATIONS)
def test_the_same_settings_again_make_no_difference(situation: str, faulty: bool) -> None:
    """On the way, after gaps, in the transition that follows them, and while it is damped."""
    chosen = SITUATIONS[situation]
    without, with_them = (
        np.array([*answers(chosen, again=again, faulty=faulty)]) for again in (False, True)
    )
    assert len(without) > 400
    assert np.abs(np.diff(without[:, :6], axis=0)).max() > 1.0
    np.testing.assert_allclose(with_them, without, atol=1e-8)
