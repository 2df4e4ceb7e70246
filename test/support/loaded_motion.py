"""Logs of arms that are not as their models, by inverse dynamics: with a load, with drives."""

from dataclasses import replace

import numpy as np

import ne_dynamics as ned
from ne_dynamics.algorithms.hysteresis import follow_hysteresis
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


def with_drives(robot, **changes):
    """Return a robot whose joints have friction and rotors, and further changes of these."""
    friction = replace(FrictionModel(friction_offset=0.8), **changes)
    joints = (
        replace(
            joint,
            viscous_friction=4.0,
            coulomb_friction=5.0,
            rotor_inertia=3e-4,
            gear_ratio=100.0,
            friction=friction,
        )
        for joint in robot.joints
    )
    return replace(robot, joints=tuple(joints))


def record_swings(robot, seed, *, duration=24.0, noise=0.3):
    """Return a log of slow sums of sines, by the core: its friction is that of the model."""
    rng = np.random.default_rng(seed)
    times = np.arange(0.0, duration, 1.0 / RATE)
    rates = 2.0 * np.pi * rng.uniform(0.08, 0.35, (5, 1, robot.n))
    angles = rates * times[:, None] + rng.uniform(0.0, 6.0, rates.shape)
    reach = rng.uniform(0.2, 0.5, rates.shape)
    motion = [
        (reach * rates**order * part).sum(axis=0)
        for order, part in enumerate((np.sin(angles), np.cos(angles), -np.sin(angles)))
    ]
    dynamics = ned.Dynamics(robot, backend='python')
    effort = dynamics.inverse_dynamics(*motion)
    if any(joint.friction.has_hysteresis for joint in robot.joints):
        states = [
            follow_hysteresis(column, joint.friction.hysteresis_displacement)
            for column, joint in zip(motion[0].T, robot.joints, strict=True)
        ]
        zero = np.zeros_like(motion[0])
        effort += dynamics.friction_hysteresis(np.stack(states, axis=1), zero, motion[1])[1]
    effort = effort + noise * rng.standard_normal(effort.shape)
    return Log.from_samples(robot.joint_names, times, motion[0], effort)
