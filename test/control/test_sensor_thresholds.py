"""The thresholds of sensors: just within nothing happens, just beyond it does."""

from __future__ import annotations

import numpy as np
import pytest
from tuned_arm import ROBOT, Q

from ne_dynamics.control.sensors.imu import BaseImu, ImuSettings
from ne_dynamics.control.sensors.state_effort import StateEffort, find_beginning
from ne_dynamics.control.sensors.state_rate import StateRate
from ne_dynamics.control.sensors.wrench import WristWrench
from ne_dynamics.control.sensors.wrench_settings import WrenchSettings
from ne_dynamics.control.sensors.wrench_sign import WrenchSignCheck
from ne_dynamics.errors import ImuError

G = 9.80665
WEIGHT = np.array([0.0, 0.0, 20.0, 0.0, 0.0, 0.0])


def quaternion_is_refused(off: float) -> bool:
    """Return whether an orientation is refused whose norm is off."""
    imu = BaseImu(ROBOT, (0.0, 0.0, -G), ImuSettings(source='orientation'))
    try:
        imu.update('base_link', np.zeros(3), None, (0.0, 0.0, 0.0, 1.0 + off), 0.0)
    except ImuError:
        return True
    return False


def is_no_beginning(
    off: float,
    gravity: float = 0.5,
    limits: float = 1.0,
    meaning: StateEffort = StateEffort.TORQUE,
) -> bool:
    """Return whether no command begins at an effort that is off, by what the model expects."""
    found = find_beginning(
        np.array([gravity + off]),
        meaning,
        holding=np.array([gravity]),
        gravity=np.array([gravity]),
        commands_gravity=True,
        limits=np.array([limits]),
        joint_names='a',
    )
    return found.effort is None


def tare_counts(age: float) -> bool:
    """Return whether a reading is too old for a tare."""
    wrist = WristWrench(ROBOT, 'ft_sensor', WrenchSettings(measures='by_tool', timeout=1.0))
    wrist.update('ft_sensor', np.full(6, 8.0), 0.0)
    wrist.update('ft_sensor', np.zeros(6), age)
    return not wrist.tare(age).any()


def sign_is_doubted(
    reading: np.ndarray, weight: np.ndarray = WEIGHT, moved: float = 0.0, agreed: float = 1.0
) -> bool:
    """Return whether the sign is doubted after two looks at a reading.

    Before, the arm may have rested in another pose with a reading that was a part of the weight.
    """
    check = WrenchSignCheck()
    if agreed < 1.0:
        for _ in range(2):
            check.look(Q + 1.0, (1.0 - agreed) * weight, weight, is_tared=False)
    check.look(Q, reading, weight, is_tared=False)
    return check.look(Q + moved * np.eye(6)[0], reading, weight, is_tared=False)


def sign_is_seen_twice(turn: float) -> bool:
    """Return whether the sign is doubted after a tare, in two poses that differ by a turn."""
    check = WrenchSignCheck()
    for angle in (0.0, turn):
        weight = np.array([0.0, np.sin(angle), np.cos(angle), 0.0, 0.0, 0.0]) * 20.0
        for _ in range(2):
            found = check.look(Q + angle, -weight, weight, is_tared=True)
    return found


def moment(value: float) -> np.ndarray:
    """Return a moment about x."""
    return value * np.eye(6)[3]


@pytest.mark.parametrize(
    ('value', 'happens'),
    [
        pytest.param(0.1, quaternion_is_refused, id='quaternion_tolerance'),
        pytest.param(0.2, is_no_beginning, id='effort_largest_share'),
        pytest.param(
            0.02, lambda share: is_no_beginning(-share, share, 1.0), id='effort_least_share'
        ),
        pytest.param(
            1e-6, lambda weight: is_no_beginning(3.0, weight, np.inf), id='effort_rounding'
        ),
        pytest.param(0.2, tare_counts, id='tare_window'),
        pytest.param(
            2.0,
            lambda force: sign_is_doubted(-force * WEIGHT / 20.0, force * WEIGHT / 20.0),
            id='sign_least_force',
        ),
        pytest.param(
            0.3, lambda part: not sign_is_doubted(-(1.0 - part) * WEIGHT), id='sign_opposite_part'
        ),
        pytest.param(0.5, lambda part: sign_is_doubted(-WEIGHT, agreed=part), id='sign_same_part'),
        pytest.param(
            0.05,
            lambda lever: not sign_is_doubted(-WEIGHT + moment(0.3 * 20.0 * lever)),
            id='sign_least_lever',
        ),
        pytest.param(
            0.02, lambda way: not sign_is_doubted(-WEIGHT, moved=way), id='sign_rest_motion'
        ),
        pytest.param(0.3, sign_is_seen_twice, id='sign_least_turn'),
    ],
)
def test_it_happens_beyond_the_threshold_and_not_before(value: float, happens) -> None:
    """3 % below nothing is said or done, 3 % above it is."""
    assert not happens(0.97 * value)
    assert happens(1.03 * value)


def test_gravity_follows_the_measured_acceleration_within_a_second() -> None:
    """Of an orientation that is found wrong 1/e is left then."""
    imu = BaseImu(ROBOT, (0.0, 0.0, -G), ImuSettings(cutoff_frequency=0.0))
    imu.update('base_link', np.zeros(3), (0.0, 0.0, G), None, 0.0)
    for k in range(1, 101):
        force = G * np.array([np.sin(0.05), 0.0, np.cos(0.05)])
        imu.update('base_link', np.zeros(3), force, None, 0.01 * k)
    assert 0.05 - imu.tilt_at(1.0) == pytest.approx(0.05 / np.e, rel=0.01)


def test_the_rate_of_states_is_a_mean_of_ten_and_follows_slowly() -> None:
    """Of few states the shortest time counts, from the second on; once ten have come a fiftieth of
    each, and no more of one odd stamp.
    """
    rate = StateRate()
    for count, elapsed in enumerate([0.034, 0.01, 0.02, *[0.01] * 97], 1):
        rate.learn(elapsed)
        assert rate.is_known == (count >= 10)
        assert rate.period == pytest.approx(0.01 if count > 1 else 0.0)
    rate.learn(0.015)
    assert rate.period == pytest.approx(0.01 + 0.02 * 0.005)
    rate.learn(9.0)
    assert rate.period < 0.0104


def test_a_tare_takes_no_more_than_a_hundred_readings() -> None:
    """Of a sensor that sends more in that time the last ones count."""
    wrist = WristWrench(ROBOT, 'ft_sensor', WrenchSettings(measures='by_tool'))
    for k in range(150):
        wrist.update('ft_sensor', np.full(6, float(k < 50)), 0.001 * k)
    np.testing.assert_array_equal(wrist.tare(0.149), 0.0)
