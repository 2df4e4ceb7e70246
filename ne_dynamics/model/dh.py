"""Read a robot in Denavit-Hartenberg parameters from a YAML file.

The file is a mapping. Angles are in radians unless ``angle_unit: deg`` stands at the top; then
multiples of 90 degrees give exact sines and cosines. Everything else is in SI units.

===============  ==================================================================  ==========
key              meaning                                                             default
===============  ==================================================================  ==========
``convention``   ``standard`` (frame i at the far end of link i) or ``modified``     required
                 (Craig: frame i on joint i)
``joints``       list of joints, from base to tip, see below                         required
``name``         name of the robot                                                   file name
``angle_unit``   ``rad`` or ``deg``: unit of theta, alpha, offset and rpy, and of    ``rad``
                 the lower, upper and velocity limits of joints that turn
``base``         ``{xyz: [x, y, z], rpy: [r, p, y]}``: pose of frame 0 in the base   identity
                 frame [m, angle]; rpy about fixed axes, as in URDF
``tool``         ``{xyz, rpy}``: pose of the tip frame in the last frame             identity
===============  ==================================================================  ==========

Each joint is a mapping:

====================  ===============================================================  ========
key                   meaning                                                          default
====================  ===============================================================  ========
``name``              name of the joint                                                joint_<i>
``type``              ``revolute``, ``continuous`` (no position limits) or             revolute
                      ``prismatic``
``theta``             angle about z [angle]                                            0
``d``                 shift along z [m]                                                0
``a``                 shift along x [m]                                                0
``alpha``             angle about x [angle]                                            0
``offset``            added to the coordinate: theta + q + offset when the joint       0
                      turns [angle], d + q + offset when it slides [m]
``limits``            ``{lower, upper, velocity, effort}``, each optional; lower and   infinite
                      upper of q [angle or m], velocity [angle/s or m/s], effort
                      [N m or N]
``mass``              mass of the link that the joint moves [kg]                       none
``center_of_mass``    ``[x, y, z]`` of its centre of mass, in frame i [m]              0, 0, 0
``inertia``           its inertia about the centre of mass, in the axes of frame i     0
                      [kg m^2]: ``[ixx, iyy, izz]``, or three rows of three, or
                      ``{ixx, iyy, izz, ixy, ixz, iyz}`` with the entries of the
                      tensor (ixy is minus the product of inertia)
``viscous_friction``  at the joint [N m s/rad or N s/m], whatever ``angle_unit`` is    0
``coulomb_friction``  at the joint [N m or N]                                          0
``rotor_inertia``     of the motor about its own axis [kg m^2]; the joint feels        0
                      gear_ratio^2 times it
``gear_ratio``        motor turns per joint turn                                       1
====================  ===============================================================  ========

Further friction has the keys of :class:`~ne_dynamics.model.friction.FrictionModel`:

===========================  ==================================================  ===============
key                          meaning                                             default
===========================  ==================================================  ===============
``static_friction``          at the beginning of a motion [N m or N]             that of Coulomb
``stribeck_velocity``        width of its fall [rad/s or m/s]                    none
``smoothing_velocity``       width of the change of sign [rad/s or m/s]          0, a step
``load_coefficient``         part of the load's magnitude                        0
``friction_asymmetry``       half the difference of both directions [N m or N]   0
``friction_offset``          effort at any velocity [N m or N]                   0
``square_root_friction``     [N m (s/rad)^0.5 or N (s/m)^0.5]                    0
``cubic_friction``           [N m (s/rad)^3 or N (s/m)^3]                        0
``hysteresis_friction``      that builds up with displacement [N m or N]         0
``hysteresis_displacement``  after which 63 % of it is there [rad or m]          none
===========================  ==================================================  ===============

Row i of a table in the standard convention is T(i-1, i) = Rz(theta) Tz(d) Tx(a) Rx(alpha); in the
modified one it is T(i-1, i) = Rx(alpha) Tx(a) Rz(theta) Tz(d), so its ``alpha`` and ``a`` are the
ones that textbooks index i-1.

The links of the robot are called ``base``, ``link_1`` ... ``link_n``, whose frames are the frames
0 to n of the convention, and ``tool`` when the file has a tool; the last one is the tip.
"""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ne_dynamics.errors import ModelError
from ne_dynamics.model.description_file import looks_like_xml, read_file
from ne_dynamics.model.rigid_body import FloatArray, Inertia, Transform
from ne_dynamics.model.robot import BASE, Body, Joint, JointType, Link, ModelFinding, Robot
from ne_dynamics.model.robot_parts import JOINT_KEYS as EXTRA_KEYS
from ne_dynamics.model.robot_parts import replace_numbers
from ne_dynamics.model.yaml_values import check_mapping, read_number, show_value

LARGEST_DH_FILE = 2**20
"""Largest file that is read [bytes]; a joint takes about 500."""

CONVENTIONS = ('standard', 'modified')

_TOP_KEYS = ('name', 'convention', 'angle_unit', 'base', 'tool', 'joints')
_POSE_KEYS = ('xyz', 'rpy')
_LIMIT_KEYS = ('lower', 'upper', 'velocity', 'effort')
_INERTIA_KEYS = ('ixx', 'iyy', 'izz', 'ixy', 'ixz', 'iyz')
_INERTIAL_KEYS = ('mass', 'center_of_mass', 'inertia')
_JOINT_KEYS = (
    'name',
    'type',
    'theta',
    'd',
    'a',
    'alpha',
    'offset',
    'limits',
    *_INERTIAL_KEYS,
    *EXTRA_KEYS,
)
_AXES = {'x': 0, 'y': 1, 'z': 2}


def load_dh(path: str | os.PathLike[str]) -> Robot:
    """Load a robot from a DH file (format: :mod:`ne_dynamics.model.dh`).

    Parameters
    ----------
    path : str or path
        YAML file.

    Returns
    -------
    Robot

    Raises
    ------
    ModelError
        When the file cannot be read, is not YAML of the documented form, or a value is missing,
        unknown, of the wrong type or not finite. The message names file, joint and key.
    """
    if not isinstance(path, (str, os.PathLike)):
        raise ModelError(f'expected the path of a DH file, got {type(path).__name__}')
    source = os.fspath(path)
    data = read_file(path)
    if looks_like_xml(data):
        raise ModelError(f'{source}: expected a DH file (YAML), got XML; use load_urdf')
    if len(data) > LARGEST_DH_FILE:
        raise ModelError(f'{source}: expected at most {LARGEST_DH_FILE} bytes, got {len(data)}')
    # YAML takes a tenth of the import of this package, and a URDF does not need it.
    from ne_dynamics.model.yaml_text import parse_yaml

    document = parse_yaml(data, source)
    with np.errstate(over='ignore', invalid='ignore'):
        # Overflow ends in values that are not finite, which the frozen classes refuse.
        try:
            return _build(check_mapping(document, _TOP_KEYS, source), Path(source).stem, source)
        except ModelError as error:
            if str(error).startswith(f'{source}: '):
                raise
            raise ModelError(f'{source}: {error}', field=error.field) from error


def _numbers(value: Any, count: int, what: str) -> list[float]:
    if not isinstance(value, list) or len(value) != count:
        raise ModelError(f'{what}: expected a list of {count} numbers, got {show_value(value)}')
    return [read_number(item, f'{what}[{index}]') for index, item in enumerate(value)]


def _word(value: Any, allowed: Sequence[str], what: str) -> str:
    if not isinstance(value, str) or value not in allowed:
        raise ModelError(f'{what}: expected one of {", ".join(allowed)}, got {show_value(value)}')
    return value


def _name(value: Any, what: str) -> str:
    if not isinstance(value, str) or not value.strip():
        raise ModelError(f'{what}: expected a name, got {show_value(value)}')
    try:
        value.encode('utf-8')
    except UnicodeEncodeError as error:
        raise ModelError(
            f'{what}: expected a text, got {show_value(value)} with an unpaired surrogate'
        ) from error
    return value


class _Angles:
    """Angles in the unit of the file."""

    def __init__(self, unit: str) -> None:
        self._degrees = unit == 'deg'

    def radians(self, angle: float) -> float:
        return math.radians(angle) if self._degrees else angle

    def rotation(self, axis: str, angle: float) -> Transform:
        """Return the rotation about a coordinate axis; quarter turns in degrees are exact."""
        if self._degrees and angle % 90.0 == 0.0:
            quarter = int(angle % 360.0) // 90
            sine, cosine = ((0.0, 1.0), (1.0, 0.0), (0.0, -1.0), (-1.0, 0.0))[quarter]
        else:
            sine, cosine = math.sin(self.radians(angle)), math.cos(self.radians(angle))
        first, second = (_AXES[axis] + 1) % 3, (_AXES[axis] + 2) % 3
        rotation = np.eye(3)
        rotation[first, first] = rotation[second, second] = cosine
        rotation[second, first] = sine
        rotation[first, second] = 0.0 - sine
        return Transform.from_rotation(rotation)

    def pose(self, value: Any, what: str) -> Transform:
        """Return the pose ``{xyz, rpy}``."""
        mapping = check_mapping(value, _POSE_KEYS, what)
        xyz = _numbers(mapping.get('xyz', [0, 0, 0]), 3, f'{what}: xyz')
        roll, pitch, yaw = _numbers(mapping.get('rpy', [0, 0, 0]), 3, f'{what}: rpy')
        return (
            Transform.from_translation(xyz)
            @ self.rotation('z', yaw)
            @ self.rotation('y', pitch)
            @ self.rotation('x', roll)
        )


def _build(document: Mapping[str, Any], stem: str, source: str) -> Robot:
    for key in ('convention', 'joints'):
        if key not in document:
            raise ModelError(f'{source}: expected the key {key!r}, got none')
    convention = _word(document['convention'], CONVENTIONS, f'{source}: convention')
    angles = _Angles(_word(document.get('angle_unit', 'rad'), ('rad', 'deg'), 'angle_unit'))
    rows = document['joints']
    if not isinstance(rows, list) or not rows:
        raise ModelError(f'{source}: joints: expected a list of joints, got {show_value(rows)}')
    chain = _Chain(convention, angles)
    if 'base' in document:
        chain.frame = angles.pose(document['base'], 'base')
    for index, value in enumerate(rows):
        chain.add_joint(index, check_mapping(value, _JOINT_KEYS, f'joints[{index}]'))
    if 'tool' in document:
        chain.add_tool(angles.pose(document['tool'], 'tool'))
    return Robot(
        name=_name(document.get('name', stem), 'name'),
        joints=tuple(chain.joints),
        bodies=tuple(chain.bodies),
        links=tuple(chain.links),
        base_link='base',
        tip_link=chain.links[-1].name,
        findings=tuple(chain.findings),
        source=source,
    )


class _Chain:
    """The parts of a robot, joint by joint; `frame` is the pose of the last in its body."""

    def __init__(self, convention: str, angles: _Angles) -> None:
        self._convention = convention
        self._angles = angles
        self.frame = Transform.identity()
        self.joints: list[Joint] = []
        self.bodies: list[Body] = []
        self.links = [Link('base', BASE, self.frame, None, has_inertial=False)]
        self.findings: list[ModelFinding] = []

    def add_joint(self, index: int, row: Mapping[str, Any]) -> None:
        """Add a row of the table: a joint, the body that it moves, its link."""
        name = _name(row.get('name', f'joint_{index + 1}'), f'joints[{index}]: name')
        joint = _joint(row, name, self._angles)
        pose, after = _row_transforms(row, joint, self.frame, self._convention, self._angles)
        link_name = f'link_{index + 1}'
        self.bodies.append(
            Body(
                name=link_name,
                joint_name=name,
                parent=index - 1,
                joint_type=joint.type,
                axis=np.array([0.0, 0.0, 1.0]),
                pose_in_parent=pose,
                coordinate=index,
            )
        )
        self.joints.append(joint)
        inertia = _inertia(row, f'joint {name!r}')
        if inertia is not None and 'inertia' not in row:
            self.findings.append(
                ModelFinding(
                    'warning',
                    'inertia-missing',
                    f'link {link_name!r}',
                    'mass without inertia: expected an inertia tensor, zero is used',
                )
            )
        self.links.append(
            Link(
                name=link_name,
                body=index,
                pose_in_body=after,
                parent=self.links[-1].name,
                inertia=inertia or Inertia.zero(),
                has_inertial=inertia is not None,
            )
        )
        self.frame = after

    def add_tool(self, pose: Transform) -> None:
        """Fix a frame to the last link."""
        try:
            tool = self.links[-1].pose_in_body @ pose
        except ModelError as error:
            raise ModelError(f'tool: {error}') from error
        self.links.append(
            Link('tool', len(self.bodies) - 1, tool, self.links[-1].name, has_inertial=False)
        )


def _row_transforms(
    row: Mapping[str, Any], joint: Joint, frame: Transform, convention: str, angles: _Angles
) -> tuple[Transform, Transform]:
    """Split T(i-1, i) at the joint's motion.

    Returns the pose of body i in body i-1, where frame i-1 has the pose `frame`, and the pose of
    frame i in body i.
    """
    what = f'joint {joint.name!r}'
    theta, d, a, alpha, offset = (
        read_number(row.get(key, 0.0), f'{what}: {key}')
        for key in ('theta', 'd', 'a', 'alpha', 'offset')
    )
    if joint.type.is_prismatic:
        d = read_number(d + offset, f'{what}: d + offset')
    else:
        theta = read_number(theta + offset, f'{what}: theta + offset')
    about_z = angles.rotation('z', theta)
    along_z = Transform.from_translation((0.0, 0.0, d))
    along_x = Transform.from_translation((a, 0.0, 0.0))
    about_x = angles.rotation('x', alpha)
    try:
        if convention == 'modified':
            return frame @ (about_x @ along_x @ about_z @ along_z), Transform.identity()
        if joint.type.is_prismatic:
            return frame @ (about_z @ along_z), along_x @ about_x
        return frame @ about_z, along_z @ along_x @ about_x
    except ModelError as error:
        raise ModelError(f'{what}: theta, d, a, alpha: {error}') from error


def _joint(row: Mapping[str, Any], name: str, angles: _Angles) -> Joint:
    what = f'joint {name!r}'
    words = [kind.value for kind in JointType]
    kind = JointType(_word(row.get('type', 'revolute'), words, f'{what}: type'))
    mapping = check_mapping(row.get('limits', {}), _LIMIT_KEYS, f'{what}: limits')
    limits = {key: read_number(mapping[key], f'{what}: limits: {key}') for key in mapping}
    if not kind.is_prismatic:
        for key in ('lower', 'upper', 'velocity'):
            if key in limits:
                limits[key] = angles.radians(limits[key])
    if kind is JointType.CONTINUOUS and ('lower' in limits or 'upper' in limits):
        raise ModelError(f'{what}: limits: a continuous joint has no lower or upper limit')
    numbers = {key: read_number(row[key], f'{what}: {key}') for key in EXTRA_KEYS if key in row}
    joint = Joint(
        name=name,
        type=kind,
        lower=limits.get('lower', -math.inf),
        upper=limits.get('upper', math.inf),
        velocity_limit=limits.get('velocity', math.inf),
        effort_limit=limits.get('effort', math.inf),
    )
    return replace_numbers(joint, numbers)


def _inertia(row: Mapping[str, Any], what: str) -> Inertia | None:
    """Return the link's inertia in frame i; None when the row gives none."""
    given = [key for key in _INERTIAL_KEYS if key in row]
    if not given:
        return None
    if 'mass' not in given:
        raise ModelError(f'{what}: mass: expected a number beside {given[0]}, got none')
    com = _numbers(row.get('center_of_mass', [0, 0, 0]), 3, f'{what}: center_of_mass')
    tensor = _tensor(row['inertia'], f'{what}: inertia') if 'inertia' in row else np.zeros((3, 3))
    try:
        return Inertia(read_number(row['mass'], f'{what}: mass'), np.array(com), tensor)
    except ModelError as error:
        raise ModelError(f'{what}: {error}') from error


def _tensor(value: Any, what: str) -> FloatArray:
    if isinstance(value, dict):
        mapping = check_mapping(value, _INERTIA_KEYS, what)
        entries = {
            key: read_number(mapping.get(key, 0.0), f'{what}: {key}') for key in _INERTIA_KEYS
        }
        for key in ('ixx', 'iyy', 'izz'):
            if key not in mapping:
                raise ModelError(f'{what}: expected the key {key!r}, got none')
        xx, yy, zz, xy, xz, yz = (entries[key] for key in _INERTIA_KEYS)
        return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    if isinstance(value, list) and len(value) == 3 and isinstance(value[0], list):
        return np.array([_numbers(item, 3, f'{what}[{row}]') for row, item in enumerate(value)])
    if isinstance(value, list) and len(value) == 3:
        return np.diag(_numbers(value, 3, what))
    raise ModelError(
        f'{what}: expected [ixx, iyy, izz], three rows of three numbers or a mapping with '
        f'{", ".join(_INERTIA_KEYS)}, got {show_value(value)}'
    )
