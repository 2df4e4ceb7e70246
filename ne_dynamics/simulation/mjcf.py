"""A robot as MuJoCo's XML."""

from __future__ import annotations

import math
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterable

import numpy as np

from ne_dynamics.errors import ModelError, optional_dependency
from ne_dynamics.model.rigid_body import FloatArray, Inertia, Transform
from ne_dynamics.model.robot import BASE, Body, Link, Robot
from ne_dynamics.simulation.base_motion import BaseMotion
from ne_dynamics.simulation.integrators import INTEGRATORS
from ne_dynamics.simulation.lumped_inertia import SensorCut, principal_moments

with optional_dependency('the simulated robot needs MuJoCo', 'sim'):
    import mujoco

SENSOR = 'wrist sensor'
"""Name of the MuJoCo body and site at the cut."""

_IMU = 'imu'
"""Name of the site of the inertial measurement unit."""

_MOVING_BASE = 'moving base'
"""Name of the MuJoCo body that carries the base; its joints are numbered."""

DRIVEN_INERTIA = 1e9
"""Rotor inertia of the joints of the base, whose excursion is set each period: 1 kN m disturbs
1e-6 rad/s^2 [kg m^2 or kg]."""

_IMPEDANCE = '0.9999 0.9999 0.001 0.5 2'
"""`solimp` of mimic joints and Coulomb friction: nearly rigid, whatever the violation."""


class MjcfWriter:
    """Writes a robot as MJCF, its masses and moments as stand-ins (mass 1, moments 1).

    Parameters
    ----------
    robot : Robot
    leaders : list of int
        For each coordinate the body whose joint carries it.
    inertias : list of Inertia
        Of the bodies, without what is beyond the cut.
    cut : SensorCut or None
        Where a wrist sensor measures.
    timestep : float
        [s]
    joint_limits : bool
        Whether joints stop at their position limits.
    """

    def __init__(
        self,
        robot: Robot,
        leaders: list[int],
        inertias: list[Inertia],
        cut: SensorCut | None,
        timestep: float,
        joint_limits: bool,
    ) -> None:
        self._robot = robot
        self._leaders = leaders
        self._inertias = inertias
        self._cut = cut
        self._timestep = timestep
        # The `solref` of a constraint with the shortest time constant that stays calm.
        self._stiffest = _numbers((4.0 * timestep, 1.0))
        self._joint_limits = joint_limits

    def write(
        self, gravity: FloatArray, integrator: str, base: BaseMotion, imu_link: Link | None
    ) -> str:
        """Return the model.

        Gravity is the acceleration of free fall in the world's axes, shape (3,) [m/s^2], the
        integrator one of :data:`~ne_dynamics.simulation.integrators.INTEGRATORS`; `imu_link`
        carries an inertial measurement unit.
        """
        root = ElementTree.Element('mujoco', model=self._robot.name)
        ElementTree.SubElement(root, 'compiler', angle='radian', autolimits='true')
        option = ElementTree.SubElement(
            root,
            'option',
            timestep=repr(self._timestep),
            gravity=_numbers(gravity),
            integrator=INTEGRATORS[integrator],
        )
        ElementTree.SubElement(option, 'flag', contact='disable', autoreset='disable')
        elements = self._add_bodies(ElementTree.SubElement(root, 'worldbody'), base)
        self._add_mimic_constraints(root)
        self._add_coupled_drives(root)
        sensors = ElementTree.SubElement(root, 'sensor')
        if self._cut is not None:
            ElementTree.SubElement(sensors, 'force', name='force', site=SENSOR)
            ElementTree.SubElement(sensors, 'torque', name='torque', site=SENSOR)
        if imu_link is not None:
            _add_imu(sensors, elements[imu_link.body], imu_link.pose_in_body)
        return ElementTree.tostring(root, encoding='unicode')

    def _add_bodies(
        self, world: ElementTree.Element, base: BaseMotion
    ) -> dict[int, ElementTree.Element]:
        """Add base, bodies, joints and the body beyond the sensor; return elements by body."""
        robot, cut = self._robot, self._cut
        elements = {BASE: _base_element(world, base)}
        sensor = self._sensor_element(elements[BASE], BASE)
        for index, body in enumerate(robot.bodies):
            parent, pose = elements[body.parent], body.pose_in_parent
            if (
                cut is not None
                and sensor is not None
                and body.parent == cut.link.body
                and body.name in cut.names_beyond
            ):
                parent, pose = sensor, cut.link.pose_in_body.inverse() @ pose
            elements[index] = _body_element(parent, body.name, pose, self._inertias[index])
            self._add_joint(elements[index], body, self._leaders[body.coordinate] == index)
            if sensor is None:
                sensor = self._sensor_element(elements[index], index)
        return elements

    def _sensor_element(
        self, element: ElementTree.Element, body: int
    ) -> ElementTree.Element | None:
        """Add the body beyond the cut, with the sensor's site, if the cut is on `body`."""
        cut = self._cut
        if cut is None or cut.link.body != body:
            return None
        sensor = _body_element(element, SENSOR, cut.link.pose_in_body, cut.inertia_beyond)
        ElementTree.SubElement(sensor, 'site', name=SENSOR)
        return sensor

    def _add_joint(self, parent: ElementTree.Element, body: Body, is_leader: bool) -> None:
        joint = self._robot.joints[body.coordinate]
        attributes = {
            'name': body.joint_name,
            'type': 'slide' if body.joint_type.is_prismatic else 'hinge',
            'axis': _numbers(body.axis),
        }
        if is_leader:
            # Friction and rotor belong to the coordinate, the MuJoCo joint turns m times as far.
            attributes['damping'] = repr(joint.viscous_friction / body.multiplier**2)
            attributes['frictionloss'] = repr(joint.coulomb_friction / abs(body.multiplier))
            attributes['solreffriction'] = self._stiffest
            attributes['solimpfriction'] = _IMPEDANCE
            attributes['armature'] = repr(joint.reflected_inertia / body.multiplier**2)
            ends = sorted(
                body.multiplier * end + body.offset for end in (joint.lower, joint.upper)
            )
            if self._joint_limits and all(map(math.isfinite, ends)) and ends[0] < ends[1]:
                attributes['range'] = _numbers(ends)
        ElementTree.SubElement(parent, 'joint', attributes)

    def _add_coupled_drives(self, root: ElementTree.Element) -> None:
        """Add a tendon for each drive: its length changes as the shaft turns.

        Raises
        ------
        ModelError
            When a rotor turns with joints of several branches: MuJoCo's mass matrix has no
            entries for these.
        """
        robot = self._robot
        if not robot.coupled_drives:
            return
        tendons = ElementTree.SubElement(root, 'tendon')
        for drive in robot.coupled_drives:
            tendon = ElementTree.SubElement(
                tendons,
                'fixed',
                name=drive.name,
                damping=repr(drive.viscous_friction),
                frictionloss=repr(drive.coulomb_friction),
                solreffriction=self._stiffest,
                solimpfriction=_IMPEDANCE,
                armature=repr(drive.reflected_inertia),
            )
            leaders = [self._leaders[robot.joint_names.index(name)] for name in drive.joints]
            if drive.rotor_inertia > 0.0 and not _are_on_one_chain(robot, leaders):
                raise ModelError(
                    f'coupled drive {drive.name!r}: to simulate its rotor_inertia, expected '
                    f'joints of one chain, got {", ".join(drive.joints)}'
                )
            for index, ratio in zip(leaders, drive.ratios, strict=True):
                leader = robot.bodies[index]
                ElementTree.SubElement(
                    tendon, 'joint', joint=leader.joint_name, coef=repr(ratio / leader.multiplier)
                )

    def _add_mimic_constraints(self, root: ElementTree.Element) -> None:
        """Tie the joints that share a coordinate to the one that carries it."""
        bodies, leaders = self._robot.bodies, self._leaders
        pairs = [
            (bodies[leaders[body.coordinate]], body)
            for index, body in enumerate(bodies)
            if leaders[body.coordinate] != index
        ]
        if not pairs:
            return
        equality = ElementTree.SubElement(root, 'equality')
        for leader, follower in pairs:
            slope = follower.multiplier / leader.multiplier
            ElementTree.SubElement(
                equality,
                'joint',
                joint1=follower.joint_name,
                joint2=leader.joint_name,
                polycoef=_numbers((follower.offset - slope * leader.offset, slope, 0.0, 0.0, 0.0)),
                solref=self._stiffest,
                solimp=_IMPEDANCE,
            )


def _are_on_one_chain(robot: Robot, bodies: list[int]) -> bool:
    """Return whether each of some bodies carries the next, directly or not."""
    index = max(bodies)
    carriers = {index}
    while index != BASE:
        index = robot.bodies[index].parent
        carriers.add(index)
    return carriers >= set(bodies)


def _base_element(world: ElementTree.Element, base: BaseMotion) -> ElementTree.Element:
    """Return what carries the base: the world, or a body in it that stands askew or moves."""
    if base.is_level:
        return world
    element = ElementTree.SubElement(
        world, 'body', name=_MOVING_BASE, quat=_quaternion(base.base_to_world)
    )
    if base.oscillations:
        ElementTree.SubElement(element, 'inertial', mass='1', diaginertia='1 1 1', pos='0 0 0')
    for number, oscillation in enumerate(base.oscillations):
        ElementTree.SubElement(
            element,
            'joint',
            name=f'{_MOVING_BASE} {number}',
            type='hinge' if oscillation.turns else 'slide',
            axis=_numbers(oscillation.axis),
            pos=_numbers(oscillation.center),
            armature=repr(DRIVEN_INERTIA),
            stiffness=repr(DRIVEN_INERTIA * oscillation.angular_frequency**2),
        )
    return element


def _add_imu(sensors: ElementTree.Element, body: ElementTree.Element, pose: Transform) -> None:
    _add_placed(body, 'site', _IMU, pose)
    ElementTree.SubElement(sensors, 'framequat', objtype='site', objname=_IMU)
    ElementTree.SubElement(sensors, 'gyro', site=_IMU)
    ElementTree.SubElement(sensors, 'accelerometer', site=_IMU)


def _add_placed(
    parent: ElementTree.Element, tag: str, name: str, pose: Transform
) -> ElementTree.Element:
    position, turn = _numbers(pose.translation), _quaternion(pose.rotation)
    return ElementTree.SubElement(parent, tag, name=name, pos=position, quat=turn)


def _body_element(
    parent: ElementTree.Element, name: str, pose: Transform, inertia: Inertia
) -> ElementTree.Element:
    element = _add_placed(parent, 'body', name, pose)
    ElementTree.SubElement(
        element,
        'inertial',
        mass='1',
        diaginertia='1 1 1',
        pos=_numbers(inertia.center_of_mass),
        quat=_quaternion(principal_moments(inertia)[1]),
    )
    return element


def _numbers(values: Iterable[float]) -> str:
    return ' '.join(repr(float(value)) for value in values)


def _quaternion(rotation: FloatArray) -> str:
    quaternion = np.zeros(4)
    mujoco.mju_mat2Quat(quaternion, np.ascontiguousarray(rotation).reshape(9))
    return _numbers(quaternion)
