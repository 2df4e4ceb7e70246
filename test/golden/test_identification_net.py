"""Identification finds in stored logs what it found in them before."""

import pytest
from identification_record import (
    CASES,
    DRIVERS,
    record_driver,
    record_identification,
    record_load,
    record_planted_faults,
)
from stored_record import AGAIN, list_differences, read_record

TOLERANCE = 1e-6
"""For each number as a part of it, or of its standard deviation where that is larger: a base
parameter that a log hardly tells is near zero, and its last digits are those of rounding. Other
processors and orders of summation change these numbers by less than 1e-7."""

OF_A_DEVIATION = 1e-4
"""For standard deviations: those of parameters that hardly anything tells come of differences of
large numbers, and change by 1e-6 from one processor to another."""


def compare(name, found):
    """Fail with all that differs from what is stored."""
    differences = sorted(
        list_differences(read_record(name), found, TOLERANCE, deviation_tolerance=OF_A_DEVIATION)
    )
    assert not differences, '\n'.join([f'{name}:', *differences, AGAIN])


@pytest.mark.parametrize('name', CASES)
def test_a_log_gives_the_model_that_it_gave(name, tmp_path):
    compare(f'identification_{name}', record_identification(name, tmp_path))


def test_a_load_is_the_one_that_was_found(tmp_path):
    compare('identification_ur10e_load', record_load(tmp_path))


@pytest.mark.parametrize('name', DRIVERS)
def test_a_driver_is_described_as_it_was(name, tmp_path):
    compare(f'driver_{name}', record_driver(name, tmp_path))


def test_planted_faults_are_found_as_they_were():
    compare('planted_faults', record_planted_faults())
