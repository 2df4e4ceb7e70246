"""Gains are those that were found before."""

import pytest
from gain_record import DESIGNS, record_falls, record_gains
from stored_record import AGAIN, list_differences, read_record

TOLERANCE = 1e-6
"""For each number, as a part of it."""


def compare(name, found):
    """Fail with all that differs from what is stored."""
    differences = sorted(list_differences(read_record(f'gains_{name}'), found, TOLERANCE))
    assert not differences, '\n'.join([*differences, AGAIN])


@pytest.mark.parametrize('name', DESIGNS)
def test_an_arm_gets_the_gains_that_it_got(name):
    """A setting of the search or of the predictions that was changed shows here."""
    compare(name, record_gains(name))


def test_the_pose_in_which_an_arm_falls_first_is_found_again():
    compare('falls', record_falls())
