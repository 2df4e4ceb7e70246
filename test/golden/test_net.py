"""What is recorded is found again: models of logs, gains, and what users rely on."""

import pytest
from interface_record import PRINTED, list_text_differences, print_equations
from record_net import RECORDS
from stored_record import AGAIN, EQUATIONS, list_differences, read_record

ROUNDING = 1e-12
"""Part of a number in a printed equation that another processor may change: products of inertias
and sines are rounded there."""

NAMES = [
    pytest.param(name, marks=pytest.mark.long if record.is_long else ())
    for name, record in RECORDS.items()
]


@pytest.mark.parametrize('name', NAMES)
def test_what_is_recorded_is_found_again(name, tmp_path, found_messages):
    record = RECORDS[name]
    found = record.make(tmp_path, lambda: found_messages)
    differences = sorted(
        list_differences(
            read_record(name),
            found,
            record.tolerance,
            deviation_tolerance=record.of_deviation,
        )
    )
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
