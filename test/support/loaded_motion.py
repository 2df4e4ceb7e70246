"""Logs of an arm that is not as its model and carries a load, by inverse dynamics alone."""

from dataclasses import replace

import numpy as np

import ne_dynamics as ned
from ne_dynamics.logs.log import Log
from ne_dynamics.model.friction import FrictionModel
from ne_dynamics.model.rigid_body import Inertia

RATE, SECONDS = 100.0, 24.0

LOAD = Inertia(
    3.0,
    np.array([0.05, -0.03, 0.08]),
    np.array([[0.03, 0.004, -0.002], [0.004, 0.025, 0.003], [-0.002, 0.003, 0.02]]),
)


def move(robot, seed, *, speed=1.0):
    """Return times and a motion of sines: position, velocity, acceleration."""
    rng = np.random.default_rng(seed)
    times = np.arange(0.0, SECONDS, 1.0 / RATE)
    parts = np.zeros((3, times.size, robot.n))
    for _ in range(5):
        rates = speed * rng.uniform(0.5, 4.0, robot.n)
        sizes = rng.uniform(0.1, 0.5, robot.n)
        phases = times[:, None] * rates + rng.uniform(0.0, 6.0, robot.n)
        parts += (
            sizes * np.sin(phases),
            sizes * rates * np.cos(phases),
            -sizes * rates**2 * np.sin(phases),
        )
    return times, parts


def record(robot, motion_seed, *, noise=0.2, speed=1.0):
    """Return the log of a robot, with noise on the efforts."""
    times, motion = move(robot, motion_seed, speed=speed)
    effort = ned.Dynamics(robot, backend='python').inverse_dynamics(*motion)
    effort = effort + noise * np.random.default_rng(motion_seed).standard_normal(effort.shape)
    return Log.from_samples(robot.joint_names, times, motion[0], effort, source='motion')


def alter(robot, seed, shift=0.02):
    """Return a robot of other masses, centres and inertias, that rubs as its model does not."""
    rng = np.random.default_rng(seed)

    def change(inertia):
        factor = 1.0 + rng.uniform(-0.2, 0.2)
        return Inertia(
            factor * inertia.mass,
            inertia.center_of_mass + shift * rng.uniform(-1.0, 1.0, 3),
            (1.0 + rng.uniform(-0.2, 0.2)) * inertia.inertia_about_com,
        )

    links = tuple(
        replace(link, inertia=change(link.inertia)) if link.inertia.mass > 0.0 else link
        for link in robot.links
    )
    joints = tuple(
        replace(
            joint,
            viscous_friction=float(rng.uniform(1.0, 3.0)),
            coulomb_friction=float(rng.uniform(1.0, 3.0)),
            friction=FrictionModel(
                friction_offset=float(rng.uniform(-1.0, 1.0)), smoothing_velocity=0.02
            ),
        )
        for joint in robot.joints
    )
    return replace(robot, links=links, joints=joints)
