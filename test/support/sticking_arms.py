"""Arms whose joints stick, and whose encoders freeze: random motions of several arms."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any, NamedTuple

import example_robots
import numpy as np
from motion_loop import PERIOD, SETTLE, MotionLoop
from planted_loop import frozen_position

from ne_dynamics import Dynamics, Robot
from ne_dynamics.control.guards.motion_limits import FollowingLimits
from ne_dynamics.control.guards.state_guard import Fault
from ne_dynamics.control.sensors.velocity_source import VelocitySettings, VelocitySource
from ne_dynamics.model.friction import FrictionModel
from ne_dynamics.simulation.altered_robot import scale_masses
from ne_dynamics.simulation.demo.motion import WaypointMotion
from ne_dynamics.simulation.one_process_loop import (
    Sensor,
    differenced_velocity,
    encoder,
)

ARMS = ('six_axis_arm', 'UR5', 'Panda, fingers locked', 'xArm7')

NEVER = 1e9
"""[s]"""


@cache
def load_arm(name: str) -> Robot:
    """Return an arm without friction."""
    return with_friction(example_robots.load_arm(name), 0.0)


@cache
def load_dynamics(name: str) -> Dynamics:
    """Return the dynamics of an arm without friction."""
    return Dynamics(load_arm(name), backend='auto')


def with_friction(robot: Robot, share: float, static: float = 1.0) -> Robot:
    """Return an arm with Coulomb friction, a share of its effort limits, and more at rest."""

    def joint(one):
        coulomb = share * one.effort_limit
        model = FrictionModel()
        if share and static > 1.0:
            model = FrictionModel(static_friction=static * coulomb, stribeck_velocity=0.02)
        return replace(one, coulomb_friction=coulomb, viscous_friction=0.0, friction=model)

    return replace(robot, joints=tuple(joint(one) for one in robot.joints))


def random_motion(
    name: str,
    rng: np.random.Generator,
    ways: tuple[float, float],
    duration: float,
    points: int = 1,
) -> WaypointMotion:
    """Return a motion through random points, with all its efforts below 0.7 of their limits.

    Each joint goes by `ways` at most and at least [rad], at 0.9 of its velocity limit at most.
    """
    robot, dynamics = load_arm(name), load_dynamics(name)
    lower = np.maximum([joint.lower for joint in robot.joints], -2.5)
    upper = np.minimum([joint.upper for joint in robot.joints], 2.5)
    limits, speeds = robot.limits('effort_limit'), robot.limits('velocity_limit')
    for _ in range(2000):
        rows = [rng.uniform(lower, upper)]
        for _ in range(points):
            way = rng.choice([-1.0, 1.0], robot.n) * rng.uniform(*ways, robot.n)
            there = rows[-1] + way
            rows.append(np.where((there < lower) | (there > upper), rows[-1] - way, there))
        positions = np.array(rows)
        if (positions < lower).any() or (positions > upper).any():
            continue
        motion = WaypointMotion(
            robot,
            duration * np.arange(points + 1.0),
            positions,
            np.zeros_like(positions),
            np.zeros_like(positions),
        )
        q, qd, qdd = motion.sample(np.linspace(0.0, motion.duration, 60))
        efforts = np.abs(dynamics.inverse_dynamics(q, qd, qdd))
        if (efforts < 0.7 * limits).all() and (np.abs(qd) < 0.9 * speeds).all():
            return motion
    raise AssertionError(f'{name}: no motion found')


def sensors(bits: int | None, velocity: str) -> list[Sensor]:
    """Return encoders, and a driver that differences their positions where it is asked to."""
    found = [] if bits is None else [encoder(bits)]
    return [*found, differenced_velocity(30.0)] if velocity == 'differenced' else found


def make_loop(
    name: str,
    motion: WaypointMotion,
    plant: Robot,
    chosen: list[Sensor],
    model: Robot | None = None,
    source: VelocitySource = VelocitySource.MEASURED,
    **options: Any,
) -> MotionLoop:
    """Return the loop of an arm, with the limits that the node derives."""
    robot = load_arm(name) if model is None else model
    limits = {
        'following': FollowingLimits.derived(robot.joints, 1.0),
        'velocity': VelocitySettings(source=source),
    }
    return MotionLoop(
        robot,
        motion,
        plant=plant,
        limits=limits,
        sensors=chosen,
        backend='auto',
        period=options.pop('period', PERIOD),
        **options,
    )


class Case(NamedTuple):
    """An arm with a motion before it.

    Attributes
    ----------
    label : str
    loop : MotionLoop
    duration : float
        Of the motion [s].
    joint : int
        Whose encoder freezes; -1 for none.
    begin : float
        When that is, from the beginning of the loop [s].
    """

    label: str
    loop: MotionLoop
    duration: float
    joint: int = -1
    begin: float = NEVER


def sticking_case(seed: int) -> Case:
    """Return an arm with any friction up to 0.1 of its effort limits, known or not."""
    rng = np.random.default_rng([seed, 2])
    name = ARMS[seed % len(ARMS)]
    share, static, is_known = rng.uniform(0.0, 0.1), rng.choice([1.0, 1.25, 1.5]), rng.random()
    bits, velocity = int(rng.integers(12, 21)), str(rng.choice(['true', 'differenced']))
    is_measured, masses = rng.random() < 0.6, float(rng.choice([1.0, 0.9, 1.1]))
    kp, kv = ((100.0, 20.0), (400.0, 40.0))[rng.integers(2)]
    points = int(rng.integers(1, 3))
    motion = random_motion(name, rng, (0.05, 0.9), rng.uniform(0.8, 3.0), points)
    plant = with_friction(load_arm(name), share, static)
    loop = make_loop(
        name,
        motion,
        scale_masses(plant, masses),
        sensors(bits, velocity),
        plant if is_known < 0.5 else None,
        VelocitySource.MEASURED if is_measured else VelocitySource.ESTIMATED,
        kp=kp,
        kv=kv,
    )
    label = (
        f'{name}, friction {share:.3f} of the limit, {static:g} times that at rest, {bits} bits'
    )
    return Case(label, loop, motion.duration)


def freezing_case(seed: int) -> Case:
    """Return an arm of which one encoder freezes, at 0.1 to 0.9 of the joint's velocity limit."""
    rng = np.random.default_rng([seed, 3])
    name = ARMS[seed % len(ARMS)]
    robot, dynamics = load_arm(name), load_dynamics(name)
    masses, tremble = float(rng.choice([1.0, 0.9, 1.1])), float(rng.choice([0.0, 1e-6, 1e-4]))
    velocity = ('zero', 'true', 'differenced', 'differentiated')[rng.integers(4)]
    bits = (None, 20, 16, 14, 12)[rng.integers(5)]
    joint, share = int(rng.integers(robot.n)), 10.0 ** rng.uniform(-1.0, -0.05)
    one, limits = robot.joints[joint], robot.limits('effort_limit')
    for _ in range(400):
        duration = rng.uniform(0.6, 2.0)
        motion = random_motion(name, rng, (0.02, 0.3), duration)
        positions = motion.positions.copy()
        # The quintic is fastest in its middle: 1.875 times its mean.
        way = share * one.velocity_limit * duration / 1.875
        positions[:, joint] = max(one.lower, -2.5) + 0.1 + np.array([0.0, way])
        motion = replace(motion, positions=positions)
        efforts = np.abs(dynamics.inverse_dynamics(*motion.sample(np.linspace(0, duration, 50))))
        if positions[1, joint] < one.upper and (efforts < 0.9 * limits).all():
            break
    else:
        raise AssertionError(f'{name}: no motion found')
    begin = SETTLE + duration * rng.uniform(0.4, 0.55)
    frozen = frozen_position(
        begin - 1e-9, 'zero' if velocity == 'zero' else 'true', joint, tremble
    )
    is_differentiated = velocity == 'differentiated'
    loop = make_loop(
        name,
        motion,
        scale_masses(robot, masses),
        [frozen, *sensors(bits, velocity)],
        None,
        VelocitySource.DIFFERENTIATED if is_differentiated else VelocitySource.MEASURED,
    )
    label = f'{name}, {one.name} at {share:.2f} of its limit, velocities {velocity}, {bits} bits'
    return Case(label, loop, duration, joint, begin)


def resting_case(seed: int, *, has_moved: bool) -> Case:
    """Return an arm at rest of which an encoder is frozen; it may have gone there and back."""
    rng = np.random.default_rng([seed, 5])
    name = ARMS[seed % len(ARMS)]
    robot = load_arm(name)
    velocity = ('zero', 'true', 'differenced')[rng.integers(3)]
    bits, masses = int(rng.integers(12, 21)), float(rng.choice([1.0, 0.9, 1.1]))
    joint = int(rng.integers(robot.n))
    motion = random_motion(name, rng, (0.3, 0.8), rng.uniform(1.0, 2.5))
    loop = make_loop(name, motion, scale_masses(robot, masses), sensors(bits, velocity))
    if has_moved:
        loop.watch(motion.duration + 0.5)
        loop.motion = replace(motion, positions=motion.positions[::-1].copy())
        loop.follow()
        loop.watch(motion.duration + 0.5, start=False)
        assert not loop.answers.faults
        loop.motion = motion
    seen = 'zero' if velocity == 'zero' else 'true'
    loop.sensors.insert(0, frozen_position(loop.arm.time - 1e-9, seen, joint))
    label = f'{name}, {robot.joint_names[joint]}, velocities {velocity}, {bits} bits'
    return Case(label, loop, motion.duration, joint)


def run_until_fault(case: Case) -> tuple[Fault | None, float, float]:
    """Let the motion begin; return the first fault, when it came [s], and how fast the joint got.

    The time counts from the beginning, the speed is by the joint's velocity limit.
    """
    loop, joint = case.loop, case.joint
    begin, limit = loop.arm.time, loop.arm.robot.limits('velocity_limit')[case.joint]
    run, speed = loop.watch(SETTLE + 0.02), 0.0
    while run.fault is None and loop.arm.time < begin + case.duration + 0.5:
        speed = max(speed, run.speed[:, joint].max() / limit)
        run = loop.watch(0.02, start=False)
    time = loop.answers.faults[0][0] - begin if run.fault else np.inf
    return run.fault, time, max(speed, run.speed[:, joint].max() / limit)
