"""Which windows of a motion tell a load, and how the joints move in them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ne_dynamics.control.payload.carrier import PayloadSource, measured_load_by
from ne_dynamics.control.payload.motion_windows import Window
from ne_dynamics.control.payload.thresholds import PAYLOAD
from ne_dynamics.errors import PayloadError
from ne_dynamics.model.rigid_body import FloatArray
from ne_dynamics.model.robot import Robot

STANDING_KIND, TURNING_KIND, MOVING_KIND = range(3)
"""How a joint moves in a window."""


class MotionStates(NamedTuple):
    """How the joints move in windows; shape (windows, n) each.

    Attributes
    ----------
    kind : array of int
        `STANDING_KIND`, `TURNING_KIND` or `MOVING_KIND`.
    direction : array
        Sign of the last motion; 0 where nobody knows in which direction friction acts.
    repeats : array
        How many windows in a row have the same error of friction.
    repeats_of_arm : array, shape (windows,)
        The same of what the arm feels when all joints stand.
    """

    kind: NDArray[np.intp]
    direction: FloatArray
    repeats: FloatArray
    repeats_of_arm: FloatArray

    def of(self, rows: Sequence[int]) -> MotionStates:
        """Return those of some windows."""
        return MotionStates(
            self.kind[rows], self.direction[rows], self.repeats[rows], self.repeats_of_arm[rows]
        )


def _find_states(windows: Sequence[Window]) -> MotionStates:
    """Return how the joints move, fast motions included: they end what is held before them."""
    shape = len(windows), windows[0].position.size
    kind, direction = np.full(shape, TURNING_KIND), np.zeros(shape)
    last = np.zeros(shape[1])
    for row, window in enumerate(windows):
        kind[row, window.largest_speed <= PAYLOAD.standing_velocity] = STANDING_KIND
        kind[row, window.least_speed > PAYLOAD.standing_velocity] = MOVING_KIND
        last = np.where(kind[row] == MOVING_KIND, np.sign(window.velocity), last)
        last = np.where(kind[row] == TURNING_KIND, 0.0, last)
        direction[row] = last
    positions = np.array([window.position for window in windows])
    # States may have been lost between two windows, and a motion with them.
    is_other: NDArray[np.bool_] = np.abs(np.diff(positions, axis=0)) > PAYLOAD.standing_velocity
    columns = zip(kind.T, is_other.T, strict=True)
    repeats = np.stack([_count_repeats(*column) for column in columns], axis=1)
    of_arm = np.where((kind == STANDING_KIND).all(axis=1), STANDING_KIND, MOVING_KIND)
    return MotionStates(kind, direction, repeats, _count_repeats(of_arm, np.any(is_other, axis=1)))


def _count_repeats(kind: NDArray[np.intp], is_other: NDArray[np.bool_]) -> FloatArray:
    """Return how many windows in a row have the same error, shape (windows,).

    `is_other` says of each window but the first that it is not held as the one before.
    """
    begins = np.concatenate([[False], is_other | (np.diff(kind) != 0)])
    run = np.cumsum(begins)
    lengths = np.bincount(run)[run]
    repeats: FloatArray = np.select(
        [kind == STANDING_KIND, kind == MOVING_KIND],
        [lengths, float(PAYLOAD.correlated_windows)],
        1.0,
    )
    return repeats


def choose_windows(
    robot: Robot, windows: Sequence[Window], source: PayloadSource
) -> tuple[list[Window], MotionStates]:
    """Return the windows that count, and how the joints move in them.

    Raises
    ------
    PayloadError
        When they are too few.
    """
    measured = [window for window in windows if measured_load_by(window, source) is not None]
    expected = f'expected at least {PAYLOAD.least_time:g} s'
    if not measured:
        raise PayloadError(f'no states with {source.value} yet: {expected} of them')
    slow = [index for index, window in enumerate(measured) if window.is_slow]
    duration = sum(measured[index].duration for index in slow)
    # Windows are a little shorter than they are asked to be.
    if duration >= PAYLOAD.least_time - PAYLOAD.window:
        states = _find_states(measured)
        return [measured[index] for index in slow], states.of(slow)
    if len(measured) > len(slow):
        worst = int(measured[-1].largest_speed.argmax())
        raise PayloadError(
            f'the arm moves: {expected} with no joint faster than {PAYLOAD.slow_velocity:g} '
            f'rad/s or m/s and no acceleration above {PAYLOAD.slow_acceleration:g} '
            f'rad/s^2 or m/s^2, got {duration:.1f} s; the last speed of joint '
            f'{robot.joint_names[worst]!r} is {measured[-1].largest_speed[worst]:.3g}'
        )
    raise PayloadError(f'too few states with {source.value} yet: {expected}, got {duration:.1f} s')
