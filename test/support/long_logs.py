"""Logs in files that are cut into parts, and what short parts are."""

from dataclasses import replace

import numpy as np

import ne_dynamics as ned
from ne_dynamics.logs import arrays, parts
from ne_dynamics.logs.log import Log
from ne_dynamics.logs.readers import csv_log
from ne_dynamics.logs.thresholds import FILTER, LOGS

RATE = 100.0


def swinging_log(robot, duration=160.0, *, seed=0, start=0.0):
    """Return a log of a robot that swings in all joints, each at rates of its own."""
    rng = np.random.default_rng(seed)
    times = np.arange(round(duration * RATE)) / RATE
    rates = 2.0 * np.pi * rng.uniform(0.05, 0.4, (3, 1, robot.n))
    phase = rates * times[:, np.newaxis] + rng.uniform(0.0, 6.0, (3, 1, robot.n))
    motion = [
        0.3 * (rates**order * part).sum(axis=0)
        for order, part in enumerate((np.sin(phase), np.cos(phase), -np.sin(phase)))
    ]
    effort = ned.Dynamics(robot, backend='python').inverse_dynamics(*motion)
    effort = effort + 0.05 * rng.standard_normal(effort.shape)
    position = np.round(motion[0] / 1e-5) * 1e-5
    return Log.from_samples(robot.joint_names, start + times, position, effort, source='swing')


def quote(name):
    """Return a name as CSV has it: in quotes where it needs them."""
    return '"' + name.replace('"', '""') + '"' if set(name) & set('",\r\n') else name


def write_csv(path, log, change=None):
    """Write a log as CSV, its lines changed by a function, and return its path."""
    names = [quote(f'{name}.{key}') for name in log.joint_names for key in ('position', 'effort')]
    table = np.empty((log.times.size, 1 + len(names)))
    table[:, 0], table[:, 1::2], table[:, 2::2] = log.times, log.position, log.effort
    lines = [','.join(['time', *names]), *(','.join(map(repr, row)) for row in table.tolist())]
    if change is not None:
        lines = change(lines)
    path.write_bytes('\n'.join([*lines, '']).encode('utf-8'))
    return path


def cut_short(monkeypatch, size=300_000):
    """Have logs read in blocks of `size` bytes, cut into short parts, and mapped."""
    monkeypatch.setattr(csv_log, 'LOGS', replace(LOGS, block_size=size))
    shorter = replace(FILTER, part_samples=1 << 11, transform_length=1 << 12)
    monkeypatch.setattr(parts, 'FILTER', shorter)
    monkeypatch.setattr(arrays, 'LOGS', replace(LOGS, in_memory=0))
