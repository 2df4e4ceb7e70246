"""Random arms to compare the forms on."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ne_dynamics.errors import InputError
from ne_dynamics.model.robot import (
    FloatArray,
    Inertia,
    JointType,
    Transform,
    axis_angle_rotation,
)
from ne_dynamics.papers.forms.arm import Arm, DHLink
from ne_dynamics.papers.forms.coverage import half_way_center


def random_arm(
    rng: np.random.Generator,
    n: int,
    convention: str = 'standard',
    *,
    prismatic: float = 0.3,
    principal_axes: bool = False,
    half_way: bool = False,
    friction: bool = True,
    base_and_tool: bool = True,
) -> Arm:
    """Return a random arm with physically possible links.

    Parameters
    ----------
    rng : numpy.random.Generator
    n : int
        Number of joints.
    convention : str
        'standard' or 'modified'.
    prismatic : float
        Probability that a joint slides.
    principal_axes : bool
        Whether inertia tensors are diagonal in the link's frame.
    half_way : bool
        Whether centres of mass are half-way back along the link vector (000 3.26; standard).
    friction : bool
        Whether there is viscous friction.
    base_and_tool : bool
        Whether frame 0 differs from the base link's frame, and the tip from frame n.

    Returns
    -------
    Arm
        Lengths up to 0.5 m, masses of 0.1 to 5 kg, general twists, three in ten of the angles
        quarter turns; without Coulomb friction and rotors.
    """
    if n < 1:
        raise InputError(f'n: expected at least 1 joint, got {n}')

    def angle() -> float:
        if rng.random() < 0.3:
            return float(rng.choice([-0.5, 0.0, 0.5, 1.0]) * np.pi)
        return float(rng.uniform(-np.pi, np.pi))

    def pose() -> Transform:
        axis = rng.normal(size=3)
        rotation = axis_angle_rotation(axis / np.linalg.norm(axis), angle())
        return Transform(rotation, rng.uniform(-0.5, 0.5, 3))

    links = []
    for _ in range(n):
        slides = rng.random() < prismatic
        row = DHLink(
            theta=angle(),
            d=float(rng.uniform(-0.5, 0.5)),
            a=float(rng.uniform(-0.5, 0.5)),
            alpha=angle(),
            offset=float(rng.uniform(-0.5, 0.5)) if slides else angle(),
            type=JointType.PRISMATIC if slides else JointType.REVOLUTE,
        )
        center = rng.uniform(-0.3, 0.3, 3)
        if half_way:
            center = np.array(half_way_center(row))
        links.append(
            replace(
                row,
                inertia=_random_inertia(rng, center, principal_axes),
                viscous_friction=float(rng.uniform(0.0, 2.0)) if friction else 0.0,
            )
        )
    identity = Transform.identity()
    return Arm(
        convention,
        tuple(links),
        base=pose() if base_and_tool else identity,
        tool=pose() if base_and_tool else identity,
        name=f'random {n}-joint arm',
    )


def _random_inertia(rng: np.random.Generator, center: FloatArray, principal_axes: bool) -> Inertia:
    mass = float(rng.uniform(0.1, 5.0))
    # Second moments of the mass along three axes, so that the tensor is one of a real body.
    x, y, z = mass * rng.uniform(0.01, 0.3, size=3) ** 2
    tensor = np.diag([y + z, x + z, x + y])
    if not principal_axes:
        axes, _ = np.linalg.qr(rng.normal(size=(3, 3)))
        tensor = axes @ tensor @ axes.T
        tensor = 0.5 * (tensor + tensor.T)
    return Inertia(mass, center, tensor)
