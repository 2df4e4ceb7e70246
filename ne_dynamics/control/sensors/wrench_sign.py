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

import numpy as np

from ne_dynamics.control.sensors.thresholds import SENSORS
from ne_dynamics.model.rigid_body import FloatArray


class WrenchSignCheck:
    """Compares readings at rest with the weight beyond the sensor, from look to look."""

    def __init__(self) -> None:
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
        weight = float(np.linalg.norm(expected[:3]))
        rests = before is not None and np.abs(position - before).max() <= SENSORS.sign_rest_motion
        if weight < SENSORS.sign_least_force or not rests or self._has_agreed:
            return self.is_doubtful
        if self._are_near(reading, expected, weight, SENSORS.sign_same_part):
            self.reset()
            self._has_agreed = not is_tared
        elif self._are_near(reading, -expected, weight, SENSORS.sign_opposite_part):
            self._opposite_weights.append(expected[:3] / weight)
            turns = [float(one @ self._opposite_weights[0]) for one in self._opposite_weights]
            # All that is needed of the poses is the first and one that is far from it.
            del self._opposite_weights[1:]
            is_seen_twice = min(turns) < np.cos(SENSORS.sign_least_turn)
            self.is_doubtful |= is_seen_twice or not is_tared
        else:
            self.reset()
        return self.is_doubtful

    def _are_near(self, one: FloatArray, other: FloatArray, weight: float, part: float) -> bool:
        lever = max(float(np.linalg.norm(other[3:])) / weight, SENSORS.sign_least_lever)
        force, moment = np.linalg.norm(one[:3] - other[:3]), np.linalg.norm(one[3:] - other[3:])
        return bool(force <= part * weight and moment <= part * weight * lever)
