"""Logs of an arm that MuJoCo moves: what an identification gets from a real one."""

from dataclasses import replace

import numpy as np

import ne_dynamics as ned
from ne_dynamics.identification.regression.pseudo_inertia import (
    inertia_of,
    is_body,
    pseudo_inertia,
)
from ne_dynamics.logs.log import Log
from ne_dynamics.model.rigid_body import Inertia
from ne_dynamics.simulation.mujoco_model import MujocoArm
from ne_dynamics.simulation.one_process_loop import OneProcessLoop

PERIOD = 0.002


def altered(robot, seed):
    """Return a robot whose links weigh up to 30 % more or less, spread and rub otherwise."""
    rng = np.random.default_rng(seed)
    links = []
    for link in robot.links:
        inertia = link.inertia
        if link.body >= 0 and inertia.mass > 0.0:
            factor = 1.0 + rng.uniform(-0.3, 0.3)
            stretch = np.eye(4)
            stretch[:3, :3] += 0.1 * rng.standard_normal((3, 3))
            centred = Inertia(inertia.mass, np.zeros(3), inertia.inertia_about_com)
            pseudo = stretch @ pseudo_inertia(centred.parameters) @ stretch.T
            assert is_body(pseudo)
            spread = inertia_of(factor * pseudo)
            inertia = Inertia(
                spread.mass,
                inertia.center_of_mass + 0.02 * rng.uniform(-1.0, 1.0, 3),
                spread.inertia_about_com,
            )
        links.append(replace(link, inertia=inertia))
    largest = np.where(np.isfinite(robot.limits('effort_limit')), 0.03, 0.0) * np.minimum(
        robot.limits('effort_limit'), 100.0
    )
    joints = tuple(
        replace(
            joint,
            viscous_friction=float(size * rng.uniform(0.5, 1.5)),
            coulomb_friction=float(size * rng.uniform(0.5, 1.5)),
        )
        for joint, size in zip(robot.joints, largest, strict=True)
    )
    return replace(robot, links=tuple(links), joints=joints)


def fourier_series(robot, duration, seed, *, amplitude=0.9):
    """Return a motion of sines within the limits: position, velocity, acceleration over time.

    Its period is the duration: no part of it repeats another.
    """
    rng = np.random.default_rng(seed)
    times = np.arange(round(duration / PERIOD)) * PERIOD
    orders = np.arange(1, 9)
    rate = 2.0 * np.pi / duration * orders
    sines = rng.uniform(-1.0, 1.0, (orders.size, robot.n)) / orders[:, None]
    cosines = rng.uniform(-1.0, 1.0, (orders.size, robot.n)) / orders[:, None]
    phase = times[:, None] * rate
    s, c = np.sin(phase), np.cos(phase)
    motion = [
        s @ sines + c @ cosines,
        c @ (rate[:, None] * sines) - s @ (rate[:, None] * cosines),
        -s @ (rate[:, None] ** 2 * sines) - c @ (rate[:, None] ** 2 * cosines),
    ]
    reach = np.minimum(amplitude, 0.4 * (robot.limits('upper') - robot.limits('lower')))
    fastest = np.where(
        np.isfinite(robot.limits('velocity_limit')), robot.limits('velocity_limit'), 2.0
    )
    scale = np.minimum(
        reach / np.abs(motion[0]).max(axis=0), 0.8 * fastest / np.abs(motion[1]).max(axis=0)
    )
    return times, [scale * part for part in motion]


def recorded(
    truth,
    duration=16.0,
    seed=0,
    *,
    effort_noise=0.2,
    resolution=2e-5,
    amplitude=0.9,
):
    """Return the log of an arm under computed torque; no friction keeps it from its way."""
    times, (position, velocity, acceleration) = fourier_series(
        truth, duration, seed, amplitude=amplitude
    )
    controller = ned.Dynamics(truth)
    arm = MujocoArm(truth, period=PERIOD, substeps=2)
    arm.reset(position[0])
    rng = np.random.default_rng(seed + 1)

    def answer(reading):
        index = round(reading.time / PERIOD)
        error, rate_error = position[index] - reading.position, velocity[index] - reading.velocity
        wanted = acceleration[index] + 400.0 * error + 40.0 * rate_error
        return controller.inverse_dynamics(position[index], velocity[index], wanted)

    found = OneProcessLoop(arm, answer).run(times.size * PERIOD)
    positions, efforts = found.position, found.command
    # What acts at the instant of a state is between the hold before it and the one after it.
    efforts[1:] = 0.5 * (efforts[1:] + efforts[:-1])
    if resolution:
        positions = np.round(positions / resolution) * resolution
    efforts = efforts + effort_noise * rng.standard_normal(efforts.shape)
    return Log.from_samples(truth.joint_names, times, positions, efforts, source='MuJoCo')
