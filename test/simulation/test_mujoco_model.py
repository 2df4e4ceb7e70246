"""The MuJoCo model of a robot against Pinocchio, and against mechanics on paper."""

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import ne_dynamics as ned
from ne_dynamics.errors import InputError, ModelError
from ne_dynamics.model.robot import (
    Body,
    Inertia,
    Joint,
    JointType,
    Link,
    Robot,
    Transform,
)
from ne_dynamics.shipped import shipped_file

mujoco = pytest.importorskip('mujoco', reason='MuJoCo is not installed')

from ne_dynamics.simulation.mujoco_model import (  # noqa: E402
    INTEGRATORS,
    MujocoArm,
    scale_masses,
    with_hung_mass,
    without_friction,
)

GRAVITY = 9.80665


def example_robots_folder():
    """Return the folder of example-robot-data; skip the test when it is not installed."""
    for prefix in sys.path:
        folder = Path(prefix, 'cmeel.prefix', 'share', 'example-robot-data', 'robots')
        if folder.is_dir():
            return folder
    return pytest.skip('needs example-robot-data (pip install example-robot-data)')


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


def pinocchio_model(robot):
    """Return Pinocchio's model of a robot, body by body, without rotors and friction."""
    pin = pytest.importorskip('pinocchio', reason='Pinocchio (pin) is not installed')
    model = pin.Model()
    numbers = []
    for body in robot.bodies:
        kind = (
            pin.JointModelPrismaticUnaligned
            if body.joint_type.is_prismatic
            else pin.JointModelRevoluteUnaligned
        )
        pose = pin.SE3(
            np.array(body.pose_in_parent.rotation), np.array(body.pose_in_parent.translation)
        )
        parent = 0 if body.parent < 0 else numbers[body.parent]
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
    viscous = robot.limits('viscous_friction') * qd
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
    """Mass matrix, bias and acceleration are Pinocchio's, with or without a cut."""
    rng = np.random.default_rng(7 + branching)
    for n in (1, 4, 9) if sensor_link is None else (6,):
        robot = random_tree(rng, n, branching)
        pin, model = pinocchio_model(robot)
        assert_same_mechanics(robot, pin, model, rng, sensor_link=sensor_link)


@pytest.mark.parametrize(
    ('file', 'tip'),
    [
        ('ur_description/urdf/ur5_robot.urdf', 'tool0'),
        ('panda_description/urdf/panda.urdf', 'panda_hand_tcp'),
    ],
)
def test_published_arms_move_as_pinocchio_reads_their_urdf(file, tip):
    """Mass matrix, bias and acceleration are those of Pinocchio's own URDF reader."""
    pin = pytest.importorskip('pinocchio', reason='Pinocchio (pin) is not installed')
    path = str(example_robots_folder() / file)
    robot = without_friction(ned.load_urdf(path, tip_link=tip))
    whole = pin.buildModelFromUrdf(path)
    locked = [whole.getJointId(name) for name in whole.names[1:] if name not in robot.joint_names]
    model = pin.buildReducedModel(whole, locked, np.zeros(whole.nq))
    model.gravity.linear = np.array([0.0, 0.0, -GRAVITY])
    model.rotorInertia[:] = 0.0
    assert list(model.names[1:]) == list(robot.joint_names)
    assert_same_mechanics(robot, pin, model, np.random.default_rng(3))


def test_the_puma_moves_as_in_pinocchio_although_no_body_can_have_its_third_inertia():
    """Principal moments that break the triangle inequality are simulated as they are."""
    robot = without_friction(ned.load_dh(shipped_file('puma560_standard_dh.yaml')))
    moments = np.diag(robot.bodies[2].inertia.inertia_about_com)
    assert moments.sum() < 2.0 * moments.max()
    pin, model = pinocchio_model(robot)
    assert_same_mechanics(robot, pin, model, np.random.default_rng(5))


@pytest.mark.parametrize('sensor_link', ['sensor', 'link_3', 'base'])
def test_at_rest_the_wrench_is_the_weight_beyond_the_sensor(sensor_link):
    """Force up, as large as the weight beyond; moment that of the weight about the sensor."""
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


def test_an_accelerated_load_pulls_with_mass_times_acceleration():
    """Under effort F the sensor carries the share of F that the mass beyond it has."""
    arm = MujocoArm(lift(), sensor_link='carriage')
    arm.step([100.0])
    np.testing.assert_allclose(arm.wrench, [0.0, 0.0, 100.0 * 3.0 / 5.0, 0.0, 0.0, 0.0], atol=1e-9)
    arm.step([0.0])
    np.testing.assert_allclose(arm.wrench, np.zeros(6), atol=1e-9)


def test_a_mass_hung_on_the_sensor_link_is_beyond_the_sensor():
    """What is hung on the sensor's link is in its reading."""
    hung = with_hung_mass(lift(), 1.5, [0.1, 0.0, 0.0], 'carriage')
    arm = MujocoArm(hung, sensor_link='carriage')
    np.testing.assert_allclose(
        arm.wrench, [0.0, 0.0, 4.5 * GRAVITY, 0.0, -0.1 * 1.5 * GRAVITY, 0.0], atol=1e-12
    )
    assert hung.bodies[0].inertia.mass == pytest.approx(6.5)
    assert lift().bodies[0].inertia.mass == pytest.approx(5.0)


def test_a_scaled_model_weighs_in_proportion():
    """A mass scale multiplies masses and moments alike, and nothing else."""
    rng = np.random.default_rng(2)
    robot = random_tree(rng)
    scaled = scale_masses(robot, 1.2)
    for before, after in zip(robot.bodies, scaled.bodies, strict=True):
        np.testing.assert_allclose(after.inertia.mass, 1.2 * before.inertia.mass)
        np.testing.assert_allclose(
            after.inertia.inertia_about_origin, 1.2 * before.inertia.inertia_about_origin
        )
    with pytest.raises(InputError, match='mass scale: expected a finite number > 0, got -1'):
        scale_masses(robot, -1)


def test_energy_is_kept_without_friction():
    """A swinging arm without friction keeps its energy to 1e-9 of what it exchanges."""
    rng = np.random.default_rng(4)
    robot = without_friction(random_tree(rng))
    robot = replace(
        robot, joints=tuple(replace(joint, rotor_inertia=0.0) for joint in robot.joints)
    )
    pin, model = pinocchio_model(robot)
    data = model.createData()
    arm = MujocoArm(robot)
    arm.reset(rng.uniform(-1.0, 1.0, 6))

    def energies():
        return (
            pin.computeKineticEnergy(model, data, arm.position, arm.velocity),
            pin.computePotentialEnergy(model, data, arm.position),
        )

    start = sum(energies())
    kinetic = []
    for _ in range(250):
        arm.step(np.zeros(6))
        kinetic.append(energies()[0])
    assert abs(sum(energies()) - start) < 1e-9 * max(kinetic)


@pytest.mark.parametrize('integrator', INTEGRATORS)
def test_every_integrator_converges_to_the_same_motion(integrator):
    """Finer steps come nearer to the motion that fourth order gives."""
    robot = random_tree(np.random.default_rng(9))
    reference = MujocoArm(robot, substeps=20)
    arms = [MujocoArm(robot, substeps=count, integrator=integrator) for count in (2, 20)]
    for _ in range(100):
        for arm in (reference, *arms):
            arm.step(np.ones(6))
    coarse, fine = (np.abs(arm.position - reference.position).max() for arm in arms)
    assert fine <= coarse < 5e-3
    assert arms[0].time == pytest.approx(0.2)


def test_coulomb_friction_slows_at_a_constant_rate_and_then_holds():
    """A sliding mass loses speed at F / m; below F an effort does not move it."""
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
    """Joints of one coordinate keep their ratio; the coordinate accelerates as both together."""
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


def test_joint_limits_stop_only_when_asked():
    """With `joint_limits` a joint stays near its limit, without it passes."""
    robot = lift(lower=-0.1, upper=0.1)
    free, stopped = MujocoArm(robot), MujocoArm(robot, joint_limits=True)
    for _ in range(250):
        free.step([0.0])
        stopped.step([0.0])
    assert free.position[0] < -1.0
    assert stopped.position[0] == pytest.approx(-0.1, abs=0.01)


def test_the_same_efforts_give_the_same_motion_to_the_last_bit():
    """Two runs after a reset are identical."""
    robot = ned.load_urdf(shipped_file('six_axis_arm.urdf'), tip_link='tcp')
    arm = MujocoArm(robot, sensor_link='ft_sensor')
    runs = []
    for _ in range(2):
        arm.reset(np.full(6, 0.3))
        rng = np.random.default_rng(1)
        for _ in range(50):
            arm.step(rng.uniform(-5.0, 5.0, 6))
        runs.append(np.concatenate((arm.position, arm.velocity, arm.wrench)))
    assert (runs[0] == runs[1]).all()


def test_a_joint_that_moves_nothing_is_refused_by_name():
    """A massless end of the arm is an error that names joint and link."""
    with pytest.raises(ModelError, match="joint 'slide' moves link 'carriage': expected a mass"):
        MujocoArm(lift(0.0, 0.0))


def test_negative_masses_and_moments_are_refused_by_name():
    """A body that gains energy from nothing is an error that names its link."""
    with pytest.raises(ModelError, match=r"link 'carriage'.*mass: expected >= 0 kg, got -5"):
        MujocoArm(lift(-8.0, 3.0))
    robot = lift()
    bad = Inertia(1.0, np.zeros(3), np.diag([-9.0, 1.0, 1.0]))
    links = [replace(link, inertia=bad) if link.name == 'load' else link for link in robot.links]
    with pytest.raises(ModelError, match=r"link 'carriage'.*expected principal moments >= 0"):
        MujocoArm(robot.with_links(links))


@pytest.mark.parametrize(
    ('options', 'message'),
    [
        ({'period': 0.0}, 'period'),
        ({'period': np.nan}, 'period'),
        ({'substeps': 0}, 'substeps'),
        ({'integrator': 'magic'}, "integrator: expected one of .*, got 'magic'"),
        ({'gravity': (0.0, np.nan, 0.0)}, 'gravity'),
        ({'gravity': (0.0, 9.8)}, 'gravity'),
    ],
)
def test_unusable_options_are_refused(options, message):
    """Each option out of bounds is an InputError that names it."""
    with pytest.raises(InputError, match=message):
        MujocoArm(lift(), **options)


def test_unusable_arrays_are_refused():
    """Wrong shapes and NaN in position or effort, and a reading without sensor, are errors."""
    arm = MujocoArm(lift())
    with pytest.raises(InputError, match=r'effort: expected shape \(1,\), got \(2,\)'):
        arm.step([1.0, 2.0])
    with pytest.raises(InputError, match='effort: expected finite numbers'):
        arm.step([np.nan])
    with pytest.raises(InputError, match=r'position: expected shape \(1,\), got \(0,\)'):
        arm.reset([])
    with pytest.raises(InputError, match='no sensor'):
        _ = arm.wrench
    with pytest.raises(ModelError, match="no link 'nowhere'"):
        MujocoArm(lift(), sensor_link='nowhere')


def test_a_motion_without_bound_is_reported_not_restarted():
    """Physics that diverge raise instead of jumping back to the start, as MuJoCo does alone."""
    arm = MujocoArm(lift(viscous_friction=1e6))

    def push(steps):
        for _ in range(steps):
            arm.step([100.0])

    with pytest.raises(InputError, match='grew without bound'):
        push(1000)
