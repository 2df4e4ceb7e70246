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
    ('table', 'argument', 'parameter', 'text', 'reason'),
    [
        (PARAMETERS, 'mode', 'mode', 'torque', 'expected one of computed_torque'),
        (PARAMETERS, 'state_timeout', 'state_timeout', 'soon', "expected a number, got 'soon'"),
        (PARAMETERS, 'state_timeout', 'state_timeout', '-1', 'got -1'),
        (PARAMETERS, 'state_timeout', 'state_timeout', '{', "expected a number, got '{'"),
        (PARAMETERS, 'use_imu', 'imu.enabled', 'maybe', "true or false, got 'maybe'"),
        (PARAMETERS, 'joints', 'joints', 'joint_1', 'expected a list'),
        (PARAMETERS, 'joints', 'joints', '[a', 'expected a list'),
        (PARAMETERS, 'joints', 'joints', '[a, a]', 'expected no name twice'),
        (ROBOT_PARAMETERS, 'payload_mass', 'payload.mass', '-1.0', 'payload.mass'),
    ],
)
def test_the_argument_is_named(table, argument, parameter, text, reason) -> None:
    with pytest.raises(ParameterError, match=reason) as error:
        check_argument(argument, text, table.find(parameter))
    assert str(error.value).startswith(f'argument {argument}:={text}: ')


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


def test_commands_that_nobody_beside_the_node_takes_are_refused() -> None:
    """Arrays of efforts are what the launch files start takers of."""
    check_efforts_alone('a.yaml', {'command.interfaces': ['effort'], 'mode': 'x'}, 'x')
    for name, value, reason in (
        ('command.type', 'joint_state', 'float64_multi_array, all that x'),
        ('command.interfaces', ['position', 'effort'], r"\['effort'\], all that x"),
    ):
        with pytest.raises(ParameterError, match=rf'a\.yaml: {name}: expected {reason}'):
            check_efforts_alone('a.yaml', {name: value}, 'x')
