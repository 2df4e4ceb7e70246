"""What a robot is: frozen dataclasses that every loader fills and every algorithm reads.

A :class:`Robot` is a tree of moving bodies. Body ``i`` is moved by one joint about or along one
axis of its own frame; at joint position zero that frame has the constant pose
``pose_in_parent`` in the frame of its parent body (the base when ``parent`` is -1). Links of the
description that do not move against a body are kept in :attr:`Robot.links` with their own
inertia and their pose in that body, so that nothing is lost when they are lumped: frames can be
looked up by name, and the model can be cut at a sensor.

Units are SI throughout; every array is read-only.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ne_dynamics.errors import ModelError

FloatArray = NDArray[np.float64]

BASE = -1
"""Index of the fixed base where a body index is expected."""


def frozen_array(value: ArrayLike, shape: tuple[int, ...], what: str) -> FloatArray:
    """Return a read-only float copy of `value`.

    Parameters
    ----------
    value : array-like
    shape : tuple of int
        Expected shape.
    what : str
        Name for the error message.

    Returns
    -------
    array, shape `shape`, not writeable

    Raises
    ------
    ModelError
        When the shape differs, or a value is not a finite number.
    """
    try:
        array = np.array(value, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ModelError(f'{what}: expected numbers of shape {shape}, got {value!r}') from error
    if array.shape != shape:
        raise ModelError(f'{what}: expected shape {shape}, got {array.shape}')
    if not np.isfinite(array).all():
        raise ModelError(f'{what}: expected finite numbers, got {array.tolist()}')
    array.setflags(write=False)
    return array


def _finite(value: Any, what: str) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError) as error:
        raise ModelError(f'{what}: expected a number, got {value!r}') from error
    if not np.isfinite(number):
        raise ModelError(f'{what}: expected a finite number, got {number}')
    return number


def cross_matrix(vector: ArrayLike) -> FloatArray:
    """Return the matrix of the cross product, ``cross_matrix(a) @ b == a x b``, shape (3, 3)."""
    x, y, z = np.asarray(vector, dtype=np.float64)
    return np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])


class JointType(str, enum.Enum):
    """How a joint moves; the values are the words of URDF."""

    REVOLUTE = 'revolute'
    CONTINUOUS = 'continuous'
    PRISMATIC = 'prismatic'

    @property
    def is_prismatic(self) -> bool:
        """True when the joint translates."""
        return self is JointType.PRISMATIC


@dataclass(frozen=True, eq=False)
class Transform:
    """Pose of a frame in another: ``p_target = rotation @ p_source + translation``.

    Attributes
    ----------
    rotation : array, shape (3, 3)
        Axes of the source frame in the target frame; a proper rotation.
    translation : array, shape (3,)
        Origin of the source frame in the target frame [m].
    """

    rotation: FloatArray
    translation: FloatArray

    def __post_init__(self) -> None:
        rotation = frozen_array(self.rotation, (3, 3), 'rotation')
        error = float(np.abs(rotation @ rotation.T - np.eye(3)).max())
        if error > 1e-6 or np.linalg.det(rotation) < 0.0:
            raise ModelError(
                'rotation: expected a proper rotation matrix, got one that is '
                f'{error:.2g} away from orthogonal, determinant {np.linalg.det(rotation):.3g}'
            )
        object.__setattr__(self, 'rotation', rotation)
        object.__setattr__(
            self, 'translation', frozen_array(self.translation, (3,), 'translation')
        )

    @classmethod
    def identity(cls) -> Transform:
        """Return the transform that changes nothing."""
        return cls(np.eye(3), np.zeros(3))

    @classmethod
    def from_rotation(cls, rotation: ArrayLike) -> Transform:
        """Return a pure rotation."""
        return cls(np.asarray(rotation, dtype=np.float64), np.zeros(3))

    @classmethod
    def from_translation(cls, translation: ArrayLike) -> Transform:
        """Return a pure translation [m]."""
        return cls(np.eye(3), np.asarray(translation, dtype=np.float64))

    @classmethod
    def from_xyz_rpy(cls, xyz: ArrayLike, rpy: ArrayLike) -> Transform:
        """Return the pose of a URDF ``origin``: xyz [m], fixed-axis roll, pitch, yaw [rad]."""
        roll, pitch, yaw = (float(angle) for angle in np.asarray(rpy, dtype=np.float64))
        rotation = (
            axis_angle_rotation((0.0, 0.0, 1.0), yaw)
            @ axis_angle_rotation((0.0, 1.0, 0.0), pitch)
            @ axis_angle_rotation((1.0, 0.0, 0.0), roll)
        )
        return cls(rotation, np.asarray(xyz, dtype=np.float64))

    def __matmul__(self, other: Transform) -> Transform:
        """Compose: ``(a_to_b @ c_to_a)`` is c_to_b."""
        return Transform(
            self.rotation @ other.rotation,
            self.rotation @ other.translation + self.translation,
        )

    def inverse(self) -> Transform:
        """Return the transform in the other direction."""
        return Transform(self.rotation.T, -self.rotation.T @ self.translation)

    @property
    def matrix(self) -> FloatArray:
        """Homogeneous matrix, shape (4, 4)."""
        matrix = np.eye(4)
        matrix[:3, :3] = self.rotation
        matrix[:3, 3] = self.translation
        return matrix


def axis_angle_rotation(axis: ArrayLike, angle: float) -> FloatArray:
    """Return the rotation about a unit axis (Rodrigues), shape (3, 3).

    A quarter turn comes out to the rounding of its angle (6e-17 for a zero): nothing is snapped.
    """
    cross = cross_matrix(axis)
    turn: FloatArray = np.sin(angle) * cross + (1.0 - np.cos(angle)) * (cross @ cross)
    return np.eye(3) + turn


@dataclass(frozen=True, eq=False)
class Inertia:
    """Mass distribution of a rigid body in a frame.

    Attributes
    ----------
    mass : float
        Mass [kg].
    center_of_mass : array, shape (3,)
        Centre of mass in the frame [m].
    inertia_about_com : array, shape (3, 3)
        Symmetric inertia tensor about the centre of mass, in the axes of the frame [kg m^2].
        Off-diagonal entries are the tensor's (minus the products of inertia), as in URDF.
    """

    mass: float
    center_of_mass: FloatArray
    inertia_about_com: FloatArray

    def __post_init__(self) -> None:
        object.__setattr__(self, 'mass', _finite(self.mass, 'mass [kg]'))
        com = frozen_array(self.center_of_mass, (3,), 'center_of_mass [m]')
        object.__setattr__(self, 'center_of_mass', com)
        tensor = frozen_array(self.inertia_about_com, (3, 3), 'inertia_about_com [kg m^2]')
        if np.abs(tensor - tensor.T).max() > 1e-9 * max(np.abs(tensor).max(), 1e-300):
            raise ModelError(
                f'inertia_about_com: expected a symmetric tensor, got {tensor.tolist()}'
            )
        object.__setattr__(self, 'inertia_about_com', tensor)

    @classmethod
    def zero(cls) -> Inertia:
        """Return the inertia of nothing."""
        return cls(0.0, np.zeros(3), np.zeros((3, 3)))

    @property
    def first_moment(self) -> FloatArray:
        """Mass times centre of mass [kg m], shape (3,)."""
        return self.mass * self.center_of_mass

    @property
    def inertia_about_origin(self) -> FloatArray:
        """Inertia tensor about the origin of the frame [kg m^2], shape (3, 3)."""
        cross = cross_matrix(self.center_of_mass)
        return self.inertia_about_com - self.mass * (cross @ cross)

    @property
    def parameters(self) -> FloatArray:
        """Inertial parameters about the origin of the frame, in its axes, shape (10,).

        Mass [kg], first moment (3) [kg m], then Ixx, Ixy, Iyy, Ixz, Iyz, Izz [kg m^2]: the order
        of the regressor's columns and of the argument `payload` of the inverse dynamics. For
        another frame: ``inertia.transformed(source_to_target).parameters``.
        """
        tensor = self.inertia_about_origin
        rows, columns = (0, 0, 1, 0, 1, 2), (0, 1, 1, 2, 2, 2)
        return np.concatenate([[self.mass], self.first_moment, tensor[rows, columns]])

    @property
    def is_zero(self) -> bool:
        """True when there is neither mass nor inertia."""
        return self.mass == 0.0 and not self.inertia_about_com.any()

    def transformed(self, source_to_target: Transform) -> Inertia:
        """Return the same body described in the target frame."""
        rotation = source_to_target.rotation
        tensor = rotation @ self.inertia_about_com @ rotation.T
        return Inertia(
            self.mass,
            rotation @ self.center_of_mass + source_to_target.translation,
            0.5 * (tensor + tensor.T),
        )

    def __add__(self, other: Inertia) -> Inertia:
        """Return both bodies lumped into one (same frame)."""
        if self.is_zero:
            return other
        if other.is_zero:
            return self
        mass = self.mass + other.mass
        com = (self.first_moment + other.first_moment) / mass if mass != 0.0 else np.zeros(3)
        tensor = np.zeros((3, 3))
        for part in (self, other):
            cross = cross_matrix(part.center_of_mass - com)
            tensor += part.inertia_about_com - part.mass * (cross @ cross)
        return Inertia(mass, com, tensor)


@dataclass(frozen=True, eq=False)
class Joint:
    """One coordinate of the robot: what a JointState names.

    Attributes
    ----------
    name : str
    type : JointType
    lower, upper : float
        Position limits [rad or m]; infinite where there is none.
    velocity_limit : float
        Largest speed [rad/s or m/s]; infinite where there is none.
    effort_limit : float
        Largest effort [N m or N]; infinite where there is none.
    viscous_friction : float
        [N m s/rad or N s/m], at the joint.
    coulomb_friction : float
        [N m or N], at the joint.
    rotor_inertia : float
        Inertia of the motor's rotor about its own axis [kg m^2] (prismatic: [kg], with the
        gear ratio's unit chosen accordingly).
    gear_ratio : float
        Motor turns per joint turn; the joint feels ``gear_ratio**2 * rotor_inertia``.
    """

    name: str
    type: JointType = JointType.REVOLUTE
    lower: float = -np.inf
    upper: float = np.inf
    velocity_limit: float = np.inf
    effort_limit: float = np.inf
    viscous_friction: float = 0.0
    coulomb_friction: float = 0.0
    rotor_inertia: float = 0.0
    gear_ratio: float = 1.0

    def __post_init__(self) -> None:
        if not self.name:
            raise ModelError('joint: expected a name, got an empty one')
        object.__setattr__(self, 'type', JointType(self.type))
        for key in ('lower', 'upper', 'velocity_limit', 'effort_limit'):
            value = float(getattr(self, key))
            if np.isnan(value):
                raise ModelError(f'joint {self.name!r}: {key}: expected a number, got NaN')
            object.__setattr__(self, key, value)
        for key in ('viscous_friction', 'coulomb_friction', 'rotor_inertia', 'gear_ratio'):
            value = _finite(getattr(self, key), f'joint {self.name!r}: {key}')
            if value < 0.0 and key != 'gear_ratio':
                raise ModelError(f'joint {self.name!r}: {key}: expected >= 0, got {value}')
            object.__setattr__(self, key, value)
        if self.lower > self.upper:
            raise ModelError(
                f'joint {self.name!r}: expected lower <= upper, got {self.lower} > {self.upper}'
            )

    @property
    def reflected_inertia(self) -> float:
        """Rotor inertia as the joint feels it [kg m^2 or kg]."""
        return self.gear_ratio**2 * self.rotor_inertia


@dataclass(frozen=True, eq=False)
class Body:
    """One moving body and the joint that moves it.

    Attributes
    ----------
    name : str
        Link that the joint moves.
    joint_name : str
        Joint as the description names it (a mimic joint has its own name here).
    parent : int
        Index of the parent body, smaller than the body's own; -1 is the base.
    joint_type : JointType
    axis : array, shape (3,)
        Unit axis of the joint in the body's frame (the same in the joint's frame).
    pose_in_parent : Transform
        Pose of the body's frame in the parent's frame at joint position zero.
    coordinate : int
        Index into :attr:`Robot.joints` of the coordinate that moves the joint.
    multiplier, offset : float
        Joint position = multiplier * coordinate + offset; (1, 0) except for mimic joints.
    inertia : Inertia
        All links of the body lumped, in the body's frame.
    """

    name: str
    joint_name: str
    parent: int
    joint_type: JointType
    axis: FloatArray
    pose_in_parent: Transform
    coordinate: int
    multiplier: float = 1.0
    offset: float = 0.0
    inertia: Inertia = field(default_factory=Inertia.zero)

    def __post_init__(self) -> None:
        axis = frozen_array(self.axis, (3,), f'joint {self.joint_name!r}: axis')
        norm = float(np.linalg.norm(axis))
        if abs(norm - 1.0) > 1e-6:
            raise ModelError(
                f'joint {self.joint_name!r}: expected an axis of unit length, got '
                f'{axis.tolist()} of length {norm:.6g}'
            )
        object.__setattr__(self, 'axis', axis)
        object.__setattr__(self, 'joint_type', JointType(self.joint_type))
        for key in ('multiplier', 'offset'):
            value = _finite(getattr(self, key), f'joint {self.joint_name!r}: mimic {key}')
            object.__setattr__(self, key, value)


@dataclass(frozen=True, eq=False)
class Link:
    """One link of the description: a named frame, with the inertia that is its own.

    Attributes
    ----------
    name : str
    body : int
        Body the link is rigidly part of; -1 is the base.
    pose_in_body : Transform
        Pose of the link's frame in that body's frame.
    parent : str or None
        Name of the parent link; None for the base.
    inertia : Inertia
        The link's own inertia, in the link's frame.
    has_inertial : bool
        Whether the description gave an inertia.
    """

    name: str
    body: int
    pose_in_body: Transform
    parent: str | None
    inertia: Inertia = field(default_factory=Inertia.zero)
    has_inertial: bool = True


@dataclass(frozen=True)
class Finding:
    """One remark about a model.

    Attributes
    ----------
    severity : str
        'error' (the dynamics would be wrong or impossible), 'warning' (probably not what was
        meant), 'info'.
    code : str
        Short stable identifier, e.g. 'inertia-not-positive-definite'.
    element : str
        What it is about, e.g. ``link 'forearm'``.
    message : str
        A sentence with what was found and what was expected.
    """

    severity: str
    code: str
    element: str
    message: str


@dataclass(frozen=True, eq=False)
class Robot:
    """A robot: coordinates, moving bodies, named links. Frozen; changes make a new one.

    Attributes
    ----------
    name : str
    joints : tuple of Joint
        Coordinates, in the order of every joint array.
    bodies : tuple of Body
        Moving bodies, parents before children. Their inertia is computed here from `links`.
    links : tuple of Link
        Every link from the base on, fixed ones included.
    base_link : str
        Link whose frame is the base frame.
    tip_link : str or None
        Link whose frame the wrench, the forward kinematics and the Jacobian refer to; None for
        a tree without one.
    findings : tuple of Finding
        What the loader noticed.
    source : str
        Where the model came from, for messages ('' when built in memory).

    Raises
    ------
    ModelError
        When indices, names or the tree's order are inconsistent.
    """

    name: str
    joints: tuple[Joint, ...]
    bodies: tuple[Body, ...]
    links: tuple[Link, ...]
    base_link: str
    tip_link: str | None = None
    findings: tuple[Finding, ...] = ()
    source: str = ''

    def __post_init__(self) -> None:
        for key in ('joints', 'bodies', 'links', 'findings'):
            object.__setattr__(self, key, tuple(getattr(self, key)))
        self._check_names()
        lumped = [Inertia.zero() for _ in self.bodies]
        for link in self.links:
            if not BASE <= link.body < len(self.bodies):
                raise ModelError(f'link {link.name!r}: no body of index {link.body}')
            if link.body != BASE:
                lumped[link.body] += link.inertia.transformed(link.pose_in_body)
        for index, body in enumerate(self.bodies):
            if not BASE <= body.parent < index:
                raise ModelError(
                    f'body {body.name!r}: expected a parent before index {index}, '
                    f'got {body.parent}'
                )
            if not 0 <= body.coordinate < len(self.joints):
                raise ModelError(f'body {body.name!r}: no joint of index {body.coordinate}')
        object.__setattr__(
            self,
            'bodies',
            tuple(
                replace(body, inertia=inertia)
                for body, inertia in zip(self.bodies, lumped, strict=True)
            ),
        )

    def _check_names(self) -> None:
        for what, names in (
            ('joint', [joint.name for joint in self.joints]),
            ('link', [link.name for link in self.links]),
        ):
            seen: set[str] = set()
            for name in names:
                if name in seen:
                    raise ModelError(f'{what} {name!r}: the name is used twice')
                seen.add(name)
        known = {link.name for link in self.links}
        for what, wanted in (('base_link', self.base_link), ('tip_link', self.tip_link)):
            if wanted is not None and wanted not in known:
                raise ModelError(
                    f'{what}: no link {wanted!r}; the links are {", ".join(sorted(known))}'
                )

    @property
    def n(self) -> int:
        """Number of coordinates."""
        return len(self.joints)

    @cached_property
    def joint_names(self) -> tuple[str, ...]:
        """Names of the coordinates, in order."""
        return tuple(joint.name for joint in self.joints)

    @cached_property
    def _links_by_name(self) -> Mapping[str, Link]:
        return {link.name: link for link in self.links}

    def link(self, name: str) -> Link:
        """Return the link of that name.

        Raises
        ------
        ModelError
            When there is none; the message lists the links.
        """
        try:
            return self._links_by_name[name]
        except KeyError:
            raise ModelError(
                f'no link {name!r}; the links are {", ".join(sorted(self._links_by_name))}'
            ) from None

    @property
    def tip(self) -> Link:
        """The tip link.

        Raises
        ------
        ModelError
            When the robot has no tip.
        """
        if self.tip_link is None:
            raise ModelError(f'robot {self.name!r} has no tip; load it with tip_link=...')
        return self.link(self.tip_link)

    @property
    def is_chain(self) -> bool:
        """True when every body's parent is the one before it."""
        return all(body.parent == index - 1 for index, body in enumerate(self.bodies))

    def limits(self, key: str) -> FloatArray:
        """Return one limit of all joints, e.g. ``limits('effort_limit')``, shape (n,)."""
        return np.array([getattr(joint, key) for joint in self.joints], dtype=np.float64)

    def descendants(self, link_name: str) -> frozenset[str]:
        """Return the names of all links beyond a link (itself not included)."""
        self.link(link_name)
        found: set[str] = set()
        frontier = {link_name}
        while frontier:
            frontier = {link.name for link in self.links if link.parent in frontier}
            found |= frontier
        return frozenset(found)

    def cut_beyond(self, link_name: str) -> Robot:
        """Return the robot without everything beyond a link, which becomes the tip.

        This is the model that a wrist sensor wants: what the reading contains already is not
        counted twice. The link itself stays.

        Parameters
        ----------
        link_name : str
            Last link that is kept on its branch.

        Returns
        -------
        Robot

        Raises
        ------
        ModelError
            When the link is unknown, or moving joints are beyond it.
        """
        beyond = self.descendants(link_name)
        moving = [body.joint_name for body in self.bodies if body.name in beyond]
        if moving:
            raise ModelError(
                f'cannot cut beyond link {link_name!r}: joints {moving} are beyond it; '
                'lock them first'
            )
        return replace(
            self,
            links=tuple(link for link in self.links if link.name not in beyond),
            tip_link=link_name,
        )

    def with_payload(self, payload: Inertia, link_name: str | None = None) -> Robot:
        """Return the robot with a rigid payload fixed to a link (default: the tip).

        Parameters
        ----------
        payload : Inertia
            In the frame of that link.
        link_name : str, optional

        Returns
        -------
        Robot
        """
        target = self.tip if link_name is None else self.link(link_name)
        return self.with_links(
            replace(link, inertia=link.inertia + payload, has_inertial=True)
            if link is target
            else link
            for link in self.links
        )

    def payload_parameters(self, payload: Inertia, link_name: str | None = None) -> FloatArray:
        """Return a payload fixed to a link as the inverse dynamics take it at run time.

        Parameters
        ----------
        payload : Inertia
            In the frame of that link.
        link_name : str, optional
            Default: the tip. Any link that is rigidly attached to the tip.

        Returns
        -------
        array, shape (10,)
            :attr:`Inertia.parameters` in the tip's frame: the argument `payload` of
            :meth:`ne_dynamics.Dynamics.inverse_dynamics`.

        Raises
        ------
        ModelError
            When the robot has no tip, the link is unknown, or a joint is between it and the tip.
        """
        tip = self.tip
        link = tip if link_name is None else self.link(link_name)
        if link.body != tip.body:
            rigid = [other.name for other in self.links if other.body == tip.body]
            raise ModelError(
                f'payload on link {link.name!r}: expected a link that does not move against the '
                f'tip {tip.name!r} ({", ".join(rigid)}); for another link load the robot with '
                'that link as its tip, or use Robot.with_payload'
            )
        if link is tip:
            return payload.parameters
        return payload.transformed(tip.pose_in_body.inverse() @ link.pose_in_body).parameters

    def with_links(self, links: Iterable[Link]) -> Robot:
        """Return the robot with other links (lumped inertias follow)."""
        return replace(self, links=tuple(links))
