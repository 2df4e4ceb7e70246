"""What commands and motion say of one driver, where they differ or say nothing."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from driver_arms import load_shipped

import ne_dynamics as ned
from ne_dynamics.identification.driver_delay import EffortDelay
from ne_dynamics.identification.driver_description import describe_driver
from ne_dynamics.identification.driver_effort import describe_efforts
from ne_dynamics.identification.driver_meaning import Meaning
from ne_dynamics.identification.driver_recording import CommandLog, DriverRecording
from ne_dynamics.identification.effort_fit import JointTerms
from ne_dynamics.identification.log_reading import LogReading


@pytest.fixture(scope='module')
def robot():
    """Return the first three joints of the shipped arm."""
    return load_shipped('forearm')


def meaning_of(n, factor, gain):
    """Return a meaning with gravity, of a factor to N m; a gain below 0 is of another unit."""
    ones = np.ones(n)
    terms = JointTerms(ones, ones, ones, 0.01 * ones, 0.01 * ones, 0.01 * ones)
    reading = replace(LogReading.as_recorded(n), effort_factor=factor * ones)
    return Meaning(
        reading,
        gravity_gain=20.0,
        unit_gain=gain,
        joint_unit_gains=gain * ones,
        sign_gains=20.0 * ones,
        factor_deviations=0.1 * ones,
        left=0.05 * ones,
        terms=terms,
        size=10.0 * ones,
        gravity_share=0.8 * ones,
        delay=0.0,
        delay_deviation=1e-3,
        faults=(),
    )


@pytest.mark.parametrize(
    ('factor', 'gain', 'per_command', 'meaning'),
    [
        (12.0, -20.0, 1.0, None),
        (1.0, 20.0, 0.08, None),
        (12.0, -20.0, 0.08, 'current'),
        (1.0, 20.0, 1.0, 'torque'),
        # Motion that is not sure does not stand against commands.
        (1.0, 1.0, 1.0, 'torque'),
        (3.0, -4.0, 1.0, 'torque'),
    ],
)
def test_commands_in_another_unit_make_no_torque_of_a_current(
    robot, factor, gain, per_command, meaning
):
    """Efforts equal to commands are in N m only where the motion does not surely say otherwise."""
    n = robot.n
    ones = np.ones(n)
    follows = EffortDelay(0.003, 5e-4, np.nan, ones, per_command * ones, 1e-3 * ones, False)
    reported = np.random.default_rng(0).standard_normal((50, n))
    still, moves = np.zeros(n, dtype=bool), np.ones(n, dtype=bool)
    found = describe_efforts(robot, reported, still, moves, meaning_of(n, factor, gain), follows)
    assert [effort.meaning.value for effort in found] == [meaning] * n
    for effort in found:
        assert effort.scale.is_told is (meaning is not None)
        if meaning is None:
            assert 'payload' in effort.scale.experiment
            assert 'command' in effort.scale.text


def test_too_little_is_no_sign_that_efforts_are_not_the_commands(robot):
    """Of a recording that is too short to compare, or of commands before it, no echo is denied."""
    times = np.arange(40) * 0.002
    position = np.sin(times)[:, np.newaxis] * np.ones(robot.n)
    efforts = 5.0 * position
    commands = CommandLog.from_samples(robot.joint_names, times, efforts)
    recording = DriverRecording.from_samples(
        robot.joint_names, times, position, None, efforts, commands=commands
    )
    dynamics = ned.Dynamics(robot, backend='python')
    for given in (commands, replace(commands, times=commands.times - 10.0)):
        echo = describe_driver(dynamics, replace(recording, commands=given)).command.echo
        assert echo.value is None
        assert not echo.is_told
