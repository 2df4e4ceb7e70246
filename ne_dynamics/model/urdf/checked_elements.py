"""The elements of a URDF that matter to dynamics: each given once, with sound numbers."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from collections.abc import Iterable, Iterator, Mapping
from typing import TypeAlias

import numpy as np

from ne_dynamics.errors import ModelError
from ne_dynamics.model.robot import ModelFinding
from ne_dynamics.model.urdf.description import MOVING_TYPES, UNSUPPORTED_TYPES
from ne_dynamics.model.urdf.rotor_elements import has_rotor
from ne_dynamics.model.urdf.xml_values import get_required, quote, read_numbers

Elements: TypeAlias = Mapping[str, Mapping[str, str]]
"""Attributes of the children of an element, by their tags."""

INERTIA_KEYS = ('ixx', 'ixy', 'ixz', 'iyy', 'iyz', 'izz')
LIMIT_KEYS = ('lower', 'upper', 'effort', 'velocity')
ACCELERATION_KEYS = ('acceleration', 'deceleration', 'jerk')
_HAS_ACCELERATION_LIMITS = (1, 2)
_TYPES = (*MOVING_TYPES, 'fixed', *UNSUPPORTED_TYPES)
_ORIGIN = {'xyz': 3, 'rpy': 3}
# Elements that the dynamics reads, and how many numbers each attribute holds; 0 for a text.
_INERTIAL_ELEMENTS: Mapping[str, Mapping[str, int]] = {
    'origin': _ORIGIN,
    'mass': {'value': 1},
    'inertia': dict.fromkeys(INERTIA_KEYS, 1),
}
_JOINT_ELEMENTS: Mapping[str, Mapping[str, int]] = {
    'origin': _ORIGIN,
    'parent': {'link': 0},
    'child': {'link': 0},
    'axis': {'xyz': 3},
    'limit': dict.fromkeys(LIMIT_KEYS, 1),
    'dynamics': {'damping': 1, 'friction': 1},
    'mimic': {'joint': 0, 'multiplier': 1, 'offset': 1},
}
# Of these one attribute is read, and others are not spoken of.
_WITH_ONE_ATTRIBUTE = frozenset({'parent', 'child', 'axis', 'mass'})
# Known to the world of URDF and without influence on the dynamics.
_IGNORED_IN_LINK = frozenset({'visual', 'collision', 'origin'})
_IGNORED_IN_JOINT = frozenset({'calibration', 'safety_controller'})
_GEOMETRY_NUMBERS = ('xyz', 'rpy', 'quat_xyzw', 'size', 'radius', 'length', 'scale')


class LeftOut:
    """What a URDF has that is not read."""

    def __init__(self) -> None:
        self._names: dict[tuple[str, str, str], list[str]] = {}

    def add(self, kind: str, names: Iterable[str], element: str, *, is_harmless: bool) -> None:
        """Take note of tags or attributes (`kind`) in an element."""
        for name in names:
            key = 'info' if is_harmless else 'warning', f'unknown-{kind}', element
            shown = f'<{name}>' if kind == 'tag' else repr(name)
            noted = self._names.setdefault(key, [])
            if shown not in noted:
                noted.append(shown)

    def findings(self) -> Iterator[ModelFinding]:
        """Yield one finding for each element that holds such things."""
        for (severity, code, element), names in self._names.items():
            yield ModelFinding(
                severity,
                code,
                element,
                f'the parser does not know the {code.removeprefix("unknown-")} '
                f'{", ".join(names)}: left out',
            )


def _check_children(
    element: ElementTree.Element,
    known: Mapping[str, Mapping[str, int]],
    version: tuple[int, int],
    what: str,
    findings: list[ModelFinding],
    left_out: LeftOut,
) -> dict[str, dict[str, str]]:
    """Return the attributes of the known children, each given once, with sound numbers."""
    holder = what.removesuffix(': inertial')
    found: dict[str, dict[str, str]] = {}
    others: list[str] = []
    for child in element:
        tag = str(child.tag)
        if tag.startswith('{') or tag in _IGNORED_IN_JOINT or has_rotor(child):
            continue
        if tag not in known:
            others.append(tag)
            continue
        if tag in found:
            raise ModelError(f'{what}: expected one <{tag}>, got several')
        attributes = {
            str(key): value for key, value in child.attrib.items() if not str(key).startswith('{')
        }
        for attribute, count in known[tag].items():
            if count and attribute in attributes:
                read_numbers(attributes[attribute], count, f'{what}: {tag} {attribute}')
        if tag == 'origin' and 'quat_xyzw' in attributes:
            # Few files have them.
            from ne_dynamics.model.urdf.quaternions import translate_quaternion

            translate_quaternion(attributes, version, f'{what}: origin', findings)
        if tag not in _WITH_ONE_ATTRIBUTE:
            more = [name for name in attributes if name not in known[tag]]
            left_out.add('attribute', more, holder, is_harmless=False)
        found[tag] = {key: text for key, text in attributes.items() if key in known[tag]}
    own = [name for name in element.attrib if name not in ('name', 'type')]
    left_out.add('attribute', own, holder, is_harmless=False)
    left_out.add('tag', others, holder, is_harmless=False)
    return found


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


def check_link(
    element: ElementTree.Element,
    version: tuple[int, int],
    findings: list[ModelFinding],
    left_out: LeftOut,
) -> tuple[str, Elements | None]:
    """Return the name of a ``<link>``, and what its inertial has, None without one.

    Raises
    ------
    ModelError
        When an attribute or element is missing, stands twice, or is no finite number.
    """
    name = get_required(element, 'name', '<link>')
    what = quote('link', name)
    inertial: Elements | None = None
    others: list[str] = []
    for child in element:
        tag = str(child.tag)
        if tag in _IGNORED_IN_LINK:
            if tag != 'origin':
                _check_geometry(child, what)
        elif tag == 'inertial':
            if inertial is not None:
                raise ModelError(f'{what}: expected one <inertial>, got several')
            inside = f'{what}: inertial'
            inertial = _check_children(
                child, _INERTIAL_ELEMENTS, version, inside, findings, left_out
            )
            if 'mass' not in inertial:
                raise ModelError(f'{inside}: expected <mass>, got none')
            get_required(inertial['mass'], 'value', f'{inside}: mass')
            if 'inertia' in inertial:
                for key in INERTIA_KEYS:
                    get_required(inertial['inertia'], key, f'{inside}: inertia')
        elif not tag.startswith('{'):
            others.append(tag)
    left_out.add('tag', others, what, is_harmless=True)
    return name, inertial


def check_joint(
    element: ElementTree.Element,
    version: tuple[int, int],
    findings: list[ModelFinding],
    left_out: LeftOut,
) -> tuple[str, str, Elements]:
    """Return name, type and elements of a ``<joint>``; errors are those of :func:`check_link`."""
    name = get_required(element, 'name', '<joint>')
    what = quote('joint', name)
    kind = get_required(element, 'type', what)
    if kind not in _TYPES:
        raise ModelError(f'{what}: type: expected one of {", ".join(_TYPES)}, got {kind!r}')
    has_bounds = version >= _HAS_ACCELERATION_LIMITS
    known = dict(_JOINT_ELEMENTS)
    if has_bounds:
        known['limit'] = dict.fromkeys((*LIMIT_KEYS, *ACCELERATION_KEYS), 1)
    found = _check_children(element, known, version, what, findings, left_out)
    for tag in ('parent', 'child'):
        if tag not in found:
            raise ModelError(f'{what}: expected <{tag} link="..."/>, got none')
    for tag, attribute in (
        ('parent', 'link'),
        ('child', 'link'),
        ('axis', 'xyz'),
        ('mimic', 'joint'),
    ):
        if tag in found:
            get_required(found[tag], attribute, f'{what}: {tag}')
    if 'limit' in found and has_bounds and kind in ('revolute', 'prismatic'):
        for attribute in ('lower', 'upper'):
            get_required(found['limit'], attribute, f'{what}: limit')
    return name, kind, found
