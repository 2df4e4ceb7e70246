"""Recordings of simulated arms whose driver means something else by its efforts.

MuJoCo moves an arm whose links, friction, rotors and delay are not the given ones, under the
computed torque of the given model. What the motors exert is known, so that any meaning can be
planted in what is reported.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, replace
from functools import cache

import numpy as np

import ne_dynamics as ned
from ne_dynamics.driver.recording import CommandLog, DriverRecording
from ne_dynamics.shipped import shipped_file

STEP = 0.001
"""Of the physics [s]."""

RATE = 500.0
"""Of the states [Hz]."""

STRIBECK, STRIBECK_VELOCITY = 0.4, 0.1
"""Friction at rest beyond Coulomb friction, by that, and the velocity at which it is gone."""

RIPPLE = 0.02
"""Of the torques, as a part of them."""

SMOOTHING = 0.03

STIFFNESS, DAMPING = 3.0, 0.12
"""Of the feedback, by the effort limit [1/rad, s/rad]."""

MEANINGS = ('torque', 'torque_without_gravity', 'current', 'nothing')


@dataclass(frozen=True, eq=False)
class Planted:
    """What is so.

    Attributes
    ----------
    given : Robot
        What the description is given.
    times, position, velocity, torque : array
        The arm at the states; the torque is what the motors exert, ripple included.
    gravity, given_gravity : array
        Of the arm, and of the given model, there.
    commands : CommandLog
    delay, jitter : float
        From command to effect [s].
    bits : int
        Of the encoders.
    factors : array
        N m or N a unit of current, joint by joint.
    """

    given: object
    times: np.ndarray
    position: np.ndarray
    velocity: np.ndarray
    torque: np.ndarray
    gravity: np.ndarray
    given_gravity: np.ndarray
    commands: CommandLog
    delay: float
    jitter: float
    bits: int
    factors: np.ndarray

    def record(
        self,
        meaning='torque',
        *,
        reversed_joint=None,
        velocity=None,
        noise=0.005,
        model_error=0.05,
        commands=True,
        seed=0,
    ):
        """Return what a driver reports that means `meaning` by its efforts."""
        rng = np.random.default_rng(seed)
        step = 2.0 * np.pi / 2**self.bits
        position = np.round(self.position / step) * step
        size = np.sqrt(np.mean(self.torque**2, axis=0))
        effort = self.torque + noise * size * rng.standard_normal(self.torque.shape)
        if meaning == 'torque_without_gravity':
            # The driver's own model of gravity lies between the given one and the arm.
            own = (1.0 - model_error) * self.gravity + model_error * self.given_gravity
            effort = effort - own
        elif meaning == 'current':
            effort = effort / self.factors
        elif meaning == 'nothing':
            effort = np.zeros_like(effort)
        if reversed_joint is not None:
            effort[:, reversed_joint] *= -1.0
        return DriverRecording.from_samples(
            self.given.joint_names,
            self.times,
            position,
            None if velocity is None else velocity(self.times, position, self.velocity),
            effort,
            commands=self.commands if commands else None,
            source=f'simulated {meaning}',
        )


@cache
def load_shipped(tip):
    """Return the shipped arm up to a link: one robot each, so that it is simulated once."""
    return ned.load_urdf(shipped_file('six_axis_arm.urdf'), tip_link=tip)


def alter(robot, seed):
    """Return an arm near a given one: links 30 % off, friction, rotors."""
    from recorded_motion import altered

    rng = np.random.default_rng(500 + seed)
    truth = altered(robot, seed)
    limits = np.minimum(robot.limits('effort_limit'), 100.0)
    share = rng.uniform(0.03, 0.12)
    joints = tuple(
        replace(
            joint,
            viscous_friction=float(share * limit * rng.uniform(0.3, 1.0)),
            coulomb_friction=float(share * limit * rng.uniform(0.3, 1.0)),
            rotor_inertia=float(limit * rng.uniform(0.002, 0.006)),
            gear_ratio=1.0,
        )
        for joint, limit in zip(truth.joints, limits, strict=True)
    )
    return replace(truth, joints=joints)


@cache
def simulate(robot, seed, *, duration=16.0):
    """Return what an arm near a given one did, of which a driver may report something."""
    from planted_faults import excite

    from ne_dynamics.simulation.mujoco_model import MujocoArm

    rng = np.random.default_rng(seed)
    truth = alter(robot, seed)
    delay, jitter = rng.uniform(0.002, 0.008), rng.choice([0.0, 0.0005])
    bits = int(rng.integers(14, 20))
    every = round(1.0 / (RATE * STEP))
    times = np.arange(round(duration * RATE)) / RATE
    wanted = excite(robot, times, rng)
    model = ned.Dynamics(robot)
    limits = robot.limits('effort_limit')
    strength = np.minimum(limits, 100.0)
    coulomb = np.array([joint.coulomb_friction for joint in truth.joints])
    arm = MujocoArm(truth, period=STEP, substeps=2)
    arm.reset(wanted[0][0])
    step = 2.0 * np.pi / 2**bits
    under_way: deque[tuple[float, np.ndarray]] = deque()
    acting = np.asarray(model.gravity_torque(wanted[0][0]))
    before, speed, rows = None, np.zeros(robot.n), []
    for index, now in enumerate(times):
        position = np.round(arm.position / step) * step
        if before is not None:
            speed += 0.2 * ((position - before) * RATE - speed)
        before = position
        command = np.clip(
            model.inverse_dynamics(*(part[index] for part in wanted))
            + STIFFNESS * strength * (wanted[0][index] - position)
            + DAMPING * strength * (wanted[1][index] - speed),
            -limits,
            limits,
        )
        due = now + delay + jitter * rng.standard_normal()
        under_way.append((max(due, under_way[-1][0] if under_way else 0.0), command))
        motors = acting * (1.0 + RIPPLE * np.sin(30.0 * arm.position))
        rows.append((arm.position, arm.velocity, motors, command))
        for part in range(every):
            moment = now + part * STEP
            while under_way and under_way[0][0] <= moment + 0.5 * STEP:
                acting = under_way.popleft()[1]
            motors = acting * (1.0 + RIPPLE * np.sin(30.0 * arm.position))
            slow = np.exp(-((arm.velocity / STRIBECK_VELOCITY) ** 2))
            sticking = STRIBECK * coulomb * slow * np.tanh(arm.velocity / SMOOTHING)
            arm.step(motors, -sticking)
    position, velocity, torque, command = (np.array(column) for column in zip(*rows, strict=True))
    later = times > 0.5
    names = robot.joint_names
    return Planted(
        robot,
        times[later],
        position[later],
        velocity[later],
        torque[later],
        np.asarray(ned.Dynamics(truth, backend='python').gravity_torque(position[later])),
        np.asarray(model.gravity_torque(position[later])),
        CommandLog.from_samples(names, times, command),
        float(delay),
        float(jitter),
        bits,
        rng.uniform(4.0, 20.0, robot.n),
    )
