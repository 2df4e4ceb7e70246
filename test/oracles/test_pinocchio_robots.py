"""Dynamics of well-known robots against Pinocchio: every quantity, chains and whole trees."""

import functools

import numpy as np
import pytest
from example_robots import EXAMPLE_ROBOTS
from motion_samples import inverse_dynamics_rows, random_motion
from oracle_measure import GRAVITY, backend_cases, urdf_dynamics
from pinocchio_oracle import PinocchioRobot

ROWS = 2
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


@pytest.mark.kept(8)
@every_robot(lambda robot: True)
def test_inverse_dynamics(robot, backend, assert_agree):
    """Row by row and as a batch, with and without a tip wrench, friction included."""
    pair = comparison(robot, backend)
    sample, ours = pair.sample, pair.ours
    assert len(ours.joint_names) == ours.n == robot.n
    for names in (('q', 'qd', 'qdd'), ('q', 'qd', 'qdd', 'wrench')):
        wrench = 'wrench' in names
        expected = inverse_dynamics_rows(pair.oracle, sample, wrench=wrench) + pair.friction
        rows = pair.each(ours.inverse_dynamics, *names)
        batch = ours.inverse_dynamics(*[getattr(sample, name) for name in names])
        for form in (rows, batch):
            assert_agree(robot.name, 'inverse dynamics', form, expected, pair.largest_torque)


QUANTITIES = {
    'mass_matrix': ('q',),
    'gravity_torque': ('q',),
    'friction_torque': ('qd',),
    'forward_kinematics': ('q',),
}


@pytest.mark.kept(12)
@robots
@pytest.mark.parametrize('quantity', QUANTITIES)
def test_quantity(robot, backend, quantity, assert_agree):
    """Mimic joints folded, gravity along no axis of the base, friction as in the URDF."""
    pair = comparison(robot, backend)
    names = QUANTITIES[quantity]
    computed = pair.each(getattr(pair.ours, quantity), *names)
    expected = pair.each(getattr(pair.oracle, quantity), *names)
    scale = pair.largest_torque if quantity.endswith('torque') else None
    assert_agree(robot.name, quantity, computed, expected, scale)


@pytest.mark.kept(4)
@robots
def test_coriolis_matrix_is_the_christoffel_one(robot, backend, assert_agree):
    """C(q, a) b is the symmetric bilinear form whose diagonal is Pinocchio's C(q, qd) qd.

    Only the Christoffel matrix is: the form follows from its diagonal by polarisation.
    """
    pair = comparison(robot, backend)
    q, a, b = pair.sample.q[0], pair.sample.qd[0], pair.sample.qd[1]
    squares = [pair.oracle.coriolis_torque(q, qd) for qd in (a, b, a + b)]
    computed = pair.ours.coriolis_matrix(q, a) @ a
    assert_agree(robot.name, 'Coriolis', computed, squares[0], pair.largest_torque)
    computed = pair.ours.coriolis_matrix(q, a) @ b
    expected = 0.5 * (squares[2] - squares[0] - squares[1])
    assert_agree(robot.name, 'Christoffel', computed, expected, pair.largest_torque)


@pytest.mark.kept(8)
@robots
@pytest.mark.parametrize('under_wrench', [False, True], ids=['free', 'wrench'])
def test_forward_dynamics(robot, backend, under_wrench, assert_agree):
    """Accelerations answer the torques that Pinocchio asks for them, measured as torques."""
    pair = comparison(robot, backend)
    sample = pair.sample
    torque = inverse_dynamics_rows(pair.oracle, sample, wrench=under_wrench) + pair.friction
    wrenches = sample.wrench if under_wrench else [None] * len(sample)
    deviation = [
        pair.oracle.mass_matrix(q) @ (pair.ours.forward_dynamics(q, qd, tau, wrench) - qdd)
        for q, qd, qdd, tau, wrench in zip(
            sample.q, sample.qd, sample.qdd, torque, wrenches, strict=True
        )
    ]
    scale = max(pair.largest_torque, np.abs(torque).max())
    assert_agree(robot.name, 'forward dynamics', deviation, np.zeros_like(torque), scale)


@pytest.mark.kept(6)
@robots
@pytest.mark.parametrize('axes', ['base', 'tip', 'world'])
def test_jacobian(robot, backend, axes, assert_agree):
    pair = comparison(robot, backend)
    computed = pair.each(functools.partial(pair.ours.jacobian, axes=axes), 'q')
    expected = pair.each(functools.partial(pair.oracle.jacobian, axes=axes), 'q')
    assert_agree(robot.name, f'Jacobian ({axes} axes)', computed, expected)


@pytest.mark.kept(4)
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


@pytest.mark.kept(4)
@every_robot(lambda robot: robot.name == 'UR5')
def test_regressor(robot, backend, assert_agree):
    pair = comparison(robot, backend)
    joints = [body.joint_name for body in pair.ours.robot.bodies]
    computed = pair.each(pair.ours.regressor, 'q', 'qd', 'qdd')
    expected = pair.each(functools.partial(pair.oracle.regressor, joints=joints), 'q', 'qd', 'qdd')
    assert_agree(robot.name, 'regressor', computed, expected)
