"""Give a moving body another inertia by changing the links that it is lumped of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from ne_dynamics.identification.regression.pseudo_inertia import (
    inertia_of,
    is_body,
    pseudo_inertia,
)
from ne_dynamics.model.rigid_body import FloatArray, Inertia, Transform
from ne_dynamics.model.robot import Link, Robot


def with_body_inertias(robot: Robot, inertias: Mapping[int, Inertia]) -> Robot:
    """Return a robot whose bodies have other inertias, the sum of their links' as ever.

    The link that the joint carries takes the difference (the heaviest link of the body when that
    one has no inertial). If that would leave it with an inertia that no body has, all links of
    the body change alike: their masses by one factor, and the distribution of mass by the one
    linear map of space that makes the sum right. The inertias are by index of the body, in its
    frame, and what a body can have.
    """
    changed: dict[str, Inertia] = {}
    for index, inertia in inertias.items():
        changed.update(_distributed(robot, index, inertia))
    return robot.with_links(
        replace(link, inertia=changed[link.name], has_inertial=True)
        if link.name in changed
        else link
        for link in robot.links
    )


def _distributed(robot: Robot, index: int, inertia: Inertia) -> dict[str, Inertia]:
    """Return the links that change, in their own frames."""
    links = [link for link in robot.links if link.body == index]
    carrier = _carrier(robot, index, links)
    target = pseudo_inertia(inertia.parameters)
    others = [link for link in links if link is not carrier and not link.inertia.is_zero]
    rest = target - sum((_in_body(link) for link in others), np.zeros((4, 4)))
    if is_body(rest):
        return {carrier.name: _in_link(carrier, rest)}
    present = pseudo_inertia(robot.bodies[index].inertia.parameters)
    if not is_body(present):
        return {
            carrier.name: _in_link(carrier, target),
            **{link.name: Inertia.zero() for link in others},
        }
    deformation = _deformation(present, target)
    return {
        link.name: _in_link(link, deformation @ _in_body(link) @ deformation.T)
        for link in links
        if link.inertia.mass > 0.0
    }


def _carrier(robot: Robot, index: int, links: list[Link]) -> Link:
    carrier = next(link for link in links if link.name == robot.bodies[index].name)
    if carrier.inertia.mass > 0.0:
        return carrier
    return max(links, key=lambda link: link.inertia.mass)


def _in_body(link: Link) -> FloatArray:
    return pseudo_inertia(link.inertia.transformed(link.pose_in_body).parameters)


def _in_link(link: Link, in_body: FloatArray) -> Inertia:
    body_to_link: Transform = link.pose_in_body.inverse()
    return inertia_of(in_body).transformed(body_to_link)


def _deformation(present: FloatArray, target: FloatArray) -> FloatArray:
    """Return T with ``T @ present @ T.T == target`` that maps points linearly and mass evenly.

    Of the linear maps that turn one spread of mass into the other, the symmetric one moves the
    mass least.
    """
    centers, spreads = [], []
    for pseudo in (present, target):
        center = pseudo[:3, 3] / pseudo[3, 3]
        centers.append(center)
        spreads.append(pseudo[:3, :3] / pseudo[3, 3] - np.outer(center, center))
    root = _square_root(spreads[0])
    inverse = np.linalg.inv(root)
    turn = inverse @ _square_root(root @ spreads[1] @ root) @ inverse
    deformation = np.eye(4)
    deformation[:3, :3] = turn
    deformation[:3, 3] = centers[1] - turn @ centers[0]
    result: FloatArray = np.sqrt(target[3, 3] / present[3, 3]) * deformation
    return result


def _square_root(matrix: FloatArray) -> FloatArray:
    values, vectors = np.linalg.eigh(0.5 * (matrix + matrix.T))
    root: FloatArray = (vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T
    return root
