"""Random trees with rotor inertia and gears, by number of coordinates, here and in Pinocchio."""

import functools
from dataclasses import replace

import numpy as np
from oracle_measure import GRAVITY
from random_robots import random_tree

import ne_dynamics as ned

ATTEMPTS = 20
MOST_JOINTS_MORE = 12


@functools.cache
def rotor_tree(seed, coordinates):
    """Return the first random tree of a seed with that many coordinates.

    Parameters
    ----------
    seed : int
    coordinates : int
        Joints that move by themselves; fixed and mimic joints come on top.

    Returns
    -------
    RandomTree
    """
    for attempt in range(ATTEMPTS):
        for n_joints in range(coordinates, coordinates + MOST_JOINTS_MORE):
            subject = random_tree(seed + 10_000 * attempt, n_joints)
            if subject.n == coordinates:
                return subject
    raise AssertionError(f'seed {seed}: no tree of {coordinates} coordinates')


@functools.cache
def load_rotor_tree(seed, coordinates):
    """Return that tree as a robot with a tip; two joints of three have a rotor and a gear."""
    subject = rotor_tree(seed, coordinates)
    rng = np.random.default_rng([seed, coordinates, 1])
    rotors = rng.uniform(0.001, 0.05, coordinates) * (np.arange(coordinates) % 3 < 2)
    robot = replace(ned.load_urdf(subject.urdf), tip_link=subject.tip)
    robot = robot.with_joint_values('rotor_inertia', rotors)
    return robot.with_joint_values('gear_ratio', rng.uniform(-5.0, 5.0, coordinates))


@functools.cache
def rotor_dynamics(seed, coordinates, backend, gravity=GRAVITY, frictionless=False):
    """Return the dynamics of that robot, built once a test session.

    Parameters
    ----------
    seed, coordinates : int
    backend : str
    gravity : tuple of float
        [m/s^2], in base axes.
    frictionless : bool
        Take the joint friction away.
    """
    robot = load_rotor_tree(seed, coordinates)
    if frictionless:
        for key in ('viscous_friction', 'coulomb_friction'):
            robot = robot.with_joint_values(key, np.zeros(coordinates))
    return ned.Dynamics(robot, gravity=gravity, backend=backend)


def rotor_oracle(seed, coordinates, gravity=GRAVITY, floating=False):
    """Return the same robot in Pinocchio, rotor inertia included; each call makes a new one."""
    from pinocchio_oracle import PinocchioRobot

    robot = load_rotor_tree(seed, coordinates)
    oracle = PinocchioRobot(
        rotor_tree(seed, coordinates).urdf,
        robot.joint_names,
        gravity,
        wrench_link=robot.tip_link,
        floating=floating,
    )
    gears, rotors = robot.joint_values('gear_ratio'), robot.joint_values('rotor_inertia')
    oracle.set_reflected_inertia(gears**2 * rotors)
    return oracle
