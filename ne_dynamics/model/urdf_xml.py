"""Read the untrusted text of a URDF into a description whose every part is checked by itself.

A document type declaration is refused before an entity can expand, every number must be a plain
finite decimal, and what stands twice is refused. ``urdf_parser_py`` then parses what matters to
dynamics (links, inertials, joints); what it did not know comes back as findings, nothing is
printed. Whether the links make one robot is for :mod:`~ne_dynamics.model.urdf_tree` to say.

How the text is understood:

- ``dynamics/damping`` is the viscous, ``dynamics/friction`` the Coulomb friction of a joint.
- A limit that is not given is infinite; a limit that is given as 0 stays 0.
- A joint without ``axis`` has the axis (1, 0, 0). An axis may be off unit length by the rounding
  of its printed digits (1e-3), not more.
"""

from __future__ import annotations

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
import urdf_parser_py.xml_reflection.core as urdf_reflection
from urdf_parser_py.urdf import URDF

from ne_dynamics.errors import ModelError
from ne_dynamics.model.description_file import looks_like_xml, read_file
from ne_dynamics.model.frozen import frozen_array
from ne_dynamics.model.rigid_body import FloatArray, Inertia, Transform
from ne_dynamics.model.robot import Finding

AXIS_TOLERANCE = 1e-3
"""An axis this close to unit length was rounded when it was printed; it is normalised."""

DEEPEST_ELEMENT = 64
"""Deepest nesting of XML elements that is read; a URDF needs six."""

MOVING_TYPES = ('revolute', 'continuous', 'prismatic')
"""Joints with one coordinate."""

UNSUPPORTED_TYPES = ('floating', 'planar')
"""Joints of URDF with several coordinates: read, and nothing more."""

_ROUNDING = 1e-6
_TYPES = (*MOVING_TYPES, 'fixed', *UNSUPPORTED_TYPES)
_NUMBER = re.compile(r'[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?')
_INERTIA_KEYS = ('ixx', 'ixy', 'ixz', 'iyy', 'iyz', 'izz')
_ORIGIN = {'xyz': 3, 'rpy': 3}
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
_GEOMETRY_NUMBERS = ('xyz', 'rpy', 'size', 'radius', 'length', 'scale')
_XACRO_HINT = '; this looks like xacro: expand it first (xacro FILE > robot.urdf)'

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
    damping, friction : float
        Viscous [N m s/rad or N s/m] and Coulomb friction [N m or N].
    mimic : MimicDescription or None
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
    damping: float
    friction: float
    mimic: MimicDescription | None

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

    def refuse_doctype(*_: Any) -> None:
        raise ModelError(
            f'{where}expected a URDF without document type declaration, got DOCTYPE '
            '(entities are never expanded)'
        )

    def enter(*_: Any) -> None:
        nonlocal depth
        depth += 1
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
        root = ElementTree.fromstring(data, ElementTree.XMLParser(encoding=encoding))
    except (expat.ExpatError, ElementTree.ParseError, LookupError, ValueError) as error:
        if isinstance(error, ModelError):
            raise
        hint = _XACRO_HINT if b'xacro' in data else ''
        raise ModelError(f'{where}malformed XML: {error}{hint}') from error
    if any('xacro' in str(element.tag).lower() for element in root.iter()):
        raise ModelError(f'{where}expected a URDF, got xacro elements{_XACRO_HINT}')
    namespace, _, tag = root.tag.rpartition('}')
    if namespace:
        for element in root.iter():
            element.tag = str(element.tag).removeprefix(namespace + '}')
    if tag != 'robot':
        raise ModelError(f'{where}expected the root element <robot>, got <{tag}>')
    return root


def _quote(tag: str, name: str | None) -> str:
    return f'{tag} {name!r}'


def _get_required(element: ElementTree.Element, attribute: str, what: str) -> str:
    value = element.get(attribute)
    if value is None or not value.strip():
        got = 'none' if value is None else 'an empty one'
        raise ModelError(f'{what}: expected the attribute {attribute!r}, got {got}')
    return value


def _check_numbers(text: str, count: int, what: str) -> None:
    """Refuse a text that is not exactly `count` finite decimals."""
    tokens = text.split()
    for token in tokens:
        if not _NUMBER.fullmatch(token) or not np.isfinite(float(token)):
            hint = _XACRO_HINT if '${' in text or '$(' in text else ''
            raise ModelError(f'{what}: expected a finite number, got {token!r}{hint}')
    if len(tokens) != count:
        raise ModelError(
            f'{what}: expected {count} number{"s" if count > 1 else ""}, got {text!r}'
        )


def _copy_checked(
    element: ElementTree.Element, numbers: Mapping[str, Mapping[str, int]], what: str
) -> ElementTree.Element:
    """Return a copy for the parser, its known children given once, with sound numbers."""
    copy = ElementTree.Element(element.tag, dict(element.attrib))
    seen: set[str] = set()
    for child in element:
        tag = str(child.tag)
        if tag.startswith('{') or tag in _IGNORED_IN_JOINT:
            continue
        if tag in numbers:
            if tag in seen:
                raise ModelError(f'{what}: expected one <{tag}>, got several')
            seen.add(tag)
            if 'quat_xyzw' in child.attrib:
                raise ModelError(f'{what}: {tag}: expected rpy, got quat_xyzw (not supported)')
            for attribute, count in numbers[tag].items():
                text = child.get(attribute)
                if text is not None:
                    _check_numbers(text, count, f'{what}: {tag} {attribute}')
        attributes = {
            str(key): value for key, value in child.attrib.items() if not str(key).startswith('{')
        }
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


def _copy_link(element: ElementTree.Element) -> ElementTree.Element:
    name = _get_required(element, 'name', '<link>')
    what = _quote('link', name)
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
            inertial = _copy_checked(child, _INERTIAL_ELEMENTS, f'{what}: inertial')
            mass = inertial.find('mass')
            if mass is None:
                raise ModelError(f'{what}: inertial: expected <mass>, got none')
            _get_required(mass, 'value', f'{what}: inertial: mass')
            tensor = inertial.find('inertia')
            if tensor is not None:
                for key in _INERTIA_KEYS:
                    _get_required(tensor, key, f'{what}: inertial: inertia')
            copy.append(inertial)
        elif not tag.startswith('{'):
            copy.append(ElementTree.Element(tag))
    return copy


def _copy_joint(element: ElementTree.Element) -> ElementTree.Element:
    name = _get_required(element, 'name', '<joint>')
    what = _quote('joint', name)
    kind = _get_required(element, 'type', what)
    if kind not in _TYPES:
        raise ModelError(f'{what}: type: expected one of {", ".join(_TYPES)}, got {kind!r}')
    copy = _copy_checked(element, _JOINT_ELEMENTS, what)
    for tag in ('parent', 'child'):
        end = copy.find(tag)
        if end is None:
            raise ModelError(f'{what}: expected <{tag} link="..."/>, got none')
        _get_required(end, 'link', f'{what}: {tag}')
    for tag, attribute in (('axis', 'xyz'), ('mimic', 'joint')):
        child = copy.find(tag)
        if child is not None:
            _get_required(child, attribute, f'{what}: {tag}')
    limit = copy.find('limit')
    if limit is not None:
        # The parser insists on these two; what is absent is told apart by _read_limit.
        for attribute in ('effort', 'velocity'):
            if attribute not in limit.attrib:
                limit.set(attribute, '0')
    return copy


def _parse(root: ElementTree.Element) -> tuple[Any, tuple[Finding, ...]]:
    """Return what urdf_parser_py made of the document, and what it did not know."""
    findings: list[Finding] = []
    name = root.get('name', '')
    if not name.strip():
        name = 'robot'
        findings.append(
            Finding('warning', 'name-missing', 'robot', 'expected the attribute name, got none')
        )
    version = root.get('version', '1.0')
    if version != '1.0':
        raise ModelError(f"robot {name!r}: version: expected '1.0', got {version!r}")
    document = ElementTree.Element('robot', {'name': name, 'version': version})
    for child in root:
        tag = str(child.tag)
        if tag == 'link':
            document.append(_copy_link(child))
        elif tag == 'joint':
            document.append(_copy_joint(child))
        elif tag not in _IGNORED_IN_ROBOT and not tag.startswith('{'):
            document.append(ElementTree.Element(tag))
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
    return robot, (*findings, *_group_messages(messages))


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
        element = 'robot' if holder is None else _quote(holder.group(1), holder.group(2))
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
    parsed, unknown = _parse(root)
    findings = list(unknown)
    links: dict[str, LinkDescription] = {}
    for parsed_link in parsed.links:
        link = _describe_link(parsed_link, findings)
        if link.name in links:
            raise ModelError(f'link {link.name!r}: the name is used twice')
        links[link.name] = link
    if not links:
        raise ModelError(f'robot {parsed.name!r}: expected links, got none')
    elements = {element.get('name'): element for element in root.findall('joint')}
    joints: dict[str, JointDescription] = {}
    for parsed_joint in parsed.joints:
        element = elements[parsed_joint.name]
        joint = _describe_joint(parsed_joint, element.find('limit'), findings)
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
    what = _quote('link', parsed.name)
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


def _read_limit(element: ElementTree.Element | None, attribute: str, absent: float) -> float:
    """Return a limit of the raw element; the parser does not tell 0 from absent."""
    text = None if element is None else element.get(attribute)
    return absent if text is None else float(text)


def _describe_joint(
    parsed: Any, limit: ElementTree.Element | None, findings: list[Finding]
) -> JointDescription:
    what = _quote('joint', parsed.name)
    moves = parsed.type in MOVING_TYPES
    bounded = limit is not None and parsed.type in ('revolute', 'prismatic')
    # URDF: lower and upper default to 0, when the joint has limits at all.
    lower = _read_limit(limit, 'lower', 0.0) if bounded else -np.inf
    upper = _read_limit(limit, 'upper', 0.0) if bounded else np.inf
    if moves and lower > upper:
        raise ModelError(f'{what}: limit: expected lower <= upper, got {lower} > {upper}')
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
        effort=_read_limit(limit, 'effort', np.inf),
        velocity=_read_limit(limit, 'velocity', np.inf),
        damping=damping,
        friction=friction,
        mimic=mimic,
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
