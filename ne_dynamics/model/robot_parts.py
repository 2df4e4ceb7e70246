"""The parts of a robot: its coordinates, the bodies that joints move, the links."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any

import numpy as np

from ne_dynamics.errors import ModelError
from ne_dynamics.model.friction import FrictionModel
from ne_dynamics.model.frozen import Frozen, checked_number, frozen_array, settle_drive
from ne_dynamics.model.rigid_body import FloatArray, Inertia, Transform

DRIVE_KEYS = ('viscous_friction', 'coulomb_friction', 'rotor_inertia', 'gear_ratio')
"""What a joint that mimics another one may have too: it adds to that of the other."""

FRICTION_KEYS = tuple(item.name for item in fields(FrictionModel))

JOINT_KEYS = (*DRIVE_KEYS, *FRICTION_KEYS)

BASE = -1
"""Index of the fixed base where a body index is expected."""


class JointType(str, enum.Enum):
    """How a joint moves; the values are the words of URDF."""

    REVOLUTE = 'revolute'
    CONTINUOUS = 'continuous'
    PRISMATIC = 'prismatic'

    @property
    def is_prismatic(self) -> bool:
        """True when the joint translates."""
        return self is JointType.PRISMATIC

    @property
    def position_unit(self) -> str:
        """Unit of a position: rad or m."""
        return 'm' if self.is_prismatic else 'rad'

    @property
    def effort_unit(self) -> str:
        """Unit of an effort: N m or N."""
        return 'N' if self.is_prismatic else 'N m'


@dataclass(frozen=True, eq=False)
class Joint(Frozen):
    """One joint with a coordinate of its own: limits, friction and drive.

    Attributes
    ----------
    name : str
    type : JointType
    lower, upper : float
        Position limits [rad or m]; infinite for no limit.
    velocity_limit : float
        Largest speed [rad/s or m/s]; infinite for no limit.
    effort_limit : float
        Largest effort [N m or N]; infinite for no limit.
    viscous_friction : float
        At the joint [N m s/rad or N s/m].
    coulomb_friction : float
        At the joint [N m or N].
    rotor_inertia : float
        Inertia of the motor's rotor about its own axis, before the gear [kg m^2].
    gear_ratio : float
        Motor turns per joint turn (prismatic: [rad/m], or 1 with a rotor inertia in kg). The
        inertia at the joint is ``gear_ratio**2 * rotor_inertia`` [kg m^2 or kg].
    acceleration_limit : float
        Largest acceleration [rad/s^2 or m/s^2]; infinite for no limit.
    deceleration_limit : float
        Largest deceleration [rad/s^2 or m/s^2], positive; infinite for no limit.
    jerk_limit : float
        Largest jerk [rad/s^3 or m/s^3]; infinite for no limit.
    friction : FrictionModel
        Terms of the friction beyond viscous and Coulomb friction.
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
    acceleration_limit: float = np.inf
    deceleration_limit: float = np.inf
    jerk_limit: float = np.inf
    friction: FrictionModel = field(default_factory=FrictionModel)

    def __post_init__(self) -> None:
        if not self.name:
            raise ModelError('joint: expected a name, got an empty one')
        what = f'joint {self.name!r}'
        object.__setattr__(self, 'type', read_joint_type(self.type, what))
        for key in (
            'lower',
            'upper',
            'velocity_limit',
            'effort_limit',
            'acceleration_limit',
            'deceleration_limit',
            'jerk_limit',
        ):
            value = checked_number(getattr(self, key), f'{what}: {key}', may_be_infinite=True)
            object.__setattr__(self, key, value)
        settle_drive(self, DRIVE_KEYS, what)
        if not np.isfinite(self.reflected_inertia):
            raise ModelError(
                f'{what}: gear_ratio and rotor_inertia: expected a finite '
                f'gear_ratio^2 * rotor_inertia, got overflow with {self.gear_ratio:g} and '
                f'{self.rotor_inertia:g}'
            )
        if not isinstance(self.friction, FrictionModel):
            raise ModelError(
                f'{what}: friction: expected a FrictionModel, got {type(self.friction).__name__}'
            )
        if self.lower > self.upper:
            raise ModelError(f'{what}: expected lower <= upper, got {self.lower} > {self.upper}')

    @property
    def reflected_inertia(self) -> float:
        """Reflected rotor inertia, ``gear_ratio**2 * rotor_inertia`` [kg m^2 or kg]."""
        # The operator ** raises where a product becomes infinite.
        return self.gear_ratio * self.gear_ratio * self.rotor_inertia


def read_joint_type(value: str, what: str) -> JointType:
    """Return the type of that word, or raise a ModelError that begins with `what`."""
    try:
        return JointType(value)
    except ValueError as error:
        words = ', '.join(kind.value for kind in JointType)
        raise ModelError(f'{what}: type: expected one of {words}, got {value!r}') from error


def replace_numbers(joint: Joint, numbers: Mapping[str, float], where: str = '') -> Joint:
    """Return a joint with other numbers.

    Parameters
    ----------
    joint : Joint
    numbers : mapping of str to float
        By key, of :data:`JOINT_KEYS`.
    where : str
        First words of an error.

    Raises
    ------
    ModelError
        When the numbers do not go together.
    """
    own: dict[str, Any] = {key: value for key, value in numbers.items() if key in DRIVE_KEYS}
    more: dict[str, Any] = {key: value for key, value in numbers.items() if key in FRICTION_KEYS}
    try:
        friction = replace(joint.friction, **more) if more else joint.friction
    except ModelError as error:
        raise ModelError(f'{where}joint {joint.name!r}: {error}') from error
    try:
        return replace(joint, friction=friction, **own)
    except ModelError as error:
        raise ModelError(f'{where}{error}') from error


@dataclass(frozen=True, eq=False)
class Body(Frozen):
    """One moving body and the joint that moves it.

    Attributes
    ----------
    name : str
        Link that the joint moves.
    joint_name : str
        Name of the joint in the description; mimic joints have their own names here.
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
        Sum of the inertias of the body's links, in the body's frame.
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
        with np.errstate(all='ignore'):
            norm = float(np.linalg.norm(axis))
        if abs(norm - 1.0) > 1e-6:
            raise ModelError(
                f'joint {self.joint_name!r}: expected an axis of unit length, got '
                f'{axis.tolist()} of length {norm:.6g}'
            )
        object.__setattr__(self, 'axis', axis)
        kind = read_joint_type(self.joint_type, f'joint {self.joint_name!r}')
        object.__setattr__(self, 'joint_type', kind)
        for key in ('multiplier', 'offset'):
            value = checked_number(getattr(self, key), f'joint {self.joint_name!r}: mimic {key}')
            object.__setattr__(self, key, value)


@dataclass(frozen=True, eq=False)
class Link(Frozen):
    """One link of the description: a named frame with its own inertia.

    Attributes
    ----------
    name : str
    body : int
        Index of the body that the link is part of; -1 is the base.
    pose_in_body : Transform
        Pose of the link's frame in the body's frame.
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
