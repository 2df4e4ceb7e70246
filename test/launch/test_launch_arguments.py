"""What the launch files refuse before anything starts; the checks need no launch."""

from __future__ import annotations

import pytest

from ne_dynamics.errors import ParameterError
from ne_dynamics.ros.launching.launch_arguments import (
    check_argument,
    check_efforts_alone,
    check_file,
    check_leader,
    read_leader,
)
from ne_dynamics.ros.settings.parameters import PARAMETERS
from ne_dynamics.simulation.robot_parameters import PARAMETERS as ROBOT_PARAMETERS


@pytest.mark.parametrize(
    ('argument', 'parameter', 'text', 'reason'),
    [
        ('mode', 'mode', 'torque', 'expected one of computed_torque'),
        ('state_timeout', 'state_timeout', 'soon', "expected a number, got 'soon'"),
        ('state_timeout', 'state_timeout', '-1', 'got -1'),
        ('state_timeout', 'state_timeout', '{', "expected a number, got '{'"),
        ('use_imu', 'imu.enabled', 'maybe', "expected true or false, got 'maybe'"),
        ('autostart', 'autostart', '1', 'expected true or false, got 1'),
        ('joints', 'joints', 'joint_1', 'expected a list'),
        ('joints', 'joints', '[a', 'expected a list'),
        ('joints', 'joints', '[a, a]', 'expected no name twice'),
    ],
)
def test_the_argument_is_named(argument, parameter, text, reason) -> None:
    with pytest.raises(ParameterError, match=reason) as error:
        check_argument(argument, text, PARAMETERS.find(parameter))
    assert str(error.value).startswith(f'argument {argument}:={text}: ')


def test_the_load_of_the_simulated_robot_is_a_number() -> None:
    """`payload_mass:=heavy` and a load that pulls upwards are refused."""
    for text in ('heavy', '-1.0'):
        with pytest.raises(ParameterError, match=f'argument payload_mass:={text}: payload.mass'):
            check_argument('payload_mass', text, ROBOT_PARAMETERS.find('payload.mass'))


def test_every_fault_of_a_file_is_named() -> None:
    """The file and all its faults; what the table does not know is the node's to warn of."""
    check_file('a.yaml', {'mode': 'feedforward_pd', 'use_sim_time': 5, 'joints': None}, PARAMETERS)
    values = {'mode': 'torque', 'wrench.timeout': 'soon', 'state_timeout': 1}
    with pytest.raises(ParameterError, match=r'a\.yaml: mode: .*; wrench\.timeout: ') as error:
        check_file('a.yaml', values, PARAMETERS)
    assert 'state_timeout' not in str(error.value)


def test_a_leader_follows_nothing() -> None:
    """`leader` is true or false, and another mode beside it is refused by where it was given."""
    assert [read_leader(text) for text in ('true', 'false', '')] == [True, False, False]
    with pytest.raises(ParameterError, match='argument leader:=yes!: leader: expected true or'):
        read_leader('yes!')
    for mode in ('', 'gravity_compensation'):
        check_leader(mode, 'argument mode')
    with pytest.raises(ParameterError, match=r'my\.yaml: mode: expected gravity_compensation or'):
        check_leader('computed_torque', 'my.yaml: mode')


@pytest.mark.parametrize(
    ('values', 'reason'),
    [
        (
            {'command.type': 'joint_state'},
            r'command\.type: expected float64_multi_array, all that',
        ),
        ({'command.interfaces': ['position', 'effort']}, r"expected \['effort'\], all that x"),
    ],
)
def test_commands_that_nobody_beside_the_node_takes_are_refused(values, reason) -> None:
    """Arrays of efforts are what the launch files start takers of."""
    check_efforts_alone('a.yaml', {'command.interfaces': ['effort'], 'mode': 'x'}, 'x')
    with pytest.raises(ParameterError, match=rf'a\.yaml: .*{reason}'):
        check_efforts_alone('a.yaml', values, 'x')
