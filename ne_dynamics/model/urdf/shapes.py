"""Shapes that a URDF gives its links for collisions."""

from __future__ import annotations

import os
import xml.etree.ElementTree as ElementTree
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ne_dynamics.errors import ModelError
from ne_dynamics.model.description_file import looks_like_xml
from ne_dynamics.model.orientation import quaternion_rotation
from ne_dynamics.model.rigid_body import Transform
from ne_dynamics.model.urdf.mesh_files import find_mesh
from ne_dynamics.model.urdf.xml_document import read_root
from ne_dynamics.model.urdf.xml_values import get_required, quote, read_numbers


@dataclass(frozen=True, eq=False)
class Shape:
    """One shape of a link.

    Attributes
    ----------
    link : str
    pose_in_link : Transform
    kind : str
        'box', 'sphere', 'cylinder' or 'capsule' (both along z), 'mesh'.
    size : tuple of float
        Of a box its three edges; of a sphere its radius; of a cylinder or capsule radius and
        length (of a capsule without its caps); of a mesh the three scales [m].
    file : Path or None
        Of a mesh.
    """

    link: str
    pose_in_link: Transform
    kind: str
    size: tuple[float, ...]
    file: Path | None = None


def read_shapes(
    path_or_xml: str | os.PathLike[str] | bytes,
    description_file: str | os.PathLike[str] | None = None,
    package_folders: Sequence[str] = (),
) -> tuple[Shape, ...]:
    """Return the collision shapes of all links of a URDF.

    Parameters
    ----------
    path_or_xml : str, path or bytes
        As :func:`~ne_dynamics.model.urdf.xml.read_urdf` takes it.
    description_file : str or path, optional
        Where a text came from, to find meshes by; default: the file itself.
    package_folders : sequence of str
        See :func:`~ne_dynamics.model.urdf.mesh_files.find_mesh`.

    Raises
    ------
    ModelError
        When a shape is wrong or a mesh cannot be found; the message names the link.
    """
    root, _ = read_root(path_or_xml)
    if description_file is None and not isinstance(path_or_xml, bytes):
        is_text = isinstance(path_or_xml, str) and looks_like_xml(path_or_xml)
        description_file = None if is_text else path_or_xml
    shapes = []
    for link in root.findall('link'):
        name = get_required(link, 'name', '<link>')
        for collision in link.findall('collision'):
            what = f'{quote("link", name)}: collision'
            pose = _read_origin(collision.find('origin'), what)
            geometry = collision.find('geometry')
            found = [] if geometry is None else [e for e in geometry if isinstance(e.tag, str)]
            if len(found) != 1:
                raise ModelError(f'{what}: geometry: expected one shape, got {len(found)}')
            shapes.append(
                _read_shape(found[0], name, pose, what, description_file, package_folders)
            )
    return tuple(shapes)


def _read_origin(origin: ElementTree.Element | None, what: str) -> Transform:
    if origin is None:
        return Transform.identity()
    xyz = read_numbers(origin.get('xyz', '0 0 0'), 3, f'{what}: origin xyz')
    quaternion = origin.get('quat_xyzw')
    if quaternion is not None:
        rotation = quaternion_rotation(
            np.array(read_numbers(quaternion, 4, f'{what}: origin quat_xyzw'))
        )
        return Transform(rotation, np.array(xyz))
    rpy = read_numbers(origin.get('rpy', '0 0 0'), 3, f'{what}: origin rpy')
    return Transform.from_xyz_rpy(xyz, rpy)


_SIZES = {
    'box': (('size', 3),),
    'sphere': (('radius', 1),),
    'cylinder': (('radius', 1), ('length', 1)),
    'capsule': (('radius', 1), ('length', 1)),
}


def _read_shape(
    element: ElementTree.Element,
    link: str,
    pose: Transform,
    what: str,
    description_file: str | os.PathLike[str] | None,
    package_folders: Sequence[str],
) -> Shape:
    kind = str(element.tag)
    what = f'{what}: {kind}'
    if kind == 'mesh':
        name = get_required(element, 'filename', what)
        scale = read_numbers(element.get('scale', '1 1 1'), 3, f'{what} scale')
        if not all(scale):
            raise ModelError(f'{what} scale: expected three numbers other than 0, got {scale}')
        try:
            file = find_mesh(name, description_file, package_folders)
        except ModelError as error:
            raise ModelError(f'{what}: {error}') from error
        return Shape(link, pose, kind, tuple(scale), file)
    if kind not in _SIZES:
        raise ModelError(f'{what}: expected box, sphere, cylinder, capsule or mesh, got {kind!r}')
    size: list[float] = []
    for attribute, count in _SIZES[kind]:
        text = get_required(element, attribute, what)
        size += read_numbers(text, count, f'{what} {attribute}')
    if not min(size) > 0.0:
        raise ModelError(f'{what}: expected sizes above 0, got {size}')
    return Shape(link, pose, kind, tuple(size))
