"""Dynamics of well-known robots against Pinocchio: every quantity, chains and whole trees."""

from __future__ import annotations

import functools

import numpy as np
import pytest
from example_robots import EXAMPLE_ROBOTS
from motion_samples import inverse_dynamics_rows, random_motion
from oracle_measure import GRAVITY, backend_cases, urdf_dynamics
from pinocchio_oracle import PinocchioRobot

ROWS = 4
COMPILED_ROBOTS = ('UR10', 'Panda with', 'Kinova', 'TIAGo (')  # mimic, continuous, prismatic


def every_robot(for_compiled):
    """Return a parametrisation over robots and backends, see :func:`backend_cases`."""
    return pytest.mark.parametrize(
        ('backend', 'robot'),
        backend_cases(EXAMPLE_ROBOTS, for_compiled),
        indirect=['backend'],
        ids=lambda case: getattr(case, 'name', case),
    )


robots = every_robot(lambda robot: robot.name.startswith(COMPILED_ROBOTS))


class Comparison:
    """Our dynamics, Pinocchio's, and motions to compare them at."""

    def __init__(self, robot, backend):
        self.ours = urdf_dynamics(robot.path, backend, **robot.as_loaded)
        self.oracle = PinocchioRobot(
            robot.path.read_text(), self.ours.joint_names, GRAVITY, **robot.as_loaded
        )
        self.sample = random_motion(1, ROWS, self.ours.n)
        self.friction = np.array([self.oracle.friction_torque(qd) for qd in self.sample.qd])
        self.torque = inverse_dynamics_rows(self.oracle, self.sample)
        self.largest_torque = np.abs(self.torque).max()

    def each(self, function, *names):
        """Return the stacked results of a function called with every row of the sample."""
        arrays = [getattr(self.sample, name) for name in names]
        return np.array([function(*row) for row in zip(*arrays, strict=True)])


@functools.cache
def comparison(robot, backend):
    """Return the comparison of a robot, set up once."""
    return Comparison(robot, backend)


@every_robot(lambda robot: True)
def test_number_of_coordinates(robot, backend):
    """A robot has as many coordinates as joints that move by themselves and are not locked."""
    ours = urdf_dynamics(robot.path, backend, **robot.as_loaded)
    assert ours.n == robot.n
    assert len(ours.joint_names) == robot.n


@every_robot(lambda robot: True)
def test_inverse_dynamics(robot, backend, assert_agree):
    """Torques equal Pinocchio's plus viscous and Coulomb friction, row by row and as a batch."""
    pair = comparison(robot, backend)
    expected = pair.torque + pair.friction
    rows = pair.each(pair.ours.inverse_dynamics, 'q', 'qd', 'qdd')
    assert_agree(robot.name, 'inverse dynamics', rows, expected, pair.largest_torque)
    batch = pair.ours.inverse_dynamics(pair.sample.q, pair.sample.qd, pair.sample.qdd)
    assert_agree(robot.name, 'inverse dynamics (batch)', batch, expected, pair.largest_torque)


@every_robot(lambda robot: True)
def test_inverse_dynamics_with_tip_wrench(robot, backend, assert_agree):
    """What the last link exerts on the environment changes the torques as it does Pinocchio's."""
    pair = comparison(robot, backend)
    expected = inverse_dynamics_rows(pair.oracle, pair.sample, wrench=True) + pair.friction
    rows = pair.each(pair.ours.inverse_dynamics, 'q', 'qd', 'qdd', 'wrench')
    assert_agree(robot.name, 'with wrench', rows, expected, pair.largest_torque)
    batch = pair.ours.inverse_dynamics(
        pair.sample.q, pair.sample.qd, pair.sample.qdd, wrench=pair.sample.wrench
    )
    assert_agree(robot.name, 'with wrench (batch)', batch, expected, pair.largest_torque)


@robots
def test_mass_matrix(robot, backend, assert_agree):
    """The mass matrix is Pinocchio's, mimic joints folded."""
    pair = comparison(robot, backend)
    computed = pair.each(pair.ours.mass_matrix, 'q')
    assert_agree(robot.name, 'mass matrix', computed, pair.each(pair.oracle.mass_matrix, 'q'))


@robots
def test_gravity_torque(robot, backend, assert_agree):
    """Gravity torques are Pinocchio's, for gravity along no axis of the base."""
    pair = comparison(robot, backend)
    computed = pair.each(pair.ours.gravity_torque, 'q')
    expected = pair.each(pair.oracle.gravity_torque, 'q')
    assert_agree(robot.name, 'gravity', computed, expected, pair.largest_torque)


@robots
def test_friction_torque(robot, backend, assert_agree):
    """Friction is damping times velocity plus dry friction against its sign, as in the URDF."""
    pair = comparison(robot, backend)
    computed = pair.each(pair.ours.friction_torque, 'qd')
    assert_agree(robot.name, 'friction', computed, pair.friction, pair.largest_torque)


@robots
def test_coriolis_product(robot, backend, assert_agree):
    """C(q, qd) qd equals the part of Pinocchio's torques that is quadratic in the velocities."""
    pair = comparison(robot, backend)
    computed = pair.each(lambda q, qd: pair.ours.coriolis_matrix(q, qd) @ qd, 'q', 'qd')
    expected = pair.each(pair.oracle.coriolis_torque, 'q', 'qd')
    assert_agree(robot.name, 'Coriolis', computed, expected, pair.largest_torque)


@robots
def test_coriolis_matrix_is_the_christoffel_one(robot, backend, assert_agree):
    """C(q, a) b is the symmetric bilinear form whose diagonal is Pinocchio's C(q, qd) qd.

    Only the Christoffel matrix is: the form follows from its diagonal by polarisation.
    """
    pair = comparison(robot, backend)
    q, a, b = pair.sample.q[0], pair.sample.qd[0], pair.sample.qd[1]
    expected = 0.5 * (
        pair.oracle.coriolis_torque(q, a + b)
        - pair.oracle.coriolis_torque(q, a)
        - pair.oracle.coriolis_torque(q, b)
    )
    computed = pair.ours.coriolis_matrix(q, a) @ b
    assert_agree(robot.name, 'Christoffel', computed, expected, pair.largest_torque)


@robots
def test_forward_dynamics(robot, backend, assert_agree):
    """Accelerations answer the torques that Pinocchio asks for them, measured as torques."""
    pair = comparison(robot, backend)
    torque = pair.torque + pair.friction
    qdd = [
        pair.ours.forward_dynamics(*row)
        for row in zip(pair.sample.q, pair.sample.qd, torque, strict=True)
    ]
    deviation = [
        pair.oracle.mass_matrix(q) @ (found - wanted)
        for q, found, wanted in zip(pair.sample.q, qdd, pair.sample.qdd, strict=True)
    ]
    zero = np.zeros_like(pair.torque)
    assert_agree(robot.name, 'forward dynamics', deviation, zero, pair.largest_torque)


@robots
def test_forward_dynamics_with_tip_wrench(robot, backend, assert_agree):
    """Forward dynamics under a tip wrench inverts Pinocchio's inverse dynamics under it."""
    pair = comparison(robot, backend)
    torque = inverse_dynamics_rows(pair.oracle, pair.sample, wrench=True) + pair.friction
    qdd = [
        pair.ours.forward_dynamics(q, qd, tau, wrench=wrench)
        for q, qd, tau, wrench in zip(
            pair.sample.q, pair.sample.qd, torque, pair.sample.wrench, strict=True
        )
    ]
    deviation = [
        pair.oracle.mass_matrix(q) @ (found - wanted)
        for q, found, wanted in zip(pair.sample.q, qdd, pair.sample.qdd, strict=True)
    ]
    zero = np.zeros_like(pair.torque)
    assert_agree(robot.name, 'forward with wrench', deviation, zero, np.abs(torque).max())


@robots
@pytest.mark.parametrize('axes', ['base', 'tip', 'world'])
def test_jacobian(robot, backend, axes, assert_agree):
    """The tip's Jacobian (linear, then angular) is Pinocchio's, in base and in tip axes."""
    pair = comparison(robot, backend)
    computed = pair.each(functools.partial(pair.ours.jacobian, axes=axes), 'q')
    expected = pair.each(functools.partial(pair.oracle.jacobian, axes=axes), 'q')
    assert_agree(robot.name, f'Jacobian ({axes} axes)', computed, expected)


@robots
def test_forward_kinematics_of_the_tip(robot, backend, assert_agree):
    """The tip's pose in the base frame is Pinocchio's."""
    pair = comparison(robot, backend)
    computed = pair.each(pair.ours.forward_kinematics, 'q')
    expected = pair.each(pair.oracle.forward_kinematics, 'q')
    assert_agree(robot.name, 'forward kinematics', computed, expected)


@robots
def test_forward_kinematics_of_named_links(robot, backend, assert_agree):
    """Links can be asked for by name, fixed and locked ones too."""
    pair = comparison(robot, backend)
    q = pair.sample.q[0]
    links = [link.name for link in pair.ours.robot.links]
    assert robot.tip_link is None or robot.tip_link in links
    for link in (links[0], links[len(links) // 2], links[-1]):
        computed = pair.ours.forward_kinematics(q, link=link)
        expected = pair.oracle.forward_kinematics(q, link=link)
        assert_agree(robot.name, 'links', computed, expected)


@every_robot(lambda robot: robot.name == 'UR5')
def test_regressor(robot, backend, assert_agree):
    """The regressor is Pinocchio's: ten columns a body, about the origin of the link's frame."""
    pair = comparison(robot, backend)
    bodies = pair.ours.robot.bodies
    joints = [body.joint_name for body in bodies]
    computed = pair.each(pair.ours.regressor, 'q', 'qd', 'qdd')
    expected = pair.each(functools.partial(pair.oracle.regressor, joints=joints), 'q', 'qd', 'qdd')
    assert_agree(robot.name, 'regressor', computed, expected)
