"""Frame, sign, age, bias, limits and filter of wrist readings, and when their sign is doubted.

Frames against adjoint matrices written out here.
"""

from __future__ import annotations

import numpy as np
import pytest

from ne_dynamics import Robot, load_urdf
from ne_dynamics.control.sensors.wrench import WristWrench, static_wrench
from ne_dynamics.control.sensors.wrench_settings import WrenchSettings
from ne_dynamics.control.sensors.wrench_sign import WrenchSignCheck
from ne_dynamics.errors import WrenchError
from ne_dynamics.model.rigid_body import Inertia, Transform
from ne_dynamics.shipped import shipped_file

CUT = 'ft_sensor'


@pytest.fixture(scope='module')
def robot() -> Robot:
    """Return the shipped arm, a tool beyond its sensor."""
    return load_urdf(shipped_file('six_axis_arm.urdf'))


def adjoint_transpose(source_to_target: Transform) -> np.ndarray:
    """Return the wrench transform by its definition: power is the same in both frames.

    Twists [v, w] of one rigid body go from target to source by X; then F_target = X^T F_source.
    """
    rotation, p = source_to_target.rotation, source_to_target.translation
    columns = []
    for k in range(6):
        v, w = np.eye(6)[k, :3], np.eye(6)[k, 3:]
        columns.append(np.concatenate((rotation.T @ (v + np.cross(w, p)), rotation.T @ w)))
    return np.array(columns)


@pytest.mark.parametrize('measures', ['on_tool', 'by_tool'])
@pytest.mark.parametrize('frame', ['ft_sensor', 'tool', 'tcp', 'flange'])
def test_readings_move_to_the_cut(robot: Robot, frame: str, measures: str) -> None:
    """A reading in any frame of the cut's body is moved to the cut, with the sign it is given."""
    wrist = WristWrench(robot, CUT, WrenchSettings(measures=measures))
    reading = np.random.default_rng(3).uniform(-20.0, 20.0, 6)
    wrist.update(frame, reading, 1.0)
    frame_to_cut = robot.link(CUT).pose_in_body.inverse() @ robot.link(frame).pose_in_body
    sign = -1.0 if measures == 'on_tool' else 1.0
    expected = sign * adjoint_transpose(frame_to_cut) @ reading
    np.testing.assert_allclose(wrist.at(1.0), expected, atol=1e-12)


@pytest.mark.parametrize(
    ('frame', 'reading', 'match'),
    [
        ('', np.zeros(6), 'frame_id: got an empty one'),
        ('nowhere', np.zeros(6), "frame_id: no link 'nowhere'"),
        ('base_link', np.zeros(6), "frame_id: 'base_link' is elsewhere on the robot"),
        (CUT, [0, np.nan, 0, 0, 0, 0], 'force.y: expected a finite number, got nan'),
        (CUT, [0, 0, 0, 0, 0, np.inf], 'torque.z: .*inf'),
        (CUT, [np.inf, -np.inf, 0, 0, 0, 0], 'force.x'),
        (CUT, [0.0] * 5, '6 values, got 5'),
        (CUT, [0, 0, 0, 1, -2e6, 3], 'torque.y: expected at most 1e.06 together, got -2000000'),
        (CUT, [1e300, 0, 0, 0, 0, 0], 'force.x: expected at most'),
    ],
)
def test_bad_readings_are_refused_and_the_last_one_stays(
    robot: Robot, frame: str, reading, match: str
) -> None:
    """A reading without a usable frame or with a number that is not finite changes nothing."""
    wrist = WristWrench(robot, CUT)
    wrist.update(CUT, [1, 2, 3, 4, 5, 6], 1.0)
    before = wrist.at(1.0)
    with pytest.raises(WrenchError, match=match):
        wrist.update(frame, reading, 1.05)
    np.testing.assert_array_equal(wrist.at(1.0), before)
    assert wrist.is_stale(1.15)


def test_readings_of_another_clock_are_old(robot: Robot) -> None:
    """A stamp far in the future comes from another clock and does not count for ever."""
    wrist = WristWrench(robot, CUT, WrenchSettings(on_timeout='zero'))
    wrist.update(CUT, np.ones(6), 1e9)
    assert wrist.at(5.0) is None


def test_tare_without_a_recent_reading_is_refused(robot: Robot) -> None:
    """There is no tare on a reading that has not come or is old."""
    wrist = WristWrench(robot, CUT)
    with pytest.raises(WrenchError, match='no reading yet'):
        wrist.tare(0.0)
    wrist.update(CUT, np.ones(6), 0.0)
    with pytest.raises(WrenchError, match='2 s old'):
        wrist.tare(2.0)


def test_a_tare_that_contradicts_the_tool_is_refused(robot: Robot) -> None:
    """A reading of the wrong sign would become a bias of twice the tool's weight."""
    wrist = WristWrench(robot, 'flange', WrenchSettings(measures='by_tool'))
    tool = np.array([0.0, 0.0, 12.0, 0.0, 0.0, 0.0])
    for k in range(20):
        wrist.update('flange', -tool, 0.01 * k)
    with pytest.raises(WrenchError, match=r'largest_bias = 20 N, got 24 N.*opposite.*measures'):
        wrist.tare(0.19, tool, largest_bias=20.0)
    np.testing.assert_array_equal(wrist.bias, np.zeros(6))
    np.testing.assert_allclose(wrist.tare(0.19, -tool, largest_bias=20.0), 0.0, atol=1e-12)
    with pytest.raises(WrenchError, match=r'got 30 N: .* was read where the model expects'):
        wrist.tare(0.19, np.array([30.0, 0.0, -12.0, 0.0, 0.0, 0.0]), largest_bias=20.0)


def constant(value: float) -> np.ndarray:
    """Return a reading with the same number in all places."""
    return np.full(6, value)


def test_large_loads_are_scaled_down_in_their_direction(robot: Robot) -> None:
    """Force and moment about the cut are each limited as a whole, and it is counted."""
    wrist = WristWrench(
        robot, CUT, WrenchSettings(measures='by_tool', max_force=10.0, max_torque=2.0)
    )
    wrist.update(CUT, [3.0, 4.0, 0.0, 0.5, 0.0, 0.0], 0.0)
    np.testing.assert_array_equal(wrist.at(0.0), [3.0, 4.0, 0.0, 0.5, 0.0, 0.0])
    assert wrist.saturated == 0
    assert not wrist.was_saturated()
    wrist.update(CUT, [30.0, 40.0, 0.0, 0.5, 0.0, 0.0], 0.01)
    np.testing.assert_allclose(wrist.at(0.01), [6.0, 8.0, 0.0, 0.5, 0.0, 0.0])
    wrist.update(CUT, [3.0, 4.0, 0.0, 0.0, -3.0, 4.0], 0.02)
    np.testing.assert_allclose(wrist.at(0.02), [3.0, 4.0, 0.0, 0.0, -1.2, 1.6])
    assert wrist.saturated == 2
    assert wrist.was_saturated()
    assert not wrist.was_saturated()
    wrist.update('tcp', [50.0, 0.0, 0.0, 0.0, 0.0, 0.0], 0.03)
    assert np.linalg.norm(wrist.at(0.03)[:3]) == pytest.approx(10.0)
    assert np.linalg.norm(wrist.at(0.03)[3:]) == pytest.approx(2.0)


def test_the_offset_of_the_sensor_does_not_use_up_the_limit(robot: Robot) -> None:
    """Limits are for what is left after the tare."""
    wrist = WristWrench(robot, CUT, WrenchSettings(measures='by_tool', max_force=10.0))
    wrist.update(CUT, constant(400.0), 0.0)
    wrist.tare(0.0)
    assert wrist.was_saturated()
    wrist.update(CUT, constant(404.0), 0.01)
    np.testing.assert_allclose(wrist.at(0.01), 4.0)
    assert not wrist.was_saturated()


def test_the_gain_counts_at_once_and_leaves_the_filter_alone(robot: Robot) -> None:
    """A gain scales what is handed over, for the reading that is held too."""
    plain = WristWrench(robot, CUT, WrenchSettings(measures='by_tool', cutoff_frequency=2.0))
    scaled = WristWrench(robot, CUT, WrenchSettings(measures='by_tool', cutoff_frequency=2.0))
    assert scaled.at(0.0) is None
    for k, gain in enumerate((1.0, 0.3, 0.0, 0.9)):
        scaled.configure(WrenchSettings(measures='by_tool', cutoff_frequency=2.0, gain=gain))
        if k:
            np.testing.assert_allclose(scaled.at(0.0), gain * plain.at(0.0), atol=1e-12)
        for wrist in (plain, scaled):
            wrist.update(CUT, np.arange(6.0) ** k, 0.01 * k)
        np.testing.assert_allclose(scaled.at(0.0), gain * plain.at(0.0), atol=1e-12)


@pytest.mark.parametrize('feedthrough', [0.0, 0.8, 1.0])
def test_feedthrough_lets_a_part_of_what_is_fast_pass(robot: Robot, feedthrough: float) -> None:
    """0 is the plain filter, 1 none; in between the jump passes in part and the rest follows."""
    settings = WrenchSettings(measures='by_tool', cutoff_frequency=1.0, feedthrough=feedthrough)
    wrist = WristWrench(robot, CUT, settings)
    wrist.update(CUT, constant(0.0), 0.0)
    wrist.update(CUT, constant(1.0), 0.05)
    slow = 1.0 - np.exp(-2.0 * np.pi * 0.05)
    assert wrist.at(0.05)[0] == pytest.approx(slow + feedthrough * (1.0 - slow))


@pytest.mark.parametrize('cutoff', [0.0, 0.5])
def test_tare_takes_the_mean_of_the_last_readings(robot: Robot, cutoff: float) -> None:
    """Bias is the mean of the readings themselves; older ones, and one that was overtaken, do not
    count. A filter goes on from what is expected.
    """
    expected = np.array([0.0, 0.0, 11.8, 0.1, 0.2, 0.0])
    rng = np.random.default_rng(7)
    readings = 30.0 + expected + rng.normal(0.0, 1.0, (50, 6))
    options = {'cutoff_frequency': cutoff, 'max_force': 20.0, 'gain': 0.5}
    wrist = WristWrench(robot, CUT, WrenchSettings(measures='by_tool', **options))
    wrist.update(CUT, constant(-500.0), 0.0)
    for k, reading in enumerate(readings):
        wrist.update(CUT, reading, 0.5 + 0.002 * k)
        wrist.update(CUT, constant(-500.0), 0.5 + 0.002 * k - 0.001)
    bias = wrist.tare(0.6, expected)
    np.testing.assert_allclose(bias, readings.mean(axis=0) - expected, atol=1e-12)
    held = expected if cutoff else readings[-1] - bias
    np.testing.assert_allclose(wrist.at(0.6), 0.5 * held, atol=1e-12)
    wrist.update(CUT, bias + expected, 0.61)
    np.testing.assert_allclose(wrist.at(0.61), 0.5 * expected, atol=1e-12)


# ---- whether the sign is doubted

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
