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

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from ne_dynamics.errors import ModelError
from ne_dynamics.model.friction import FrictionModel
from ne_dynamics.model.frozen import Frozen
from ne_dynamics.model.rigid_body import (
    FloatArray,
    Inertia,
    Transform,
    axis_angle_rotation,
    cross_matrix,
)
from ne_dynamics.model.robot_parts import BASE, Body, Joint, JointType, Link

if TYPE_CHECKING:
    from ne_dynamics.model.coupled_drive import CoupledDrive

__all__ = [
    'BASE',
    'Body',
    'FloatArray',
    'FrictionModel',
    'Inertia',
    'Joint',
    'JointType',
    'Link',
    'ModelFinding',
    'Robot',
    'Transform',
    'axis_angle_rotation',
    'cross_matrix',
]

LARGEST = 1e300
"""Largest mass, squared length and inertia of a robot [SI]: gravity times them is still finite."""


@dataclass(frozen=True)
class ModelFinding(Frozen):
    """One remark about a model, from the loader or the checks.

    Attributes
    ----------
    severity : str
        'error' (the dynamics would be wrong or impossible), 'warning' (probably not intended) or
        'info'.
    code : str
        Short stable identifier, e.g. 'inertia-not-positive-definite'.
    element : str
        The element it concerns, e.g. ``link 'forearm'``.
    message : str
        A sentence with what was found and what was expected.
    """

    severity: str
    code: str
    element: str
    message: str


@dataclass(frozen=True, eq=False)
class Robot(Frozen):
    """A robot: joints, moving bodies and named links; immutable.

    Attributes
    ----------
    name : str
    joints : tuple of Joint
        Joints with a coordinate of their own, in the order of every joint array.
    bodies : tuple of Body
        Moving bodies, parents before children. Their inertia is computed from `links`.
    links : tuple of Link
        All links from the base on, links behind fixed joints included.
    base_link : str
        Link whose frame is the base frame.
    tip_link : str or None
        Link whose frame the wrench, the forward kinematics and the Jacobian refer to; None if
        there is none, as in a branched tree.
    findings : tuple of ModelFinding
        Remarks of the loader.
    source : str
        Origin of the model, for messages; '' if built in memory.
    coupled_drives : tuple of CoupledDrive
        Drives that act on several joints, in addition to the joints' own drives.

    Raises
    ------
    ModelError
        When indices, names or the order of the tree are inconsistent, or the lumped inertia of a
        body overflows.
    """

    name: str
    joints: tuple[Joint, ...]
    bodies: tuple[Body, ...]
    links: tuple[Link, ...]
    base_link: str
    tip_link: str | None = None
    findings: tuple[ModelFinding, ...] = ()
    source: str = ''
    coupled_drives: tuple[CoupledDrive, ...] = ()

    def __post_init__(self) -> None:
        for key in ('joints', 'bodies', 'links', 'findings', 'coupled_drives'):
            object.__setattr__(self, key, tuple(getattr(self, key)))
        self._check_names()
        lumped = self._lump_links()
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
        self._check_sums()

    def _lump_links(self) -> list[Inertia]:
        """Return the inertia of every body, the sum of its links', in the body's frame."""
        lumped = [Inertia.zero() for _ in self.bodies]
        for link in self.links:
            if not BASE <= link.body < len(self.bodies):
                raise ModelError(f'link {link.name!r}: no body of index {link.body}')
            if link.body == BASE:
                continue
            try:
                lumped[link.body] += link.inertia.transformed(link.pose_in_body)
            except ModelError as error:
                raise ModelError(
                    f'link {link.name!r}: inertia, lumped into body '
                    f'{self.bodies[link.body].name!r}: {error}'
                ) from error
        return lumped

    def _check_sums(self) -> None:
        """Refuse numbers that are finite alone and overflow in the equations of motion.

        The bounds are those of the stretched arm, with every mass at its end.
        """
        reaches = {BASE: 0.0}
        mass, inertia = 0.0, 0.0
        for index, body in enumerate(self.bodies):
            own = body.inertia
            step = _bound_length(body.pose_in_parent.translation)
            if body.joint_type.is_prismatic:
                step += abs(body.offset)
            reach = reaches[index] = reaches[body.parent] + step
            distance = reach + _bound_length(own.center_of_mass)
            gain = max(1.0, body.multiplier * body.multiplier)
            mass += abs(own.mass)
            inertia += gain * (
                abs(own.mass) * distance * distance + float(np.abs(own.inertia_about_com).max())
            )
            _check_reach(reach, f'body {body.name!r}: pose_in_parent and offset')
            if not (mass <= LARGEST and inertia <= LARGEST and gain <= LARGEST):
                raise ModelError(
                    f'body {body.name!r}: mass, inertia and multiplier: expected at most '
                    f'{LARGEST:g} in sum with the bodies before it, got {mass:g} kg and '
                    f'{inertia:g} kg m^2 within {distance:g} m, multiplier {body.multiplier:g}'
                )
        for link in self.links:
            reach = reaches[link.body] + _bound_length(link.pose_in_body.translation)
            _check_reach(reach, f'link {link.name!r}: pose_in_body')

    @property
    def position_unit(self) -> str:
        """Unit of positions of all joints, for labels of axes."""
        return ' or '.join(sorted({joint.type.position_unit for joint in self.joints})[::-1])

    @property
    def effort_unit(self) -> str:
        """Unit of efforts of all joints, for labels of axes."""
        return ' or '.join(sorted({joint.type.effort_unit for joint in self.joints})[::-1])

    def _check_names(self) -> None:
        for what, names in (
            ('joint', [joint.name for joint in self.joints]),
            ('link', [link.name for link in self.links]),
            ('coupled drive', [drive.name for drive in self.coupled_drives]),
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
        for drive in self.coupled_drives:
            drive.require_joints(self.joint_names)

    @property
    def n(self) -> int:
        """Number of joints with a coordinate of their own."""
        return len(self.joints)

    @property
    def joint_names(self) -> tuple[str, ...]:
        """Names of the joints, in the order of every joint array."""
        return tuple(joint.name for joint in self.joints)

    @property
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
        except (KeyError, TypeError):
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
        """True if the parent of every body is the body before it."""
        return all(body.parent == index - 1 for index, body in enumerate(self.bodies))

    def joint_values(self, key: str) -> FloatArray:
        """Return one attribute of every joint, shape (n,).

        Parameters
        ----------
        key : str
            A numeric attribute of :class:`Joint`, e.g. ``viscous_friction`` or
            ``reflected_inertia``.
        """
        return np.array([getattr(joint, key) for joint in self.joints], dtype=np.float64)

    @property
    def coupling_matrix(self) -> FloatArray:
        """Matrix from joint velocities to coupled drives' shaft velocities, shape (drives, n)."""
        rows = [drive.find_row(self.joint_names) for drive in self.coupled_drives]
        return np.array(rows).reshape(len(rows), self.n)

    @property
    def coupled_inertia(self) -> FloatArray:
        """Mass matrix of the coupled drives, shape (n, n) [kg m^2, kg m or kg]."""
        rows = self.coupling_matrix
        inertias = [drive.reflected_inertia for drive in self.coupled_drives]
        result: FloatArray = (rows.T * inertias) @ rows
        return result

    @property
    def coupled_friction(self) -> FloatArray:
        """Largest effort of the coupled drives' Coulomb friction, shape (n,) [N m or N]."""
        levels = np.array([drive.coulomb_friction for drive in self.coupled_drives])
        largest: FloatArray = levels @ np.abs(self.coupling_matrix)
        return largest

    def limits(self, key: str) -> FloatArray:
        """Return one limit of every joint, e.g. ``limits('effort_limit')``, shape (n,)."""
        return self.joint_values(key)

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

        Use it for a wrist sensor: its reading contains what is beyond it already, which must not
        be counted twice. The link itself is kept.

        Parameters
        ----------
        link_name : str
            Last link to keep on its branch.

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

        Raises
        ------
        ModelError
            When the robot has no tip, the link is unknown, or a number of the sum overflows.
        """
        target = self.tip if link_name is None else self.link(link_name)
        try:
            loaded = replace(target, inertia=target.inertia + payload, has_inertial=True)
        except ModelError as error:
            raise ModelError(f'payload on link {target.name!r}: {error}') from error
        return self.with_links(loaded if link is target else link for link in self.links)

    def payload_parameters(self, payload: Inertia, link_name: str | None = None) -> FloatArray:
        """Return the inertial parameters of a payload, for the argument `payload` of the dynamics.

        Parameters
        ----------
        payload : Inertia
            In the frame of the link.
        link_name : str, optional
            The tip (default) or a link fixed to it.

        Returns
        -------
        array, shape (10,)
            :attr:`Inertia.parameters` in the tip's frame, for
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

    def with_inertial_parameters(self, parameters: FloatArray) -> Robot:
        """Return the robot with other inertias of its bodies.

        The first link of each body carries all of its inertia; the others have none.

        Parameters
        ----------
        parameters : array, shape (10 b,)
            :attr:`Inertia.parameters` of the b bodies, each in its body's frame. They need not be
            physically consistent, but a first moment needs a mass.

        Returns
        -------
        Robot

        Raises
        ------
        ModelError
            When a number is not finite or too large, or there is a first moment without a mass.
        """
        rows = np.asarray(parameters, dtype=np.float64).reshape(len(self.bodies), -1)
        seen: set[int] = set()
        links = []
        for link in self.links:
            if link.body != BASE:
                inertia = Inertia.zero()
                if link.body not in seen:
                    try:
                        own = Inertia.from_parameters(rows[link.body])
                    except ModelError as error:
                        name = self.bodies[link.body].name
                        raise ModelError(f'body {name!r}: {error}') from error
                    inertia = own.transformed(link.pose_in_body.inverse())
                seen.add(link.body)
                link = replace(link, inertia=inertia, has_inertial=True)
            links.append(link)
        return self.with_links(links)

    def with_joint_values(self, key: str, values: FloatArray) -> Robot:
        """Return the robot with another value of one attribute of every joint.

        Parameters
        ----------
        key : str
            A numeric attribute of :class:`Joint`, e.g. ``viscous_friction``.
        values : array, shape (n,)

        Raises
        ------
        ModelError
            When a joint refuses its value.
        """
        return replace(
            self,
            joints=tuple(
                replace(joint, **{key: float(value)})  # type: ignore[arg-type]
                for joint, value in zip(self.joints, values, strict=True)
            ),
        )

    def without_friction(self) -> Robot:
        """Return the robot without any friction in its joints and coupled drives."""
        return replace(
            self,
            joints=tuple(
                replace(
                    joint, viscous_friction=0.0, coulomb_friction=0.0, friction=FrictionModel()
                )
                for joint in self.joints
            ),
            coupled_drives=tuple(drive.without_friction() for drive in self.coupled_drives),
        )

    def with_links(self, links: Iterable[Link]) -> Robot:
        """Return the robot with other links; the inertias of the bodies are computed from them."""
        return replace(self, links=tuple(links))


def _bound_length(vector: FloatArray) -> float:
    """Return a number that the length of a vector does not exceed; infinite on overflow."""
    x, y, z = vector.tolist()
    return float(abs(x) + abs(y) + abs(z))


def _check_reach(reach: float, what: str) -> None:
    if not reach * reach <= LARGEST:
        raise ModelError(
            f'{what}: expected a frame within {LARGEST**0.5:g} m of the base, got {reach:g} m'
        )
