"""What of a parameter file counts for a node, by the rules of ROS; what does not is named."""

from __future__ import annotations

from typing import Any

import pytest

from ne_dynamics.errors import ParameterError
from ne_dynamics.ros.settings.parameter_file import (
    files_without_effect,
    full_name,
    nodes_in,
    read_parameters,
)

VALUES = '{mode: feedforward_pd, terms: {gravity: false}, wrench.timeout: 0.2}'
READ = {'mode': 'feedforward_pd', 'terms.gravity': False, 'wrench.timeout': 0.2}
COUNTS = [
    ('computed_torque', ''),
    ('/computed_torque', ''),
    ('/**', ''),
    ('/**', 'left/arm'),
    ('/*', ''),
    ('/*/*', 'arm'),
    ('/arm/computed_torque', 'arm'),
    ('arm/computed_torque', '/arm'),
    ('/**/computed_torque', 'left/arm'),
    ('/**/computed_torque', ''),
    ('/left/**', 'left/arm'),
]
COUNTS_NOT = [
    ('/*', 'arm'),
    ('/left/**', 'right/arm'),
    ('computed_torque', 'arm'),
    ('/arm/computed_torque', ''),
    ('computed_torqe', ''),
]


@pytest.mark.parametrize(('key', 'namespace'), [*COUNTS, *COUNTS_NOT])
def test_keys_are_matched_as_ros_matches_them(tmp_path, key: str, namespace: str) -> None:
    """Names with and without a slash, namespaces, and both wildcards."""
    file = tmp_path / 'file.yaml'
    file.write_text(f'{key}:\n  ros__parameters: {VALUES}\n')
    name = full_name('computed_torque', namespace)
    remarks = files_without_effect(['-p', 'a:=b', '--params-file', str(file)], name)
    if (key, namespace) in COUNTS:
        assert read_parameters(file, name) == READ
        assert remarks == []
        return
    with pytest.raises(ParameterError, match=f'expected parameters of {name} or of'):
        read_parameters(file, name)
    assert len(remarks) == 1
    assert key.strip('/') in remarks[0]


def test_each_level_above_the_parameters_is_part_of_a_name() -> None:
    """With slashes or without; what has no parameters is no node."""
    file: dict[str, Any] = {
        '/**': {'ros__parameters': {'mode': 'a'}},
        'left': {'arm': {'it': {'ros__parameters': {'mode': 'b'}}}},
        '/right/it': {'ros__parameters': {'mode': 'c'}},
        'it': {'mode': 'd'},
    }
    assert [name for name, _ in nodes_in(file)] == ['/**', '/left/arm/it', '/right/it']
    for content in (None, [], 3, {'it': 3}):
        assert not list(nodes_in(content))


@pytest.mark.parametrize(
    ('content', 'reason'),
    [
        ('', 'no ros__parameters at all'),
        ('- a', 'expected the names of nodes at the top'),
        ('a: [', 'expected YAML'),
        ('ros__parameters: {mode: a}', 'no ros__parameters at all'),
    ],
)
def test_what_is_no_parameter_file_is_named(tmp_path, content, reason) -> None:
    file = tmp_path / 'file.yaml'
    file.write_text(content)
    with pytest.raises(ParameterError, match=reason) as error:
        read_parameters(file, '/computed_torque')
    assert str(file) in str(error.value)


def test_a_tag_makes_nothing_but_what_is_written(tmp_path) -> None:
    """A file from outside calls no function of Python."""
    file, called = tmp_path / 'node.yaml', tmp_path / 'called'
    tagged = f'!!python/object/apply:os.mkdir [{called}]'
    file.write_text(f'/**: {{ros__parameters: {{mode: {tagged}}}}}')
    assert read_parameters(file, '/computed_torque') == {'mode': [str(called)]}
    assert not called.exists()
