"""Write the inertias and the friction of a robot back into the text of its URDF.

Only numbers change: those of ``<inertial>`` of the links that changed, and those of
``<dynamics>`` of the joints that changed. Every other character stays. What the file lacks is
added: an ``origin`` or ``inertia`` inside an ``<inertial>``, or a ``<dynamics>`` in a joint.
An inertial keeps its ``rpy`` or ``quat_xyzw``; the tensor is written in those axes.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from xml.parsers import expat

import numpy as np

from ne_dynamics.errors import ModelError
from ne_dynamics.identification.thresholds import IDENTIFICATION
from ne_dynamics.model.orientation import quaternion_rotation
from ne_dynamics.model.rigid_body import FloatArray, Inertia, Transform
from ne_dynamics.model.robot import Joint, Robot
from ne_dynamics.model.urdf.tree import load_urdf

_TENSOR = {
    'ixx': (0, 0),
    'ixy': (0, 1),
    'ixz': (0, 2),
    'iyy': (1, 1),
    'iyz': (1, 2),
    'izz': (2, 2),
}
_OPENING = re.compile(rb'<[^\s/>]+')
_ATTRIBUTE = re.compile(rb'\s+([^\s=/>]+)\s*=\s*("[^"]*"|\'[^\']*\')')


def write_urdf(urdf_text: str, robot: Robot) -> str:
    """Return a URDF with the inertias and the joint friction of a robot.

    Parameters
    ----------
    urdf_text : str
        The description that the robot was loaded from.
    robot : Robot
        With the links and joints of the description, or some of them.

    Returns
    -------
    str
        The same text, character by character, but for the numbers that changed.

    Raises
    ------
    ModelError
        When the text cannot be loaded, a changed link has no ``<inertial>``, a link or joint is
        not in the text, or what was written does not come back as the robot.
    """
    original = load_urdf(urdf_text, robot.base_link, robot.tip_link)
    data = urdf_text.encode('utf-8')
    root = _parse(data)
    edits = _Edits(data)
    links = {element.attributes.get('name'): element for element in root.all('link')}
    for link in robot.links:
        if not _is_same(
            link.inertia, original.link(link.name).inertia, IDENTIFICATION.same_number
        ):
            element = _get_element(links, 'link', link.name)
            inertial = element.one('inertial')
            if inertial is None:
                raise ModelError(
                    f'link {link.name!r}: expected an <inertial> to write to, got none'
                )
            _write_inertial(edits, inertial, link.inertia)
    joints = {element.attributes.get('name'): element for element in root.all('joint')}
    for index, joint in enumerate(robot.joints):
        _write_friction(edits, joints, robot, index, joint)
    text = edits.apply().decode('utf-8')
    _check(text, robot)
    return text


def encode_urdf(text: str, encoding: str) -> bytes:
    """Return a description as the bytes of a file in the encoding that :func:`read_text` found.

    Raises
    ------
    ModelError
        When the bytes do not come back as the text, or XML cannot be in that encoding.
    """
    try:
        data = text.encode(encoding)
        is_same = data.decode(encoding) == text
    except (UnicodeError, LookupError) as error:
        raise ModelError(f'the URDF cannot be written in {encoding}: {error}') from error
    if not is_same or _list_tags(data, None) != _list_tags(text.encode('utf-8'), 'utf-8'):
        raise ModelError(
            f'encoding: expected one that XML is read and written in, got {encoding!r}'
        )
    return data


@dataclass
class _Element:
    tag: str
    attributes: dict[str, str]
    start: int
    end: int = 0
    children: list[_Element] = field(default_factory=list)

    def all(self, tag: str) -> list[_Element]:
        return [child for child in self.children if child.tag == tag]

    def one(self, tag: str) -> _Element | None:
        return next(iter(self.all(tag)), None)


def _list_tags(data: bytes, encoding: str | None) -> list[tuple[str, dict[str, str]]]:
    """Return the tags and attributes of a document in its own or a given encoding."""
    found: list[tuple[str, dict[str, str]]] = []
    parser = expat.ParserCreate(encoding)
    parser.StartElementHandler = lambda tag, attributes: found.append((tag, attributes))
    try:
        parser.Parse(data, True)
    except (expat.ExpatError, LookupError, ValueError) as error:
        raise ModelError(f'malformed XML: {error}') from error
    return found


def _parse(data: bytes) -> _Element:
    """Return the elements with the bytes where their tags begin; the text was loaded before."""
    shift = 3 if data.startswith(b'\xef\xbb\xbf') else 0
    parser = expat.ParserCreate('utf-8', '}')
    top = _Element('', {}, 0)
    stack = [top]
    namespace = ''

    def enter(tag: str, attributes: dict[str, str]) -> None:
        nonlocal namespace
        if len(stack) == 1:
            namespace = ''.join(tag.rpartition('}')[:2])
        # As when it is loaded: what is in another namespace than <robot> is no link or joint.
        name = tag.removeprefix(namespace)
        element = _Element(name, attributes, parser.CurrentByteIndex + shift)
        stack[-1].children.append(element)
        stack.append(element)

    def leave(_: str) -> None:
        stack.pop().end = parser.CurrentByteIndex + shift

    parser.StartElementHandler = enter
    parser.EndElementHandler = leave
    try:
        parser.Parse(data[shift:], True)
    except expat.ExpatError as error:
        raise ModelError(f'malformed XML: {error}') from error
    return top.children[0]


def _get_element(elements: dict[str | None, _Element], kind: str, name: str) -> _Element:
    if name not in elements:
        raise ModelError(f'{kind} {name!r}: expected it in the text, got none')
    return elements[name]


class _Edits:
    """Replacements in a text, collected and then made at once."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._edits: list[tuple[int, int, bytes]] = []

    def set_numbers(self, element: _Element, values: dict[str, FloatArray]) -> None:
        """Set attributes of a start tag; a number that is there already keeps its digits."""
        opening = _OPENING.match(self._data, element.start)
        position = element.start if opening is None else opening.end()
        spans = {}
        while (match := _ATTRIBUTE.match(self._data, position)) is not None:
            spans[match.group(1).decode()] = (match.start(2) + 1, match.end(2) - 1)
            position = match.end()
        size = max(float(np.abs(numbers).max()) for numbers in values.values())
        for name, numbers in values.items():
            if name in spans:
                present = np.array(element.attributes[name].split(), dtype=np.float64)
                if not np.abs(numbers - present).max() <= IDENTIFICATION.same_number * size:
                    self._edits.append((*spans[name], _format_numbers(numbers).encode()))
            else:
                added = f' {name}="{_format_numbers(numbers)}"'
                self._edits.append((position, position, added.encode()))

    def add_child(self, parent: _Element, tag: str, values: dict[str, FloatArray]) -> None:
        """Add an element before the first child of a parent, indented like that."""
        place = parent.children[0].start
        begin = len(self._data[:place].rstrip(b' \t'))
        indent = self._data[begin:place].decode()
        line_end = '\r\n' if self._data[:begin].endswith(b'\r\n') else '\n'
        separator = line_end + indent if self._data[:begin].endswith(b'\n') else ''
        opening = _OPENING.match(self._data, parent.start)
        prefix, colon, _ = opening.group()[1:].decode().rpartition(':') if opening else ('',) * 3
        attributes = ''.join(
            f' {name}="{_format_numbers(value)}"' for name, value in values.items()
        )
        self._edits.append(
            (place, place, f'<{prefix}{colon}{tag}{attributes}/>{separator}'.encode())
        )

    def apply(self) -> bytes:
        """Return the edited text."""
        data = self._data
        for start, end, text in sorted(self._edits, key=lambda edit: edit[0], reverse=True):
            data = data[:start] + text + data[end:]
        return data


def _format_numbers(numbers: FloatArray) -> str:
    return ' '.join(f'{float(number) + 0.0:.10g}' for number in np.atleast_1d(numbers))


def _is_close(left: FloatArray, right: FloatArray, tolerance: float) -> bool:
    size = max(float(np.abs(left).max()), float(np.abs(right).max()))
    return bool(np.abs(left - right).max() <= tolerance * size)


def _is_same(left: Inertia, right: Inertia, tolerance: float) -> bool:
    pairs = (
        (np.array([left.mass]), np.array([right.mass])),
        (left.center_of_mass, right.center_of_mass),
        (left.inertia_about_com, right.inertia_about_com),
    )
    return all(_is_close(one, other, tolerance) for one, other in pairs)


def _read_numbers(element: _Element | None, attribute: str) -> FloatArray:
    text = '0 0 0' if element is None else element.attributes.get(attribute, '0 0 0')
    return np.array(text.split(), dtype=np.float64)


def _write_inertial(edits: _Edits, inertial: _Element, inertia: Inertia) -> None:
    origin, mass, tensor = (inertial.one(tag) for tag in ('origin', 'mass', 'inertia'))
    if origin is not None and 'quat_xyzw' in origin.attributes:
        turn = quaternion_rotation(_read_numbers(origin, 'quat_xyzw'))
    else:
        turn = Transform.from_xyz_rpy(np.zeros(3), _read_numbers(origin, 'rpy')).rotation
    turned = turn.T @ inertia.inertia_about_com @ turn
    # What is left of a zero by turning to other axes and back is a zero.
    turned = np.where(np.abs(turned) > 1e-12 * np.abs(turned).max(), turned, 0.0)
    entries = {key: np.array([turned[place]]) for key, place in _TENSOR.items()}
    if origin is not None:
        edits.set_numbers(origin, {'xyz': inertia.center_of_mass})
    else:
        edits.add_child(inertial, 'origin', {'xyz': inertia.center_of_mass})
    if mass is not None:
        edits.set_numbers(mass, {'value': np.array([inertia.mass])})
    if tensor is not None:
        edits.set_numbers(tensor, entries)
    else:
        edits.add_child(inertial, 'inertia', entries)


def _write_friction(
    edits: _Edits,
    joints: dict[str | None, _Element],
    robot: Robot,
    index: int,
    joint: Joint,
) -> None:
    """Set the friction of a joint, of which joints that mimic it carry their part."""
    values: dict[str, dict[str, FloatArray]] = {}
    for key, wanted, power in (
        ('damping', joint.viscous_friction, 2),
        ('friction', joint.coulomb_friction, 1),
    ):
        parts = {
            body.joint_name: abs(body.multiplier) ** power
            * _read_friction(_get_element(joints, 'joint', body.joint_name), key)
            for body in robot.bodies
            if body.coordinate == index
        }
        present = sum(parts.values())
        if abs(present - wanted) <= IDENTIFICATION.same_number * max(present, wanted):
            continue
        followers = present - parts.get(joint.name, 0.0)
        if joint.name in parts and wanted >= followers:
            values.setdefault(joint.name, {})[key] = np.array([wanted - followers])
            continue
        for name in parts:
            scaled = _read_friction(joints[name], key) * wanted / present
            values.setdefault(name, {})[key] = np.array([scaled])
    for name, numbers in values.items():
        dynamics = joints[name].one('dynamics')
        if dynamics is not None:
            edits.set_numbers(dynamics, numbers)
        else:
            edits.add_child(joints[name], 'dynamics', numbers)


def _read_friction(element: _Element, key: str) -> float:
    dynamics = element.one('dynamics')
    return 0.0 if dynamics is None else float(dynamics.attributes.get(key, 0.0))


def _check(text: str, robot: Robot) -> None:
    """Refuse a text that does not come back as the robot."""
    written = load_urdf(text, robot.base_link, robot.tip_link)
    for link in robot.links:
        if not _is_same(
            written.link(link.name).inertia, link.inertia, IDENTIFICATION.reloaded_difference
        ):
            raise ModelError(
                f'link {link.name!r}: expected the inertia that was written to come back the '
                'same, got another'
            )
    present = {joint.name: joint for joint in written.joints}
    for wanted in robot.joints:
        joint = present[wanted.name]
        if _find_movers(written, joint.name) != _find_movers(robot, wanted.name):
            continue  # a joint that mimics it was locked, and its friction counts no more
        for key in ('viscous_friction', 'coulomb_friction'):
            left, right = getattr(joint, key), getattr(wanted, key)
            if not _is_close(
                np.array([left]), np.array([right]), IDENTIFICATION.reloaded_difference
            ):
                raise ModelError(
                    f'joint {wanted.name!r}: {key}: expected what was written to come back the '
                    f'same, got {left:g} for {right:g}'
                )


def _find_movers(robot: Robot, name: str) -> set[str]:
    """Return the joints that follow a coordinate, itself among them."""
    index = robot.joint_names.index(name)
    return {body.joint_name for body in robot.bodies if body.coordinate == index}
