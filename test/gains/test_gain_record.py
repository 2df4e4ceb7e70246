"""Gains are those that were found before."""

import pytest
from gain_record import DESIGNS, record_gains
from stored_record import AGAIN, list_differences, read_record

TOLERANCE = 1e-6
"""For each number, as a part of it."""


@pytest.mark.parametrize('name', DESIGNS)
def test_an_arm_gets_the_gains_that_it_got(name):
    """A setting of the search or of the predictions that was changed shows here."""
    differences = sorted(
        list_differences(read_record(f'gains_{name}'), record_gains(name), TOLERANCE)
    )
    assert not differences, '\n'.join([*differences, AGAIN])
