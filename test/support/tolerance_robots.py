"""Robots on which a tolerance that looks at the whole robot fails: of many sizes in one."""

from dataclasses import replace

import numpy as np

from ne_dynamics.model.robot import Body, Inertia, Joint, JointType, Link, Robot, Transform


def small(rng, spread):
    """Return a number of either sign, of any size from a rounding to `spread`."""
    return rng.choice([-1.0, 1.0]) * 10.0 ** rng.uniform(-17.0, np.log10(spread))


def nearly(rng, values, spread):
    """Return three of the values, some of them a little off."""
    off = [small(rng, spread) if rng.random() < 0.5 else 0.0 for _ in range(3)]
    return rng.choice(values, 3) + np.array(off)


def make_inertia(rng, mass, size, spread):
    """Return a body of a size [m]: in general position, or with products that are nearly zero."""
    squares = mass * (size * rng.uniform(0.1, 0.5, 3)) ** 2
    angles = rng.uniform(-3.0, 3.0, 3)
    if rng.random() < 0.5:
        angles = nearly(rng, [0.0, np.pi / 2], spread)
    axes = Transform.from_xyz_rpy((0.0, 0.0, 0.0), angles).rotation
    tensor = axes @ np.diag(squares.sum() - squares) @ axes.T
    center = size * rng.uniform(-0.5, 0.5, 3)
    if rng.random() < 0.5:
        center = size * nearly(rng, [0.0, 0.0, 0.3], spread)
    return Inertia(mass, center, 0.5 * (tensor + tensor.T))


def nearly_square_chain(seed, masses, lengths, spread=1e-11, prismatic=0.2):
    """Return a chain of quarter turns, zeros and round lengths, each of them a little off.

    Parameters
    ----------
    seed : int
    masses, lengths : sequence of float
        Of the bodies [kg], and of each body's size [m].
    spread : float
        How far off a number may be, relative to the body's size.
    prismatic : float
        Part of the joints after the first that slide.
    """
    rng = np.random.default_rng(seed)
    joints, bodies, links = [], [], [Link('base', -1, Transform.identity(), None)]
    before = lengths[0]
    for index, (mass, length) in enumerate(zip(masses, lengths, strict=True)):
        slides = index > 0 and rng.random() < prismatic
        kind = JointType.PRISMATIC if slides else JointType.REVOLUTE
        pose = Transform.from_xyz_rpy(
            before * nearly(rng, [0.0, 0.0, 0.5, -1.0], spread),
            nearly(rng, [0.0, np.pi / 2, -np.pi / 2, np.pi], spread),
        )
        axis = np.eye(3)[rng.integers(3)]
        name = f'link_{index}'
        joints.append(Joint(f'joint_{index}', kind))
        bodies.append(Body(name, f'joint_{index}', index - 1, kind, axis, pose, index))
        inertia = make_inertia(rng, mass, length, spread)
        links.append(Link(name, index, Transform.identity(), links[-1].name, inertia))
        before = length
    return Robot('chain', tuple(joints), tuple(bodies), tuple(links), 'base', links[-1].name)


def scaled(robot, factor):
    """Return a robot with all lengths times a factor, of the same density."""

    def pose(transform):
        return Transform(transform.rotation, factor * transform.translation)

    def inertia(own):
        return Inertia(
            factor**3 * own.mass,
            factor * own.center_of_mass,
            factor**5 * own.inertia_about_com,
        )

    return Robot(
        f'{robot.name} times {factor:g}',
        robot.joints,
        tuple(
            replace(body, pose_in_parent=pose(body.pose_in_parent), inertia=Inertia.zero())
            for body in robot.bodies
        ),
        tuple(
            replace(link, pose_in_body=pose(link.pose_in_body), inertia=inertia(link.inertia))
            for link in robot.links
        ),
        robot.base_link,
        robot.tip_link,
    )


def mounted(robot, offset):
    """Return a robot whose base is somewhere else."""

    def moved(body):
        if body.parent != -1:
            return body
        return replace(
            body, pose_in_parent=Transform.from_translation(offset) @ body.pose_in_parent
        )

    return replace(robot, bodies=tuple(moved(body) for body in robot.bodies))


def heavy_to_light(seed, count=8, **options):
    """Return a chain from 1000 kg and 2 m to 0.1 g and 5 mm."""
    return nearly_square_chain(
        seed, np.geomspace(1e3, 1e-4, count), np.geomspace(2.0, 5e-3, count), **options
    )


def light_to_heavy(seed, count=8, **options):
    """Return the same the other way round."""
    return nearly_square_chain(
        seed, np.geomspace(1e-4, 1e3, count), np.geomspace(5e-3, 2.0, count), **options
    )


def machine_with_finger(seed, **options):
    """Return a machine of 5 t with a finger of a few grams."""
    masses = [5000.0, 2000.0, 800.0, 60.0, 0.02, 0.005]
    return nearly_square_chain(seed, masses, [4.0, 3.0, 2.0, 0.5, 0.03, 0.01], **options)


def usual(seed, **options):
    """Return an arm of usual size."""
    rng = np.random.default_rng([seed, 1])
    return nearly_square_chain(
        seed, rng.uniform(0.5, 20.0, 6), rng.uniform(0.05, 0.6, 6), **options
    )


KINDS = {
    'usual': usual,
    'heavy to light': heavy_to_light,
    'light to heavy': light_to_heavy,
    'machine with finger': machine_with_finger,
    'a thousandth': lambda seed, **options: scaled(usual(seed, **options), 1e-3),
    'a thousand times': lambda seed, **options: scaled(usual(seed, **options), 1e3),
    'far from the origin': lambda seed, **options: mounted(
        usual(seed, **options), (600.0, -800.0, 30.0)
    ),
}
