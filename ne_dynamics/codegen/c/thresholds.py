"""Sizes of a C project, and the errors that its test allows."""

from __future__ import annotations

from dataclasses import dataclass

from ne_dynamics.thresholds import threshold


@dataclass(frozen=True)
class CProjectThresholds:
    """How a C project is laid out and tested."""

    test_samples: int = threshold(100, '', 'Samples of each function in the test.')
    test_tolerance: float = threshold(
        1e-12, '', 'Error that the test allows, by the largest value of the function ...'
    )
    test_scale: float = threshold(
        1e-2, '', '... or by this where all are smaller: rounding of zero has no digits.'
    )
    longest_prefix: int = threshold(
        40, 'characters', 'The name of a robot is cut to this in a prefix.'
    )
    prismatic_reach: float = threshold(
        1.0, 'm', 'Largest position of a prismatic joint for which rounding is stated.'
    )


C_TEST = CProjectThresholds()
"""Those that count."""
