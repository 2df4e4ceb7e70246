"""Whether a motion is followed as planned, by the arm and by the node itself. Needs no ROS.

A node that was sent a motion too late, or refused it, aims at something else than the plan says:
that is seen in what it desires before the arm is anywhere else.
"""

from __future__ import annotations

import numpy as np

from ne_dynamics.commission.arm.faults import ArmFault, StrayedArm
from ne_dynamics.commission.motions import PlannedMotion
from ne_dynamics.commission.thresholds import ARM
from ne_dynamics.model.rigid_body import FloatArray


def turned(difference: FloatArray) -> FloatArray:
    """Return differences of positions without whole turns."""
    found: FloatArray = difference - 2.0 * np.pi * np.round(difference / (2.0 * np.pi))
    return found


class FollowedPlan:
    """Says of the states of a motion, one after the other, whether it is followed.

    Efforts of the wrong sign, or of another joint, drive a joint away from where it is wanted. One
    that lags, sticks or does not move at all is farther from where it is wanted the farther that
    goes; so a joint is compared with one that has stayed where it was when its plan last began,
    ended or changed its direction. One that moves in the direction of its plan is not astray.

    Parameters
    ----------
    joint_names : tuple of str
    motion : PlannedMotion
    tolerance : array, shape (n,)
        Largest error of the arm [rad or m].
    astray : array, shape (n,), optional
        By which an error may be larger than that of a joint that has stayed [rad or m].
    """

    def __init__(
        self,
        joint_names: tuple[str, ...],
        motion: PlannedMotion,
        tolerance: FloatArray,
        astray: FloatArray | None = None,
    ) -> None:
        self._joint_names = joint_names
        self._motion = motion
        self._tolerance = tolerance
        self._astray = np.full(len(joint_names), np.inf) if astray is None else astray
        self._beside = np.zeros(len(joint_names))
        ways = np.diff(motion.positions, axis=0)
        nothing = np.zeros((1, len(joint_names)))
        # Before, between and behind the points.
        self._directions = np.sign(np.concatenate([nothing, ways, nothing]))
        self._direction = self._directions[0]
        self._stayed: FloatArray | None = None

    def check(self, time: float, desired: FloatArray, measured: FloatArray) -> None:
        """Refuse a state, the next in their order, of which something is wrong.

        The time is from the begin of the motion [s]; the node wants the arm at the desired
        position, shape (n,) [rad or m].

        Raises
        ------
        StrayedArm
            When a joint goes away from where it is wanted.
        ArmFault
            When a joint, or what the node wants of it, is too far off the motion.
        """
        error = np.abs(desired - measured)
        farther = error - self._find_error_at_rest(time, desired, measured)
        if (farther > self._astray).any():
            worst = int((farther / self._astray).argmax())
            raise StrayedArm(
                f'{self._joint_names[worst]}: goes away from where it is wanted, by '
                f'{farther[worst]:.3g} rad or m at {time:.2f} s, expected at most '
                f'{self._astray[worst]:.3g}'
            )
        if (error > self._tolerance).any():
            worst = int((error / self._tolerance).argmax())
            raise ArmFault(
                f'{self._joint_names[worst]}: {error[worst]:.3g} rad or m off the motion at '
                f'{time:.2f} s, expected at most {self._tolerance[worst]:.3g}'
            )
        beside = np.abs(turned(desired - self._motion.between.sample(time).position))
        if time <= 0.0:
            # The first polynomial leads from where the node holds the arm.
            self._beside = beside
            return
        is_first = time < self._motion.times[1]
        allowed = ARM.plan_slack + (self._beside if is_first else np.zeros_like(beside))
        if (beside > allowed).any():
            worst = int((beside - allowed).argmax())
            raise ArmFault(
                f'{self._joint_names[worst]}: the node aims {beside[worst]:.3g} rad or m beside '
                f'the planned motion at {time:.2f} s: it has refused it, or got it too late'
            )

    def _find_error_at_rest(
        self, time: float, desired: FloatArray, measured: FloatArray
    ) -> FloatArray:
        """Return the error of joints that had stayed; infinite of those that go with the plan."""
        if self._stayed is None:
            self._stayed = measured.copy()
        direction = self._directions[int(np.searchsorted(self._motion.times, time, side='right'))]
        changed = direction != self._direction
        self._stayed[changed], self._direction = measured[changed], direction
        # It may be ahead, as its weight lets it: what goes with the plan is not astray.
        goes_with = direction * (measured - self._stayed) > 0.0
        return np.where(goes_with, np.inf, np.abs(desired - self._stayed))
