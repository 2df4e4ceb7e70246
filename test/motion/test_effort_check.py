"""Efforts along a motion, against dense sampling; a load felt at the wrist, against a payload."""

from __future__ import annotations

import numpy as np
import pytest
from retimed_paths import DYNAMICS, ROBOT

from ne_dynamics.control.desired.path_efforts import PathEfforts
from ne_dynamics.control.laws import ControlLaw, Mode
from ne_dynamics.dynamics.compensation import BASE_MOTION, Base, Terms
from ne_dynamics.model.rigid_body import Inertia
from ne_dynamics.motion.effort_check import check_efforts
from ne_dynamics.motion.joined_states import scaled_coefficients
from ne_dynamics.motion.joint_limits import DemandLimits
from ne_dynamics.motion.limit_violation import LimitViolation
from ne_dynamics.motion.segments import Segments
from ne_dynamics.motion.waypoints import DesiredState

TILTED = np.zeros(BASE_MOTION)
TILTED[6:] = (3.0, -2.0, 0.5)
BASE = Base(TILTED, TILTED)
LOAD = Inertia(4.0, np.array((0.1, -0.05, 0.2)), np.zeros((3, 3)))
SAMPLES = 3000


def law(**options) -> ControlLaw:
    """Return a law that holds the arm, and knows its load."""
    return ControlLaw(DYNAMICS, Mode.GRAVITY_COMPENSATION, None, Terms(), **options)


def limits(effort: np.ndarray) -> DemandLimits:
    """Return the limits of the arm with other motors."""
    return DemandLimits.of(ROBOT.joints, effort)


def random_motion(seed: int, count: int = 3) -> Segments:
    """Return some segments through poses of the arm."""
    rng = np.random.default_rng(seed)
    durations = rng.uniform(0.05, 2.0, count)
    begin, end = (
        DesiredState(
            rng.uniform(-1.5, 1.5, (count, 6)),
            rng.uniform(-1.0, 1.0, (count, 6)),
            rng.uniform(-2.0, 2.0, (count, 6)),
        )
        for _ in range(2)
    )
    scaled = scaled_coefficients(rng.integers(1, 3, count), durations, begin, end)
    return Segments(np.concatenate(([0.0], np.cumsum(durations)[:-1])), durations, scaled)


def dense_efforts(segments: Segments, efforts) -> np.ndarray:
    """Return the efforts at many samples, shape (samples, segments, 6), by NumPy."""
    share, series, states = np.linspace(0.0, 1.0, SAMPLES), segments.scaled, []
    for order in range(3):
        values = np.moveaxis(np.polynomial.polynomial.polyval(share, series), -1, 0)
        states.append(values / segments.durations[:, np.newaxis] ** order)
        series = np.polynomial.polynomial.polyder(series)
    states = [each.reshape(-1, 6) for each in states]
    return efforts(*states).reshape(SAMPLES, -1, 6)


def excesses(segments: Segments, efforts, allowed: DemandLimits) -> dict[int, LimitViolation]:
    """Return what is exceeded, by joint."""
    return {excess.column: excess for excess in check_efforts(segments, efforts, allowed)}


@pytest.mark.parametrize('seed', range(8))
def test_the_largest_effort_is_that_of_dense_samples(seed: int) -> None:
    """With a payload on a tilted base each joint's largest effort is found within its bound."""
    payload = ROBOT.payload_parameters(LOAD, 'tcp')
    path = PathEfforts(law(payload=payload).compensation, BASE)
    segments = random_motion(seed)
    efforts = dense_efforts(segments, path.moving)
    largest = np.abs(efforts).max(axis=(0, 1))
    found = excesses(segments, path.moving, limits(0.5 * largest))
    assert set(found) == set(range(6))
    for joint, excess in found.items():
        assert abs(excess.value) >= largest[joint] * (1.0 - 0.01)
        assert abs(excess.value) <= largest[joint] * (1.0 + 1e-3)
        shares = (excess.time - segments.begins) / segments.durations
        # At the time of a knot both segments have one.
        near = [
            efforts[max(round(share * (SAMPLES - 1)) - 2, 0) :, index, joint][:5]
            for index, share in enumerate(shares)
            if -1e-9 <= share <= 1.0 + 1e-9
        ]
        assert any(some.min() - 1.0 <= excess.value <= some.max() + 1.0 for some in near)


def test_a_peak_between_the_samples_is_found() -> None:
    """What is narrower than the first samples are apart is looked for where it may matter."""
    scaled = np.zeros((6, 1, 6))
    scaled[1] = 0.05
    segments = Segments(np.zeros(1), np.ones(1), scaled)
    at = 0.4137 * 0.05

    def peak(q: np.ndarray, qd: np.ndarray, qdd: np.ndarray) -> np.ndarray:
        return 9.0 + 8.0 / (1.0 + ((q - at) / 0.006) ** 2)

    found = excesses(segments, peak, limits(np.full(6, 12.0)))
    assert found[0].value == pytest.approx(17.0, rel=0.02)
    assert found[0].time == pytest.approx(0.4137, abs=0.02)


@pytest.mark.parametrize('seed', range(4))
def test_a_weight_felt_at_the_wrist_is_carried_along(seed: int) -> None:
    """A load that only the sensor tells costs in other poses what a payload would, at rest."""
    rng = np.random.default_rng(seed)
    here, there = rng.uniform(-1.5, 1.5, 6), rng.uniform(-1.5, 1.5, (20, 6))
    still = np.zeros_like(there)
    rotation = DYNAMICS.forward_kinematics(here)[:3, :3]
    weight = rotation.T @ (LOAD.mass * DYNAMICS.gravity)
    # One reading does not tell how far along the force its point is: as near as may be.
    center = np.array((0.1, -0.05, 0.2))
    center -= weight * (center @ weight) / (weight @ weight)
    load = Inertia(LOAD.mass, center, np.zeros((3, 3)))
    # What the arm exerts on the load holds it up.
    wrench = -np.concatenate((weight, np.cross(center, weight)))
    felt = PathEfforts(law().compensation, None, wrench, here).moving(there, still, still)
    payload = ROBOT.payload_parameters(load, 'tcp')
    known = PathEfforts(law(payload=payload).compensation).moving(there, still, still)
    np.testing.assert_allclose(felt, known, atol=1e-9)
    # Who pushes may let go: what holds the arm is without it.
    holding = PathEfforts(law().compensation, None, wrench, here).holding(there, still, still)
    np.testing.assert_allclose(holding, DYNAMICS.gravity_torque(there), atol=1e-9)
