"""When a joint hunts across its position, and is left where it is."""

from __future__ import annotations

import numpy as np
import pytest

from ne_dynamics.control.guards.hunting import HuntingGuard

PERIOD = 0.01
REST = np.zeros(2)


class Run:
    """A guard that is shown errors, one a period."""

    def __init__(self) -> None:
        self.guard = HuntingGuard()
        self.now = 0.0

    def show(self, errors, seconds: float = 1.0, velocity=REST) -> list[bool]:
        """Show errors, or a function of the time, for a while; return which joints hunt."""
        begin = self.now
        while self.now < begin + seconds:
            found = errors(self.now - begin) if callable(errors) else errors
            self.guard.update(np.array(found), np.array(velocity), self.now)
            self.now += PERIOD
        hunts = self.guard.hunts
        return [False, False] if hunts is None else hunts.tolist()


def test_a_joint_that_sticks_on_both_sides_hunts() -> None:
    """On one side it may stick as often as it does; on the other it is left."""
    run = Run()
    assert run.show((5e-3, 1e-3)) == [False, False]
    assert run.show((2e-3, 1e-3)) == [False, False]
    assert run.show((-3e-3, 1e-3)) == [True, False]
    assert run.show((-3e-3, 1e-3), 10.0) == [True, False]


def test_one_that_swings_does_not() -> None:
    """An error that decays, or that goes to and fro without standing still, is no stiction."""
    run = Run()
    assert run.show(lambda t: (0.1 * np.exp(-2.0 * t), -0.1 * np.exp(-t)), 2.0) == [False] * 2
    swinging = Run()
    for _ in range(10):
        waves = swinging.show(
            lambda t: (5e-3 * np.sin(8.0 * t), 5e-3 * np.exp(-t) * np.cos(13.0 * t)), 1.0
        )
        assert waves == [False, False]


@pytest.mark.parametrize('error', [2e-3, 1e-3, 1e-4])
def test_one_that_was_held_away_and_is_let_go_is_free(error) -> None:
    """Who pushed it to one side and to the other has gone: it is somewhere else than it stuck."""
    run = Run()
    run.show((5e-3, 0.0))
    assert run.show((-3e-3, 0.0)) == [True, False]
    assert run.show((error, 0.0)) == [False, False]
    assert run.show((0.0, 0.0)) == [False, False]
