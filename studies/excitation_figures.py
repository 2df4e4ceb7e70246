"""Measure what ``doc/excitation.md`` says, and draw its picture.

    python -m studies.excitation_figures plan ROBOT [objective=condition]
    python -m studies.excitation_figures compare ROBOT COUNT [SEED]  # random ones, feasible
    python -m studies.excitation_figures collide ROBOT COUNT [SEED]  # ... that may touch anything
    python -m studies.excitation_figures recorded ROBOT LOG      # against a recorded motion
    python -m studies.excitation_figures draw ROBOT MOTION.yaml FILE.png

ROBOT is ur5 or panda, from the package example-robot-data.
"""

from __future__ import annotations

import argparse
import sys
import time
from dataclasses import replace
from inspect import signature
from pathlib import Path
from typing import Any

import numpy as np

from ne_dynamics import Dynamics, load_urdf
from ne_dynamics.excitation import FLOOR, ExcitationLimits, load_solids, plan_excitation
from ne_dynamics.excitation import plan as planning
from ne_dynamics.excitation.clearance import Clearance
from ne_dynamics.excitation.columns import ParameterColumns, find_columns
from ne_dynamics.excitation.information import (
    MEASURES,
    Information,
    SampledMotion,
    compute_condition_number,
    measure_determinant,
)
from ne_dynamics.excitation.search import Search, Task
from ne_dynamics.excitation.solids import Solid
from ne_dynamics.logs import Log, filtered
from ne_dynamics.model.rigid_body import FloatArray
from ne_dynamics.motion import read_trajectory
from ne_dynamics.papers.robots import example_robots

QUARTER = np.pi / 2.0

ROBOTS = {
    'ur5': (
        'ur_description/urdf/ur5_robot.urdf',
        'tool0',
        (0.0, -QUARTER, QUARTER, -QUARTER, -QUARTER, 0.0),
    ),
    'panda': (
        'panda_description/urdf/panda.urdf',
        'panda_hand_tcp',
        (0.0, -QUARTER / 2, 0.0, -1.5 * QUARTER, 0.0, QUARTER, QUARTER / 2),
    ),
}


def load(name: str) -> tuple[Dynamics, FloatArray, tuple[Solid, ...]]:
    """Return dynamics, start and solids of a robot."""
    file, tip, start = ROBOTS[name]
    path = example_robots() / file
    robot = load_urdf(path, tip_link=tip)
    return Dynamics(robot), np.array(start), load_solids(path, robot)


def make_task(name: str, objective: str = 'log-det') -> tuple[Task, ParameterColumns]:
    """Return the task that ``plan_excitation`` solves with its defaults, and its columns."""
    dynamics, start, solids = load(name)
    limits = ExcitationLimits.of_robot(dynamics, start)
    columns = find_columns(dynamics, limits, start)
    given = {key: each.default for key, each in signature(plan_excitation).parameters.items()}
    noise = given['noise_share'] * limits.full_effort
    task = Task(
        dynamics,
        start,
        planning._choose_series(limits, None, None, given['harmonics']),
        limits,
        Clearance(dynamics, solids, [FLOOR], given['margin'], start, limits),
        Information(dynamics, columns, limits, noise),
        MEASURES[objective],
    )
    return task, columns


def measure(task: Task, columns: ParameterColumns, coefficients: FloatArray) -> dict[str, float]:
    """Return measures of a motion, at 100 samples a second."""
    times = np.arange(0.0, task.series.duration, 0.01)
    q, qd, qdd = task.series.evaluate(times) @ coefficients.T
    return measure_motion(task, columns, SampledMotion(q + task.start, qd, qdd))


def measure_motion(
    task: Task, columns: ParameterColumns, motion: SampledMotion
) -> dict[str, float]:
    """Return measures of samples."""
    information = task.information.compute(motion)
    rows = task.dynamics.regressor(*motion)[:, :, columns.inertial]
    plain = rows.reshape(-1, columns.inertial.size)
    scaled = information / np.sqrt(np.outer(np.diag(information), np.diag(information)))
    return {
        'condition': compute_condition_number(information),
        'condition, columns of unit length': compute_condition_number(scaled),
        'condition, inertial columns alone, SI': float(np.sqrt(np.linalg.cond(plain.T @ plain))),
        'log det': -measure_determinant(information).value,
    }


def compare(name: str, count: int, may_touch: bool, seed: int = 1) -> None:
    """Print the measures of the best of random motions within the joints' limits.

    Those that may touch anything are larger than the ones that may not.
    """
    began = time.process_time()
    task, columns = make_task(name)
    nothing = Clearance(task.dynamics, (), (), 0.0, task.start, task.limits)
    search = Search(replace(task, clearance=nothing) if may_touch else task, 0.0)
    rng = np.random.default_rng(seed)
    rows = []
    for index in range(count):
        rows.append(measure(task, columns, search.make_coefficients(search.draw(rng))))
        if index + 1 in (10, 100, 300, 1000) or index + 1 == count:
            for key in rows[0]:
                values = np.array([row[key] for row in rows])
                best = values.max() if key == 'log det' else values.min()
                print(name, index + 1, 'random', key, 'best', best, 'median', np.median(values))
            print('  seconds of the processor', time.process_time() - began)
            sys.stdout.flush()


def plan(name: str, *options: str) -> None:
    """Print the measures of a planned motion, and the time that it took."""
    task, columns = make_task(name)
    begin, cpu = time.time(), time.process_time()
    keywords: dict[str, Any] = dict(option.split('=') for option in options)
    found = plan_excitation(task.dynamics, task.start, solids=load(name)[2], **keywords)
    print(name, 'planned', options, measure(task, columns, found.coefficients))
    print('  seconds', time.time() - begin, 'of the processor', time.process_time() - cpu)


def measure_recorded(name: str, path: str) -> None:
    """Print the measures of a recorded motion, on the model of a robot of the same axes.

    LOG is a ROS 2 bag, or a table without header: time, positions, velocities, currents.
    """
    task, columns = make_task(name)
    joints = task.dynamics.joint_names
    if Path(path).is_dir():
        from rosbags.rosbag2 import Reader
        from rosbags.typesys import Stores, get_typestore

        store = get_typestore(Stores.ROS2_JAZZY)
        with Reader(path) as reader:
            found: list[Any] = [
                store.deserialize_cdr(data, connection.msgtype)
                for connection, _, data in reader.messages()
            ]
        times = np.array([m.header.stamp.sec + 1e-9 * m.header.stamp.nanosec for m in found])
        position = np.array([m.position[: len(joints)] for m in found])
    else:
        table = np.loadtxt(path, delimiter=',')
        times, position = table[:, 0], table[:, 1 : 1 + len(joints)]
    log = Log.from_samples(joints, times - times[0], position, np.zeros_like(position))
    signals = filtered(log, np.full(len(joints), np.inf), 3.0)
    motion = SampledMotion(signals.position, signals.velocity, signals.acceleration)
    print(name, path, measure_motion(task, columns, motion))
    print('  largest speeds', np.abs(motion.velocity).max(axis=0).round(2))


def draw(name: str, motion: str, picture: str) -> None:
    """Draw a motion that ``ne_dynamics excite`` wrote: positions, and parts of the limits."""
    import matplotlib.pyplot as plt

    robot = load(name)[0].robot
    points = read_trajectory(motion).points
    times = [point.time_from_start for point in points]
    rows = (
        ('position [rad]', [point.positions for point in points], 1.0),
        ('part of speed limit', [p.velocities for p in points], robot.limits('velocity_limit')),
        ('part of effort limit', [p.effort for p in points], robot.limits('effort_limit')),
    )
    figure, axes = plt.subplots(3, 1, figsize=(9.0, 7.5), sharex=True, layout='constrained')
    for axis, (label, values, limit) in zip(axes, rows, strict=True):
        axis.plot(times, np.array(values) / limit, linewidth=1.0)
        axis.set_ylabel(label)
        axis.grid(alpha=0.3)
        if limit is not rows[0][2]:
            for bound in (-0.7, 0.7):
                axis.axhline(bound, color='black', linestyle='--', linewidth=0.8)
            axis.set_ylim(-1.0, 1.0)
    figure.legend(robot.joint_names, fontsize='small', loc='outside upper center', ncols=7)
    axes[-1].set_xlabel('time [s]')
    figure.savefig(picture, dpi=100)


if __name__ == '__main__':
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument('what', choices=['plan', 'compare', 'collide', 'recorded', 'draw'])
    parser.add_argument('robot', choices=ROBOTS)
    parser.add_argument('rest', nargs='*', help='as listed above')
    args = parser.parse_args()
    if args.what in ('compare', 'collide'):
        count, *seeds = map(int, args.rest)
        compare(args.robot, count, args.what == 'collide', *seeds)
    elif args.what == 'plan':
        plan(args.robot, *args.rest)
    elif args.what == 'recorded':
        measure_recorded(args.robot, *args.rest)
    else:
        draw(args.robot, *args.rest)
