"""Logs of arms as they are, and the same logs with one fault each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

import ne_dynamics as ned
from ne_dynamics.algorithms.hysteresis import follow_hysteresis
from ne_dynamics.logs.log import Log

DURATION = 30.0
TABLES = ('position', 'velocity', 'effort')
Plant = Callable[[Log, int], Log]


def simulate_log(
    robot,
    seed,
    *,
    rate=100.0,
    duration=DURATION,
    effort_noise=0.01,
    stribeck=0.3,
    hysteresis=0.0,
    displacement=0.1,
):
    """Return the log of an arm near a given one: other inertias, friction, noise.

    Friction has a Stribeck part, which no linear fit has, and `hysteresis` times Coulomb friction
    that turns round over a displacement [rad or m]; positions are those of an encoder;
    noise is white, a part of each joint's effort, with a floor.
    """
    from recorded_motion import altered

    truth = altered(robot, seed)
    rng = np.random.default_rng(1000 + seed)
    times = np.arange(0.0, duration, 1.0 / rate)
    position, velocity, acceleration = excite(robot, times, rng)
    effort = ned.Dynamics(truth, backend='python').inverse_dynamics(
        position, velocity, acceleration
    )
    coulomb = np.array([joint.coulomb_friction for joint in truth.joints])
    effort = effort + stribeck * coulomb * np.sign(velocity) * np.exp(-((velocity / 0.05) ** 2))
    states = [follow_hysteresis(column, displacement) for column in position.T]
    effort = effort + hysteresis * coulomb * np.stack(states, axis=1)
    size = np.sqrt(np.mean(effort**2, axis=0))
    effort = effort + (effort_noise * size + 0.02) * rng.standard_normal(effort.shape)
    encoder = 2e-5
    return Log.from_samples(
        robot.joint_names,
        times + 1e4,
        np.round(position / encoder) * encoder,
        effort,
        velocity + 1e-3 * rng.standard_normal(velocity.shape),
        source=f'simulated {seed}',
    )


def excite(robot, times, rng, *, harmonics=6):
    """Return a sum of sines within the limits, at about half speed, and its derivatives."""
    orders = np.arange(1, harmonics + 1)
    omega = 2.0 * np.pi * 2.0 * orders / (times[-1] - times[0])
    a = rng.uniform(-1.0, 1.0, (harmonics, robot.n)) / orders[:, None]
    b = rng.uniform(-1.0, 1.0, (harmonics, robot.n)) / orders[:, None]
    phase = (times - times[0])[:, None] * omega
    s, c = np.sin(phase), np.cos(phase)
    motion = [
        s @ a + c @ b,
        c @ (omega[:, None] * a) - s @ (omega[:, None] * b),
        -s @ (omega[:, None] ** 2 * a) - c @ (omega[:, None] ** 2 * b),
    ]
    lower = np.maximum(robot.limits('lower'), -np.pi)
    upper = np.minimum(robot.limits('upper'), np.pi)
    fastest = np.minimum(robot.limits('velocity_limit'), 2.0)
    scale = np.minimum(
        0.35 * (upper - lower) / np.abs(motion[0]).max(axis=0),
        0.6 * fastest / np.abs(motion[1]).max(axis=0),
    )
    middle = 0.5 * (lower + upper)
    return middle + scale * motion[0], scale * motion[1], scale * motion[2]


@dataclass(frozen=True)
class PlantedFault:
    """A fault, and what a diagnosis is to say of it.

    Attributes
    ----------
    name : str
    code : str
        Of the finding.
    plant : callable
        From a log and a joint's index to the log with the fault.
    by_joint : bool
        Whether it is a joint's own.
    partners : int
        How far from the joint the other joint is that it concerns; 0 for none.
    """

    name: str
    code: str
    plant: Plant
    by_joint: bool = True
    partners: int = 0


def _with(log, **tables):
    for table in tables.values():
        if table is not None:
            table.setflags(write=False)
    return replace(log, **tables)


def _changed(change, *keys):
    """Return what changes whole tables of a log."""

    def plant(log, joint):
        tables = {key: getattr(log, key) for key in keys}
        return _with(
            log, **{key: None if one is None else change(one) for key, one in tables.items()}
        )

    return plant


def _of_joint(change, *keys):
    """Return what changes the columns of a joint in tables of a log."""

    def plant(log, joint):
        def change_column(table):
            table = table.copy()
            table[:, joint] = change(table[:, joint])
            return table

        return _changed(change_column, *keys)(log, joint)

    return plant


def _scaled_effort(factor):
    return _of_joint(lambda column: factor * column, 'effort')


def _moved(angle):
    return _of_joint(lambda column: column + angle, 'position')


def _swapped(*keys):
    def plant(log, joint):
        order = np.arange(len(log.joint_names))
        other = (joint + 1) % order.size
        order[[joint, other]] = order[[other, joint]]
        return _changed(lambda table: table[:, order], *keys)(log, joint)

    return plant


def _late(delay):
    def plant(log, joint):
        columns = [np.interp(log.times - delay, log.times, column) for column in log.effort.T]
        return _with(log, effort=np.array(columns).T)

    return plant


def _wrap(column):
    """Wrap the positions of a joint: whole turns change nothing else."""
    # About the opposite of its middle's neighbour, as drivers do about +-pi.
    middle = np.median(column)
    return np.mod(column - middle, 2.0 * np.pi) + middle


def _spiked(log, joint):
    rng = np.random.default_rng(joint)
    rows = rng.choice(np.arange(10, log.times.size - 10), log.times.size // 100, replace=False)
    effort = log.effort.copy()
    size = 8.0 * np.sqrt(np.mean(effort[:, joint] ** 2))
    effort[rows, joint] += size * rng.choice([-1.0, 1.0], rows.size)
    return _with(log, effort=effort)


def _stale(log, joint):
    rng = np.random.default_rng(5)
    rows = np.sort(rng.choice(np.arange(1, log.times.size), log.times.size // 5, replace=False))

    def repeat(table):
        table = table.copy()
        for row in rows:
            table[row] = table[row - 1]
        return table

    return _changed(repeat, *TABLES)(log, joint)


PLANTED_FAULTS = (
    PlantedFault(
        'degrees', 'degrees', _changed(np.rad2deg, 'position', 'velocity'), by_joint=False
    ),
    PlantedFault('effort x 3', 'effort-scaled', _scaled_effort(3.0)),
    PlantedFault('effort / 3', 'effort-scaled', _scaled_effort(1.0 / 3.0)),
    PlantedFault(
        'efforts / 10',
        'efforts-scaled',
        _changed(lambda table: 0.1 * table, 'effort'),
        by_joint=False,
    ),
    PlantedFault('effort sign', 'wrong-sign', _scaled_effort(-1.0)),
    PlantedFault('effort signs', 'wrong-sign', _changed(np.negative, 'effort'), by_joint=False),
    PlantedFault('joints swapped', 'joints-swapped', _swapped(*TABLES), partners=1),
    PlantedFault('efforts swapped', 'efforts-swapped', _swapped('effort'), partners=1),
    PlantedFault('zero + 90 deg', 'zero-offset', _moved(0.5 * np.pi)),
    PlantedFault('zero - 90 deg', 'zero-offset', _moved(-0.5 * np.pi)),
    PlantedFault('position sign', 'position-sign', _of_joint(np.negative, 'position', 'velocity')),
    PlantedFault(
        'milliseconds', 'time-unit', _changed(lambda times: 1e3 * times, 'times'), by_joint=False
    ),
    PlantedFault('wrapped', 'angles-wrapped', _of_joint(_wrap, 'position')),
    PlantedFault('spikes', 'spikes', _spiked),
    PlantedFault('stale', 'samples-stale', _stale, by_joint=False),
    PlantedFault('late 5 ms', 'effort-delay', _late(0.005), by_joint=False),
    PlantedFault('late 20 ms', 'effort-delay', _late(0.02), by_joint=False),
    PlantedFault('late 50 ms', 'effort-delay', _late(0.05), by_joint=False),
)
