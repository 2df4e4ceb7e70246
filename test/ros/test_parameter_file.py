"""What of a parameter file counts for a node, by the rules of ROS; what does not is named."""

from __future__ import annotations

import pytest

from ne_dynamics.errors import ParameterError
from ne_dynamics.ros.settings.parameter_file import (
    files_without_effect,
    full_name,
    nodes_in,
    parameters_in_any_namespace,
    read_parameters,
)

VALUES = '{mode: feedforward_pd, terms: {gravity: false}, wrench.timeout: 0.2}'
READ = {'mode': 'feedforward_pd', 'terms.gravity': False, 'wrench.timeout': 0.2}


@pytest.mark.parametrize(
    ('key', 'namespace', 'counts'),
    [
        ('computed_torque', '', True),
        ('/computed_torque', '', True),
        ('/**', '', True),
        ('/**', 'left/arm', True),
        ('/*', '', True),
        ('/*', 'arm', False),
        ('/*/*', 'arm', True),
        ('/arm/computed_torque', 'arm', True),
        ('arm/computed_torque', '/arm', True),
        ('/**/computed_torque', 'left/arm', True),
        ('/**/computed_torque', '', True),
        ('/left/**', 'left/arm', True),
        ('/left/**', 'right/arm', False),
        ('computed_torque', 'arm', False),
        ('/arm/computed_torque', '', False),
        ('computed_torqe', '', False),
        ('/other', '', False),
    ],
)
def test_keys_are_matched_as_ros_matches_them(tmp_path, key, namespace, counts) -> None:
    """Names with and without a slash, namespaces, and both wildcards."""
    file = tmp_path / 'file.yaml'
    file.write_text(f'{key}:\n  ros__parameters: {VALUES}\n')
    name = full_name('computed_torque', namespace)
    if counts:
        assert read_parameters(file, name) == READ
        assert files_without_effect(['--params-file', str(file)], name) == []
        return
    with pytest.raises(ParameterError, match=f'expected parameters of {name} or of'):
        read_parameters(file, name)
    (remark,) = files_without_effect(['-p', 'a:=b', '--params-file', str(file)], name)
    assert key.strip('/') in remark


def test_a_node_is_found_whatever_its_namespace() -> None:
    """Levels, slashes and both wildcards may stand before its name; other nodes are not it."""
    nodes = {
        '/**': {'ros__parameters': {'mode': 'a', 'terms': {'gravity': False}}},
        'left': {'arm': {'it': {'ros__parameters': {'mode': 'b'}}}},
        '/right/it': {'ros__parameters': {'backend': 'c'}},
        'other': {'ros__parameters': {'mode': 'd'}},
        'it': {'mode': 'e'},
    }
    assert [name for name, _ in nodes_in(nodes)] == ['/**', '/left/arm/it', '/right/it', '/other']
    found = parameters_in_any_namespace(nodes, 'it')
    assert found == {'mode': 'b', 'terms.gravity': False, 'backend': 'c'}
    for content in (None, [], 3, {'it': 3}, {'it': {'ros__parameters': 3}}):
        assert parameters_in_any_namespace(content, 'it') == {}


@pytest.mark.parametrize(
    ('content', 'reason'),
    [
        ('', 'no ros__parameters at all'),
        ('- a', 'expected the names of nodes at the top'),
        ('a: [', 'expected YAML'),
        ('mode: feedforward', 'no ros__parameters at all'),
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
    file = tmp_path / 'node.yaml'
    called = tmp_path / 'called'
    tagged = f'!!python/object/apply:os.mkdir [{called}]'
    file.write_text(f'/**:\n  ros__parameters:\n    mode: {tagged}\n')
    assert read_parameters(file, '/computed_torque') == {'mode': [str(called)]}
    assert not called.exists()
