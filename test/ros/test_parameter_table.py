"""The table of parameters: sound in itself, readable without ROS, strict with values."""

from __future__ import annotations

from dataclasses import dataclass, replace

import pytest
from fresh_python import output_of

from ne_dynamics.control.laws import Mode
from ne_dynamics.errors import ParameterError
from ne_dynamics.ros.settings.parameters import PARAMETERS
from ne_dynamics.settings import Changes, ParameterTable, group, parameter

NAN, INFINITY = float('nan'), float('inf')


def test_no_ros_is_needed() -> None:
    program = (
        'import sys\n'
        "sys.modules['rclpy'] = sys.modules['sensor_msgs'] = None\n"
        'import ne_dynamics.settings, ne_dynamics.ros.settings.parameters\n'
        'import ne_dynamics.ros.messages.conversion, ne_dynamics.ros.settings.configuration\n'
    )
    output_of(program)


def test_a_change_leaves_everything_else() -> None:
    """What is not named stays as it was, and the settings that were there stay as they are."""
    before = PARAMETERS.changed({'wrench.gain': 0.5, 'mode': 'feedforward'})
    after = PARAMETERS.changed({'wrench.timeout': 1}, before)
    assert (before.wrench.timeout, after.wrench.timeout) == (0.1, 1.0)
    assert replace(after, wrench=before.wrench) == before
    assert after.wrench.gain == 0.5
    with pytest.raises(ParameterError, match=r'wrench\.gain: expected >= 0, <= 1, got 2\.0'):
        PARAMETERS.changed({'wrench.timeout': 1.0, 'wrench.gain': 2.0})
    with pytest.raises(ParameterError, match=r'wrench\.gian: no such parameter'):
        PARAMETERS.changed({'wrench.gian': 1.0})


@dataclass(frozen=True)
class _Inner:
    colour: Mode = parameter(Mode.FEEDFORWARD, 'A word.')
    sizes: tuple[float, ...] = parameter((1.0,), 'Numbers.', minimum=0.0)


@dataclass(frozen=True)
class _Outer:
    names: tuple[str, ...] = parameter((), 'Words.')
    inner: _Inner = group(_Inner)
    other: _Inner = group(_Inner, prefix='other_')
    is_on: bool = parameter(True, 'Yes or no.', changes=Changes.UNCONFIGURED)


def test_a_table_is_made_of_dataclasses() -> None:
    """Type, default and name of a parameter are those of its field, in the order of the fields."""
    table = ParameterTable(_Outer, 'a.')
    assert [(spec.name, spec.type, spec.default) for spec in table] == [
        ('a.names', 'string[]', ()),
        ('a.inner.colour', 'string', 'feedforward'),
        ('a.inner.sizes', 'double[]', (1.0,)),
        ('a.other_colour', 'string', 'feedforward'),
        ('a.other_sizes', 'double[]', (1.0,)),
        ('a.is_on', 'bool', True),
    ]
    assert [spec.changes for spec in table][-2:] == [Changes.ANY_TIME, Changes.UNCONFIGURED]
    at_start = ParameterTable(_Outer, changes=Changes.START)
    assert {spec.changes for spec in at_start} == {Changes.START}


def test_settings_that_somebody_puts_together_are_checked() -> None:
    """Every value is brought into its type, or refused by its full name."""
    table = ParameterTable(_Outer, 'a.')
    given = _Outer(other=_Inner('computed_torque', [2, 3]))
    assert table.checked(given).other == _Inner(Mode.COMPUTED_TORQUE, (2.0, 3.0))
    with pytest.raises(ParameterError, match=r'^a\.other_sizes: expected >= 0, got'):
        table.checked(_Outer(other=_Inner(sizes=(-1.0,))))
    with pytest.raises(ParameterError, match=r'^a\.inner\.colour: expected one of .*red'):
        table.checked(_Outer(inner=_Inner('red')))


@pytest.mark.parametrize(
    ('name', 'value', 'match'),
    [
        ('wrench.timeout', NAN, r'wrench\.timeout: expected a finite number, got nan'),
        ('wrench.timeout', 0.0, r'expected > 0, got 0\.0'),
        ('wrench.timeout', -INFINITY, 'expected > 0, got -inf'),
        ('wrench.timeout', True, 'expected a number, got True'),
        ('wrench.timeout', [1.0], r'expected a number, got \[1\.0\]'),
        ('computed_torque.kp', [1.0, NAN], r'finite number, got nan'),
        ('computed_torque.kp', [INFINITY], 'finite number, got inf'),
        ('computed_torque.kp', None, r'a list \(double\[\]\), got None'),
        ('effort_limits', [0.0], '> 0, got 0'),
        ('payload.mass', 1.1e6, r'<= 1e\+06'),
        ('gravity', [0.0, 9.81], r'3 values, got \[0\.0, 9\.81\]'),
        ('terms.gravity', 1, 'true or false, got 1'),
        ('mode', 'pid', "one of computed_torque, .*, got 'pid'"),
        ('joints', [1, 2], 'a string, got 1'),
        ('joints', ['a', 'b', 'a'], "no name twice, like 'a'"),
    ],
)
def test_bad_values_are_refused_by_name(name: str, value, match: str) -> None:
    """A value of another type, not finite or out of bounds: name, expected and got are said."""
    with pytest.raises(ParameterError, match=match) as refused:
        PARAMETERS.find(name).check(value)
    assert str(refused.value).startswith(f'{name}: ')
