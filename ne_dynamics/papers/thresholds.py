"""Tolerances of the forms and sizes of the studies that reproduce the papers."""

from __future__ import annotations

from dataclasses import dataclass

from ne_dynamics.thresholds import threshold


@dataclass(frozen=True)
class FormTolerances:
    """What counts as equal, parallel or zero in the forms and in their counts."""

    parallel_angle: float = threshold(
        1e-7, 'rad', 'Axes at less than this angle count as parallel; see `fit_arm`.'
    )
    recovered_pose: float = threshold(
        1e-9, 'rad, and of the length', 'Distance of a pose from a Denavit-Hartenberg row.'
    )
    fitted_from: int = threshold(
        2, 'joints', "Costs are fitted from here: a recursion's first link may be cheaper."
    )


FORMS = FormTolerances()
"""Those that count."""


@dataclass(frozen=True)
class StudySizes:
    """How large the arms of the studies are, and how long and exactly they are compared."""

    # concurrency, counts
    fewest_joints: int = threshold(2, '', 'Shortest arm whose concurrency is counted ...')
    longest_arm: int = threshold(12, 'joints', '... and the longest.')
    counted_joints: int = threshold(12, '', 'Longest arm whose operations are counted ...')
    shown_joints: int = threshold(6, '', '... and the one that is shown.')

    # equivalence, forms
    largest_arm: int = threshold(8, 'joints', 'Longest arm on which forms are compared.')
    disagreement: float = threshold(
        1e-9, '', 'Disagreement by the largest effort that rounding does not make.'
    )
    solved_disagreement: float = threshold(
        1e-8, '', 'The same of solutions with the mass matrix, which may be near singular.'
    )
    timed_seconds: float = threshold(0.03, 's', 'Each form is timed for so long.')
    simulation_step: float = threshold(0.001, 's', 'Step of the simulations that are compared ...')
    simulation_steps: int = threshold(50, '', '... and their number.')

    # lanes
    timed_runs: int = threshold(400, '', 'Measurements, of which the shortest counts ...')
    timed_calls: int = threshold(500, '', '... of so many calls.')
    handovers: int = threshold(200, '', 'Hand-overs between two threads in a measurement ...')
    handover_repeats: int = threshold(30, '', '... of which the shortest of so many counts.')

    # puma, six_link
    durations: tuple[float, ...] = threshold(
        (1.0, 2.0, 4.0, 8.0), 's', 'Motions whose errors are compared.'
    )
    jump_duration: float = threshold(
        1.0, 's', 'Duration of the trapezoid whose acceleration jumps.'
    )


STUDIES = StudySizes()
"""Those that count."""
