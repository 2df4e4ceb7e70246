"""Logs of real robots, where they are at hand, and a UR10e as a Denavit-Hartenberg file.

Lengths, masses and centres of mass are those that the manufacturer publishes; tensors are those
of rods of about the links' size, good enough to start a fit from.
"""

from pathlib import Path

import numpy as np
import pytest
from example_robots import example_robots_folder

import ne_dynamics as ned
from ne_dynamics.logs.log import Log, read_log

DATA = Path(__file__).resolve().parents[3] / 'shared' / 'data'

TORQUE_PER_CURRENT = np.array([14.87, 13.26, 11.13, 10.62, 11.03, 11.47])
"""As published for this robot [N m/A]."""

LOGS = {
    'ur-20_02_12-50sec_12harm.csv': slice(355, 5090),
    'ur-20_02_19_14harm50sec.csv': slice(None),
    'ur-20_02_19_14harm50secLoad.csv': slice(None),
}
"""Files, and the samples that their authors call usable."""

ROWS = (
    # name, d, a, alpha [deg], mass, centre of mass, moments of inertia
    ('shoulder_pan', 0.1807, 0.0, 90, 7.369, (0.021, 0.0, 0.027), (0.034, 0.035, 0.022)),
    ('shoulder_lift', 0.0, -0.6127, 0, 13.051, (0.38, 0.0, 0.158), (0.028, 0.771, 0.769)),
    ('elbow', 0.0, -0.57155, 0, 3.989, (0.24, 0.0, 0.068), (0.010, 0.309, 0.307)),
    ('wrist_1', 0.17415, 0.0, 90, 2.1, (0.0, 0.007, 0.018), (0.003, 0.0022, 0.0026)),
    ('wrist_2', 0.11985, 0.0, -90, 1.98, (0.0, 0.007, 0.018), (0.003, 0.0022, 0.0026)),
    ('wrist_3', 0.11655, 0.0, 0, 0.615, (0.0, 0.0, -0.026), (0.0003, 0.0004, 0.0003)),
)


def load_ur10e(folder):
    """Return the robot."""
    lines = ['name: ur10e', 'convention: standard', 'angle_unit: deg', 'joints:']
    for name, d, a, alpha, mass, center, moments in ROWS:
        lines += [
            f'  - name: {name}_joint',
            f'    d: {d}',
            f'    a: {a}',
            f'    alpha: {alpha}',
            '    limits: {lower: -360, upper: 360, velocity: 180}',
            f'    mass: {mass}',
            f'    center_of_mass: {list(center)}',
            f'    inertia: {list(moments)}',
        ]
    path = folder / 'ur10e.yaml'
    path.write_text('\n'.join(lines) + '\n', encoding='utf-8')
    return ned.load_dh(path)


def read_ur10e(robot, name, torque_per_current=TORQUE_PER_CURRENT):
    """Return a log, its motor currents times what is given; skip where there is none."""
    path = DATA / 'ur10e' / name
    if not path.is_file():
        pytest.skip(f'no recorded log of a UR10e at {path}')
    table = np.loadtxt(path, delimiter=',')[LOGS[name]]
    return Log.from_samples(
        robot.joint_names,
        table[:, 0],
        table[:, 1:7],
        table[:, 13:19] * torque_per_current,
        table[:, 7:13],
        source=name,
    )


def panda_bag():
    """Return the recorded bag of a Panda; skip where there is none."""
    path = DATA / 'panda_exciting_trajectory'
    if not path.is_dir():
        pytest.skip(f'no recorded bag of a Panda at {path}')
    pytest.importorskip('rosbags', reason='rosbags is missing')
    return path


def read_panda_urdf():
    """Return the text of a Panda's URDF with the names of the joints of its bag."""
    path = example_robots_folder() / 'panda_description/urdf/panda.urdf'
    return path.read_text(encoding='utf-8').replace('panda_joint', 'fer_joint')


def read_panda():
    """Return a Panda and its recorded log; skip where there is none."""
    bag = panda_bag()
    robot = ned.load_urdf(read_panda_urdf(), tip_link='panda_link8')
    return robot, read_log(bag, robot.joint_names)
