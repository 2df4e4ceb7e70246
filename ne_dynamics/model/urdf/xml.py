"""Read the untrusted text of a URDF into a description whose every part is checked by itself.

A document type declaration is refused before an entity can expand, every number must be a plain
finite decimal, and what stands twice is refused. What matters to dynamics is read (links,
inertials, joints); what is not known comes back as findings. Whether the links make one robot is
for :mod:`~ne_dynamics.model.urdf.tree` to say.

How the text is understood:

- Versions 1.0 (also where no version is given), 1.1 and 1.2 are known; what a version does not
  have is not read under it.
- ``quat_xyzw`` of an ``origin`` (1.1) is normalised.
- ``dynamics/damping`` is the viscous, ``dynamics/friction`` the Coulomb friction of a joint.
- A limit that is not given is infinite; a limit that is given as 0 stays 0.
- ``acceleration``, ``deceleration`` and ``jerk`` of a ``limit`` (1.2) are infinite where they are
  not given, but a missing ``deceleration`` is the ``acceleration``.
- Rotor inertias are those of :mod:`~ne_dynamics.model.urdf.rotors`.
- A joint without ``axis`` has the axis (1, 0, 0). An axis may be off unit length by the rounding
  of its printed digits (1e-3), not more.
"""

from __future__ import annotations

import os
import re
import xml.etree.ElementTree as ElementTree
from typing import TYPE_CHECKING

import numpy as np

from ne_dynamics.errors import ModelError
from ne_dynamics.model.frozen import frozen_array
from ne_dynamics.model.rigid_body import FloatArray, Inertia, Transform
from ne_dynamics.model.robot import ModelFinding
from ne_dynamics.model.urdf.checked_elements import (
    INERTIA_KEYS,
    Elements,
    LeftOut,
    check_joint,
    check_link,
)
from ne_dynamics.model.urdf.description import (
    MOVING_TYPES,
    JointDescription,
    LinkDescription,
    MimicDescription,
    RobotDescription,
)
from ne_dynamics.model.urdf.rotor_elements import RotorDescription, mentions_rotors
from ne_dynamics.model.urdf.xml_document import read_root
from ne_dynamics.model.urdf.xml_values import AXIS_TOLERANCE, LENGTH_ROUNDING, quote

if TYPE_CHECKING:
    from ne_dynamics.model.coupled_drive import CoupledDrive

VERSIONS = ((1, 0), (1, 1), (1, 2))
"""Versions of URDF that are read."""

# Known to the world of URDF and without influence on the dynamics.
_IGNORED_IN_ROBOT = frozenset({'material', 'gazebo', 'transmission', 'ros2_control'})


def read_urdf(path_or_xml: str | os.PathLike[str] | bytes) -> RobotDescription:
    """Read a URDF.

    Parameters
    ----------
    path_or_xml : str, path or bytes
        File name, or the XML itself (anything that starts with ``<``).

    Raises
    ------
    ModelError
        When the file cannot be read, is no URDF, or an element is wrong by itself. The message
        names the element, what was found and what was expected.
    """
    root, source = read_root(path_or_xml)
    with np.errstate(over='ignore', invalid='ignore'):
        # Overflow ends in values that are not finite, which the frozen classes refuse.
        return _describe(root, source)


def _read_version(root: ElementTree.Element, robot: str) -> tuple[int, int]:
    """Return major and minor version of a URDF."""
    text = root.get('version', '1.0')
    parts = re.fullmatch(r'\s*([0-9]{1,9})\.([0-9]{1,9})', text, re.ASCII)
    version = (int(parts.group(1)), int(parts.group(2))) if parts else None
    if version not in VERSIONS:
        raise ModelError(f"robot {robot!r}: version: expected '1.0', '1.1' or '1.2', got {text!r}")
    return version


def _describe(root: ElementTree.Element, source: str) -> RobotDescription:
    """Return links and joints by name, each checked by itself."""
    findings: list[ModelFinding] = []
    robot = root.get('name', '')
    if not robot.strip():
        robot = 'robot'
        findings.append(
            ModelFinding(
                'warning', 'name-missing', 'robot', 'expected the attribute name, got none'
            )
        )
    version = _read_version(root, robot)
    left_out = LeftOut()
    found_links, found_joints, others = [], [], []
    for child in root:
        tag = str(child.tag)
        if tag == 'link':
            found_links.append(check_link(child, version, findings, left_out))
        elif tag == 'joint':
            found_joints.append(check_joint(child, version, findings, left_out))
        elif tag not in _IGNORED_IN_ROBOT and not tag.startswith('{'):
            others.append(tag)
    left_out.add('tag', others, 'robot', is_harmless=True)
    findings.extend(left_out.findings())
    links: dict[str, LinkDescription] = {}
    for name, inertial in found_links:
        if name in links:
            raise ModelError(f'link {name!r}: the name is used twice')
        links[name] = _describe_link(name, inertial, findings)
    if not links:
        raise ModelError(f'robot {robot!r}: expected links, got none')
    rotors: dict[str, RotorDescription] = {}
    drives: tuple[CoupledDrive, ...] = ()
    if mentions_rotors(root):
        from ne_dynamics.model.urdf.differentials import read_differentials
        from ne_dynamics.model.urdf.rotors import read_rotors

        kinds = {name: kind for name, kind, _ in found_joints}
        rotors = read_rotors(root, kinds, findings)
        drives = read_differentials(root, kinds, findings)
    joints: dict[str, JointDescription] = {}
    for name, kind, elements in found_joints:
        if name in joints:
            raise ModelError(f'joint {name!r}: the name is used twice')
        joints[name] = _describe_joint(name, kind, elements, rotors.get(name), findings)
    return RobotDescription(robot, links, joints, tuple(findings), source, drives)


def _read_origin(elements: Elements) -> Transform:
    origin = elements.get('origin', {})
    xyz, rpy = (list(map(float, origin.get(key, '0 0 0').split())) for key in ('xyz', 'rpy'))
    return Transform.from_xyz_rpy(xyz, rpy)


def _describe_link(
    name: str, inertial: Elements | None, findings: list[ModelFinding]
) -> LinkDescription:
    if inertial is None:
        return LinkDescription(name, Inertia.zero(), has_inertial=False)
    what = quote('link', name)
    tensor = np.zeros((3, 3))
    if 'inertia' in inertial:
        xx, xy, xz, yy, yz, zz = (float(inertial['inertia'][key]) for key in INERTIA_KEYS)
        tensor = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    else:
        findings.append(
            ModelFinding(
                'warning',
                'inertia-missing',
                what,
                'inertial without <inertia>: expected an inertia tensor, zero is used',
            )
        )
    try:
        inertia = Inertia(float(inertial['mass']['value']), np.zeros(3), tensor)
        return LinkDescription(
            name, inertia.transformed(_read_origin(inertial)), has_inertial=True
        )
    except ModelError as error:
        raise ModelError(f'{what}: inertial: {error}') from error


def _describe_joint(
    name: str,
    kind: str,
    elements: Elements,
    rotor: RotorDescription | None,
    findings: list[ModelFinding],
) -> JointDescription:
    what = quote('joint', name)
    moves = kind in MOVING_TYPES
    # A limit that is given as 0 stays 0, one that is absent is infinite.
    own = {f'{key}_limit': float(text) for key, text in elements.get('limit', {}).items()}
    # URDF: lower and upper default to 0, when the joint has limits at all.
    lower, upper = own.pop('lower_limit', 0.0), own.pop('upper_limit', 0.0)
    if 'limit' not in elements or kind not in ('revolute', 'prismatic'):
        lower, upper = -np.inf, np.inf
    if moves and lower > upper:
        raise ModelError(f'{what}: limit: expected lower <= upper, got {lower} > {upper}')
    if 'acceleration_limit' in own:
        own.setdefault('deceleration_limit', own['acceleration_limit'])
    axis = np.array([1.0, 0.0, 0.0])
    if moves and 'axis' in elements:
        axis = np.array(elements['axis']['xyz'].split(), dtype=np.float64)
        axis = _normalise_axis(axis, what, findings)
    friction = {key: float(text) for key, text in elements.get('dynamics', {}).items()}
    for key, value in friction.items():
        if value < 0.0:
            raise ModelError(f'{what}: dynamics {key}: expected >= 0, got {value}')
    try:
        origin = _read_origin(elements)
    except ModelError as error:
        raise ModelError(f'{what}: origin: {error}') from error
    mimic = None
    if moves and 'mimic' in elements:
        given = elements['mimic']
        numbers = float(given.get('multiplier', 1.0)), float(given.get('offset', 0.0))
        mimic = MimicDescription(given['joint'], *numbers)
    return JointDescription(
        name=name,
        type=kind,
        parent=elements['parent']['link'],
        child=elements['child']['link'],
        origin=origin,
        axis=frozen_array(axis, (3,), f'{what}: axis'),
        limits={'lower': lower, 'upper': upper, **own},
        damping=friction.get('damping', 0.0),
        friction=friction.get('friction', 0.0),
        mimic=mimic,
        rotor=rotor,
    )


def _normalise_axis(axis: FloatArray, what: str, findings: list[ModelFinding]) -> FloatArray:
    norm = float(np.linalg.norm(axis))
    if not abs(norm - 1.0) <= AXIS_TOLERANCE:
        raise ModelError(
            f'{what}: axis: expected a vector of length 1, got {axis.tolist()} '
            f'of length {norm:.6g}'
        )
    if abs(norm - 1.0) > LENGTH_ROUNDING:
        findings.append(
            ModelFinding(
                'warning',
                'axis-normalised',
                what,
                f'axis: expected a vector of length 1, got length {norm:.9g}; normalised',
            )
        )
    return axis if norm == 1.0 else axis / norm
