"""Friction that depends on the load, under wrenches on links."""

import numpy as np
import pytest
from test_friction import GRAVITY, TERMS, expected_friction, random_robot, rigid, samples

import ne_dynamics as ned


@pytest.fixture
def dynamics(backend):
    """Return the dynamics of a tree with all terms of friction, that of the load among them."""
    return ned.Dynamics(random_robot(TERMS['all'], joints=4), GRAVITY, backend=backend)


def draw_wrenches(count):
    """Return wrenches so large that they turn the sign of many loads, shape (count, 6)."""
    return np.random.default_rng(5).uniform(-60.0, 60.0, (count, 6))


@pytest.mark.kept(1)
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


@pytest.mark.kept(1)
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


@pytest.mark.kept(1)
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
