"""The MuJoCo model of a robot against Pinocchio, and against mechanics on paper."""

from dataclasses import replace

import numpy as np
import pytest

import ne_dynamics as ned
from ne_dynamics.errors import InputError, ModelError
from ne_dynamics.model.rigid_body import Inertia, Transform, axis_angle_rotation, cross_matrix
from ne_dynamics.model.robot import Body, Joint, JointType, Link, Robot

mujoco = pytest.importorskip('mujoco', reason='MuJoCo is not installed')

from ne_dynamics.simulation.altered_robot import with_hung_mass  # noqa: E402
from ne_dynamics.simulation.base_motion import BaseMotion, Oscillation  # noqa: E402
from ne_dynamics.simulation.mujoco_model import INTEGRATORS, MujocoArm  # noqa: E402

GRAVITY = 9.80665


def random_rotation(rng):
    """Return a rotation matrix."""
    matrix, _ = np.linalg.qr(rng.normal(size=(3, 3)))
    matrix[:, 0] *= np.sign(np.linalg.det(matrix))
    return matrix


def random_pose(rng):
    """Return a pose within 0.4 m."""
    return Transform(random_rotation(rng), rng.uniform(-0.4, 0.4, 3))


def random_inertia(rng):
    """Return a full inertia tensor about a centre of mass off the origin."""
    root = rng.normal(size=(3, 3))
    return Inertia(rng.uniform(0.5, 5.0), rng.uniform(-0.2, 0.2, 3), 0.05 * root @ root.T)


def random_tree(rng, n=6, branching=False):
    """Return a robot with every kind of joint and number, and two links beyond its last body."""
    joints, bodies, path = [], [], [-1]
    links = [Link('base', -1, Transform.identity(), None, random_inertia(rng))]
    for index in range(n):
        # Branches leave the way back to the base, so that bodies are numbered depth first.
        path = path[: int(rng.integers(1, len(path) + 1))] if branching else path
        parent = path[-1]
        path = [*path, index]
        axis = rng.normal(size=3)
        kind = JointType.PRISMATIC if rng.random() < 0.3 else JointType.REVOLUTE
        joints.append(
            Joint(
                f'joint_{index}',
                kind,
                viscous_friction=rng.uniform(0.0, 0.5),
                rotor_inertia=rng.uniform(0.0, 0.01),
                gear_ratio=3.0,
            )
        )
        bodies.append(
            Body(
                f'link_{index}',
                f'joint_{index}',
                parent,
                kind,
                axis / np.linalg.norm(axis),
                random_pose(rng),
                index,
            )
        )
        above = 'base' if parent < 0 else f'link_{parent}'
        links.append(
            Link(f'link_{index}', index, Transform.identity(), above, random_inertia(rng))
        )
    sensor = random_pose(rng)
    links.append(Link('sensor', n - 1, sensor, f'link_{n - 1}', random_inertia(rng)))
    links.append(Link('tool', n - 1, sensor @ random_pose(rng), 'sensor', random_inertia(rng)))
    return Robot('random', joints, bodies, links, 'base', 'tool')


def pinocchio_model(robot, base=None):
    """Return Pinocchio's model of a robot, body by body, without rotors and friction.

    The oscillations of a base become joints before those of the robot.
    """
    pin = pytest.importorskip('pinocchio', reason='Pinocchio (pin) is not installed')
    model = pin.Model()
    numbers = []
    number_of_base, base_pose = 0, pin.SE3.Identity()
    if base is not None:
        base_pose = pin.SE3(np.array(base.base_to_world), np.zeros(3))
        for number, item in enumerate(base.oscillations):
            to_center = pin.SE3(np.eye(3), np.array(item.center))
            kind = (
                pin.JointModelRevoluteUnaligned if item.turns else pin.JointModelPrismaticUnaligned
            )
            number_of_base = model.addJoint(
                number_of_base, kind(np.array(item.axis)), base_pose * to_center, f'base {number}'
            )
            base_pose = to_center.inverse()
    for body in robot.bodies:
        kind = (
            pin.JointModelPrismaticUnaligned
            if body.joint_type.is_prismatic
            else pin.JointModelRevoluteUnaligned
        )
        pose = pin.SE3(
            np.array(body.pose_in_parent.rotation), np.array(body.pose_in_parent.translation)
        )
        if body.parent < 0:
            pose = base_pose * pose
        parent = number_of_base if body.parent < 0 else numbers[body.parent]
        numbers.append(model.addJoint(parent, kind(np.array(body.axis)), pose, body.joint_name))
        inertia = pin.Inertia(
            body.inertia.mass,
            np.array(body.inertia.center_of_mass),
            np.array(body.inertia.inertia_about_com),
        )
        model.appendBodyToJoint(numbers[-1], inertia, pin.SE3.Identity())
    model.gravity.linear = np.array([0.0, 0.0, -GRAVITY])
    return pin, model


def acceleration(pin, model, robot, q, qd, effort):
    """Return Pinocchio's mass matrix with rotors, bias, and acceleration under an effort."""
    data = model.createData()
    upper = np.triu(pin.crba(model, data, q))
    rotors = np.array([joint.reflected_inertia for joint in robot.joints])
    matrix = upper + np.triu(upper, 1).T + np.diag(rotors)
    bias = pin.rnea(model, data, q, qd, np.zeros_like(q))
    viscous = robot.joint_values('viscous_friction') * qd
    return matrix, bias, np.linalg.solve(matrix, effort - viscous - bias)


def assert_same_mechanics(robot, pin, model, rng, **options):
    """Compare mass matrix, bias and acceleration in three states."""
    arm = MujocoArm(robot, **options)
    for _ in range(3):
        q, qd = rng.uniform(-2.0, 2.0, (2, robot.n))
        effort = rng.uniform(-20.0, 20.0, robot.n)
        arm.reset(q)
        arm.data.qvel[:] = qd
        arm.data.qfrc_applied[:] = effort
        mujoco.mj_forward(arm.model, arm.data)
        matrix, bias, qdd = acceleration(pin, model, robot, q, qd, effort)
        scale = np.abs(matrix).max()
        np.testing.assert_allclose(arm.mass_matrix(), matrix, atol=1e-12 * scale)
        np.testing.assert_allclose(
            arm.data.qfrc_bias, bias, atol=1e-11 * max(np.abs(bias).max(), 1.0)
        )
        np.testing.assert_allclose(arm.data.qacc, qdd, atol=1e-8 * np.abs(qdd).max())


@pytest.mark.parametrize('sensor_link', [None, 'sensor', 'link_3', 'base'])
@pytest.mark.parametrize('branching', [False, True])
def test_random_arms_move_as_in_pinocchio_wherever_the_sensor_cuts_them(branching, sensor_link):
    rng = np.random.default_rng(7 + branching)
    for n in (1, 9) if sensor_link is None else (6,):
        robot = random_tree(rng, n, branching)
        pin, model = pinocchio_model(robot)
        assert_same_mechanics(robot, pin, model, rng, sensor_link=sensor_link)


@pytest.mark.parametrize('sensor_link', ['sensor', 'link_3', 'base'])
def test_at_rest_the_wrench_is_the_weight_beyond_the_sensor(sensor_link):
    rng = np.random.default_rng(11)
    robot = random_tree(rng)
    arm = MujocoArm(robot, sensor_link=sensor_link)
    dyn = ned.Dynamics(robot)
    beyond = [robot.link(name) for name in robot.descendants(sensor_link)]
    for position in rng.uniform(-2.0, 2.0, (4, 6)):
        arm.reset(position)
        base_to_sensor = np.linalg.inv(dyn.forward_kinematics(position, sensor_link))
        expected = np.zeros(6)
        for link in beyond:
            centre = dyn.forward_kinematics(position, link.name) @ [
                *link.inertia.center_of_mass,
                1.0,
            ]
            force = base_to_sensor[:3, :3] @ [0.0, 0.0, link.inertia.mass * GRAVITY]
            expected[:3] += force
            expected[3:] += np.cross((base_to_sensor @ centre)[:3], force)
        np.testing.assert_allclose(arm.wrench, expected, atol=1e-9)


def lift(mass_below=2.0, mass_beyond=3.0, **joint):
    """Return a vertical slide that carries a sensor and a mass."""
    identity = Transform.identity()
    return Robot(
        'lift',
        [Joint('slide', JointType.PRISMATIC, **joint)],
        [Body('carriage', 'slide', -1, JointType.PRISMATIC, (0.0, 0.0, 1.0), identity, 0)],
        [
            Link('base', -1, identity, None),
            Link('carriage', 0, identity, 'base', Inertia(mass_below, np.zeros(3), np.eye(3))),
            Link('load', 0, identity, 'carriage', Inertia(mass_beyond, np.zeros(3), np.eye(3))),
        ],
        'base',
        'load',
    )


def test_coulomb_friction_slows_at_a_constant_rate_and_then_holds():
    friction, mass = 6.0, 5.0
    arm = MujocoArm(lift(coulomb_friction=friction), gravity=np.zeros(3))
    for _ in range(100):
        arm.step([16.0])
    assert arm.velocity == pytest.approx([(16.0 - friction) / mass * 0.2], rel=1e-6)
    for _ in range(50):
        arm.step([0.0])
    assert arm.velocity == pytest.approx([0.4 - friction / mass * 0.1], rel=1e-6)
    for _ in range(300):
        arm.step([0.0])
    held = arm.position
    for _ in range(500):
        arm.step([5.5])
    np.testing.assert_allclose(arm.position, held, atol=1e-4)


def test_a_mimic_joint_follows_and_loads_its_coordinate():
    robot = random_tree(np.random.default_rng(6), 3)
    bodies = list(robot.bodies)
    bodies[2] = replace(bodies[2], coordinate=1, multiplier=-0.5, offset=0.2)
    robot = replace(robot, joints=robot.joints[:2], bodies=tuple(bodies))
    arm = MujocoArm(robot)
    start, effort = np.array([0.3, 0.4]), np.array([1.0, 2.0])
    arm.reset(start)
    pin, model = pinocchio_model(robot)
    expand = np.array([[1.0, 0.0], [0.0, 1.0], [0.0, -0.5]])
    data = model.createData()
    q = expand @ start + [0.0, 0.0, 0.2]
    upper = np.triu(pin.crba(model, data, q))
    matrix = expand.T @ (upper + np.triu(upper, 1).T) @ expand
    matrix += np.diag([joint.reflected_inertia for joint in robot.joints])
    gravity = expand.T @ pin.rnea(model, data, q, np.zeros(3), np.zeros(3))
    np.testing.assert_allclose(arm.mass_matrix(), matrix, rtol=1e-12)
    arm.step(effort)
    expected = np.linalg.solve(matrix, effort - gravity)
    np.testing.assert_allclose(arm.velocity / 0.002, expected, rtol=0.02)
    for _ in range(500):
        arm.step(effort)
    np.testing.assert_allclose(arm.data.qpos, expand @ arm.position + [0.0, 0.0, 0.2], atol=1e-6)


def negative_moments():
    """Return the lift with a load that gains energy from nothing."""
    robot = lift()
    bad = Inertia(1.0, np.zeros(3), np.diag([-9.0, 1.0, 1.0]))
    return robot.with_links(
        replace(link, inertia=bad) if link.name == 'load' else link for link in robot.links
    )


@pytest.mark.parametrize(
    ('make', 'message'),
    [
        (lambda: MujocoArm(lift(), period=0.0), 'period'),
        (lambda: MujocoArm(lift(), substeps=0), 'substeps'),
        (lambda: MujocoArm(lift(), integrator='magic'), "expected one of .*, got 'magic'"),
        (lambda: MujocoArm(lift(), gravity=(0.0, 9.8)), 'gravity'),
        (lambda: MujocoArm(lift(), sensor_link='nowhere'), "no link 'nowhere'"),
        (lambda: MujocoArm(lift()).step([1.0, 2.0]), r'effort: expected shape \(1,\), got \(2,\)'),
        (lambda: MujocoArm(lift()).step([np.nan]), 'effort: expected finite numbers'),
        (lambda: MujocoArm(lift()).reset([]), r'position: expected shape \(1,\), got \(0,\)'),
        (lambda: MujocoArm(lift()).wrench, 'no sensor'),
        (
            lambda: MujocoArm(lift(0.0, 0.0)),
            "joint 'slide' moves link 'carriage': expected a mass",
        ),
        (lambda: MujocoArm(lift(-8.0, 3.0)), "link 'carriage'.*mass: expected >= 0 kg, got -5"),
        (
            lambda: MujocoArm(negative_moments()),
            "link 'carriage'.*expected principal moments >= 0",
        ),
        (lambda: Oscillation.about([0.0, 0.0, 0.0], 0.1, 1.0), 'rocking axis: expected a direct'),
        (
            lambda: Oscillation.about([np.nan, 0.0, 0.0], 0.1, 1.0),
            'rocking axis: expected finite numbers, got nan',
        ),
        (lambda: Oscillation.about([1.0, 0.0, 0.0], np.inf, 1.0), 'rocking amplitude'),
        (lambda: Oscillation.along([1.0, 0.0, 0.0], 0.1, -1.0), r'sway frequency \[Hz\]'),
        (lambda: Oscillation.about([1.0, 0.0, 0.0], 0.1, 1.0, [0.0]), 'rocking center'),
        (lambda: BaseMotion.from_rpy([0.0, np.nan, 0.0]), 'base orientation'),
    ],
)
def test_what_cannot_be_simulated_is_refused_by_name(make, message):
    with pytest.raises((InputError, ModelError), match=message):
        make()


def test_a_motion_without_bound_is_reported_not_restarted():
    arm = MujocoArm(lift(viscous_friction=1e6))

    def push(steps):
        for _ in range(steps):
            arm.step([100.0])

    with pytest.raises(InputError, match='grew without bound'):
        push(1000)


def rocking_base(center=(0.5, -0.3, -1.2)):
    """Return a base that stands askew, sways and rocks about an axis away from its origin."""
    return BaseMotion.from_rpy(
        [0.2, -0.4, 1.1],
        Oscillation.along([1.0, -2.0, 0.5], 0.3, 0.7),
        Oscillation.about([0.3, 1.0, 0.2], 0.25, 0.9, center),
    )


def base_state(base, time):
    """Return excursions, rates and accelerations of a base, each in a row."""
    return np.array([item.at(time) for item in base.oscillations]).T.reshape(3, -1)


def acceleration_on_base(pin, model, robot, base, time, q, qd):
    """Return the joint accelerations that Pinocchio finds without effort on a moving base."""
    excursion, rate, acceleration = base_state(base, time)
    data, n = model.createData(), robot.n
    whole = np.concatenate((excursion, q)), np.concatenate((rate, qd))
    bias = pin.rnea(model, data, *whole, np.concatenate((acceleration, np.zeros(n))))[-n:]
    upper = np.triu(pin.crba(model, data, whole[0]))
    matrix = (upper + np.triu(upper, 1).T)[-n:, -n:]
    matrix += np.diag([joint.reflected_inertia for joint in robot.joints])
    viscous = robot.joint_values('viscous_friction') * qd
    return np.linalg.solve(matrix, -viscous - bias)


@pytest.mark.kept(2)
@pytest.mark.parametrize('integrator', INTEGRATORS)
def test_on_a_moving_base_the_arm_moves_as_in_pinocchio(integrator):
    robot, base = random_tree(np.random.default_rng(21), 4), rocking_base()
    pin, model = pinocchio_model(robot, base)
    arm = MujocoArm(robot, base=base, integrator=integrator, substeps=20)
    state, step = np.concatenate((np.full(4, 0.3), np.zeros(4))), 5e-4
    arm.reset(state[:4])

    def derivative(time, state):
        q, qd = state[:4], state[4:]
        qdd = acceleration_on_base(pin, model, robot, base, time, q, qd)
        return np.concatenate((qd, qdd))

    for period in range(150):
        arm.step(np.zeros(4))
        for time in 2e-3 * period + step * np.arange(4):
            k1 = derivative(time, state)
            k2 = derivative(time + 0.5 * step, state + 0.5 * step * k1)
            k3 = derivative(time + 0.5 * step, state + 0.5 * step * k2)
            k4 = derivative(time + step, state + step * k3)
            state = state + step / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)
    tolerance = 1e-7 if integrator == 'rk4' else 2e-3
    np.testing.assert_allclose(np.concatenate((arm.position, arm.velocity)), state, atol=tolerance)
    qdd = derivative(arm.time, np.concatenate((arm.position, arm.velocity)))[4:]
    np.testing.assert_allclose(arm.data.qacc[-4:], qdd, rtol=1e-6, atol=1e-6)


def with_imu_mount(robot, pose):
    """Return the robot with a link for an inertial measurement unit on its base."""
    return robot.with_links((*robot.links, Link('mount', -1, pose, 'base')))


def test_an_imu_on_a_level_base_reads_gravity_upwards():
    arm = MujocoArm(random_tree(np.random.default_rng(1)), imu_link='base', sensor_link='sensor')
    np.testing.assert_allclose(arm.imu.specific_force, [0.0, 0.0, GRAVITY], atol=1e-12)
    np.testing.assert_allclose(arm.imu.angular_velocity, np.zeros(3), atol=1e-12)
    np.testing.assert_allclose(arm.imu.orientation, [0.0, 0.0, 0.0, 1.0], atol=1e-12)
    with pytest.raises(InputError, match='imu: the arm has none'):
        _ = MujocoArm(lift()).imu
    with pytest.raises(ModelError, match="no link 'nowhere'"):
        MujocoArm(lift(), imu_link='nowhere')


@pytest.mark.parametrize('under_brakes', [True, False])
def test_an_imu_on_a_moving_base_reads_what_differences_of_its_pose_say(under_brakes):
    rng = np.random.default_rng(23)
    pose, base = random_pose(rng), rocking_base()
    robot = with_imu_mount(random_tree(rng), pose)
    sway, rocking = base.oscillations

    def pose_in_world(time):
        turned = axis_angle_rotation(rocking.axis, rocking.at(time)[0])
        about_center = Transform(turned, rocking.center - turned @ rocking.center)
        moved = Transform.from_translation(sway.at(time)[0] * sway.axis)
        return Transform.from_rotation(base.base_to_world) @ moved @ about_center @ pose

    arm = MujocoArm(robot, base=base, imu_link='mount', sensor_link='link_3')
    step = 1e-4
    for _ in range(100):
        if under_brakes:
            arm.stand()
        else:
            arm.step(np.zeros(6))
    before, now, after = (pose_in_world(arm.time + k * step) for k in (-1, 0, 1))
    x, y, z, w = arm.imu.orientation
    vector = np.array([x, y, z])
    turned = np.eye(3) + 2.0 * (
        w * cross_matrix(vector) + cross_matrix(vector) @ cross_matrix(vector)
    )
    np.testing.assert_allclose(turned, now.rotation, atol=1e-12)
    spin = now.rotation.T @ (after.rotation - before.rotation) / (2.0 * step)
    np.testing.assert_allclose(cross_matrix(arm.imu.angular_velocity), spin, atol=1e-6)
    acceleration = (after.translation - 2.0 * now.translation + before.translation) / step**2
    expected = now.rotation.T @ (acceleration - np.array([0.0, 0.0, -GRAVITY]))
    np.testing.assert_allclose(arm.imu.specific_force, expected, atol=2e-6)
    if under_brakes:
        np.testing.assert_array_equal(arm.position, np.zeros(6))
        np.testing.assert_array_equal(arm.velocity, np.zeros(6))


def test_an_arm_that_goes_on_with_a_load_keeps_its_motion_and_feels_the_load():
    light, heavy = MujocoArm(lift(), sensor_link='carriage'), None
    for _ in range(20):
        light.step([60.0])
    heavy = MujocoArm(with_hung_mass(lift(), 5.0, np.zeros(3)), sensor_link='carriage')
    heavy.continue_from(light)
    assert (heavy.time, heavy.position, heavy.velocity) == (
        light.time,
        light.position,
        light.velocity,
    )
    assert heavy.effort == [60.0]
    np.testing.assert_allclose(heavy.data.qacc, [60.0 / 10.0 - GRAVITY], rtol=1e-12)
    np.testing.assert_allclose(heavy.wrench[2], 8.0 * 60.0 / 10.0, rtol=1e-12)
