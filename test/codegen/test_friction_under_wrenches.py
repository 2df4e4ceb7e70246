"""Friction that depends on the load, under wrenches on links."""

from __future__ import annotations

import numpy as np
import pytest
from test_friction import GRAVITY, TERMS, expected_friction, random_robot, rigid, samples

import ne_dynamics as ned
from ne_dynamics.errors import InputError


@pytest.fixture
def dynamics(backend):
    """Return the dynamics of a tree with all terms of friction, that of the load among them."""
    return ned.Dynamics(random_robot(TERMS['all'], joints=4), GRAVITY, backend=backend)


def draw_wrenches(count):
    """Return wrenches so large that they turn the sign of many loads, shape (count, 6)."""
    return np.random.default_rng(5).uniform(-60.0, 60.0, (count, 6))


def test_a_wrench_at_the_tip_can_be_given_either_way(dynamics):
    """What the tip exerts, and its opposite exerted on the tip link: the same, to rounding."""
    q, qd, qdd = samples(dynamics.n)
    wrench = draw_wrenches(len(q))
    tip = dynamics.robot.tip_link
    expected = dynamics.inverse_dynamics(q, qd, qdd, wrench)
    given = {tip: -wrench}
    np.testing.assert_allclose(
        dynamics.inverse_dynamics(q, qd, qdd, external_wrenches=given), expected, atol=1e-10
    )
    row = dynamics.inverse_dynamics(q[3], qd[3], qdd[3], external_wrenches={tip: -wrench[3]})
    np.testing.assert_allclose(row, expected[3], atol=1e-10)
    tau = 3.0 * qdd
    np.testing.assert_allclose(
        dynamics.forward_dynamics(q, qd, tau, external_wrenches=given),
        dynamics.forward_dynamics(q, qd, tau, wrench),
        rtol=1e-8,
        atol=1e-8,
    )


def test_the_friction_is_that_of_the_whole_load(dynamics):
    """With wrenches on links and at the tip, a payload and a moving base, by the formula."""
    q, qd, qdd = samples(dynamics.n)
    wrench, others = draw_wrenches(2 * len(q)).reshape(2, len(q), 6)
    robot = dynamics.robot
    names = [body.name for body in robot.bodies]
    given = {names[1]: others, names[-1]: others[2]}
    base_motion = np.linspace(-1.0, 1.0, 9)
    payload = np.array([1.0, 0.1, 0.2, -0.1, 0.06, 0.0, 0.05, 0.0, 0.0, 0.07])
    more = {'wrench': wrench, 'base_motion': base_motion, 'payload': payload}
    free = rigid(robot)
    rest = np.zeros_like(q)
    load = free.inverse_dynamics(q, qd, rest, **more, external_wrenches=given)
    plain = free.inverse_dynamics(q, qd, qdd, **more, external_wrenches=given)
    friction = [
        [expected_friction(*each) for each in zip(robot.joints, *row, strict=True)]
        for row in zip(qd, load, strict=True)
    ]
    found = dynamics.inverse_dynamics(q, qd, qdd, **more, external_wrenches=given)
    np.testing.assert_allclose(found, plain + np.array(friction), rtol=1e-11, atol=1e-9)


def test_accelerations_and_efforts_are_inverse_under_wrenches(dynamics):
    """Also for dynamics of other parameters, batch and single."""
    q, qd, qdd = samples(dynamics.n)
    given = {dynamics.robot.bodies[-1].name: draw_wrenches(len(q))}
    changed = dynamics.with_parameters(
        inertial=1.1 * dynamics.inertial_parameters(), coulomb_friction=np.full(dynamics.n, 0.7)
    )
    for each in (dynamics, changed):
        tau = each.inverse_dynamics(q, qd, qdd, external_wrenches=given)
        back = each.forward_dynamics(q, qd, tau, external_wrenches=given)
        np.testing.assert_allclose(back, qdd, rtol=1e-8, atol=1e-8)
        row = {link: wrenches[3] for link, wrenches in given.items()}
        single = each.inverse_dynamics(q[3], qd[3], qdd[3], external_wrenches=row)
        np.testing.assert_allclose(single, tau[3], rtol=1e-11, atol=1e-10)


def test_the_derivatives_know_the_friction_of_the_whole_load(dynamics):
    """They are the differences of the efforts, where no load and no velocity changes its sign."""
    q, qd, qdd = (each[3] for each in samples(dynamics.n))
    names = [body.name for body in dynamics.robot.bodies]
    given = dict(zip(names, draw_wrenches(len(names)), strict=True))
    found = dynamics.inverse_dynamics_derivatives(q, qd, qdd, external_wrenches=given)
    for place, part in enumerate(found):
        for joint in range(dynamics.n):
            step = np.zeros((3, dynamics.n))
            step[place, joint] = 1e-6
            ends = [
                dynamics.inverse_dynamics(*(np.array([q, qd, qdd]) + way), external_wrenches=given)
                for way in (step, -step)
            ]
            scale = max(np.abs(part).max(), np.abs(ends).max())
            difference = (ends[0] - ends[1]) / 2e-6
            np.testing.assert_allclose(part[:, joint], difference, atol=1e-7 * scale)


def test_dynamics_without_friction_follow_other_parameters(dynamics):
    """The robot of both is the same, but for its friction."""
    inertial = 1.1 * dynamics.inertial_parameters()
    free = dynamics.with_parameters(inertial=inertial).without_friction()
    assert type(free) is ned.Dynamics
    np.testing.assert_array_equal(free.inertial_parameters(), inertial)
    assert not free.friction_torque(np.ones(dynamics.n)).any()
    q, qd, qdd = samples(dynamics.n)
    expected = ned.Dynamics(free.robot, GRAVITY, backend='python')
    np.testing.assert_allclose(
        free.inverse_dynamics(q, qd, qdd), expected.inverse_dynamics(q, qd, qdd), atol=1e-10
    )


def test_a_load_that_overflows_is_an_error(dynamics):
    """It names the wrench, in both directions."""
    q, qd, qdd = (each[3] for each in samples(dynamics.n))
    link = dynamics.robot.bodies[-1].name
    column = dynamics.jacobian(q, link, 'tip')[:, 0]
    assert np.abs(column).sum() > 1.1
    given = {link: 1.7e308 * np.sign(column)}
    for method in (dynamics.inverse_dynamics, dynamics.forward_dynamics):
        with pytest.raises(InputError, match=rf'overflows.*external_wrenches\[{link!r}\]'):
            method(q, qd, qdd, external_wrenches=given)


def test_shapes_of_wrenches_are_named_as_they_were_given():
    """One sample takes (6,), whichever direction is asked for."""
    dynamics = ned.Dynamics(random_robot({}, joints=3), GRAVITY, backend='python')
    link = dynamics.robot.bodies[0].name
    one = np.ones(3)
    for method in (dynamics.inverse_dynamics, dynamics.forward_dynamics):
        with pytest.raises(InputError) as caught:
            method(one, one, one, external_wrenches={link: np.ones((4, 6))})
        assert str(caught.value) == (
            f'external_wrenches[{link!r}]: expected shape (6,) to go with q of shape (3,), '
            'got (4, 6)'
        )
