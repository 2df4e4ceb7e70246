"""What a URDF says, each part checked by itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

from ne_dynamics.model.rigid_body import FloatArray, Inertia, Transform
from ne_dynamics.model.robot import ModelFinding
from ne_dynamics.model.urdf.rotor_elements import RotorDescription

if TYPE_CHECKING:
    from ne_dynamics.model.coupled_drive import CoupledDrive

MOVING_TYPES = ('revolute', 'continuous', 'prismatic')
"""Joints with one coordinate."""

UNSUPPORTED_TYPES = ('floating', 'planar')
"""Joints of URDF with several coordinates: read, and nothing more."""


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
    limits : mapping of str to float
        With names and units of :class:`~ne_dynamics.model.robot.Joint`: `lower` and `upper`,
        infinite where there is none, and others that are given.
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
    limits: Mapping[str, float]
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
    findings : tuple of ModelFinding
        What the reader noticed.
    source : str
        File that it was read from; '' for a text.
    coupled_drives : tuple of CoupledDrive
        Over joints that may follow others or not move.
    """

    name: str
    links: Mapping[str, LinkDescription]
    joints: Mapping[str, JointDescription]
    findings: tuple[ModelFinding, ...]
    source: str
    coupled_drives: tuple[CoupledDrive, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, 'links', MappingProxyType(dict(self.links)))
        object.__setattr__(self, 'joints', MappingProxyType(dict(self.joints)))
