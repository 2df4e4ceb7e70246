"""What readings of an IMU on the base mean, and which of them are refused."""

from __future__ import annotations

import numpy as np
import pytest

from ne_dynamics import Dynamics, Robot, load_urdf
from ne_dynamics.control.sensors.imu import BaseImu, ImuSettings
from ne_dynamics.errors import ImuError
from ne_dynamics.model.rigid_body import axis_angle_rotation
from ne_dynamics.shipped import shipped_file

G = 9.80665
GRAVITY = np.array([0.0, 0.0, -G])
UPWARDS = -GRAVITY
STILL = np.zeros(3)
UPRIGHT = np.array([0.0, 0.0, 0.0, 1.0])

SENSOR = """
  <joint name="imu_joint" type="fixed">
    <parent link="pedestal"/>
    <child link="imu"/>
    <origin xyz="0.4 0 0" rpy="0 0 1.5707963267948966"/>
  </joint>
  <link name="imu"/>
</robot>"""


def believing(**options) -> ImuSettings:
    """Return settings with which any acceleration of the base is believed."""
    return ImuSettings(**{'max_acceleration': np.inf, **options})


@pytest.fixture(scope='module')
def robot() -> Robot:
    """Return the shipped arm with an IMU on its pedestal, 0.4 m ahead, turned by 90 degrees."""
    text = shipped_file('six_axis_arm.urdf').read_text()
    return load_urdf(text.replace('</robot>', SENSOR))


def tilted(angle: float) -> tuple[np.ndarray, np.ndarray]:
    """Return specific force and quaternion of a base that rests tilted about its x axis."""
    rotation = axis_angle_rotation((1.0, 0.0, 0.0), angle)
    quaternion = np.array([np.sin(0.5 * angle), 0.0, 0.0, np.cos(0.5 * angle)])
    return rotation.T @ UPWARDS, quaternion


@pytest.mark.parametrize('source', ['acceleration', 'orientation'])
def test_a_tilted_base_at_rest_has_the_torques_of_a_tilted_gravity(
    robot: Robot, source: str
) -> None:
    """The tilt from either source is the tilt of gravity, by the signs of the base's axes."""
    force, orientation = tilted(0.4)
    imu = BaseImu(robot, GRAVITY, believing(source=source))
    imu.update('base_link', STILL, force, orientation, 0.0)
    # Turned about x by a positive angle, the left side (+y) goes up: gravity points to the right.
    down = np.array([0.0, -G * np.sin(0.4), -G * np.cos(0.4)])
    np.testing.assert_allclose(imu.gravity_at(0.0), down, atol=1e-12)
    assert imu.tilt_at(0.0) == pytest.approx(0.4)
    q = np.random.default_rng(1).uniform(-2.0, 2.0, 6)
    zero = np.zeros(6)
    level = Dynamics(robot, GRAVITY, backend='python')
    expected = Dynamics(robot, down, backend='python').gravity_torque(q)
    for motion in (imu.at(0.0), imu.resting_at(0.0)):
        computed = level.inverse_dynamics(q, zero, zero, base_motion=motion)
        np.testing.assert_allclose(computed, expected, atol=1e-9)


def test_axes_and_place_of_the_sensor_are_taken_out(robot: Robot) -> None:
    """Turning about the base's z axis at 2 rad/s, a sensor ahead feels it along its own axes."""
    imu = BaseImu(robot, GRAVITY, believing())
    # Drawn towards the axis: along -x of the base, which is +y of the sensor.
    imu.update('imu', [0.0, 0.0, 2.0], [0.0, 4.0 * 0.4, G], None, 0.0)
    np.testing.assert_allclose(imu.at(0.0), [0, 0, 2, 0, 0, 0, 0, 0, 0], atol=1e-12)
    # Turning faster and faster, it is pushed along +y of the base, which is +x of the sensor.
    imu = BaseImu(robot, GRAVITY, believing(cutoff_frequency=50.0))
    for k in range(-100, 101):
        rate = 5.0 * 0.001 * k
        imu.update('imu', [0.0, 0.0, rate], [5.0 * 0.4, rate**2 * 0.4, G], None, 0.001 * k)
    np.testing.assert_allclose(imu.at(0.1)[3:], [0, 0, 5, 0, 0, 0], atol=1e-3)


def test_when_readings_stop_the_direction_of_gravity_is_held_and_no_rate(robot: Robot) -> None:
    """After the timeout: the last tilt, at rest; never rates or accelerations."""
    imu = BaseImu(robot, GRAVITY, believing(timeout=0.2))
    force, _ = tilted(0.25)
    for k in range(400):
        imu.update('pedestal', [0.0, 0.0, 0.0], force, None, 0.005 * k)
    imu.update('pedestal', [1.0, 2.0, 3.0], force + 4.0, None, 2.0)
    assert imu.at(2.19)[:6].any()
    held = imu.at(2.3)
    assert imu.is_stale(2.3)
    assert not held[:6].any()
    np.testing.assert_array_equal(held, imu.resting_at(2.3))
    np.testing.assert_allclose(GRAVITY - held[6:], imu.gravity_at(2.3), atol=1e-12)
    assert imu.tilt_at(2.3) == pytest.approx(0.25, abs=0.02)
    np.testing.assert_allclose(imu.at(1e6), held)


def test_a_push_of_the_base_is_an_acceleration_and_hardly_a_tilt(robot: Robot) -> None:
    """0.2 s at 3 m/s^2: felt in full by the arm, taken for a tilt of less than 4 degrees."""
    imu = BaseImu(robot, GRAVITY, believing(cutoff_frequency=50.0))
    for k in range(240):
        push = 3.0 if k >= 200 else 0.0
        imu.update('pedestal', STILL, [push, 0.0, G], None, 0.005 * k)
    np.testing.assert_allclose(imu.at(1.195)[6:], [3.0, 0.0, 0.0], atol=1e-6)
    assert imu.tilt_at(1.195) < np.deg2rad(4.0)


def test_gravity_follows_a_turn_without_delay(robot: Robot) -> None:
    """A base that rolls at 1 rad/s has the tilt it has, though its estimate takes a second."""
    imu = BaseImu(robot, GRAVITY, believing(cutoff_frequency=0.0))
    for k in range(300):
        angle = max(0.0, 0.005 * (k - 100))
        imu.update('pedestal', [float(k > 100), 0.0, 0.0], tilted(angle)[0], None, 0.005 * k)
    assert imu.tilt_at(1.495) == pytest.approx(0.995, abs=1e-3)


@pytest.mark.parametrize('upwards', [2.0 * G, 0.9 * G, 1.1 * G, 1.0, 0.02])
def test_a_sensor_of_another_scale_is_refused_from_the_first_reading(robot, upwards) -> None:
    """Twice gravity, gravity in g, or a driver that takes it out, is no motion of the base: it
    never counts. Set right, it does.
    """
    imu = BaseImu(robot, GRAVITY, believing())
    for k in range(400):
        with pytest.raises(ImuError, match=r'linear_acceleration: expected gravity in it, 9\.8'):
            imu.update('pedestal', STILL, [0.01, 0.0, upwards], None, 0.005 * k)
    assert imu.at(1.995) is None
    for k in range(400, 2400):
        try:
            imu.update('pedestal', STILL, UPWARDS, None, 0.005 * k)
        except ImuError:
            assert k < 650
    np.testing.assert_allclose(imu.at(11.995), 0.0, atol=1e-6)


def test_an_acceleration_that_no_base_has_is_refused(robot: Robot) -> None:
    """A shock of 160 m/s^2 is left out; the direction of gravity stays."""
    imu = BaseImu(robot, GRAVITY, believing(cutoff_frequency=50.0, max_acceleration=5.0))
    refused = 0
    for k in range(300):
        push = 160.0 if 200 <= k < 220 else 0.0
        try:
            imu.update('pedestal', STILL, [push, 0.0, G], None, 0.005 * k)
        except ImuError:
            refused += 1
        motion = imu.at(0.005 * k)
        assert np.abs(motion[6:]).max() <= 5.0 + 1e-9
    assert 20 <= refused < 40
    np.testing.assert_allclose(imu.gravity_at(1.495), GRAVITY, atol=1.0)


REFUSED = [
    ({'frame_id': ''}, r'^header\.frame_id: got an empty one'),
    ({'frame_id': 'nowhere'}, r"^header\.frame_id: no link 'nowhere'; expected .*'imu'"),
    ({'frame_id': 'forearm'}, r"^header\.frame_id: 'forearm' is elsewhere on the robot"),
    ({'angular_velocity': None}, r'^angular_velocity: .*got none'),
    ({'angular_velocity': [0, np.nan, 0]}, r'^angular_velocity\.y: .*finite.*nan'),
    ({'angular_velocity': [0, 0, 101.0]}, r'^angular_velocity: .*100 rad/s, got 101'),
    ({'angular_velocity': [0, 0]}, r'^angular_velocity: expected 3 numbers, got 2'),
    ({'angular_velocity': [1e300, 1e300, 0]}, r'^angular_velocity: expected at most'),
    ({'linear_acceleration': None}, r'^linear_acceleration: .*got none'),
    ({'linear_acceleration': [0, 0, -np.inf]}, r'^linear_acceleration\.z: .*finite.*-inf'),
    ({'linear_acceleration': [400, 400, 0]}, r'^linear_acceleration: .*500 m/s\^2, got 565'),
]


@pytest.mark.parametrize(('change', 'match'), REFUSED)
def test_bad_readings_are_refused_and_the_last_one_stays(robot, change, match) -> None:
    """The error names the field, what was expected and what came; the last one grows old."""
    imu, good = BaseImu(robot, GRAVITY, believing()), {'frame_id': 'imu', 'orientation': UPRIGHT}
    good |= {'angular_velocity': [0.1, 0.2, 0.3], 'linear_acceleration': [0.5, 0.0, G]}
    imu.update(**good, stamp=1.0)
    before = imu.at(1.0).copy()
    with pytest.raises(ImuError, match=match):
        imu.update(**{**good, **change}, stamp=1.2)
    np.testing.assert_array_equal(imu.at(1.2), before)
    assert imu.is_stale(1.55)


def test_late_and_repeated_readings_do_not_disturb(robot: Robot) -> None:
    """A reading that was overtaken does not count; one without a stamp of its own replaces."""
    imu = BaseImu(robot, GRAVITY, believing(cutoff_frequency=0.0))
    imu.update('pedestal', [0.1, 0.0, 0.0], UPWARDS, None, 1.0)
    imu.update('pedestal', [0.2, 0.0, 0.0], UPWARDS, None, 0.95)
    assert imu.at(1.0)[0] == 0.1
    imu.update('pedestal', [0.3, 0.0, 0.0], UPWARDS, None, 1.0)
    assert imu.at(1.0)[0] == 0.3
