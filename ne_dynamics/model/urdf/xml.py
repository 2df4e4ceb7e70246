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

import math
import os
import re
import threading
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any
from xml.parsers import expat

import numpy as np

from ne_dynamics.errors import ModelError
from ne_dynamics.model.description_file import looks_like_xml, read_file
from ne_dynamics.model.frozen import frozen_array
from ne_dynamics.model.rigid_body import (
    FloatArray,
    Inertia,
    Transform,
    quaternion_rotation,
    roll_pitch_yaw,
)
from ne_dynamics.model.robot import Finding
from ne_dynamics.model.urdf.rotor_elements import (
    DRAKE,
    RotorDescription,
    has_rotor,
    mentions_rotors,
)
from ne_dynamics.model.urdf.xml_values import XACRO_HINT, get_required, quote, read_numbers

AXIS_TOLERANCE = 1e-3
"""An axis this close to unit length was rounded when it was printed; it is normalised."""

DEEPEST_ELEMENT = 64
"""Deepest nesting of XML elements that is read; a URDF needs six."""

MOVING_TYPES = ('revolute', 'continuous', 'prismatic')
"""Joints with one coordinate."""

UNSUPPORTED_TYPES = ('floating', 'planar')
"""Joints of URDF with several coordinates: read, and nothing more."""

VERSIONS = ((1, 0), (1, 1), (1, 2))
"""Versions of URDF that are read."""

_HAS_QUATERNIONS = (1, 1)
_HAS_ACCELERATION_LIMITS = (1, 2)
_ROUNDING = 1e-6
_TYPES = (*MOVING_TYPES, 'fixed', *UNSUPPORTED_TYPES)
_INERTIA_KEYS = ('ixx', 'ixy', 'ixz', 'iyy', 'iyz', 'izz')
_ORIGIN = {'xyz': 3, 'rpy': 3}
_ACCELERATION_LIMITS = ('acceleration', 'deceleration', 'jerk')
# Elements that the dynamics reads, and how many numbers each numeric attribute holds.
_INERTIAL_ELEMENTS: dict[str, dict[str, int]] = {
    'origin': _ORIGIN,
    'mass': {'value': 1},
    'inertia': dict.fromkeys(_INERTIA_KEYS, 1),
}
_JOINT_ELEMENTS: dict[str, dict[str, int]] = {
    'origin': _ORIGIN,
    'parent': {},
    'child': {},
    'axis': {'xyz': 3},
    'limit': dict.fromkeys(('lower', 'upper', 'effort', 'velocity'), 1),
    'dynamics': {'damping': 1, 'friction': 1},
    'mimic': {'multiplier': 1, 'offset': 1},
}
# Known to the world of URDF and without influence on the dynamics: not handed to the parser.
_IGNORED_IN_ROBOT = frozenset({'material', 'gazebo', 'transmission', 'ros2_control'})
_IGNORED_IN_LINK = frozenset({'visual', 'collision'})
_IGNORED_IN_JOINT = frozenset({'calibration', 'safety_controller'})
_GEOMETRY_NUMBERS = ('xyz', 'rpy', 'quat_xyzw', 'size', 'radius', 'length', 'scale')

# urdf_parser_py reports through one global function, which is replaced while it parses. A fork
# waits for the end of that: no child inherits a lock that nobody will release.
_parser_lock = threading.RLock()
if hasattr(os, 'register_at_fork'):
    os.register_at_fork(
        before=_parser_lock.acquire,
        after_in_parent=_parser_lock.release,
        after_in_child=_parser_lock.release,
    )


@dataclass(frozen=True, eq=False)
class LinkDescription:
    """What a ``<link>`` says.

    Attributes
    ----------
    name : str
    inertia : Inertia
        In the frame of the link.
    has_inertial : bool
        Whether there is an ``<inertial>``; without one the inertia is zero.
    """

    name: str
    inertia: Inertia
    has_inertial: bool


@dataclass(frozen=True)
class MimicDescription:
    """What a ``<mimic>`` says: position = multiplier * position of `joint` + offset.

    Attributes
    ----------
    joint : str
        Name of the joint that is followed.
    multiplier : float
    offset : float
        [rad or m]
    """

    joint: str
    multiplier: float
    offset: float


@dataclass(frozen=True, eq=False)
class JointDescription:
    """What a ``<joint>`` says.

    Attributes
    ----------
    name : str
    type : str
        One of :data:`MOVING_TYPES` or :data:`UNSUPPORTED_TYPES`, or ``fixed``.
    parent, child : str
        Names of the links that it connects.
    origin : Transform
        Pose of the child's frame in the parent's, at position zero.
    axis : array, shape (3,)
        Unit vector in the child's frame.
    lower, upper : float
        Position limits [rad or m]; infinite where there is none.
    effort, velocity : float
        Limits [N m or N], [rad/s or m/s]; infinite where there is none.
    acceleration, deceleration : float
        Limits [rad/s^2 or m/s^2]; infinite where there is none.
    jerk : float
        Limit [rad/s^3 or m/s^3]; infinite where there is none.
    damping, friction : float
        Viscous [N m s/rad or N s/m] and Coulomb friction [N m or N].
    mimic : MimicDescription or None
    rotor : RotorDescription or None
        What turns with the joint behind its gear.
    """

    name: str
    type: str
    parent: str
    child: str
    origin: Transform
    axis: FloatArray
    lower: float
    upper: float
    effort: float
    velocity: float
    acceleration: float
    deceleration: float
    jerk: float
    damping: float
    friction: float
    mimic: MimicDescription | None
    rotor: RotorDescription | None

    @property
    def moves(self) -> bool:
        """True when the joint has one coordinate."""
        return self.type in MOVING_TYPES


@dataclass(frozen=True, eq=False)
class RobotDescription:
    """What a URDF says; not yet known to be one tree.

    Attributes
    ----------
    name : str
    links : mapping of str to LinkDescription
        By name, in the order of the file.
    joints : mapping of str to JointDescription
        By name, in the order of the file.
    findings : tuple of Finding
        What the reader noticed.
    source : str
        File that it was read from; '' for a text.
    """

    name: str
    links: Mapping[str, LinkDescription]
    joints: Mapping[str, JointDescription]
    findings: tuple[Finding, ...]
    source: str

    def __post_init__(self) -> None:
        object.__setattr__(self, 'links', MappingProxyType(dict(self.links)))
        object.__setattr__(self, 'joints', MappingProxyType(dict(self.joints)))


def read_urdf(path_or_xml: str | os.PathLike[str] | bytes) -> RobotDescription:
    """Read a URDF.

    Parameters
    ----------
    path_or_xml : str, path or bytes
        File name, or the XML itself (anything that starts with ``<``).

    Returns
    -------
    RobotDescription

    Raises
    ------
    ModelError
        When the file cannot be read, is no URDF, or an element is wrong by itself. The message
        names the element, what was found and what was expected.
    """
    data, encoding, source = _read(path_or_xml)
    root = _parse_xml(data, encoding, source)
    with np.errstate(over='ignore', invalid='ignore'):
        # Overflow ends in values that are not finite, which the frozen classes refuse.
        return _describe(root, source)


def read_root(path_or_xml: str | os.PathLike[str] | bytes) -> ElementTree.Element:
    """Return the root element of a URDF, of which only the XML was checked.

    Raises
    ------
    ModelError
        When the file cannot be read, or is no URDF.
    """
    return _parse_xml(*_read(path_or_xml))


def _read(path_or_xml: str | os.PathLike[str] | bytes) -> tuple[bytes, str | None, str]:
    """Return the document, its encoding when it is known already, and where it came from."""
    if isinstance(path_or_xml, bytes):
        return path_or_xml, None, ''
    if isinstance(path_or_xml, str):
        if looks_like_xml(path_or_xml):
            try:
                # A declared encoding is void once the text is decoded.
                return path_or_xml.lstrip('\ufeff \t\r\n').encode('utf-8'), 'utf-8', ''
            except UnicodeEncodeError as error:
                raise ModelError(f'the XML holds characters that are not text: {error}') from error
        if not path_or_xml.strip():
            raise ModelError('expected a file name or the XML of a URDF, got an empty text')
        if '\n' in path_or_xml:
            raise ModelError(
                'expected a file name or the XML of a URDF, got a text that starts with '
                f'{path_or_xml.strip()[:40]!r}'
            )
    elif not isinstance(path_or_xml, os.PathLike):
        raise ModelError(
            f'expected a file name, a path or the XML of a URDF, got {type(path_or_xml).__name__}'
        )
    return read_file(path_or_xml), None, os.fspath(path_or_xml)


def _parse_xml(data: bytes, encoding: str | None, source: str) -> ElementTree.Element:
    """Return the root element of a document without a document type declaration."""
    where = f'{source}: ' if source else ''
    depth = 0
    # What the prefixes stand for; the guard knows nothing of namespaces and sees them as written.
    prefixes: dict[str, set[str]] = {}
    used: set[str] = set()

    def refuse_doctype(*_: Any) -> None:
        raise ModelError(
            f'{where}expected a URDF without document type declaration, got DOCTYPE '
            '(entities are never expanded)'
        )

    def enter(tag: str, attributes: dict[str, str]) -> None:
        nonlocal depth
        depth += 1
        for name, value in attributes.items():
            kind, _, prefix = name.rpartition(':')
            if kind == 'xmlns':
                prefixes.setdefault(prefix, set()).add(value)
            elif kind != 'xml':
                used.add(kind)
        used.add(tag.rpartition(':')[0])
        if depth > DEEPEST_ELEMENT:
            raise ModelError(
                f'{where}expected elements nested at most {DEEPEST_ELEMENT} deep, got more'
            )

    def leave(*_: Any) -> None:
        nonlocal depth
        depth -= 1

    guard = expat.ParserCreate(encoding)
    guard.StartDoctypeDeclHandler = refuse_doctype
    guard.EntityDeclHandler = refuse_doctype
    guard.StartElementHandler = enter
    guard.EndElementHandler = leave
    try:
        guard.Parse(data, True)
        if used - set(prefixes) - {''} == {'drake'}:
            root = _build_tree_with_prefixes(data, encoding)
        else:
            root = ElementTree.fromstring(data, ElementTree.XMLParser(encoding=encoding))
    except (expat.ExpatError, ElementTree.ParseError, LookupError, ValueError) as error:
        if isinstance(error, ModelError):
            raise
        hint = XACRO_HINT if b'xacro' in data else ''
        raise ModelError(f'{where}malformed XML: {error}{hint}') from error
    if any('xacro' in str(element.tag).lower() for element in root.iter()):
        raise ModelError(f'{where}expected a URDF, got xacro elements{XACRO_HINT}')
    drake = {f'{{{namespace}' for namespace in prefixes.get('drake', {'drake'})}
    for element in root.iter():
        namespace, _, tag = str(element.tag).rpartition('}')
        if namespace in drake:
            element.tag = DRAKE + tag
    namespace, _, tag = root.tag.rpartition('}')
    if namespace:
        for element in root.iter():
            element.tag = str(element.tag).removeprefix(namespace + '}')
    if tag != 'robot':
        raise ModelError(f'{where}expected the root element <robot>, got <{tag}>')
    return root


def _build_tree_with_prefixes(data: bytes, encoding: str | None) -> ElementTree.Element:
    """Return the root element; a name with a prefix is in a namespace that the prefix names.

    Drake does not ask that its prefix be declared, so that many files do not.
    """
    builder = ElementTree.TreeBuilder()

    def name(written: str) -> str:
        prefix, colon, local = written.rpartition(':')
        return f'{{{prefix}}}{local}' if colon else local

    def start(tag: str, attributes: dict[str, str]) -> None:
        kept = {name(key): text for key, text in attributes.items() if key != 'xmlns'}
        builder.start(name(tag), kept)

    parser = expat.ParserCreate(encoding)
    parser.StartElementHandler = start
    parser.EndElementHandler = lambda tag: builder.end(name(tag))
    parser.CharacterDataHandler = builder.data
    parser.Parse(data, True)
    return builder.close()


def _read_version(root: ElementTree.Element, robot: str) -> tuple[int, int]:
    """Return major and minor version of a URDF."""
    text = root.get('version', '1.0')
    parts = re.fullmatch(r'\s*([0-9]{1,9})\.([0-9]{1,9})', text, re.ASCII)
    version = (int(parts.group(1)), int(parts.group(2))) if parts else None
    if version not in VERSIONS:
        raise ModelError(f"robot {robot!r}: version: expected '1.0', '1.1' or '1.2', got {text!r}")
    return version


def _translate_quaternion(
    attributes: dict[str, str], version: tuple[int, int], what: str, findings: list[Finding]
) -> None:
    """Replace ``quat_xyzw`` of an origin by ``rpy``, which the parser knows."""
    text = attributes.get('quat_xyzw')
    if text is None:
        return
    if version < _HAS_QUATERNIONS:
        shown = '.'.join(map(str, version))
        raise ModelError(
            f'{what}: expected rpy in a URDF of version {shown}, got quat_xyzw, which needs '
            '<robot version="1.1">'
        )
    if 'rpy' in attributes:
        raise ModelError(f'{what}: expected rpy or quat_xyzw, got both')
    quaternion = np.array(read_numbers(text, 4, f'{what} quat_xyzw'))
    try:
        rotation = quaternion_rotation(quaternion)
    except ModelError as error:
        raise ModelError(f'{what} quat_xyzw: {error}') from error
    length = math.hypot(*quaternion.tolist())  # scaled on the way
    if not abs(length - 1.0) <= _ROUNDING:
        element = what.removesuffix(': origin').removesuffix(': inertial')
        findings.append(
            Finding(
                'warning' if not abs(length - 1.0) <= AXIS_TOLERANCE else 'info',
                'quaternion-normalised',
                element,
                f'{what} quat_xyzw: expected a quaternion of length 1, got '
                + (f'length {length:.9g}' if math.isfinite(length) else f'{text.strip()!r}')
                + '; normalised',
            )
        )
    del attributes['quat_xyzw']
    attributes['rpy'] = ' '.join(map(repr, roll_pitch_yaw(rotation).tolist()))


def _copy_checked(
    element: ElementTree.Element,
    numbers: Mapping[str, Mapping[str, int]],
    version: tuple[int, int],
    what: str,
    findings: list[Finding],
) -> ElementTree.Element:
    """Return a copy for the parser, its known children given once, with sound numbers."""
    copy = ElementTree.Element(element.tag, dict(element.attrib))
    seen: set[str] = set()
    for child in element:
        tag = str(child.tag)
        if tag.startswith('{') or tag in _IGNORED_IN_JOINT or has_rotor(child):
            continue
        if tag in numbers:
            if tag in seen:
                raise ModelError(f'{what}: expected one <{tag}>, got several')
            seen.add(tag)
            for attribute, count in numbers[tag].items():
                text = child.get(attribute)
                if text is not None:
                    read_numbers(text, count, f'{what}: {tag} {attribute}')
        attributes = {
            str(key): value for key, value in child.attrib.items() if not str(key).startswith('{')
        }
        if tag == 'origin':
            _translate_quaternion(attributes, version, f'{what}: origin', findings)
        copy.append(ElementTree.Element(tag, attributes))
    return copy


def _check_geometry(element: ElementTree.Element, what: str) -> None:
    """Refuse numbers that are not finite in a visual or collision element."""
    for child in element.iter():
        for attribute in _GEOMETRY_NUMBERS:
            for token in child.get(attribute, '').split():
                try:
                    finite = bool(np.isfinite(float(token)))
                except ValueError:
                    continue  # malformed geometry is the business of those who draw it
                if not finite:
                    raise ModelError(
                        f'{what}: {element.tag}: {child.tag} {attribute}: '
                        f'expected a finite number, got {token!r}'
                    )


def _copy_link(
    element: ElementTree.Element, version: tuple[int, int], findings: list[Finding]
) -> ElementTree.Element:
    name = get_required(element, 'name', '<link>')
    what = quote('link', name)
    copy = ElementTree.Element('link', {'name': name})
    inertials = 0
    for child in element:
        tag = str(child.tag)
        if tag in _IGNORED_IN_LINK:
            _check_geometry(child, what)
        elif tag == 'inertial':
            inertials += 1
            if inertials > 1:
                raise ModelError(f'{what}: expected one <inertial>, got several')
            inertial = _copy_checked(
                child, _INERTIAL_ELEMENTS, version, f'{what}: inertial', findings
            )
            mass = inertial.find('mass')
            if mass is None:
                raise ModelError(f'{what}: inertial: expected <mass>, got none')
            get_required(mass, 'value', f'{what}: inertial: mass')
            tensor = inertial.find('inertia')
            if tensor is not None:
                for key in _INERTIA_KEYS:
                    get_required(tensor, key, f'{what}: inertial: inertia')
            copy.append(inertial)
        elif not tag.startswith('{'):
            copy.append(ElementTree.Element(tag))
    return copy


def _copy_joint(
    element: ElementTree.Element, version: tuple[int, int], findings: list[Finding]
) -> ElementTree.Element:
    name = get_required(element, 'name', '<joint>')
    what = quote('joint', name)
    kind = get_required(element, 'type', what)
    if kind not in _TYPES:
        raise ModelError(f'{what}: type: expected one of {", ".join(_TYPES)}, got {kind!r}')
    copy = _copy_checked(element, _JOINT_ELEMENTS, version, what, findings)
    for tag in ('parent', 'child'):
        end = copy.find(tag)
        if end is None:
            raise ModelError(f'{what}: expected <{tag} link="..."/>, got none')
        get_required(end, 'link', f'{what}: {tag}')
    for tag, attribute in (('axis', 'xyz'), ('mimic', 'joint')):
        child = copy.find(tag)
        if child is not None:
            get_required(child, attribute, f'{what}: {tag}')
    limit = copy.find('limit')
    if limit is not None:
        # The parser insists on these two; what is absent is told apart by _read_limits.
        for attribute in ('effort', 'velocity'):
            if attribute not in limit.attrib:
                limit.set(attribute, '0')
        if version >= _HAS_ACCELERATION_LIMITS:
            _check_extended_limit(limit, kind, f'{what}: limit')
    return copy


def _check_extended_limit(limit: ElementTree.Element, kind: str, what: str) -> None:
    """Check a limit of URDF 1.2, and take out what the parser does not know."""
    if kind in ('revolute', 'prismatic'):
        for attribute in ('lower', 'upper'):
            get_required(limit, attribute, what)
    for attribute in _ACCELERATION_LIMITS:
        text = limit.attrib.pop(attribute, None)
        if text is not None:
            read_numbers(text, 1, f'{what} {attribute}')


def _parse(root: ElementTree.Element) -> tuple[Any, tuple[int, int], tuple[Finding, ...]]:
    """Return what urdf_parser_py made of the document, its version, and what was noticed."""
    findings: list[Finding] = []
    name = root.get('name', '')
    if not name.strip():
        name = 'robot'
        findings.append(
            Finding('warning', 'name-missing', 'robot', 'expected the attribute name, got none')
        )
    version = _read_version(root, name)
    # The parser knows version 1.0; what the later ones add is translated, or read beside it.
    document = ElementTree.Element('robot', {'name': name, 'version': '1.0'})
    for child in root:
        tag = str(child.tag)
        if tag == 'link':
            document.append(_copy_link(child, version, findings))
        elif tag == 'joint':
            document.append(_copy_joint(child, version, findings))
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
    return robot, version, (*findings, *_group_messages(messages))


def _group_messages(messages: list[str]) -> Iterator[Finding]:
    """Yield one finding for each element that holds what the parser does not know."""
    unknown: dict[tuple[str, str, str], list[str]] = {}
    for message in messages:
        known = re.match(r'Unknown (tag|attribute) "(.*)" in (.*)', message, re.DOTALL)
        if known is None:
            yield Finding('warning', 'parser-message', 'robot', message)
            continue
        kind, name, path = known.groups()
        holder = re.search(r"/(link|joint)\[@name='(.*?)'\](.*)", path, re.DOTALL)
        element = 'robot' if holder is None else quote(holder.group(1), holder.group(2))
        # A foreign element beside links, or beside a link's inertial, changes no dynamics.
        harmless = holder is None or (holder.group(1) == 'link' and not holder.group(3))
        severity = 'info' if harmless else 'warning'
        names = unknown.setdefault((severity, f'unknown-{kind}', element), [])
        shown = f'<{name}>' if kind == 'tag' else repr(name)
        if shown not in names:
            names.append(shown)
    for (severity, code, element), names in unknown.items():
        yield Finding(
            severity,
            code,
            element,
            f'the parser does not know the {code.removeprefix("unknown-")} {", ".join(names)}: '
            'left out',
        )


def _describe(root: ElementTree.Element, source: str) -> RobotDescription:
    """Return links and joints by name, each checked by itself."""
    parsed, version, noticed = _parse(root)
    findings = list(noticed)
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
    if mentions_rotors(root):
        from ne_dynamics.model.urdf.rotors import read_rotors

        rotors = read_rotors(root, kinds, findings)
    joints: dict[str, JointDescription] = {}
    for parsed_joint in parsed.joints:
        element = elements[parsed_joint.name]
        limit = _read_limits(element.find('limit'), version)
        joint = _describe_joint(parsed_joint, limit, rotors.get(parsed_joint.name), findings)
        if joint.name in joints:
            raise ModelError(f'joint {joint.name!r}: the name is used twice')
        joints[joint.name] = joint
    return RobotDescription(parsed.name, links, joints, tuple(findings), source)


def _read_origin(parsed: Any) -> Transform:
    if parsed is None:
        return Transform.identity()
    return Transform.from_xyz_rpy(parsed.xyz or (0.0, 0.0, 0.0), parsed.rpy or (0.0, 0.0, 0.0))


def _describe_link(parsed: Any, findings: list[Finding]) -> LinkDescription:
    if parsed.inertial is None:
        return LinkDescription(parsed.name, Inertia.zero(), has_inertial=False)
    what = quote('link', parsed.name)
    tensor = np.zeros((3, 3))
    if parsed.inertial.inertia is None:
        findings.append(
            Finding(
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
    if version >= _HAS_ACCELERATION_LIMITS:
        keys += _ACCELERATION_LIMITS
    return {key: float(element.attrib[key]) for key in keys if key in element.attrib}


def _describe_joint(
    parsed: Any,
    limits: Mapping[str, float] | None,
    rotor: RotorDescription | None,
    findings: list[Finding],
) -> JointDescription:
    what = quote('joint', parsed.name)
    moves = parsed.type in MOVING_TYPES
    bounded = limits is not None and parsed.type in ('revolute', 'prismatic')
    # URDF: lower and upper default to 0, when the joint has limits at all.
    limits = limits or {}
    lower = limits.get('lower', 0.0) if bounded else -np.inf
    upper = limits.get('upper', 0.0) if bounded else np.inf
    if moves and lower > upper:
        raise ModelError(f'{what}: limit: expected lower <= upper, got {lower} > {upper}')
    acceleration = limits.get('acceleration', np.inf)
    axis = np.array([1.0, 0.0, 0.0])
    if moves and parsed.axis is not None:
        axis = _normalise_axis(np.array(parsed.axis, dtype=np.float64), what, findings)
    mimic = None
    if moves and parsed.mimic is not None:
        mimic = MimicDescription(
            parsed.mimic.joint,
            1.0 if parsed.mimic.multiplier is None else float(parsed.mimic.multiplier),
            0.0 if parsed.mimic.offset is None else float(parsed.mimic.offset),
        )
    damping, friction = 0.0, 0.0
    if parsed.dynamics is not None:
        damping = float(parsed.dynamics.damping or 0.0)
        friction = float(parsed.dynamics.friction or 0.0)
        for key, value in (('damping', damping), ('friction', friction)):
            if value < 0.0:
                raise ModelError(f'{what}: dynamics {key}: expected >= 0, got {value}')
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
        lower=lower,
        upper=upper,
        effort=limits.get('effort', np.inf),
        velocity=limits.get('velocity', np.inf),
        acceleration=acceleration,
        deceleration=limits.get('deceleration', acceleration),
        jerk=limits.get('jerk', np.inf),
        damping=damping,
        friction=friction,
        mimic=mimic,
        rotor=rotor,
    )


def _normalise_axis(axis: FloatArray, what: str, findings: list[Finding]) -> FloatArray:
    norm = float(np.linalg.norm(axis))
    if not abs(norm - 1.0) <= AXIS_TOLERANCE:
        raise ModelError(
            f'{what}: axis: expected a vector of length 1, got {axis.tolist()} '
            f'of length {norm:.6g}'
        )
    if abs(norm - 1.0) > _ROUNDING:
        findings.append(
            Finding(
                'warning',
                'axis-normalised',
                what,
                f'axis: expected a vector of length 1, got length {norm:.9g}; normalised',
            )
        )
    return axis if norm == 1.0 else axis / norm
