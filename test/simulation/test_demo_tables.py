"""What a demo prints."""

import pytest

from ne_dynamics.simulation.demo.tables import figure, shortened


@pytest.mark.parametrize(
    ('value', 'text'),
    [(0.01234, '0.012'), (1.234, '1.23'), (12.34, '12.3'), (1234.5, '1234'), (0.0, '0.000')],
)
def test_figures_have_three_digits_and_no_powers_of_ten(value, text):
    assert figure(value) == text


def test_long_names_are_shortened_to_the_width():
    assert shortened('joint_1') == 'joint_1'
    assert shortened('a_joint_with_a_long_name') == 'a_joint_with_a..'
