"""Read a URDF into a :class:`~ne_dynamics.model.robot.Robot`.

The XML comes from outside, so it is checked before anything believes it: a document type
declaration is refused before an entity can expand, every number must be a plain finite decimal,
and the tree of links must be one tree. ``urdf_parser_py`` then parses what matters to dynamics
(links, inertials, joints); what it did not know comes back as findings, nothing is printed.

How the description is understood:

- Links that are not descendants of the base link are left out.
- Fixed joints, joints that are not on the way from base to tip, and joints that are asked to be
  locked do not move; what hangs on them is lumped into the body they are part of.
- A mimic joint follows its coordinate: position = multiplier * coordinate + offset, through
  chains of mimic joints too. When its coordinate is locked, it is locked at its own angle; when
  it is itself off the way to the tip, it is locked where its coordinate's zero (or locked
  position) puts it. Its damping and friction are added to the coordinate's, with the same
  dissipated power: multiplier^2 * damping and abs(multiplier) * friction. Its limits are not
  used.
- ``dynamics/damping`` is the viscous, ``dynamics/friction`` the Coulomb friction of a joint.
- A limit that is not given is infinite; a limit that is given as 0 stays 0.
- A joint without ``axis`` has the axis (1, 0, 0). An axis may be off unit length by the rounding
  of its printed digits (1e-3), not more.
- Floating and planar joints have no place in a manipulator's joint space. Off the way to the tip
  they are locked at identity, with a warning; on it they are an error.
"""

from __future__ import annotations

import os
import re
import threading
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.parsers import expat

import numpy as np
import urdf_parser_py.xml_reflection.core as urdf_reflection
from urdf_parser_py.urdf import URDF

from ne_dynamics.errors import ModelError
from ne_dynamics.model.robot import (
    BASE,
    Body,
    Finding,
    FloatArray,
    Inertia,
    Joint,
    JointType,
    Link,
    Robot,
    Transform,
    axis_angle_rotation,
)

LARGEST_DOCUMENT = 64 * 2**20
"""Largest description that is read [bytes]."""

AXIS_TOLERANCE = 1e-3
"""An axis this close to unit length was rounded when it was printed; it is normalised."""

DEEPEST_ELEMENT = 64
"""Deepest nesting of XML elements that is read; a URDF needs six."""

_ROUNDING = 1e-6
_MOVING_TYPES = ('revolute', 'continuous', 'prismatic')
_UNSUPPORTED_TYPES = ('floating', 'planar')
_TYPES = (*_MOVING_TYPES, 'fixed', *_UNSUPPORTED_TYPES)
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

# urdf_parser_py reports through one global function, which is replaced while it parses.
_parser_lock = threading.Lock()


def load_urdf(
    path_or_xml: str | os.PathLike[str] | bytes,
    base_link: str | None = None,
    tip_link: str | None = None,
    locked_joints: Mapping[str, float] | None = None,
) -> Robot:
    """Load a URDF.

    Parameters
    ----------
    path_or_xml : str, path or bytes
        File name, or the XML itself (anything that starts with ``<``).
    base_link : str, optional
        Link whose frame is the base frame; default: the root of the tree.
    tip_link : str, optional
        Last link of the chain. Joints that are not on the way to it are locked. Default: the
        whole tree below the base moves; the tip then is the link that the last joint moves when
        the moving bodies form one chain, else the robot has no tip.
    locked_joints : mapping of str to float, optional
        Joints that do not move, with their position [rad or m]. Joints off the way to the tip
        are locked at 0 unless they are named here.

    Returns
    -------
    Robot
        Joints in the order from base to tip; for a tree depth first, in the order of the file.

    Raises
    ------
    ModelError
        When the file cannot be read, or the description is not one sound robot. The message
        names the element, what was found and what was expected.
    """
    if locked_joints is not None and not isinstance(locked_joints, Mapping):
        raise ModelError(
            'locked_joints: expected a mapping from joint name to position, '
            f'got {type(locked_joints).__name__}'
        )
    data, encoding, source = _read(path_or_xml)
    root = _parse_xml(data, encoding, source)
    with np.errstate(over='ignore', invalid='ignore'):
        # Overflow ends in values that are not finite, which the frozen classes refuse.
        description = _describe(root)
        builder = _RobotBuilder(description, base_link, tip_link, dict(locked_joints or {}))
        return builder.build(source)


def looks_like_xml(text: str | bytes) -> bool:
    """Return whether a text is XML rather than a file name or another format.

    Parameters
    ----------
    text : str or bytes
        Bytes may start with a byte order mark, of UTF-16 too.
    """
    if isinstance(text, str):
        return text.lstrip('\ufeff \t\r\n').startswith('<')
    start = text[:4096]
    for mark in (b'\xef\xbb\xbf', b'\xff\xfe', b'\xfe\xff'):
        start = start.removeprefix(mark)
    return start.replace(b'\0', b'').lstrip(b' \t\r\n').startswith(b'<')


def read_file(path: str | os.PathLike[str]) -> bytes:
    """Return the bytes of a description.

    Raises
    ------
    ModelError
        When the file is missing, cannot be read, is empty or larger than
        :data:`LARGEST_DOCUMENT`.
    """
    try:
        with Path(path).open('rb') as stream:
            data = stream.read(LARGEST_DOCUMENT + 1)
    except (OSError, ValueError) as error:
        reason = getattr(error, 'strerror', None) or str(error)
        raise ModelError(f'cannot read the model file {os.fspath(path)!r}: {reason}') from error
    if len(data) > LARGEST_DOCUMENT:
        raise ModelError(
            f'{os.fspath(path)}: expected at most {LARGEST_DOCUMENT // 2**20} MiB, got more'
        )
    if not data.strip():
        raise ModelError(f'{os.fspath(path)}: expected a robot description, got an empty file')
    return data


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


@dataclass(frozen=True)
class _LinkDescription:
    name: str
    inertia: Inertia
    has_inertial: bool


@dataclass(frozen=True)
class _Mimic:
    joint: str
    multiplier: float
    offset: float


@dataclass(frozen=True, eq=False)
class _JointDescription:
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
    mimic: _Mimic | None

    @property
    def moves(self) -> bool:
        return self.type in _MOVING_TYPES


@dataclass(frozen=True)
class _Description:
    name: str
    links: dict[str, _LinkDescription]
    joints: dict[str, _JointDescription]
    findings: tuple[Finding, ...]


def _quoted(tag: str, name: str | None) -> str:
    return f'{tag} {name!r}'


def _required(element: ElementTree.Element, attribute: str, what: str) -> str:
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


def _checked_copy(
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


def _link_for_parser(element: ElementTree.Element) -> ElementTree.Element:
    name = _required(element, 'name', '<link>')
    what = _quoted('link', name)
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
            inertial = _checked_copy(child, _INERTIAL_ELEMENTS, f'{what}: inertial')
            mass = inertial.find('mass')
            if mass is None:
                raise ModelError(f'{what}: inertial: expected <mass>, got none')
            _required(mass, 'value', f'{what}: inertial: mass')
            tensor = inertial.find('inertia')
            if tensor is not None:
                for key in _INERTIA_KEYS:
                    _required(tensor, key, f'{what}: inertial: inertia')
            copy.append(inertial)
        elif not tag.startswith('{'):
            copy.append(ElementTree.Element(tag))
    return copy


def _joint_for_parser(element: ElementTree.Element) -> ElementTree.Element:
    name = _required(element, 'name', '<joint>')
    what = _quoted('joint', name)
    kind = _required(element, 'type', what)
    if kind not in _TYPES:
        raise ModelError(f'{what}: type: expected one of {", ".join(_TYPES)}, got {kind!r}')
    copy = _checked_copy(element, _JOINT_ELEMENTS, what)
    for tag in ('parent', 'child'):
        end = copy.find(tag)
        if end is None:
            raise ModelError(f'{what}: expected <{tag} link="..."/>, got none')
        _required(end, 'link', f'{what}: {tag}')
    for tag, attribute in (('axis', 'xyz'), ('mimic', 'joint')):
        child = copy.find(tag)
        if child is not None:
            _required(child, attribute, f'{what}: {tag}')
    limit = copy.find('limit')
    if limit is not None:
        # The parser insists on these two; what is absent is told apart by _limit.
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
            document.append(_link_for_parser(child))
        elif tag == 'joint':
            document.append(_joint_for_parser(child))
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
    return robot, (*findings, *_parser_findings(messages))


def _parser_findings(messages: list[str]) -> Iterator[Finding]:
    """Yield one finding for each element that holds what the parser does not know."""
    unknown: dict[tuple[str, str, str], list[str]] = {}
    for message in messages:
        known = re.match(r'Unknown (tag|attribute) "(.*)" in (.*)', message, re.DOTALL)
        if known is None:
            yield Finding('warning', 'parser-message', 'robot', message)
            continue
        kind, name, path = known.groups()
        holder = re.search(r"/(link|joint)\[@name='(.*?)'\](.*)", path, re.DOTALL)
        element = 'robot' if holder is None else _quoted(holder.group(1), holder.group(2))
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


def _describe(root: ElementTree.Element) -> _Description:
    """Return links and joints by name, each checked by itself."""
    parsed, unknown = _parse(root)
    findings = list(unknown)
    links: dict[str, _LinkDescription] = {}
    for parsed_link in parsed.links:
        link = _describe_link(parsed_link, findings)
        if link.name in links:
            raise ModelError(f'link {link.name!r}: the name is used twice')
        links[link.name] = link
    if not links:
        raise ModelError(f'robot {parsed.name!r}: expected links, got none')
    elements = {element.get('name'): element for element in root.findall('joint')}
    joints: dict[str, _JointDescription] = {}
    for parsed_joint in parsed.joints:
        element = elements[parsed_joint.name]
        joint = _describe_joint(parsed_joint, element.find('limit'), findings)
        if joint.name in joints:
            raise ModelError(f'joint {joint.name!r}: the name is used twice')
        joints[joint.name] = joint
    return _Description(parsed.name, links, joints, tuple(findings))


def _origin(parsed: Any) -> Transform:
    if parsed is None:
        return Transform.identity()
    return Transform.from_xyz_rpy(parsed.xyz or (0.0, 0.0, 0.0), parsed.rpy or (0.0, 0.0, 0.0))


def _describe_link(parsed: Any, findings: list[Finding]) -> _LinkDescription:
    if parsed.inertial is None:
        return _LinkDescription(parsed.name, Inertia.zero(), has_inertial=False)
    what = _quoted('link', parsed.name)
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
        return _LinkDescription(
            parsed.name, inertia.transformed(_origin(parsed.inertial.origin)), has_inertial=True
        )
    except ModelError as error:
        raise ModelError(f'{what}: inertial: {error}') from error


def _limit(element: ElementTree.Element | None, attribute: str, absent: float) -> float:
    """Return a limit of the raw element; the parser does not tell 0 from absent."""
    text = None if element is None else element.get(attribute)
    return absent if text is None else float(text)


def _describe_joint(
    parsed: Any, limit: ElementTree.Element | None, findings: list[Finding]
) -> _JointDescription:
    what = _quoted('joint', parsed.name)
    moves = parsed.type in _MOVING_TYPES
    bounded = limit is not None and parsed.type in ('revolute', 'prismatic')
    # URDF: lower and upper default to 0, when the joint has limits at all.
    lower = _limit(limit, 'lower', 0.0) if bounded else -np.inf
    upper = _limit(limit, 'upper', 0.0) if bounded else np.inf
    if moves and lower > upper:
        raise ModelError(f'{what}: limit: expected lower <= upper, got {lower} > {upper}')
    axis = np.array([1.0, 0.0, 0.0])
    if moves and parsed.axis is not None:
        axis = _unit_axis(np.array(parsed.axis, dtype=np.float64), what, findings)
    mimic = None
    if moves and parsed.mimic is not None:
        mimic = _Mimic(
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
        origin = _origin(parsed.origin)
    except ModelError as error:
        raise ModelError(f'{what}: origin: {error}') from error
    return _JointDescription(
        name=parsed.name,
        type=parsed.type,
        parent=parsed.parent,
        child=parsed.child,
        origin=origin,
        axis=axis,
        lower=lower,
        upper=upper,
        effort=_limit(limit, 'effort', np.inf),
        velocity=_limit(limit, 'velocity', np.inf),
        damping=damping,
        friction=friction,
        mimic=mimic,
    )


def _unit_axis(axis: FloatArray, what: str, findings: list[Finding]) -> FloatArray:
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


@dataclass(frozen=True)
class _Motion:
    """Position of a joint: multiplier * coordinate + offset; no coordinate: locked at offset."""

    coordinate: str | None
    multiplier: float
    offset: float


class _RobotBuilder:
    """Turns links and joints into a tree of moving bodies."""

    def __init__(
        self,
        description: _Description,
        base_link: str | None,
        tip_link: str | None,
        locked_joints: dict[str, float],
    ) -> None:
        self._description = description
        self._findings = list(description.findings)
        self._links = description.links
        self._joints = description.joints
        self._children, self._joint_above = self._tree()
        self._base = self._root() if base_link is None else self._known_link(base_link, 'base')
        self._tip = None if tip_link is None else self._known_link(tip_link, 'tip')
        self._below_base = self._descend()
        self._moving = self._moving_joints()
        self._locked = self._checked_locks(locked_joints)
        self._motions = self._resolve_motions()

    # -- the tree of links ------------------------------------------------------------------

    def _tree(self) -> tuple[dict[str, list[_JointDescription]], dict[str, _JointDescription]]:
        children: dict[str, list[_JointDescription]] = {name: [] for name in self._links}
        above: dict[str, _JointDescription] = {}
        for joint in self._joints.values():
            for what, name in (('parent', joint.parent), ('child', joint.child)):
                if name not in self._links:
                    raise ModelError(
                        f'joint {joint.name!r}: {what}: expected a link of the robot, '
                        f'got {name!r}, which does not exist'
                    )
            if joint.child in above:
                raise ModelError(
                    f'link {joint.child!r}: expected one parent, got the joints '
                    f'{above[joint.child].name!r} and {joint.name!r} (kinematic loop?)'
                )
            above[joint.child] = joint
            children[joint.parent].append(joint)
        return children, above

    def _root(self) -> str:
        return next(name for name in self._links if name not in self._joint_above)

    def _known_link(self, name: str, what: str) -> str:
        if name not in self._links:
            raise ModelError(
                f'{what}_link: expected a link of the robot, got {name!r}; the links are '
                f'{", ".join(sorted(self._links))}'
            )
        return name

    def _joints_below(self, link: str) -> Iterator[_JointDescription]:
        """Yield the joints beyond a link, depth first, in the order of the file."""
        frontier = list(reversed(self._children[link]))
        while frontier:
            joint = frontier.pop()
            yield joint
            frontier.extend(reversed(self._children[joint.child]))

    def _descend(self) -> list[_JointDescription]:
        roots = [name for name in self._links if name not in self._joint_above]
        if len(roots) > 1:
            raise ModelError(
                f'expected one root link, got {len(roots)}: {", ".join(sorted(roots))}'
            )
        reached = set(roots)
        for root in roots:
            reached.update(joint.child for joint in self._joints_below(root))
        if len(reached) != len(self._links):
            looped = sorted(set(self._links) - reached)
            raise ModelError(f'expected a tree of links, got a loop through {", ".join(looped)}')
        if self._base not in roots:
            self._findings.append(
                Finding(
                    'info',
                    'links-left-out',
                    _quoted('link', self._base),
                    f'links that are not beyond the base link {self._base!r} are left out',
                )
            )
        return list(self._joints_below(self._base))

    def _moving_joints(self) -> set[str]:
        """Return the joints that may move: on the way to the tip, or all below the base."""
        if self._tip is None:
            path = self._below_base
        else:
            path = []
            link = self._tip
            while link != self._base:
                if link not in self._joint_above:
                    raise ModelError(
                        f'tip_link: expected a link beyond the base link {self._base!r}, '
                        f'got {self._tip!r}, which is not'
                    )
                path.append(self._joint_above[link])
                link = self._joint_above[link].parent
        for joint in path:
            if joint.type in _UNSUPPORTED_TYPES:
                raise ModelError(
                    f'joint {joint.name!r}: type: expected {", ".join(_MOVING_TYPES)} or fixed '
                    f'between base and tip, got {joint.type!r}; choose a base_link beyond it'
                )
        return {joint.name for joint in path if joint.moves}

    # -- which joint moves how --------------------------------------------------------------

    def _checked_locks(self, locked: dict[str, float]) -> dict[str, float]:
        values: dict[str, float] = {}
        for name, value in locked.items():
            joint = self._joints.get(name)
            if joint is None or not joint.moves:
                movable = sorted(joint.name for joint in self._joints.values() if joint.moves)
                got = 'which does not exist' if joint is None else f'which is {joint.type}'
                raise ModelError(
                    f'locked_joints: expected a joint that can move, got {name!r}, {got}; '
                    f'the joints are {", ".join(movable)}'
                )
            try:
                values[name] = float(value)
            except (TypeError, ValueError) as error:
                raise ModelError(
                    f'locked_joints: {name!r}: expected a position, got {value!r}'
                ) from error
            if not np.isfinite(values[name]):
                raise ModelError(
                    f'locked_joints: {name!r}: expected a finite position, got {value!r}'
                )
            if not joint.lower <= values[name] <= joint.upper:
                self._findings.append(
                    Finding(
                        'warning',
                        'locked-outside-limits',
                        _quoted('joint', name),
                        f'locked at {values[name]:g}: expected a position between '
                        f'{joint.lower:g} and {joint.upper:g}',
                    )
                )
        return values

    def _resolve_motions(self) -> dict[str, _Motion]:
        """Follow every mimic joint to the coordinate or the locked joint at its end."""
        motions: dict[str, _Motion] = {}
        for start in self._joints.values():
            if not start.moves:
                continue
            trail: list[tuple[_JointDescription, _Mimic]] = []
            joint = start
            while joint.name not in motions:
                if any(joint is follower for follower, _ in trail):
                    names = ' -> '.join(
                        item.name for item in (*(item for item, _ in trail), joint)
                    )
                    raise ModelError(f'joint {joint.name!r}: mimic joints form a cycle: {names}')
                if joint.mimic is None:
                    motions[joint.name] = self._own_motion(joint)
                    break
                trail.append((joint, joint.mimic))
                joint = self._mimicked(joint, joint.mimic)
            for follower, mimic in reversed(trail):
                motions[follower.name] = self._mimic_motion(follower, mimic, motions[mimic.joint])
        return motions

    def _mimicked(self, joint: _JointDescription, mimic: _Mimic) -> _JointDescription:
        target = self._joints.get(mimic.joint)
        if target is None or not target.moves:
            got = 'which does not exist' if target is None else f'which is {target.type}'
            raise ModelError(
                f'joint {joint.name!r}: mimic: expected a joint that can move, '
                f'got {mimic.joint!r}, {got}'
            )
        return target

    def _own_motion(self, joint: _JointDescription) -> _Motion:
        if joint.name in self._locked:
            return _Motion(None, 0.0, self._locked[joint.name])
        if joint.name in self._moving:
            return _Motion(joint.name, 1.0, 0.0)
        return _Motion(None, 0.0, 0.0)

    def _mimic_motion(self, joint: _JointDescription, mimic: _Mimic, followed: _Motion) -> _Motion:
        if joint.name in self._locked:
            return _Motion(None, 0.0, self._locked[joint.name])
        multiplier = mimic.multiplier * followed.multiplier
        offset = mimic.multiplier * followed.offset + mimic.offset
        if followed.coordinate is not None and multiplier != 0.0 and joint.name in self._moving:
            return _Motion(followed.coordinate, multiplier, offset)
        if followed.coordinate is not None and joint.name not in self._moving:
            # A joint further down the trail may still follow the coordinate, through this one.
            return _Motion(followed.coordinate, multiplier, offset)
        return _Motion(None, 0.0, offset)

    # -- bodies and links -------------------------------------------------------------------

    def build(self, source: str) -> Robot:
        """Return the robot."""
        bodies: list[Body] = []
        coordinates: list[str] = []
        base = self._links[self._base]
        identity = Transform.identity()
        links = [Link(base.name, BASE, identity, None, base.inertia, base.has_inertial)]
        placed: dict[str, tuple[int, Transform]] = {self._base: (BASE, identity)}
        moving: list[tuple[_JointDescription, _Motion]] = []
        still: list[str] = []
        for joint in self._below_base:
            body, pose = placed[joint.parent]
            pose = self._composed(pose, joint.origin, joint)
            motion = self._motions.get(joint.name)
            if motion is not None and joint.name in self._moving and motion.coordinate is not None:
                moving.append((joint, motion))
                bodies.append(
                    Body(
                        name=joint.child,
                        joint_name=joint.name,
                        parent=body,
                        joint_type=JointType(joint.type),
                        axis=joint.axis,
                        pose_in_parent=pose,
                        coordinate=0,
                        multiplier=motion.multiplier,
                        offset=motion.offset,
                    )
                )
                if motion.coordinate == joint.name:
                    coordinates.append(joint.name)
                body, pose = len(bodies) - 1, identity
            elif motion is not None:
                pose = self._composed(pose, self._locked_pose(joint, motion), joint)
                if joint.name not in self._locked:
                    still.append(joint.name)
                    self._report_locked(joint, motion)
            elif joint.type in _UNSUPPORTED_TYPES:
                self._findings.append(
                    Finding(
                        'warning',
                        'unsupported-joint-locked',
                        _quoted('joint', joint.name),
                        f'a {joint.type} joint off the way to the tip: locked at identity',
                    )
                )
            placed[joint.child] = (body, pose)
            child = self._links[joint.child]
            links.append(
                Link(child.name, body, pose, joint.parent, child.inertia, child.has_inertial)
            )
        if not bodies:
            raise ModelError(
                f'robot {self._description.name!r}: expected a joint that moves between '
                f'{self._base!r} and {self._tip or "the ends of the tree"!r}, got none'
            )
        if still:
            self._findings.append(
                Finding(
                    'info',
                    'joints-locked',
                    'robot',
                    'joints off the way to the tip are locked, their links lumped: '
                    + ', '.join(still),
                )
            )
        return Robot(
            name=self._description.name,
            joints=self._coordinates(coordinates, moving),
            bodies=tuple(
                _with_coordinate(body, coordinates.index(str(motion.coordinate)))
                for body, (_, motion) in zip(bodies, moving, strict=True)
            ),
            links=tuple(links),
            base_link=self._base,
            tip_link=self._tip if self._tip is not None else _chain_end(bodies),
            findings=tuple(self._findings),
            source=source,
        )

    @staticmethod
    def _composed(first: Transform, second: Transform, joint: _JointDescription) -> Transform:
        try:
            return first @ second
        except ModelError as error:
            raise ModelError(f'joint {joint.name!r}: pose: {error}') from error

    @staticmethod
    def _locked_pose(joint: _JointDescription, motion: _Motion) -> Transform:
        # A coordinate that moves on the way to the tip counts with its zero here.
        try:
            if joint.type == 'prismatic':
                return Transform.from_translation(joint.axis * motion.offset)
            return Transform.from_rotation(axis_angle_rotation(joint.axis, motion.offset))
        except ModelError as error:
            raise ModelError(f'joint {joint.name!r}: locked position: {error}') from error

    def _report_locked(self, joint: _JointDescription, motion: _Motion) -> None:
        if joint.mimic is None:
            return
        if joint.name in self._moving:
            reason = f'the joint {joint.mimic.joint!r} that it follows does not move'
        elif motion.coordinate is not None:
            reason = (
                f'it follows {motion.coordinate!r}, which moves, but is not on the way to the tip'
            )
        else:
            return
        self._findings.append(
            Finding(
                'warning',
                'mimic-locked',
                _quoted('joint', joint.name),
                f'{reason}: locked at {motion.offset:g}',
            )
        )

    def _coordinates(
        self, names: list[str], moving: list[tuple[_JointDescription, _Motion]]
    ) -> tuple[Joint, ...]:
        viscous = dict.fromkeys(names, 0.0)
        coulomb = dict.fromkeys(names, 0.0)
        for joint, motion in moving:
            coordinate = str(motion.coordinate)
            viscous[coordinate] += motion.multiplier * motion.multiplier * joint.damping
            coulomb[coordinate] += abs(motion.multiplier) * joint.friction
        return tuple(
            Joint(
                name=name,
                type=JointType(self._joints[name].type),
                lower=self._joints[name].lower,
                upper=self._joints[name].upper,
                velocity_limit=self._joints[name].velocity,
                effort_limit=self._joints[name].effort,
                viscous_friction=viscous[name],
                coulomb_friction=coulomb[name],
            )
            for name in names
        )


def _with_coordinate(body: Body, coordinate: int) -> Body:
    return Body(
        name=body.name,
        joint_name=body.joint_name,
        parent=body.parent,
        joint_type=body.joint_type,
        axis=body.axis,
        pose_in_parent=body.pose_in_parent,
        coordinate=coordinate,
        multiplier=body.multiplier,
        offset=body.offset,
    )


def _chain_end(bodies: list[Body]) -> str | None:
    """Return the link that the last joint moves, when every body moves the next."""
    if all(body.parent == index - 1 for index, body in enumerate(bodies)):
        return bodies[-1].name
    return None
