"""Whether a motion is followed as planned, by the arm and by the node itself. Needs no ROS.

A node that was sent a motion too late, or refused it, aims at something else than the plan says:
that is seen in what it desires before the arm is anywhere else.
"""

from __future__ import annotations

import numpy as np

from ne_dynamics.commission.motions import PlannedMotion
from ne_dynamics.commission.thresholds import ARM
from ne_dynamics.model.rigid_body import FloatArray


def turned(difference: FloatArray) -> FloatArray:
    """Return differences of positions without whole turns."""
    found: FloatArray = difference - 2.0 * np.pi * np.round(difference / (2.0 * np.pi))
    return found


def complain_of_error(
    joint_names: tuple[str, ...], error: FloatArray, tolerance: FloatArray, time: float
) -> str:
    """Return which joint is farther off its motion than it may be at a time [s]; '': none."""
    if not (error > tolerance).any():
        return ''
    worst = int((error / tolerance).argmax())
    return (
        f'{joint_names[worst]}: {error[worst]:.3g} rad or m off the motion at {time:.2f} s, '
        f'expected at most {tolerance[worst]:.3g}'
    )


class FollowedPlan:
    """What is said of the states of a motion, one after the other.

    Parameters
    ----------
    joint_names : tuple of str
    motion : PlannedMotion
    tolerance : array, shape (n,)
        Largest error of the arm [rad or m].
    """

    def __init__(
        self, joint_names: tuple[str, ...], motion: PlannedMotion, tolerance: FloatArray
    ) -> None:
        self._joint_names = joint_names
        self._motion = motion
        self._tolerance = tolerance
        self._beside = np.zeros(len(joint_names))

    def complain(self, time: float, desired: FloatArray, measured: FloatArray) -> str:
        """Return what is wrong with a state; '' in the usual case.

        The time is from the begin of the motion [s]; the node wants the arm at the desired
        position, shape (n,) [rad or m].
        """
        error = np.abs(desired - measured)
        if complaint := complain_of_error(self._joint_names, error, self._tolerance, time):
            return complaint
        beside = np.abs(turned(desired - self._motion.between.sample(time).position))
        if time <= 0.0:
            # The first polynomial leads from where the node holds the arm.
            self._beside = beside
            return ''
        is_first = time < self._motion.times[1]
        allowed = ARM.plan_slack + (self._beside if is_first else np.zeros_like(beside))
        if not (beside > allowed).any():
            return ''
        worst = int((beside - allowed).argmax())
        return (
            f'{self._joint_names[worst]}: the node aims {beside[worst]:.3g} rad or m beside the '
            f'planned motion at {time:.2f} s: it has refused it, or got it too late'
        )


class StrayWatch:
    """Says of a joint that it goes away from where it is wanted.

    Efforts of the wrong sign, or of another joint, do that to it. One that lags, sticks or does
    not move at all is farther from where it is wanted the farther that goes; it is compared with
    one that has stayed where it was when its plan last began, ended or changed its direction. One
    that moves in the direction of its plan is not astray.

    Parameters
    ----------
    joint_names : tuple of str
    motion : PlannedMotion
    allowed : array, shape (n,)
        By which an error may be larger than that of a joint that has stayed [rad or m].
    """

    def __init__(
        self, joint_names: tuple[str, ...], motion: PlannedMotion, allowed: FloatArray
    ) -> None:
        self._joint_names = joint_names
        self._times = motion.times
        ways = np.diff(motion.positions, axis=0)
        nothing = np.zeros((1, len(joint_names)))
        # Before, between and behind the points.
        self._directions = np.sign(np.concatenate([nothing, ways, nothing]))
        self._direction = self._directions[0]
        self._allowed = allowed
        self._stayed: FloatArray | None = None

    def complain(self, time: float, desired: FloatArray, measured: FloatArray) -> str:
        """Return what is wrong with a state, the next in their order; '' in the usual case.

        Time and positions are as for :meth:`FollowedPlan.complain`.
        """
        if self._stayed is None:
            self._stayed = measured.copy()
        direction = self._directions[int(np.searchsorted(self._times, time, side='right'))]
        changed = direction != self._direction
        self._stayed[changed], self._direction = measured[changed], direction
        farther = np.abs(desired - measured) - np.abs(desired - self._stayed)
        # It may be ahead, as its weight lets it: what goes with the plan is not astray.
        farther[direction * (measured - self._stayed) > 0.0] = 0.0
        if not (farther > self._allowed).any():
            return ''
        worst = int((farther / self._allowed).argmax())
        return (
            f'{self._joint_names[worst]}: goes away from where it is wanted, by '
            f'{farther[worst]:.3g} rad or m at {time:.2f} s, expected at most '
            f'{self._allowed[worst]:.3g}'
        )
