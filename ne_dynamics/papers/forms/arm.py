"""An arm in Denavit-Hartenberg parameters, as the published forms describe one.

The production recursion works on a :class:`~ne_dynamics.model.robot.Robot`, a tree in frames of
its own choice. The documents describe a chain by its Denavit-Hartenberg table, and each link by
mass, centre of mass and inertia in the link's frame; an :class:`Arm` holds these.
:meth:`Arm.robot` gives the same arm to the production recursion (or to any other program), and
:func:`~ne_dynamics.papers.forms.recovered_arm.arm_from_robot` goes the other way.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from ne_dynamics.algorithms.scalars.elementary import add, cross, multiply
from ne_dynamics.algorithms.scalars.scalar import Vector
from ne_dynamics.errors import ModelError
from ne_dynamics.model.frozen import checked_number
from ne_dynamics.model.robot import (
    BASE,
    Body,
    FloatArray,
    Inertia,
    Joint,
    JointType,
    Link,
    Robot,
    Transform,
    cross_matrix,
)
from ne_dynamics.model.robot_parts import read_joint_type
from ne_dynamics.papers.forms.generic_scalars import Scalars

CONVENTIONS = ('standard', 'modified')
"""Standard: frame i at the far end of link i. Modified (Craig): frame i on joint i."""


Triple = tuple[float, float, float]


def check_convention(convention: str) -> None:
    """Refuse a convention that is none of :data:`CONVENTIONS`.

    Raises
    ------
    ModelError
    """
    if convention not in CONVENTIONS:
        raise ModelError(
            f'convention: expected one of {", ".join(CONVENTIONS)}, got {convention!r}'
        )


def cosine_sine(angle: float) -> tuple[float, float]:
    """Return cosine and sine of a constant angle [rad], exact at quarter turns."""
    quarters = round(angle / (0.5 * math.pi))
    if abs(angle - 0.5 * math.pi * quarters) <= 1e-12:
        return ((1.0, 0.0), (0.0, 1.0), (-1.0, 0.0), (0.0, -1.0))[quarters % 4]
    return math.cos(angle), math.sin(angle)


@dataclass(frozen=True, eq=False)
class DHLink:
    """One row of the table: joint i, and link i that it moves.

    Attributes
    ----------
    theta, d, a, alpha : float
        Denavit-Hartenberg parameters [rad, m, m, rad]; in the modified convention ``a`` and
        ``alpha`` are those that textbooks index i-1.
    offset : float
        Added to the coordinate: theta + q + offset when the joint turns [rad], d + q + offset
        when it slides [m].
    type : JointType
    inertia : Inertia
        Of link i, in frame i.
    viscous_friction, coulomb_friction : float
        At the joint [N m s/rad or N s/m; N m or N].
    reflected_inertia : float
        Of the rotor, as the joint feels it [kg m^2 or kg].
    name : str
        Name of the joint; '' for joint_<i>.
    """

    theta: float = 0.0
    d: float = 0.0
    a: float = 0.0
    alpha: float = 0.0
    offset: float = 0.0
    type: JointType = JointType.REVOLUTE
    inertia: Inertia = field(default_factory=Inertia.zero)
    viscous_friction: float = 0.0
    coulomb_friction: float = 0.0
    reflected_inertia: float = 0.0
    name: str = ''

    def __post_init__(self) -> None:
        what = f'joint {self.name!r}'
        object.__setattr__(self, 'type', read_joint_type(self.type, what))
        for key in ('theta', 'd', 'a', 'alpha', 'offset'):
            object.__setattr__(self, key, checked_number(getattr(self, key), f'{what}: {key}'))
        for key in ('viscous_friction', 'coulomb_friction', 'reflected_inertia'):
            value = checked_number(getattr(self, key), f'{what}: {key}')
            if value < 0.0:
                raise ModelError(f'{what}: {key}: expected >= 0, got {value}')
            object.__setattr__(self, key, value)
        if not isinstance(self.inertia, Inertia):
            raise ModelError(
                f'{what}: inertia: expected an Inertia, got {type(self.inertia).__name__}'
            )

    @classmethod
    def at_joint(cls, joint: Joint, theta: float, d: float, a: float, alpha: float) -> DHLink:
        """Return the row of a robot's joint, with its drive and no inertia yet."""
        return cls(
            theta=theta,
            d=d,
            a=a,
            alpha=alpha,
            type=joint.type,
            viscous_friction=joint.viscous_friction,
            coulomb_friction=joint.coulomb_friction,
            reflected_inertia=joint.reflected_inertia,
            name=joint.name,
        )

    @property
    def is_prismatic(self) -> bool:
        """True when the joint translates."""
        return self.type.is_prismatic

    @cached_property
    def cos_sin_alpha(self) -> tuple[float, float]:
        """Cosine and sine of the twist."""
        return cosine_sine(self.alpha)

    @cached_property
    def constant_angle(self) -> float:
        """What is added to q for the angle about z; the angle itself when prismatic [rad]."""
        return self.theta if self.is_prismatic else self.theta + self.offset

    @cached_property
    def constant_shift(self) -> float:
        """What is added to q for the shift along z; the shift itself when revolute [m]."""
        return self.d + self.offset if self.is_prismatic else self.d

    @cached_property
    def mass(self) -> float:
        """Mass [kg]."""
        return self.inertia.mass

    @cached_property
    def center_of_mass(self) -> Triple:
        """Centre of mass in frame i [m]."""
        x, y, z = self.inertia.center_of_mass.tolist()
        return x, y, z

    @cached_property
    def tensor(self) -> tuple[Triple, Triple, Triple]:
        """Inertia about the centre of mass in the axes of frame i, rows [kg m^2]."""
        return _rows(self.inertia.inertia_about_com)

    @cached_property
    def has_principal_axes(self) -> bool:
        """True when the axes of frame i are principal axes: no products of inertia."""
        tensor = self.inertia.inertia_about_com
        return not (tensor - np.diag(np.diag(tensor))).any()

    def transform(self, convention: str, q: float) -> Transform:
        """Return the pose of frame i in frame i-1 at joint position `q`."""
        before, after = self.transforms_about_joint(convention)
        motion = (
            Transform.from_translation((0.0, 0.0, q))
            if self.is_prismatic
            else Transform.from_rotation(_rotation('z', q))
        )
        return before @ motion @ after

    def transforms_about_joint(self, convention: str) -> tuple[Transform, Transform]:
        """Return the constant poses before and after the joint's motion about or along z."""
        about_z = Transform.from_rotation(_rotation('z', self.constant_angle))
        along_z = Transform.from_translation((0.0, 0.0, self.constant_shift))
        along_x = Transform.from_translation((self.a, 0.0, 0.0))
        about_x = Transform.from_rotation(_rotation('x', self.alpha))
        if convention == 'modified':
            return about_x @ along_x @ about_z @ along_z, Transform.identity()
        if self.is_prismatic:
            return about_z @ along_z, along_x @ about_x
        return about_z, along_z @ along_x @ about_x


@dataclass(frozen=True, eq=False)
class Arm:
    """A chain of links in one Denavit-Hartenberg convention.

    Attributes
    ----------
    convention : str
        'standard' or 'modified'.
    links : tuple of DHLink
        From base to tip; rows without a name get ``joint_<i>``.
    base : Transform
        Pose of frame 0 in the base link's frame, in which gravity is given.
    tool : Transform
        Pose of frame n+1, where the tip wrench acts, in frame n.
    name : str

    Raises
    ------
    ModelError
        When the convention is unknown, there is no link, or two joints have one name.
    """

    convention: str
    links: tuple[DHLink, ...]
    base: Transform = field(default_factory=Transform.identity)
    tool: Transform = field(default_factory=Transform.identity)
    name: str = 'arm'

    def __post_init__(self) -> None:
        check_convention(self.convention)
        links = tuple(
            link if link.name else replace(link, name=f'joint_{index + 1}')
            for index, link in enumerate(self.links)
        )
        if not links:
            raise ModelError('links: expected at least one, got none')
        names = [link.name for link in links]
        for name in names:
            if names.count(name) > 1:
                raise ModelError(f'joint {name!r}: the name is used twice')
        object.__setattr__(self, 'links', links)

    @property
    def n(self) -> int:
        """Number of joints."""
        return len(self.links)

    @cached_property
    def _base_rotation(self) -> tuple[Triple, Triple, Triple] | None:
        """Axes of the base link in frame 0, rows; None when they are its own."""
        return _rows_unless_identity(self.base.rotation.T)

    @cached_property
    def base_offset(self) -> Triple:
        """Position of frame 0 in the base link's frame, in the axes of frame 0 [m]."""
        x, y, z = (self.base.rotation.T @ self.base.translation).tolist()
        return x, y, z

    @cached_property
    def _tool_rotation(self) -> tuple[Triple, Triple, Triple] | None:
        """Axes of frame n+1 in frame n, rows; None when they are the same."""
        return _rows_unless_identity(self.tool.rotation)

    @cached_property
    def tool_offset(self) -> Triple:
        """Position of frame n+1 in frame n [m]."""
        x, y, z = self.tool.translation.tolist()
        return x, y, z

    @property
    def has_tool_offset(self) -> bool:
        """True when frame n+1 is not at the origin of frame n."""
        return any(self.tool_offset)

    def from_base_axes(self, vector: Scalars) -> Vector:
        """Return a vector of the base link's axes in the axes of frame 0."""
        rotation = self._base_rotation
        return list(vector) if rotation is None else multiply(rotation, vector)

    def tip_load(self, wrench: Scalars) -> tuple[Vector, Vector]:
        """Return f_{n+1}, n_{n+1} in frame n, where the inward recursions start.

        Parameters
        ----------
        wrench : sequence of 6 scalars
            Force [N], then moment [N m], which the last link exerts on the environment, at the
            origin of frame n+1 and in its axes.

        Returns
        -------
        force, moment : list of 3 scalars
            In the axes of frame n, the moment about the origin of frame n.
        """
        force, moment = list(wrench[:3]), list(wrench[3:])
        if self._tool_rotation is not None:
            # R_n^{n+1} f_{n+1}, R_n^{n+1} n_{n+1}.
            force = multiply(self._tool_rotation, force)
            moment = multiply(self._tool_rotation, moment)
        if self.has_tool_offset:
            moment = add(moment, cross(self.tool_offset, force))
        return force, moment

    def with_links(self, links: Sequence[DHLink]) -> Arm:
        """Return the arm with other links."""
        return replace(self, links=tuple(links))

    def beyond(self, index: int) -> Arm:
        """Return the arm from the joint of an index outward, on the link before it as its base.

        Its base link's frame is frame `index` of this arm: gravity, where there is any, is given
        in those axes.
        """
        return replace(self, links=self.links[index:], base=Transform.identity())

    def rigid(self) -> Arm:
        """Return the arm without friction of any kind and without rotors."""
        return self.with_links(
            [
                replace(link, viscous_friction=0.0, coulomb_friction=0.0, reflected_inertia=0.0)
                for link in self.links
            ]
        )

    def robot(self) -> Robot:
        """Return the same arm as a robot.

        Its links are called ``base``, ``link_1`` ... ``link_n``, as
        :func:`~ne_dynamics.load_dh` calls them, and ``tool`` when there is one.
        """
        joints: list[Joint] = []
        bodies: list[Body] = []
        links = [Link('base', BASE, Transform.identity(), None, has_inertial=False)]
        frame = self.base
        for index, row in enumerate(self.links):
            before, after = row.transforms_about_joint(self.convention)
            name = f'link_{index + 1}'
            joints.append(
                Joint(
                    name=row.name,
                    type=row.type,
                    viscous_friction=row.viscous_friction,
                    coulomb_friction=row.coulomb_friction,
                    rotor_inertia=row.reflected_inertia,
                )
            )
            bodies.append(
                Body(
                    name=name,
                    joint_name=row.name,
                    parent=index - 1,
                    joint_type=row.type,
                    axis=np.array([0.0, 0.0, 1.0]),
                    pose_in_parent=frame @ before,
                    coordinate=index,
                )
            )
            links.append(Link(name, index, after, links[-1].name, row.inertia))
            frame = after
        if self._tool_rotation is not None or self.has_tool_offset:
            pose = frame @ self.tool
            links.append(Link('tool', self.n - 1, pose, links[-1].name, has_inertial=False))
        return Robot(
            name=self.name,
            joints=tuple(joints),
            bodies=tuple(bodies),
            links=tuple(links),
            base_link='base',
            tip_link=links[-1].name,
        )


def _rotation(axis: str, angle: float) -> FloatArray:
    cosine, sine = cosine_sine(angle)
    unit = {'x': (1.0, 0.0, 0.0), 'z': (0.0, 0.0, 1.0)}[axis]
    skew = cross_matrix(unit)
    rotation: FloatArray = np.eye(3) + sine * skew + (1.0 - cosine) * (skew @ skew)
    return rotation


def _rows(matrix: FloatArray) -> tuple[Triple, Triple, Triple]:
    first, second, third = (tuple(row) for row in matrix.tolist())
    return first, second, third


def _rows_unless_identity(matrix: FloatArray) -> tuple[Triple, Triple, Triple] | None:
    return None if (matrix == np.eye(3)).all() else _rows(matrix)
