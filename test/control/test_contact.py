"""When a residual is a contact."""

from __future__ import annotations

import numpy as np

from ne_dynamics.control.contact import ContactDetector
from ne_dynamics.control.guards.limits import GUARD_LIMITS

PERIOD = 0.01
LEAST = np.array([5.0, 2.0])


class Run:
    """A detector that is shown residuals, one a period."""

    def __init__(self) -> None:
        self.detector = ContactDetector(LEAST)
        self.now = 0.0

    def show(self, residual, seconds: float) -> int:
        """Show a residual for a while; return how many contacts begin."""
        begun = 0
        for _ in range(round(seconds / PERIOD)):
            begun += self.detector.update(np.array(residual), self.now)
            self.now += PERIOD
        return begun


def test_a_push_is_a_contact_until_it_is_over() -> None:
    """One begins where one joint is beyond its threshold, and ends well below it."""
    run = Run()
    run.show((0.0, 0.0), 1.0)
    assert run.show((0.0, -2.1), 5.0) == 1
    assert run.detector.is_in_contact
    run.show((0.0, -1.1), 1.0)
    assert run.detector.is_in_contact
    run.show((0.0, -0.9), PERIOD)
    assert not run.detector.is_in_contact


def test_a_push_does_not_raise_its_own_threshold() -> None:
    """One that grows in less than the probation is seen at the threshold of before."""
    run = Run()
    run.show((1.0, 0.0), 2.0)
    before = run.detector.thresholds[0]
    for size in np.linspace(
        1.0, 1.1 * before, round(0.9 * GUARD_LIMITS.contact_probation / PERIOD)
    ):
        run.show((size, 0.0), PERIOD)
    assert run.detector.is_in_contact
    assert run.detector.thresholds[0] == before


def test_errors_that_last_raise_the_threshold() -> None:
    """What has been no contact for long enough is known of the model, and stays known."""
    run = Run()
    run.show((0.0, 0.0), 1.0)
    run.show((4.0, 0.0), 3.0 * GUARD_LIMITS.contact_probation)
    run.show((0.0, 0.0), 10.0)
    np.testing.assert_allclose(
        run.detector.thresholds, LEAST + GUARD_LIMITS.contact_errors * np.array([4.0, 0.0])
    )
    assert run.show((10.0, 0.0), 1.0) == 0
    run.detector.configure(2.0 * LEAST)
    np.testing.assert_allclose(
        run.detector.thresholds[0], 10.0 + GUARD_LIMITS.contact_errors * 10.0
    )
