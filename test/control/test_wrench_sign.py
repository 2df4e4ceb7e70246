"""When the sign of a wrist sensor is doubted."""

from __future__ import annotations

import numpy as np
import pytest

from ne_dynamics.control.sensors.wrench import static_wrench
from ne_dynamics.control.sensors.wrench_sign import WrenchSignCheck
from ne_dynamics.model.rigid_body import Inertia

TOOL = Inertia(1.2, (0.01, -0.02, 0.08), np.zeros((3, 3)))
GRAVITY = (0.0, 0.0, -9.80665)


def turned(angle):
    """Return axes of the sensor in the base frame, turned about x [rad]."""
    c, s = np.cos(angle), np.sin(angle)
    return np.array(((1.0, 0.0, 0.0), (0.0, c, -s), (0.0, s, c)))


def weight_at(angle, beyond=TOOL):
    """Return what the sensor feels of a load at rest, shape (6,)."""
    return static_wrench(beyond, turned(angle), GRAVITY)


class Looks:
    """Looks at readings; each pose is looked at twice."""

    def __init__(self):
        self.check = WrenchSignCheck()

    def rest(self, angle, reading, *, is_tared=False):
        """Let the arm rest at an angle, and return whether the sign is doubted then."""
        for _ in range(2):
            found = self.check.look(
                np.array([angle]), reading, weight_at(angle), is_tared=is_tared
            )
        return found


@pytest.mark.parametrize('angle', np.linspace(0.0, 3.0, 7))
@pytest.mark.parametrize('scale', [0.85, 1.0, 1.15])
def test_an_opposite_reading_is_doubted_after_a_second_look(angle, scale) -> None:
    """The opposite of the weight, masses 15 % off, noise included, is doubted once the arm has
    rested from one look to the next; the weight itself never.
    """
    rng = np.random.default_rng(2)
    noise = rng.normal(0.0, (0.5, 0.5, 0.5, 0.02, 0.02, 0.02))
    opposite = -scale * weight_at(angle) + noise
    one = WrenchSignCheck()
    place = np.array([angle])
    assert not one.look(place, opposite, weight_at(angle), is_tared=False)
    assert one.look(place, opposite, weight_at(angle), is_tared=False)
    assert not Looks().rest(angle, scale * weight_at(angle) + noise)


def test_loads_and_contacts_are_no_wrong_sign() -> None:
    """Unknown loads, biases and contacts of any size and direction are not doubted, after the
    sensor has agreed once not even one that is twice the weight, upwards.
    """
    rng = np.random.default_rng(7)
    for mass in np.linspace(0.0, 20.0, 40):
        looks = Looks()
        load = Inertia(1.2 + mass, rng.uniform(-0.1, 0.1, 3), np.zeros((3, 3)))
        assert not looks.rest(0.4, weight_at(0.4, load))
    doubted = 0
    for _ in range(2000):
        push = rng.normal(0.0, 1.0, 6) * (*[rng.uniform(1.0, 60.0)] * 3, 1.0, 1.0, 1.0)
        doubted += Looks().rest(0.4, weight_at(0.4) + push)
    assert doubted <= 2
    looks = Looks()
    assert not looks.rest(0.4, weight_at(0.4))
    assert not looks.rest(0.4, -weight_at(0.4))


def test_after_a_tare_two_poses_tell() -> None:
    """A tare with the wrong sign hides it where it was made; the readings as they came tell it in
    another pose. A true bias of minus twice the weight is none in any other.
    """
    looks = Looks()
    assert not looks.rest(0.0, -weight_at(0.0), is_tared=True)
    assert looks.rest(1.5, -weight_at(1.5), is_tared=True)
    looks, bias = Looks(), -2.0 * weight_at(0.0)
    for angle in (0.0, 1.0, 2.0, 3.0, 0.0):
        assert not looks.rest(angle, weight_at(angle) + bias, is_tared=True)
