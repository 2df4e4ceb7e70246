"""Read the untrusted text of a URDF into a description whose every part is checked by itself.

A document type declaration is refused before an entity can expand, every number must be a plain
finite decimal, and what stands twice is refused. ``urdf_parser_py`` then parses what matters to
dynamics (links, inertials, joints); what it did not know comes back as findings, nothing is
printed. Whether the links make one robot is for :mod:`~ne_dynamics.model.urdf.tree` to say.

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
import threading
import xml.etree.ElementTree as ElementTree
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ne_dynamics.errors import ModelError
from ne_dynamics.model.frozen import frozen_array
from ne_dynamics.model.rigid_body import FloatArray, Inertia, Transform
from ne_dynamics.model.robot import ModelFinding
from ne_dynamics.model.urdf.checked_copy import (
    ACCELERATION_LIMITS,
    HAS_ACCELERATION_LIMITS,
    copy_joint,
    copy_link,
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

# Known to the world of URDF and without influence on the dynamics: not handed to the parser.
_IGNORED_IN_ROBOT = frozenset({'material', 'gazebo', 'transmission', 'ros2_control'})

# urdf_parser_py reports through one global function, which is replaced while it parses. A fork
# waits for the end of that: no child inherits a lock that nobody will release.
_parser_lock = threading.RLock()
if hasattr(os, 'register_at_fork'):
    os.register_at_fork(
        before=_parser_lock.acquire,
        after_in_parent=_parser_lock.release,
        after_in_child=_parser_lock.release,
    )


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


def _parse(root: ElementTree.Element) -> tuple[Any, tuple[int, int], list[ModelFinding]]:
    """Return what urdf_parser_py made of the document, its version, and what was noticed."""
    findings: list[ModelFinding] = []
    name = root.get('name', '')
    if not name.strip():
        name = 'robot'
        findings.append(
            ModelFinding(
                'warning', 'name-missing', 'robot', 'expected the attribute name, got none'
            )
        )
    version = _read_version(root, name)
    # The parser knows version 1.0; what the later ones add is translated, or read beside it.
    document = ElementTree.Element('robot', {'name': name, 'version': '1.0'})
    for child in root:
        tag = str(child.tag)
        if tag == 'link':
            document.append(copy_link(child, version, findings))
        elif tag == 'joint':
            document.append(copy_joint(child, version, findings))
        elif tag not in _IGNORED_IN_ROBOT and not tag.startswith('{'):
            document.append(ElementTree.Element(tag))
    # They bring YAML along: whoever reads no URDF does without.
    import urdf_parser_py.xml_reflection.core as urdf_reflection
    from urdf_parser_py.urdf import URDF

    messages: list[str] = []
    with _parser_lock:
        previous = urdf_reflection.on_error
        urdf_reflection.on_error = messages.append
        try:
            robot = URDF.from_xml_string(ElementTree.tostring(document, encoding='unicode'))
        except Exception as error:
            raise ModelError(f'robot {name!r}: {error}') from error
        finally:
            urdf_reflection.on_error = previous
    if messages:
        from ne_dynamics.model.urdf.parser_messages import group_messages

        findings.extend(group_messages(messages))
    return robot, version, findings


def _describe(root: ElementTree.Element, source: str) -> RobotDescription:
    """Return links and joints by name, each checked by itself."""
    parsed, version, findings = _parse(root)
    links: dict[str, LinkDescription] = {}
    for parsed_link in parsed.links:
        link = _describe_link(parsed_link, findings)
        if link.name in links:
            raise ModelError(f'link {link.name!r}: the name is used twice')
        links[link.name] = link
    if not links:
        raise ModelError(f'robot {parsed.name!r}: expected links, got none')
    elements = {element.get('name'): element for element in root.findall('joint')}
    kinds = {str(joint.name): str(joint.type) for joint in parsed.joints}
    rotors: dict[str, RotorDescription] = {}
    drives: tuple[CoupledDrive, ...] = ()
    if mentions_rotors(root):
        from ne_dynamics.model.urdf.differentials import read_differentials
        from ne_dynamics.model.urdf.rotors import read_rotors

        rotors = read_rotors(root, kinds, findings)
        drives = read_differentials(root, kinds, findings)
    joints: dict[str, JointDescription] = {}
    for parsed_joint in parsed.joints:
        element = elements[parsed_joint.name]
        limit = _read_limits(element.find('limit'), version)
        joint = _describe_joint(parsed_joint, limit, rotors.get(parsed_joint.name), findings)
        if joint.name in joints:
            raise ModelError(f'joint {joint.name!r}: the name is used twice')
        joints[joint.name] = joint
    return RobotDescription(parsed.name, links, joints, tuple(findings), source, drives)


def _read_origin(parsed: Any) -> Transform:
    if parsed is None:
        return Transform.identity()
    return Transform.from_xyz_rpy(parsed.xyz or (0.0, 0.0, 0.0), parsed.rpy or (0.0, 0.0, 0.0))


def _describe_link(parsed: Any, findings: list[ModelFinding]) -> LinkDescription:
    if parsed.inertial is None:
        return LinkDescription(parsed.name, Inertia.zero(), has_inertial=False)
    what = quote('link', parsed.name)
    tensor = np.zeros((3, 3))
    if parsed.inertial.inertia is None:
        findings.append(
            ModelFinding(
                'warning',
                'inertia-missing',
                what,
                'inertial without <inertia>: expected an inertia tensor, zero is used',
            )
        )
    else:
        tensor = np.array(parsed.inertial.inertia.to_matrix(), dtype=np.float64)
    try:
        inertia = Inertia(float(parsed.inertial.mass), np.zeros(3), tensor)
        return LinkDescription(
            parsed.name,
            inertia.transformed(_read_origin(parsed.inertial.origin)),
            has_inertial=True,
        )
    except ModelError as error:
        raise ModelError(f'{what}: inertial: {error}') from error


def _read_limits(
    element: ElementTree.Element | None, version: tuple[int, int]
) -> Mapping[str, float] | None:
    """Return the limits that the raw element has; the parser does not tell 0 from absent."""
    if element is None:
        return None
    keys = ['lower', 'upper', 'effort', 'velocity']
    if version >= HAS_ACCELERATION_LIMITS:
        keys += ACCELERATION_LIMITS
    return {key: float(element.attrib[key]) for key in keys if key in element.attrib}


def _describe_joint(
    parsed: Any,
    limits: Mapping[str, float] | None,
    rotor: RotorDescription | None,
    findings: list[ModelFinding],
) -> JointDescription:
    what = quote('joint', parsed.name)
    moves = parsed.type in MOVING_TYPES
    bounded = limits is not None and parsed.type in ('revolute', 'prismatic')
    own = {f'{key}_limit': value for key, value in (limits or {}).items()}
    # URDF: lower and upper default to 0, when the joint has limits at all.
    lower, upper = own.pop('lower_limit', 0.0), own.pop('upper_limit', 0.0)
    lower, upper = (lower, upper) if bounded else (-np.inf, np.inf)
    if moves and lower > upper:
        raise ModelError(f'{what}: limit: expected lower <= upper, got {lower} > {upper}')
    if 'acceleration_limit' in own:
        own.setdefault('deceleration_limit', own['acceleration_limit'])
    axis = np.array([1.0, 0.0, 0.0])
    if moves and parsed.axis is not None:
        axis = _normalise_axis(np.array(parsed.axis, dtype=np.float64), what, findings)
    damping, friction = _read_friction(parsed.dynamics, what)
    try:
        origin = _read_origin(parsed.origin)
    except ModelError as error:
        raise ModelError(f'{what}: origin: {error}') from error
    return JointDescription(
        name=parsed.name,
        type=parsed.type,
        parent=parsed.parent,
        child=parsed.child,
        origin=origin,
        axis=frozen_array(axis, (3,), f'{what}: axis'),
        limits={'lower': lower, 'upper': upper, **own},
        damping=damping,
        friction=friction,
        mimic=_read_mimic(parsed.mimic) if moves else None,
        rotor=rotor,
    )


def _read_mimic(parsed: Any) -> MimicDescription | None:
    if parsed is None:
        return None
    return MimicDescription(
        parsed.joint,
        1.0 if parsed.multiplier is None else float(parsed.multiplier),
        0.0 if parsed.offset is None else float(parsed.offset),
    )


def _read_friction(parsed: Any, what: str) -> tuple[float, float]:
    """Return damping and friction of a ``<dynamics>``."""
    if parsed is None:
        return 0.0, 0.0
    damping, friction = float(parsed.damping or 0.0), float(parsed.friction or 0.0)
    for key, value in (('damping', damping), ('friction', friction)):
        if value < 0.0:
            raise ModelError(f'{what}: dynamics {key}: expected >= 0, got {value}')
    return damping, friction


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
