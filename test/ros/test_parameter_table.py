"""The table of parameters: sound in itself, readable without ROS, strict with values."""

from __future__ import annotations

import subprocess
import sys

import pytest

from ne_dynamics.errors import ParameterError
from ne_dynamics.ros.parameter_table import Changes
from ne_dynamics.ros.parameters import PARAMETERS

NAN, INFINITY = float('nan'), float('inf')


@pytest.mark.parametrize(
    'module',
    ['parameters', 'parameter_table', 'messages', 'configuration'],
    ids=lambda name: f'ros.{name}',
)
def test_no_ros_is_needed(module: str) -> None:
    """Parameters, messages and configuration can be imported where there is no rclpy."""
    program = (
        'import sys\n'
        "sys.modules['rclpy'] = sys.modules['sensor_msgs'] = None\n"
        f'import ne_dynamics.ros.{module}\n'
    )
    subprocess.run([sys.executable, '-c', program], check=True)


def test_the_node_says_what_is_missing() -> None:
    """Without rclpy the node's import fails with the name of the extra that brings it."""
    program = (
        'import sys\n'
        "sys.modules['rclpy'] = None\n"
        'from ne_dynamics.errors import MissingDependencyError\n'
        'try:\n'
        '    import ne_dynamics.ros.node\n'
        'except MissingDependencyError as error:\n'
        "    sys.exit(0 if 'ne_dynamics[ros]' in str(error) else 1)\n"
        'sys.exit(2)\n'
    )
    subprocess.run([sys.executable, '-c', program], check=True)


def test_every_default_passes_its_own_check() -> None:
    """Each default is a value that the table accepts, in the type that it names."""
    for spec in PARAMETERS:
        checked = spec.check(
            list(spec.default) if isinstance(spec.default, tuple) else spec.default
        )
        assert checked == spec.default
        assert spec.description
        assert spec.type in ('bool', 'double', 'string', 'double[]', 'string[]')
        assert isinstance(spec.default, tuple) == spec.type.endswith('[]')


def test_names_are_unique_and_found() -> None:
    """Every name is there once, and a misspelt one is answered with the nearest."""
    assert len(PARAMETERS.by_name) == len(PARAMETERS) == len(PARAMETERS.default_values())
    assert PARAMETERS.find('wrench.timeout').unit == 's'
    with pytest.raises(ParameterError, match=r"wrench\.timeuot: .*did you mean 'wrench\.timeout'"):
        PARAMETERS.find('wrench.timeuot')
    with pytest.raises(ParameterError, match=r'no such parameter$'):
        PARAMETERS.find('zzz')


def test_only_what_is_fixed_at_the_start_is_read_only() -> None:
    """Read-only to ROS is what can be set at the start alone."""
    for spec in PARAMETERS:
        assert spec.read_only == (spec.changes is Changes.START)
    assert PARAMETERS.find('mode').changes is Changes.ANY_TIME
    assert PARAMETERS.find('model_file').changes is Changes.UNCONFIGURED


@pytest.mark.parametrize(
    ('name', 'value', 'expected'),
    [
        ('wrench.timeout', 1, 1.0),
        ('wrench.timeout', INFINITY, INFINITY),
        ('computed_torque.kp', 100, (100.0,)),
        ('computed_torque.kp', [1, 2.5], (1.0, 2.5)),
        ('effort_limits', [], ()),
        ('effort_limits', [INFINITY, 3], (INFINITY, 3.0)),
        ('joints', 'a', ('a',)),
        ('joints', ('a', 'b'), ('a', 'b')),
        ('terms.gravity', False, False),
        ('mode', 'feedforward', 'feedforward'),
    ],
)
def test_values_are_brought_into_their_type(name: str, value, expected) -> None:
    """Integers become numbers and single values lists of one; nothing else is bent."""
    checked = PARAMETERS.find(name).check(value)
    assert checked == expected
    assert type(checked) is type(expected)


@pytest.mark.parametrize(
    ('name', 'value', 'match'),
    [
        ('wrench.timeout', NAN, r'wrench\.timeout: expected a finite number, got nan'),
        ('wrench.timeout', 0.0, r'expected > 0, got 0\.0'),
        ('wrench.timeout', -INFINITY, 'expected > 0, got -inf'),
        ('wrench.timeout', True, 'expected a number, got True'),
        ('wrench.timeout', 'soon', "expected a number, got 'soon'"),
        ('wrench.timeout', [1.0], r'expected a number, got \[1\.0\]'),
        ('computed_torque.kp', [1.0, NAN], r'finite number, got nan'),
        ('computed_torque.kp', [INFINITY], 'finite number, got inf'),
        ('computed_torque.kp', None, r'a list \(double\[\]\), got None'),
        ('computed_torque.kp', [True], 'a number, got True'),
        ('effort_limits', [0.0], '> 0, got 0'),
        ('effort_rate_limit', [-1.0], '>= 0, got -1'),
        ('gravity', [0.0, 9.81], r'3 values, got \[0\.0, 9\.81\]'),
        ('terms.gravity', 1, 'true or false, got 1'),
        ('terms.gravity', 'true', "true or false, got 'true'"),
        ('mode', 'pid', "one of computed_torque, .*, got 'pid'"),
        ('mode', 1, 'a string, got 1'),
        ('joints', [1, 2], 'a string, got 1'),
        ('joints', ['a', 'b', 'a'], "no name twice, like 'a'"),
    ],
)
def test_bad_values_are_refused_by_name(name: str, value, match: str) -> None:
    """A value of another type, not finite or out of bounds: name, expected and got are said."""
    with pytest.raises(ParameterError, match=match) as refused:
        PARAMETERS.find(name).check(value)
    assert str(refused.value).startswith(f'{name}: ')
