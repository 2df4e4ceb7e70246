"""What an arm's bodies weigh: links lumped up to a wrist sensor, and what is refused of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ne_dynamics.errors import ModelError
from ne_dynamics.model.rigid_body import FloatArray, Inertia
from ne_dynamics.model.robot import BASE, Link, Robot


@dataclass(frozen=True, eq=False)
class SensorCut:
    """Where a wrist sensor measures.

    Attributes
    ----------
    link : Link
        The last link on the arm's side.
    names_beyond : frozenset of str
        Links on the other side.
    inertia_beyond : Inertia
        Those of them that are rigidly fixed to `link`, lumped, in its frame.
    """

    link: Link
    names_beyond: frozenset[str]
    inertia_beyond: Inertia


def lump_links(robot: Robot, sensor_link: str | None) -> tuple[list[Inertia], SensorCut | None]:
    """Lump the links: one inertia a moving body, without what is beyond the cut, and the cut."""
    if sensor_link is None:
        return [body.inertia for body in robot.bodies], None
    link_at_cut = robot.link(sensor_link)
    names_beyond = robot.descendants(sensor_link)
    body_to_cut = link_at_cut.pose_in_body.inverse()
    inertias = [Inertia.zero() for _ in robot.bodies]
    beyond = Inertia.zero()
    for link in robot.links:
        if link.body == link_at_cut.body and link.name in names_beyond:
            beyond += link.inertia.transformed(body_to_cut @ link.pose_in_body)
        elif link.body != BASE:
            inertias[link.body] += link.inertia.transformed(link.pose_in_body)
    return inertias, SensorCut(link_at_cut, names_beyond, beyond)


def check_moved_masses(robot: Robot) -> None:
    """Refuse a joint that moves no mass; MuJoCo does so too, but names nothing."""
    moved = [body.inertia.mass for body in robot.bodies]
    for index in reversed(range(len(robot.bodies))):
        body = robot.bodies[index]
        # What a joint must move at least.
        if abs(moved[index]) < 1e-12:
            raise ModelError(
                f'joint {body.joint_name!r} moves link {body.name!r}: expected a mass on the link '
                f'or beyond it, got {moved[index]:.3g} kg'
            )
        if body.parent != BASE:
            moved[body.parent] += moved[index]


def check_inertia(name: str, inertia: Inertia) -> None:
    """Refuse what makes the arm gain energy from nothing."""
    moments = principal_moments(inertia)[0]
    if inertia.mass < 0.0:
        raise ModelError(
            f'link {name!r}, with what is fixed to it: mass: expected >= 0 kg, got {inertia.mass}'
        )
    if moments.min() < -1e-9 * np.abs(moments).max():
        raise ModelError(
            f'link {name!r}, with what is fixed to it: inertia: expected principal moments >= 0, '
            f'got {moments.tolist()} kg m^2'
        )


def principal_moments(inertia: Inertia) -> tuple[FloatArray, FloatArray]:
    """Return principal moments, shape (3,), and their axes as columns of a rotation (3, 3)."""
    tensor = inertia.inertia_about_com
    if not (tensor - np.diag(np.diag(tensor))).any():
        return np.diag(tensor).copy(), np.eye(3)
    moments, axes = np.linalg.eigh(tensor)
    if np.linalg.det(axes) < 0.0:
        axes[:, 0] = -axes[:, 0]
    return moments, axes
