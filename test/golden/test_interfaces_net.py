"""What users rely on is there as it was: names, types, defaults, options, counts, equations."""

import pytest
from interface_record import (
    COUNTED,
    PRINTED,
    list_text_differences,
    print_equations,
    record_annotator,
    record_computed_torque,
    record_counts,
    record_launch_arguments,
    record_options,
    record_python_names,
    record_simulated_robot,
)
from stored_record import AGAIN, EQUATIONS, list_differences, read_record

ROUNDING = 1e-12
"""Part of a number in a printed equation that another processor may change: products of inertias
and sines are rounded there."""


def compare(name, found):
    """Fail with all that differs from what is stored."""
    differences = sorted(list_differences(read_record(name), found))
    assert not differences, '\n'.join([f'{name}:', *differences, AGAIN])


def test_the_node_has_the_parameters_topics_services_and_action_that_it_had(messages):
    pytest.importorskip('rclpy', reason='needs ROS 2 for Python: pip install "ne_dynamics[ros]"')
    compare('interface_computed_torque', record_computed_torque(messages))


def test_the_annotator_has_the_parameters_topics_and_action_that_it_had(messages):
    pytest.importorskip('rclpy', reason='needs ROS 2 for Python: pip install "ne_dynamics[ros]"')
    compare('interface_annotator', record_annotator(messages))


def test_the_simulated_robot_has_the_parameters_topics_and_services_that_it_had():
    pytest.importorskip('rclpy', reason='needs ROS 2 for Python: pip install "ne_dynamics[ros]"')
    pytest.importorskip('mujoco', reason='mujoco is missing')
    compare('interface_simulated_robot', record_simulated_robot())


@pytest.mark.parametrize(
    ('name', 'record'),
    [
        ('interface_options', record_options),
        ('interface_launch_arguments', record_launch_arguments),
        ('interface_python', record_python_names),
    ],
    ids=['options', 'launch arguments', 'Python'],
)
def test_what_is_typed_is_accepted_as_it_was(name, record):
    compare(name, record())


@pytest.mark.parametrize('name', COUNTED)
def test_equations_take_as_many_operations_as_before(name):
    found = record_counts(name)
    differences = sorted(list_differences(read_record('operation_counts')[name], found))
    assert not differences, '\n'.join([f'{name}:', *differences, AGAIN])


@pytest.mark.parametrize('name', PRINTED)
def test_equations_are_printed_as_before(name):
    differences = []
    for file, text in print_equations(name).items():
        stored = (EQUATIONS / f'{file}.txt').read_text(encoding='utf-8')
        differences += [
            line.replace('found', file, 1) if line.startswith('+++') else line
            for line in list_text_differences(stored, text, ROUNDING)
        ]
    assert not differences, '\n'.join([*differences, AGAIN])


def test_a_text_with_another_number_or_name_is_another():
    text = 'const double t1 = 0.5*q[1] - 9.80665*c2;'
    assert not list_text_differences(text, text.replace('.80665', '.806650000000002'), ROUNDING)
    for old, new in (('80665', '8066'), ('-', '+'), ('c2', 's2'), ('t1', 't2'), ('[1]', '[2]')):
        assert list_text_differences(text, text.replace(old, new), ROUNDING), new


@pytest.mark.parametrize(
    ('stored', 'found', 'differences'),
    [
        ({'a': 1.0}, {'a': 1.0 + 1e-7}, 0),
        ({'a': 1.0}, {'a': 1.0 + 1e-5}, 1),
        ({'a': 0.0}, {'a': 1e-9}, 1),
        ({'value': 0.0, 'deviation': 1.0}, {'value': 1e-7, 'deviation': 1.0}, 0),
        ({'value': 0.0, 'deviation': 1.0}, {'value': 1e-5, 'deviation': 1.0}, 1),
        ({'value': 0.0, 'deviation': 1.0}, {'value': 0.0, 'deviation': 1.001}, 1),
        ({'a': 1.0}, {'a': float('nan')}, 1),
        ({'a': 1}, {'a': True}, 1),
        ({'a': 1}, {'b': 1}, 2),
        ([1, 2], [1, 2, 3], 1),
        ({'a': [{'b': 'x'}]}, {'a': [{'b': 'y'}]}, 1),
    ],
)
def test_what_differs_from_a_record_is_seen(stored, found, differences):
    assert len(list(list_differences(stored, found, 1e-6))) == differences
