"""What of an arm can touch something: convex solids, with the meshes that they stand for.

Distances are those of coal (formerly hpp-fcl), the collision library of Pinocchio. It reads the
mesh formats of URDFs, measures distances between convex solids with their nearest points, which
is what gradients need, and intersects meshes as they are.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ne_dynamics.errors import MissingDependencyError, ModelError, optional_dependency
from ne_dynamics.model.model_source import ModelSource
from ne_dynamics.model.rigid_body import FloatArray, Transform
from ne_dynamics.model.robot import BASE, Robot
from ne_dynamics.model.urdf.shapes import Shape, read_shapes


@dataclass(frozen=True, eq=False)
class Solid:
    """One convex solid of a body.

    Attributes
    ----------
    link : str
    body : int
    points : array, shape (k, 3)
        Its corners, in the frame of the body [m].
    radius : float
        By which the hull of the corners is rounded [m].
    rotation, translation : array
        Pose of `hull` and `exact` in the body.
    hull, exact : coal.CollisionGeometry or None
        The solid, and what it stands for: the mesh itself.
    """

    link: str
    body: int
    points: FloatArray
    radius: float
    rotation: FloatArray
    translation: FloatArray
    hull: Any
    exact: Any

    @property
    def farthest(self) -> float:
        """Largest distance of a point from the origin of the body [m]."""
        return float(np.linalg.norm(self.points, axis=1).max()) + self.radius


def load_solids(
    path_or_xml: str | os.PathLike[str] | bytes,
    robot: Robot,
    description_file: str | os.PathLike[str] | None = None,
    package_folders: Sequence[str] = (),
) -> tuple[Solid, ...]:
    """Return the collision bodies of a robot from its URDF, for :func:`~.plan.plan_excitation`.

    Parameters
    ----------
    path_or_xml, description_file, package_folders
        See :func:`~ne_dynamics.model.urdf.shapes.read_shapes`.
    robot : Robot
        Loaded from the same URDF.

    Raises
    ------
    ModelError
        When a shape is wrong, a mesh cannot be found or read, or nothing that moves has a shape.
    MissingDependencyError
        When coal is not installed.
    """
    shapes = read_shapes(path_or_xml, description_file, package_folders)
    with optional_dependency('distances between links need coal', 'excite'):
        import coal
    loader = coal.MeshLoader(coal.NODE_TYPE.BV_OBBRSS)
    links = {link.name: link for link in robot.links}
    solids = []
    for shape in shapes:
        link = links.get(shape.link)
        if link is not None:
            pose = link.pose_in_body @ shape.pose_in_link
            solids.append(_make_solid(coal, loader, shape, link.body, pose))
    if all(solid.body == BASE for solid in solids):
        raise ModelError(
            f'robot {robot.name!r}: expected collision shapes of links that move, got none'
        )
    return tuple(solids)


def load_model_solids(
    model: ModelSource, robot: Robot, package_folders: Sequence[str]
) -> tuple[Solid, ...]:
    """Return the collision bodies of a robot as :func:`load_solids`; errors name options."""
    if not model.is_urdf:
        raise ModelError(
            f'{model.file}: expected a URDF, whose shapes tell what may touch what, got a DH '
            'file; --no-self-collision plans without'
        )
    try:
        return load_solids(model.text, robot, model.file, package_folders)
    except ModelError as error:
        raise ModelError(
            f'{error}; --package-path says where packages are, --no-self-collision plans '
            'without shapes'
        ) from error


def read_bounds(robot: Robot, text: str, file: str) -> dict[int, tuple[FloatArray, FloatArray]]:
    """Return the boxes around the collision shapes of the bodies that have any.

    Least and largest coordinates by the index of the body, in its frame [m]. Where a shape or a
    mesh of the URDF, text from a file, cannot be read, there is no box at all.
    """
    try:
        solids = load_solids(text, robot, file)
    except (ModelError, MissingDependencyError):
        return {}
    boxes: dict[int, tuple[FloatArray, FloatArray]] = {}
    for solid in solids:
        lower = (solid.points - solid.radius).min(axis=0)
        upper = (solid.points + solid.radius).max(axis=0)
        before = boxes.get(solid.body, (lower, upper))
        boxes[solid.body] = np.minimum(before[0], lower), np.maximum(before[1], upper)
    return boxes


def make_origins(robot: Robot) -> tuple[Solid, ...]:
    """Return the origins of the links that move, for an arm without shapes."""
    return tuple(
        Solid(
            link.name,
            link.body,
            link.pose_in_body.translation[np.newaxis],
            0.0,
            np.eye(3),
            np.zeros(3),
            None,
            None,
        )
        for link in robot.links
        if link.body != BASE
    )


def _make_solid(coal: Any, loader: Any, shape: Shape, body: int, pose: Transform) -> Solid:
    radius, exact = 0.0, None
    if shape.kind == 'mesh':
        corners, hull, exact = _load_mesh(loader, shape)
    elif shape.kind == 'box':
        half = 0.5 * np.array(shape.size)
        corners = half * np.array(np.meshgrid(*[(-1.0, 1.0)] * 3)).reshape(3, -1).T
        hull = coal.Box(*shape.size)
    elif shape.kind == 'sphere':
        radius = shape.size[0]
        corners, hull = np.zeros((1, 3)), coal.Sphere(radius)
    else:
        width, length = shape.size
        ends = np.array([[0.0, 0.0, -0.5 * length], [0.0, 0.0, 0.5 * length]])
        if shape.kind == 'capsule':
            radius, corners, hull = width, ends, coal.Capsule(width, length)
        else:
            edges = 24
            angles = 2.0 * np.pi * np.arange(edges) / edges
            rim = np.stack([np.cos(angles), np.sin(angles), np.zeros(edges)], axis=1)
            rim *= width / np.cos(np.pi / edges)  # around the circle
            corners = (ends[:, np.newaxis] + rim).reshape(-1, 3)
            hull = coal.Cylinder(width, length)
    points = corners @ pose.rotation.T + pose.translation
    return Solid(
        shape.link,
        body,
        points,
        radius,
        pose.rotation,
        pose.translation,
        hull,
        hull if exact is None else exact,
    )


def _load_mesh(loader: Any, shape: Shape) -> tuple[FloatArray, Any, Any]:
    what = f'link {shape.link!r}: mesh {str(shape.file)!r}'
    try:
        mesh = loader.load(str(shape.file), np.array(shape.size))
        vertices = np.array(mesh.vertices(), dtype=np.float64)
        if vertices.shape[0] >= 4 and np.isfinite(vertices).all():
            mesh.buildConvexHull(True, 'Qt')
            hull = mesh.convex
            corners = np.array([hull.point(i) for i in range(hull.num_points)])
            return corners, hull, mesh
    except (ValueError, RuntimeError, MemoryError) as error:
        reason = next((line for line in str(error).splitlines() if 'essage' in line), str(error))
        raise ModelError(f'{what}: cannot be read: {reason}') from error
    raise ModelError(f'{what}: expected a body with volume, got {vertices.shape[0]} finite points')
