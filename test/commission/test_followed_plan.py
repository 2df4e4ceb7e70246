"""Whether a motion is followed as planned: by the node, and by the arm."""

import numpy as np
import pytest

from ne_dynamics.commission.arm.faults import ArmFault, StrayedArm
from ne_dynamics.commission.arm.followed_plan import FollowedPlan
from ne_dynamics.commission.motions import PlannedMotion

TIMES = np.linspace(0.0, 2.0, 21)
NAMES = ('lift', 'bend')
TOLERANCE = np.array([0.5, 0.5])


def swing(times):
    """Return a polynomial of the fifth order from rest, and its two derivatives."""
    rows = times**3 * (4.0 - times), 12.0 * times**2 - 4.0 * times**3, 24.0 * times
    scaled = (*rows[:2], rows[2] - 12.0 * times**2)
    return tuple(np.column_stack([0.05 * row, -0.1 * row]) for row in scaled)


MOTION = PlannedMotion(TIMES, *swing(TIMES))


def test_a_node_on_the_plan_and_an_arm_near_it_are_all_right():
    """A node may hold the arm beside its begin: the first polynomial leads from there."""
    plan = FollowedPlan(NAMES, MOTION, TOLERANCE)
    plan.check(-0.5, np.array([0.01, 0.0]), np.zeros(2))
    plan.check(0.05, np.array([0.008, 0.0]), np.zeros(2))
    for time in (0.1, 0.7, 2.3):
        desired = MOTION.between.sample(time).position
        plan.check(time, desired + 2.0 * np.pi, desired + 2.0 * np.pi + 0.4)


def test_a_node_that_aims_elsewhere_is_seen_before_the_arm_is_there():
    """It stands still, as it has refused the motion, or lags because that came late."""
    plan = FollowedPlan(NAMES, MOTION, TOLERANCE)
    still = np.zeros(2)
    plan.check(0.0, still, still)
    with pytest.raises(ArmFault, match=r'bend: the node aims 0\.0323 rad or m beside'):
        plan.check(0.45, still, still)
    late = MOTION.between.sample(0.6).position
    with pytest.raises(ArmFault, match='or got it too late'):
        plan.check(0.7, late, late)


def test_a_node_aims_within_a_millimetre_of_the_plan():
    plan = FollowedPlan(NAMES, MOTION, TOLERANCE)
    desired = MOTION.between.sample(0.7).position
    plan.check(0.7, desired + 0.9e-3, desired)
    with pytest.raises(ArmFault, match='beside'):
        plan.check(0.7, desired + 1.1e-3, desired)


def strays(way, allowed=0.05):
    """Return when a joint is told to go astray, that does so while another one is moved."""
    times = np.array([0.0, 1.0, 2.0, 3.0])
    positions = np.array([[0.0, 0.5], [0.2, 0.5], [0.0, 0.5], [0.0, 0.7]])
    still = np.zeros_like(positions)
    motion = PlannedMotion(times, positions, still, still)
    watch = FollowedPlan(('one', 'other'), motion, np.full(2, np.inf), np.full(2, allowed))
    for time in np.arange(-0.5, 3.5, 0.01):
        desired = motion.between.sample(time).position
        try:
            watch.check(time, desired, way(time, desired))
        except StrayedArm as fault:
            return time, str(fault)
    return None


@pytest.mark.parametrize(
    'way',
    [
        lambda time, desired: desired,
        lambda time, desired: np.array([0.0, 0.5]),
        lambda time, desired: desired * [1.0 - 0.4 * np.sin(3.0 * time), 1.0],
        lambda time, desired: np.array([0.2, 0.5]) if time > 0.9 else desired,
        lambda time, desired: np.add(desired, [0.3, -0.3]),
        lambda time, desired: desired + 0.04 * np.sin(20.0 * time),
    ],
    ids=['follows', 'stands', 'lags', 'sticks', 'sags', 'trembles'],
)
def test_a_joint_that_lags_or_sticks_goes_not_astray(way):
    """However far it is from where it is wanted."""
    assert strays(way) is None


@pytest.mark.parametrize(
    ('way', 'joint'),
    [
        (lambda time, desired: desired * [-1.0, 1.0], 'one'),
        (lambda time, desired: np.array([0.0, 0.5 + desired[0]]), 'other'),
        (lambda time, desired: desired - [0.0, max(0.0, time - 0.5)], 'other'),
    ],
    ids=['turned', 'exchanged', 'falls'],
)
def test_a_joint_that_goes_away_is_told_where_it_has_gone_by_what_is_allowed(way, joint):
    """Also one that should stand."""
    time, complaint = strays(way)
    assert complaint.startswith(f'{joint}: goes away from where it is wanted, by 0.05')
    assert time < 0.8
