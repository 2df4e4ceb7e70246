"""The elements of a URDF as its parser wants them: each given once, with sound numbers."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from collections.abc import Mapping

import numpy as np

from ne_dynamics.errors import ModelError
from ne_dynamics.model.robot import ModelFinding
from ne_dynamics.model.urdf.description import MOVING_TYPES, UNSUPPORTED_TYPES
from ne_dynamics.model.urdf.rotor_elements import has_rotor
from ne_dynamics.model.urdf.xml_values import get_required, quote, read_numbers

HAS_ACCELERATION_LIMITS = (1, 2)
_TYPES = (*MOVING_TYPES, 'fixed', *UNSUPPORTED_TYPES)
_INERTIA_KEYS = ('ixx', 'ixy', 'ixz', 'iyy', 'iyz', 'izz')
_ORIGIN = {'xyz': 3, 'rpy': 3}
ACCELERATION_LIMITS = ('acceleration', 'deceleration', 'jerk')
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
_IGNORED_IN_LINK = frozenset({'visual', 'collision'})
_IGNORED_IN_JOINT = frozenset({'calibration', 'safety_controller'})
_GEOMETRY_NUMBERS = ('xyz', 'rpy', 'quat_xyzw', 'size', 'radius', 'length', 'scale')


def _copy_checked(
    element: ElementTree.Element,
    numbers: Mapping[str, Mapping[str, int]],
    version: tuple[int, int],
    what: str,
    findings: list[ModelFinding],
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
        if tag == 'origin' and 'quat_xyzw' in attributes:
            # Few files have them.
            from ne_dynamics.model.urdf.quaternions import translate_quaternion

            translate_quaternion(attributes, version, f'{what}: origin', findings)
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


def copy_link(
    element: ElementTree.Element, version: tuple[int, int], findings: list[ModelFinding]
) -> ElementTree.Element:
    """Return a copy of a ``<link>`` with what matters to dynamics.

    Raises
    ------
    ModelError
        When an attribute or element is missing, stands twice, or is no finite number.
    """
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


def copy_joint(
    element: ElementTree.Element, version: tuple[int, int], findings: list[ModelFinding]
) -> ElementTree.Element:
    """Return a copy of a ``<joint>``; errors are those of :func:`copy_link`."""
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
        if version >= HAS_ACCELERATION_LIMITS:
            _check_extended_limit(limit, kind, f'{what}: limit')
    return copy


def _check_extended_limit(limit: ElementTree.Element, kind: str, what: str) -> None:
    """Check a limit of URDF 1.2, and take out what the parser does not know."""
    if kind in ('revolute', 'prismatic'):
        for attribute in ('lower', 'upper'):
            get_required(limit, attribute, what)
    for attribute in ACCELERATION_LIMITS:
        text = limit.attrib.pop(attribute, None)
        if text is not None:
            read_numbers(text, 1, f'{what} {attribute}')
