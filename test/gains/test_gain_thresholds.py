"""Where the choice of gains draws its lines, and what its search has to take the time for."""

from dataclasses import replace
from unittest import mock

import numpy as np
import pytest
from gain_record import SLIDING
from geared_arm import geared_arm

from ne_dynamics.dynamics import Dynamics
from ne_dynamics.errors import InputError
from ne_dynamics.gains import falling
from ne_dynamics.gains.design import design_gains
from ne_dynamics.gains.falling import Falls
from ne_dynamics.gains.kind import GainBounds, loop_kind
from ne_dynamics.gains.loop import JointGains
from ne_dynamics.gains.plants import _check_inertia, balance_scale, gather_plants
from ne_dynamics.gains.request import GainMode, GainRequest
from ne_dynamics.gains.thresholds import GAIN_SEARCH, GAINS
from ne_dynamics.model.urdf.tree import load_urdf
from ne_dynamics.shipped import shipped_file


@pytest.mark.parametrize(('limit', 'reserve'), [(160.0, 81.52), (90.0, 18.0)])
def test_gravity_leaves_an_error_a_fifth_of_the_limit_at_the_least(limit, reserve):
    """A lift that weighs 78.48 N has what is left for its error, or a fifth of its limit."""
    request = GainRequest(
        poses=2, uncertainty=0.0, effort_limits=(limit, 200.0), sliding_error=0.01
    )
    plants = gather_plants(Dynamics(load_urdf(SLIDING), backend='python'), request)
    kind = loop_kind(GainMode.MIT, plants, request, 50.0)
    gains = JointGains(np.array([reserve / 0.01, 1.0]), np.zeros(2), np.zeros(2))
    used, _ = GainBounds(kind, plants, request).check(gains)
    assert used[0] == pytest.approx(1.0, rel=1e-3)


@pytest.mark.parametrize(
    ('inertias', 'coupling', 'message'),
    [
        ((1.5e-10, 1.0), 0.0, ''),
        ((0.9e-10, 1.0), 0.0, "joint 'lift': expected an inertia to be moved, got 9e-11"),
        ((1.0, 1.0), 1.0 - 3.0e-12, ''),
        (
            (1.0, 1.0),
            1.0 - 1.4e-12,
            'expected a positive definite mass matrix',
        ),
    ],
)
def test_a_mass_matrix_that_no_gain_can_move_is_refused(inertias, coupling, message):
    masses = np.diag(inertias)
    masses[0, 1] = masses[1, 0] = coupling
    joints = load_urdf(SLIDING).joints
    if not message:
        _check_inertia(masses[np.newaxis], joints)
        return
    with pytest.raises(InputError, match=message):
        _check_inertia(masses[np.newaxis], joints)


def test_scales_are_balanced_until_more_steps_change_little():
    """The spread of the masses by them comes down by half a percent in the last half of them."""
    arm = Dynamics(geared_arm('forearm'), backend='python')
    plants = gather_plants(arm, GainRequest(poses=30, payload=2.0))
    masses = np.concatenate((plants.light, plants.heavy))

    def spread(steps):
        root = 1.0 / np.sqrt(balance_scale(plants.model, masses, steps))
        values = np.linalg.eigvalsh(masses * root[:, np.newaxis] * root)
        return values[:, -1].max() / values[:, 0].min()

    steps = GAINS.balance_steps
    assert spread(steps // 2) > 1.004 * spread(steps)
    assert spread(steps) < 1.005 * spread(20 * steps)


def test_masses_are_chosen_anew_for_the_error_that_they_make():
    """Chosen half as often, an arm that falls is taken for one that falls later."""
    dynamics = Dynamics(geared_arm(), backend='python')
    falls = Falls(dynamics, GainRequest(payload=2.0), is_compensated=True)

    def find_part(rounds):
        fewer = replace(GAIN_SEARCH, mass_rounds=rounds)
        with mock.patch.object(falling, 'GAIN_SEARCH', fewer):
            return falls._soften(falls._starts, np.linspace(400.0, 100.0, dynamics.n))[0].max()

    rounds = GAIN_SEARCH.mass_rounds
    assert find_part(rounds // 2) < 0.995 * find_part(rounds)
    assert find_part(4 * rounds) == find_part(rounds)


def test_an_arm_that_its_load_makes_fall_is_made_stiffer_until_it_stands():
    """At the frequencies of free loops it would fall: without more stiffness there are none."""
    arm = Dynamics(load_urdf(shipped_file('six_axis_arm.urdf')), backend='python')
    request = GainRequest(
        poses=12, payload=(0.0, 2.0), modes=(GainMode.COMPUTED_TORQUE,), relaxed_margins=()
    )
    margins = design_gains(arm, request).of('computed_torque').choice.margins
    assert margins.phase.min() >= request.phase_margin
    assert margins.reduction.min() >= request.gain_margin


def test_a_refusal_says_how_fast_the_gains_are_that_there_would_be():
    robot = load_urdf(shipped_file('six_axis_arm.urdf'), tip_link='forearm')
    arm = Dynamics(robot, backend='python')
    request = GainRequest(
        poses=4, least_frequency=25.0, modes=(GainMode.COMPUTED_TORQUE,), relaxed_margins=()
    )
    with pytest.raises(InputError, match=r'; got 2\d\.\d rad/s; with a dead'):
        design_gains(arm, request)
