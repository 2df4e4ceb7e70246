"""Whether the readings of a wrist sensor have the opposite sign.

A sensor whose sign is wrong reads -w at rest where the tool and payload that are known beyond it
make w: the reading is off by twice their weight, and the arm is commanded as if they pulled
upwards. A contact may look alike in one pose, and so may a bias. So nothing is said

- of readings that have agreed with the model at rest before,
- before the arm has rested for the time from one look to the next, and
- after a tare, before this was so in two poses: the bias may be what is opposite in one.

What is looked at is the reading as it came: a tare with the wrong sign takes twice the weight for
a bias, which hides it in the pose where it was tared alone.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ne_dynamics.model.rigid_body import FloatArray


@dataclass(frozen=True)
class SignTolerance:
    """When two readings are opposite, or the same.

    Attributes
    ----------
    least_force : float
        Weight below which nothing is said [N].
    opposite_part, same_part : float
        Largest difference, as a part of the weight.
    least_lever : float
        Moments may differ by that part of the weight at the lever of its centre of mass, and no
        less than at this one [m].
    rest_motion : float
        How far a resting joint may be from where it was at the last look [rad or m].
    least_turn : float
        Angle between the weights of two poses, in the frame of the sensor [rad].
    """

    least_force: float = 2.0
    opposite_part: float = 0.3
    same_part: float = 0.5
    least_lever: float = 0.05
    rest_motion: float = 0.02
    least_turn: float = 0.3


class WrenchSignCheck:
    """Compares readings at rest with the weight beyond the sensor, from look to look."""

    def __init__(self, tolerance: SignTolerance = SignTolerance()) -> None:
        self._tolerance = tolerance
        self.reset()

    def reset(self) -> None:
        """Forget what was seen: the sign, or the load, is another one."""
        self._position: FloatArray | None = None
        self._has_agreed = False
        self._opposite_weights: list[FloatArray] = []
        self.is_doubtful = False

    def look(
        self, position: FloatArray, reading: FloatArray, expected: FloatArray, *, is_tared: bool
    ) -> bool:
        """Return whether the sign is likely wrong, by what was seen up to now.

        Parameters
        ----------
        position : array, shape (n,)
            [rad or m]
        reading, expected : array, shape (6,)
            Force [N], then moment [N m], with the sign that is set and no bias taken off; of the
            model, of the arm on what is beyond the sensor at rest.
        is_tared : bool
            Whether a bias is known.
        """
        before, self._position = self._position, position
        tolerance = self._tolerance
        weight = float(np.linalg.norm(expected[:3]))
        rests = before is not None and np.abs(position - before).max() <= tolerance.rest_motion
        if weight < tolerance.least_force or not rests or self._has_agreed:
            return self.is_doubtful
        if self._are_near(reading, expected, weight, tolerance.same_part):
            self.reset()
            self._has_agreed = not is_tared
        elif self._are_near(reading, -expected, weight, tolerance.opposite_part):
            self._opposite_weights.append(expected[:3] / weight)
            turns = [float(one @ self._opposite_weights[0]) for one in self._opposite_weights]
            # All that is needed of the poses is the first and one that is far from it.
            del self._opposite_weights[1:]
            is_seen_twice = min(turns) < np.cos(tolerance.least_turn)
            self.is_doubtful |= is_seen_twice or not is_tared
        else:
            self.reset()
        return self.is_doubtful

    def _are_near(self, one: FloatArray, other: FloatArray, weight: float, part: float) -> bool:
        lever = max(float(np.linalg.norm(other[3:])) / weight, self._tolerance.least_lever)
        force, moment = np.linalg.norm(one[:3] - other[:3]), np.linalg.norm(one[3:] - other[3:])
        return bool(force <= part * weight and moment <= part * weight * lever)
