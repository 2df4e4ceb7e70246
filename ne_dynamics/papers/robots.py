"""The robots that are measured."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ne_dynamics.errors import MissingDependencyError
from ne_dynamics.model.dh import load_dh
from ne_dynamics.model.rigid_body import FloatArray, Inertia, Transform
from ne_dynamics.model.robot import Body, Joint, JointType, Link, Robot
from ne_dynamics.model.urdf.tree import load_urdf
from ne_dynamics.shipped import shipped_file

CHAIN_LENGTHS = (5, 10, 20, 40)
REGRESSOR_LENGTHS = (10, 11, 14, 15, 20, 30, 50)


@dataclass(frozen=True)
class Case:
    """One robot, and where it comes from.

    Attributes
    ----------
    name : str
    robot : Robot
    urdf : str or None
        File that other libraries read by themselves.
    tip_link : str or None
    locked : tuple of str
        Joints of the file that do not move; they stand at zero.
    """

    name: str
    robot: Robot
    urdf: str | None = None
    tip_link: str | None = None
    locked: tuple[str, ...] = ()


def ur5() -> Case:
    """Return the UR5 of example-robot-data."""
    return _example('UR5', 'ur_description/urdf/ur5_robot.urdf', 'tool0')


def panda() -> Case:
    """Return the Panda of example-robot-data with its hand, whose fingers are locked."""
    fingers = ('panda_finger_joint1', 'panda_finger_joint2')
    return _example('Panda', 'panda_description/urdf/panda.urdf', 'panda_link8', fingers)


def puma560() -> Case:
    """Return the shipped Puma 560."""
    return Case('Puma 560', load_dh(shipped_file('puma560_standard_dh.yaml')))


ARMS = {'UR5': ur5, 'Panda': panda, 'Puma 560': puma560}


def _example(name: str, file: str, tip_link: str, locked: tuple[str, ...] = ()) -> Case:
    """Load a robot of example-robot-data.

    Raises
    ------
    MissingDependencyError
        When it is not installed.
    """
    path = example_robots() / file
    if not path.is_file():
        raise MissingDependencyError(f'example-robot-data has no {file}')
    return Case(name, load_urdf(path, tip_link=tip_link), str(path), tip_link, locked)


def example_robots() -> Path:
    """Return the folder of example-robot-data's robots.

    Raises
    ------
    MissingDependencyError
        When it is not installed.
    """
    for prefix in (*sys.path, sys.prefix, '/opt/ros', '/opt/openrobots'):
        for share in ('cmeel.prefix/share', 'share'):
            folder = Path(prefix, share, 'example-robot-data', 'robots')
            if folder.is_dir():
                return folder
    raise MissingDependencyError(
        'example-robot-data is not installed: pip install example-robot-data'
    )


def chain(n: int, seed: int = 0) -> Robot:
    """Return a chain of revolute joints, every frame turned at random, with full inertia.

    No number of it is zero or one, so that nothing folds away but what does for every chain:
    the axes are z of the link's own frame, which is a choice of frames and no special geometry.

    Parameters
    ----------
    n : int
        Number of joints.
    seed : int
    """
    rng = np.random.default_rng([seed, n])
    joints, bodies, links = [], [], [Link('base', -1, Transform.identity(), None)]
    for index in range(n):
        name = f'link_{index + 1}'
        joints.append(Joint(f'joint_{index + 1}', JointType.REVOLUTE))
        bodies.append(
            Body(
                name,
                joints[-1].name,
                index - 1,
                JointType.REVOLUTE,
                np.array([0.0, 0.0, 1.0]),
                Transform(_rotation(rng), rng.uniform(-0.3, 0.3, 3)),
                index,
            )
        )
        links.append(Link(name, index, Transform.identity(), links[-1].name, _inertia(rng)))
    return Robot(f'chain_{n}', tuple(joints), tuple(bodies), tuple(links), 'base', links[-1].name)


def _rotation(rng: np.random.Generator) -> FloatArray:
    matrix, _ = np.linalg.qr(rng.normal(size=(3, 3)))
    matrix[:, 0] *= np.sign(np.linalg.det(matrix))
    return np.asarray(matrix, dtype=np.float64)


def _inertia(rng: np.random.Generator) -> Inertia:
    """Return a body that can exist: three spreads of its mass along axes turned at random."""
    mass = rng.uniform(0.5, 5.0)
    x, y, z = mass * rng.uniform(0.02, 0.2, 3) ** 2
    axes = _rotation(rng)
    tensor = axes @ np.diag([y + z, x + z, x + y]) @ axes.T
    return Inertia(float(mass), rng.uniform(-0.2, 0.2, 3), 0.5 * (tensor + tensor.T))
