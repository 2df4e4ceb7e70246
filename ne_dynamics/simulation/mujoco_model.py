"""A :class:`~ne_dynamics.model.robot.Robot` as a MuJoCo model: physics that share no recursion.

Every moving body becomes a MuJoCo body with one hinge or slide joint; what the robot says of
poses, axes, inertia, rotor inertia and friction is handed over number by number, and MuJoCo
does all mechanics. Nothing collides: the bodies have no shape.

Two things are not left to MuJoCo's compiler. Mass and principal moments are written into the
compiled model, because the compiler refuses sets that no rigid body can have (a vanishing mass
with an inertia, principal moments that break the triangle inequality) although they are usual
in published arm models, the Puma 560's among them, and are harmless as long as the arm as a
whole has a positive definite mass matrix. That is checked instead. And what lies beyond a wrist
sensor is split off into a MuJoCo body of its own, rigidly fixed, so that MuJoCo's force and
torque sensors measure the interaction at that cut.

A base that rocks or sways is a body on joints of its own: oscillators, a spring and a rotor
inertia each, so heavy (`driven_inertia`) that the arm does not disturb them. The arm then
feels all inertial forces, in whatever way MuJoCo integrates.
"""

from __future__ import annotations

import math
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ne_dynamics.dynamics import STANDARD_GRAVITY
from ne_dynamics.errors import InputError, ModelError, optional_dependency
from ne_dynamics.model.rigid_body import FloatArray, Inertia, Transform
from ne_dynamics.model.robot import BASE, Body, Link, Robot
from ne_dynamics.simulation.base_motion import BaseMotion
from ne_dynamics.simulation.friction_levels import FrictionLevels, HysteresisEfforts
from ne_dynamics.simulation.integrators import INTEGRATORS
from ne_dynamics.simulation.thresholds import SIMULATION

with optional_dependency('the simulated robot needs MuJoCo', 'sim'):
    import mujoco


_SENSOR = 'wrist sensor'
"""Name of the MuJoCo body and site at the cut."""

_IMU = 'imu'
"""Name of the site of the inertial measurement unit."""

_MOVING_BASE = 'moving base'
"""Name of the MuJoCo body that carries the base; its joints are numbered."""

_IMPEDANCE = '0.9999 0.9999 0.001 0.5 2'
"""`solimp` of mimic joints and Coulomb friction: nearly rigid, whatever the violation."""


class ImuReading(NamedTuple):
    """What an inertial measurement unit measures, in the axes of its link.

    Attributes
    ----------
    orientation : array, shape (4,)
        Of its link in the world (east, north, up): quaternion x, y, z, w.
    angular_velocity : array, shape (3,)
        [rad/s]
    specific_force : array, shape (3,)
        Acceleration minus that of free fall [m/s^2]: at rest and level (0, 0, 9.8).
    """

    orientation: FloatArray
    angular_velocity: FloatArray
    specific_force: FloatArray


class MujocoArm:
    """A simulated arm: coordinates in the robot's order, advanced by efforts.

    Parameters
    ----------
    robot : Robot
        With payload and model error already in it.
    gravity : array-like, shape (3,)
        Acceleration of free fall in the world's axes [m/s^2].
    period : float
        Time one :meth:`step` takes [s]; the effort is held over it.
    substeps : int
        Integration steps in a period.
    integrator : str
        'rk4' (fourth order; the default), 'implicitfast' (first order, stable for stiff joint
        friction) or 'euler'.
    sensor_link : str, optional
        Last link on the arm's side of a force/torque sensor; everything beyond it is measured.
    joint_limits : bool
        Whether a joint stops at its position limits (by MuJoCo's soft constraint). Off unless
        asked for: a controller under test should be seen to leave them.
    base : BaseMotion, optional
        How the base stands in the world and moves; default: level and at rest.
    imu_link : str, optional
        Link that carries an inertial measurement unit, at its frame's origin.

    Attributes
    ----------
    robot : Robot
    period : float
        [s]
    sensor_link : str or None
    model : mujoco.MjModel
    data : mujoco.MjData
    mjcf : str
        The model as MuJoCo's XML, with stand-ins (mass 1, moments 1) for the inertias, which
        are written into `model` after it is compiled.

    Raises
    ------
    ModelError
        When a moving link, with what is fixed to it, has a negative mass or a negative
        principal moment of inertia, when the mass matrix is not positive definite (the message
        names the joint and its link), or when `sensor_link` or `imu_link` is unknown.
    InputError
        When period, substeps, gravity or the integrator's name cannot be used.

    Notes
    -----
    Mimic joints have no coordinate of their own in a :class:`Robot`. MuJoCo knows them only as
    a constraint, which it solves softly: the joints of one coordinate agree to about 1e-7, not
    exactly. Coulomb friction is a soft constraint as well (`frictionloss`, made as stiff as the
    step allows): a joint that sticks creeps by microradians a second. Its level is set anew in
    every period: static friction with the Stribeck effect, and asymmetry, by the velocity at the
    period's begin (:class:`~ne_dynamics.simulation.friction_levels.FrictionLevels`). Hysteresis
    is an effort of the path up to there, which begins with :meth:`reset`. Friction that grows with
    the load, the square root or the cube of the velocity is left out.
    """

    def __init__(
        self,
        robot: Robot,
        *,
        gravity: ArrayLike = STANDARD_GRAVITY,
        period: float = 0.002,
        substeps: int = 4,
        integrator: str = 'rk4',
        sensor_link: str | None = None,
        joint_limits: bool = False,
        base: BaseMotion | None = None,
        imu_link: str | None = None,
    ) -> None:
        if not (math.isfinite(period) and period > 0.0):
            raise InputError(f'period [s]: expected a finite number > 0, got {period}')
        if substeps < 1:
            raise InputError(f'substeps: expected at least 1, got {substeps}')
        if integrator not in INTEGRATORS:
            raise InputError(
                f'integrator: expected one of {", ".join(INTEGRATORS)}, got {integrator!r}'
            )
        free_fall = np.array(gravity, dtype=np.float64)
        if free_fall.shape != (3,) or not np.isfinite(free_fall).all():
            raise InputError(
                f'gravity [m/s^2]: expected 3 finite numbers, got {free_fall.tolist()}'
            )
        _check_moved_masses(robot)
        self.robot = robot
        self._substeps = substeps
        self.period = period
        self.sensor_link = sensor_link
        self._leaders = _leaders(robot)
        self._base = BaseMotion(np.eye(3)) if base is None else base

        inertias, cut = _lumped(robot, sensor_link)
        self.mjcf = _mjcf(
            robot,
            inertias,
            cut,
            self._leaders,
            free_fall,
            period / substeps,
            integrator,
            joint_limits,
            self._base,
            None if imu_link is None else robot.link(imu_link),
        )
        self.model = mujoco.MjModel.from_xml_string(self.mjcf)
        self.data = mujoco.MjData(self.model)
        named = [(body.name, inertias[index]) for index, body in enumerate(robot.bodies)]
        if cut is not None:
            named.append((_SENSOR, cut.inertia_beyond))
        for name, inertia in named:
            _check_inertia(name, inertia)
            index = mujoco.mj_name2id(self.model, mujoco.mjtObj.mjOBJ_BODY, name)
            self.model.body_mass[index] = inertia.mass
            self.model.body_inertia[index] = _principal(inertia)[0]
        mujoco.mj_setConst(self.model, self.data)
        self._imu_address: int | None = None
        if imu_link is not None:
            self._imu_address = 6 if sensor_link is not None else 0

        joint_ids = [
            mujoco.mj_name2id(self.model, mujoco.mjtObj.mjOBJ_JOINT, body.joint_name)
            for body in robot.bodies
        ]
        self._body_addresses = np.array(joint_ids, dtype=np.intp)
        self._body_coordinates = np.array([body.coordinate for body in robot.bodies], np.intp)
        self._body_multipliers = np.array([body.multiplier for body in robot.bodies])
        self._body_offsets = np.array([body.offset for body in robot.bodies])
        leaders = [robot.bodies[index] for index in self._leaders]
        # One degree of freedom a joint: qpos, qvel and joint index run in step.
        self._addresses = self._body_addresses[self._leaders]
        self._multipliers = np.array([body.multiplier for body in leaders])
        self._offsets = np.array([body.offset for body in leaders])
        # The joints of the base come before those of the robot.
        self._base_addresses = np.arange(len(self._base.oscillations), dtype=np.intp)
        self._periods = 0
        self._effort = np.zeros(robot.n)
        self._friction = FrictionLevels.of(robot.joints)
        self._hysteresis = HysteresisEfforts.of(robot.joints)
        self._at_rest = mujoco.MjData(self.model)
        self._check_mass_matrix()
        if self._base.oscillations:
            # What MuJoCo's constraint solver measures its accuracy by: of the arm alone.
            self.model.stat.meaninertia = np.diag(self.mass_matrix()).mean()
        self.reset(np.zeros(robot.n))

    # -- state ------------------------------------------------------------------------------

    @property
    def n(self) -> int:
        """Number of coordinates."""
        return self.robot.n

    @property
    def time(self) -> float:
        """Time since the last reset [s]."""
        return self._periods * self.period

    @property
    def position(self) -> FloatArray:
        """Joint positions [rad or m], shape (n,); a copy."""
        joints = self.data.qpos[self._addresses]
        position: FloatArray = (joints - self._offsets) / self._multipliers
        return position

    @property
    def velocity(self) -> FloatArray:
        """Joint velocities [rad/s or m/s], shape (n,); a copy."""
        velocity: FloatArray = self.data.qvel[self._addresses] / self._multipliers
        return velocity

    @property
    def effort(self) -> FloatArray:
        """Efforts held over the last step [N m or N], shape (n,); a copy."""
        return self._effort.copy()

    @property
    def wrench(self) -> FloatArray:
        """Wrench that the arm exerts ON what is beyond the sensor, shape (6,).

        Force [N], then moment [N m] about the origin of the sensor link's frame, in its axes:
        at rest the force points up and is the weight of what is beyond. This is f_{n+1},
        n_{n+1}; a sensor that measures `on_tool` reads its negative.

        Raises
        ------
        InputError
            When the arm was built without `sensor_link`.
        """
        if self.sensor_link is None:
            raise InputError('wrench: the arm has no sensor; build it with sensor_link=...')
        # MuJoCo's force points from the child towards the parent for a site on the child:
        # the force that the parent exerts on the child, as its documentation and the weight
        # of a body at rest show.
        wrench: FloatArray = self.data.sensordata[:6].copy()
        return wrench

    @property
    def imu(self) -> ImuReading:
        """What the inertial measurement unit reads.

        Raises
        ------
        InputError
            When the arm was built without `imu_link`.
        """
        if self._imu_address is None:
            raise InputError('imu: the arm has none; build it with imu_link=...')
        reading = self.data.sensordata[self._imu_address :]
        return ImuReading(np.roll(reading[:4], -1), reading[4:7].copy(), reading[7:10].copy())

    # -- motion -----------------------------------------------------------------------------

    def reset(self, position: ArrayLike) -> None:
        """Put the arm at rest in a position, held by brakes; time 0.

        Parameters
        ----------
        position : array-like, shape (n,)
            [rad or m]

        Raises
        ------
        InputError
            When the shape differs or a value is not finite.
        """
        target = self._checked(position, 'position')
        mujoco.mj_resetData(self.model, self.data)
        self.data.qpos[self._body_addresses] = (
            self._body_multipliers * target[self._body_coordinates] + self._body_offsets
        )
        self._periods = 0
        self._effort = np.zeros(self.n)
        if self._hysteresis is not None:
            self._hysteresis.begin()
        self._brake()

    def _brake(self) -> None:
        """Let the joints stand where they are, and the base be where it is now."""
        # Accelerations are zero under brakes; the sensor then reads the weight beyond it.
        self.data.qvel[:] = 0.0
        self.data.qacc[:] = 0.0
        self._place_base()
        mujoco.mj_inverse(self.model, self.data)

    def _place_base(self) -> None:
        """Set the excursion of the base, and its time derivatives, to those of the present."""
        for address, oscillation in zip(
            self._base_addresses, self._base.oscillations, strict=True
        ):
            excursion, rate, acceleration = oscillation.at(self.time)
            self.data.qpos[address] = excursion
            self.data.qvel[address] = rate
            self.data.qacc[address] = acceleration

    def stand(self) -> None:
        """Advance by one period under brakes: the base moves, the joints do not."""
        self._periods += 1
        self._effort = np.zeros(self.n)
        self._brake()

    def continue_from(self, other: MujocoArm) -> None:
        """Take over time, position, velocity and effort of another arm with the same joints.

        Parameters
        ----------
        other : MujocoArm
            Built from the same robot but for masses, and with the same options.
        """
        self._periods = other._periods
        self._effort = other._effort.copy()
        if self._hysteresis is not None and other._hysteresis is not None:
            self._hysteresis = other._hysteresis.copy()
        for key in ('qpos', 'qvel', 'qfrc_applied', 'qacc_warmstart'):
            getattr(self.data, key)[:] = getattr(other.data, key)
        mujoco.mj_forward(self.model, self.data)

    def step(self, effort: ArrayLike, disturbance: FloatArray | float = 0.0) -> None:
        """Advance by one period with constant efforts.

        Parameters
        ----------
        effort : array-like, shape (n,)
            Of the motors, along or about the joints' positive directions [N m or N].
        disturbance : array-like, shape (n,)
            What acts on the joints beside it [N m or N].

        Raises
        ------
        InputError
            When the shape differs, a value is not finite, or the motion grew without bound.
        """
        self._effort = self._checked(effort, 'effort')
        applied = self._effort + disturbance
        if self._friction is not None:
            level = self._friction.at(self.velocity)
            self.model.dof_frictionloss[self._addresses] = level / np.abs(self._multipliers)
            applied = applied - self._friction.offset
        if self._hysteresis is not None:
            applied = applied - self._hysteresis.at(self.position)
        self.data.qfrc_applied[self._addresses] = applied / self._multipliers
        mujoco.mj_step(self.model, self.data, self._substeps)
        self._periods += 1
        self._place_base()
        # Sensors are those of the step's start until they are computed anew.
        mujoco.mj_forward(self.model, self.data)
        if not (np.isfinite(self.data.qpos).all() and np.isfinite(self.data.qacc).all()):
            raise InputError(
                f'the simulated motion grew without bound at t = {self.time:.3f} s under the '
                f'efforts {self._effort.tolist()}; expected efforts that keep it finite, or '
                "more substeps, or integrator 'implicitfast'"
            )

    def gravity_effort(self) -> FloatArray:
        """Return the efforts that hold the arm where it is, without friction [N m or N]."""
        rest = self._at_rest
        rest.qpos[:] = self.data.qpos
        mujoco.mj_kinematics(self.model, rest)
        mujoco.mj_comPos(self.model, rest)
        mujoco.mj_comVel(self.model, rest)
        effort = np.zeros(self.model.nv)
        mujoco.mj_rne(self.model, rest, 0, effort)
        return self._expand().T @ effort

    def mass_matrix(self) -> FloatArray:
        """Return MuJoCo's mass matrix at the present position [kg m^2, kg], shape (n, n)."""
        expand = self._expand()
        columns = np.zeros((self.n, self.model.nv))
        for column, direction in zip(columns, np.ascontiguousarray(expand.T), strict=True):
            mujoco.mj_mulM(self.model, self.data, column, direction)
        return columns @ expand

    def effort_of_force(self, link_name: str, force: ArrayLike) -> FloatArray:
        """Return the efforts that do the same as a force on the origin of a link's frame.

        Parameters
        ----------
        link_name : str
        force : array-like, shape (3,)
            In the axes of the world [N].

        Returns
        -------
        array, shape (n,)
            [N m or N]

        Raises
        ------
        ModelError
            When the link is unknown.
        """
        link = self.robot.link(link_name)
        if link.body == BASE:
            return np.zeros(self.n)
        name = self.robot.bodies[link.body].name
        body = mujoco.mj_name2id(self.model, mujoco.mjtObj.mjOBJ_BODY, name)
        rotation = self.data.xmat[body].reshape(3, 3)
        point = self.data.xpos[body] + rotation @ link.pose_in_body.translation
        generalized = np.zeros(self.model.nv)
        mujoco.mj_applyFT(
            self.model,
            self.data,
            np.array(force, dtype=np.float64),
            np.zeros(3),
            point,
            body,
            generalized,
        )
        effort: FloatArray = self._expand().T @ generalized
        return effort

    def _expand(self) -> FloatArray:
        """Return the velocities of MuJoCo's joints by those of the coordinates, shape (nv, n)."""
        expand = np.zeros((self.model.nv, self.n))
        expand[self._body_addresses, self._body_coordinates] = self._body_multipliers
        return expand

    def _checked(self, value: ArrayLike, what: str) -> FloatArray:
        array = np.array(value, dtype=np.float64)
        if array.shape != (self.n,):
            raise InputError(f'{what}: expected shape ({self.n},), got {array.shape}')
        if not np.isfinite(array).all():
            raise InputError(f'{what}: expected finite numbers, got {array.tolist()}')
        return array

    # -- checks -----------------------------------------------------------------------------

    def _check_mass_matrix(self) -> None:
        """Refuse an arm that can be accelerated without effort somewhere."""
        rng = np.random.default_rng(0)
        for position in (np.zeros(self.n), *rng.uniform(-np.pi, np.pi, (8, self.n))):
            self.reset(position)
            matrix = self.mass_matrix()
            for index, moved in enumerate(np.diag(matrix)):
                if not moved > SIMULATION.smallest_inertia:
                    body = self.robot.bodies[self._leaders[index]]
                    raise ModelError(
                        f'joint {body.joint_name!r} moves link {body.name!r}: expected a mass or '
                        f'an inertia on the link or beyond it, got {moved:.3g} at the joint'
                    )
            try:
                np.linalg.cholesky(matrix)
            except np.linalg.LinAlgError:
                smallest = int(np.abs(np.linalg.eigh(matrix)[1][:, 0]).argmax())
                body = self.robot.bodies[self._leaders[smallest]]
                raise ModelError(
                    f'joint {body.joint_name!r} moves link {body.name!r}: expected a positive '
                    f'definite mass matrix, got one with the eigenvalue '
                    f'{np.linalg.eigvalsh(matrix)[0]:.3g} at position {position.tolist()}'
                ) from None


@dataclass(frozen=True, eq=False)
class _Cut:
    """Where a wrist sensor measures.

    Attributes
    ----------
    link : Link
        The last link on the arm's side.
    names_beyond : frozenset of str
        Links on the other side.
    inertia_beyond : Inertia
        Those of them that are rigidly fixed to `link`, lumped, in its frame.
    """

    link: Link
    names_beyond: frozenset[str]
    inertia_beyond: Inertia


def _leaders(robot: Robot) -> list[int]:
    """Return for each coordinate the body whose joint carries it (not a mimic if possible)."""
    leaders = []
    for index, joint in enumerate(robot.joints):
        moved = [
            number
            for number, body in enumerate(robot.bodies)
            if body.coordinate == index and body.multiplier != 0.0
        ]
        if not moved:
            raise ModelError(f'joint {joint.name!r}: expected a body that it moves, got none')
        own = [number for number in moved if robot.bodies[number].joint_name == joint.name]
        leaders.append((own or moved)[0])
    return leaders


def _lumped(robot: Robot, sensor_link: str | None) -> tuple[list[Inertia], _Cut | None]:
    """Lump the links: one inertia a moving body, without what is beyond the cut, and the cut."""
    if sensor_link is None:
        return [body.inertia for body in robot.bodies], None
    link_at_cut = robot.link(sensor_link)
    names_beyond = robot.descendants(sensor_link)
    body_to_cut = link_at_cut.pose_in_body.inverse()
    inertias = [Inertia.zero() for _ in robot.bodies]
    beyond = Inertia.zero()
    for link in robot.links:
        if link.body == link_at_cut.body and link.name in names_beyond:
            beyond += link.inertia.transformed(body_to_cut @ link.pose_in_body)
        elif link.body != BASE:
            inertias[link.body] += link.inertia.transformed(link.pose_in_body)
    return inertias, _Cut(link_at_cut, names_beyond, beyond)


def _check_moved_masses(robot: Robot) -> None:
    """Refuse a joint that moves no mass; MuJoCo does so too, but names nothing."""
    moved = [body.inertia.mass for body in robot.bodies]
    for index in reversed(range(len(robot.bodies))):
        body = robot.bodies[index]
        if abs(moved[index]) < SIMULATION.smallest_mass:
            raise ModelError(
                f'joint {body.joint_name!r} moves link {body.name!r}: expected a mass on the link '
                f'or beyond it, got {moved[index]:.3g} kg'
            )
        if body.parent != BASE:
            moved[body.parent] += moved[index]


def _check_inertia(name: str, inertia: Inertia) -> None:
    """Refuse what makes the arm gain energy from nothing."""
    moments = _principal(inertia)[0]
    if inertia.mass < 0.0:
        raise ModelError(
            f'link {name!r}, with what is fixed to it: mass: expected >= 0 kg, got {inertia.mass}'
        )
    if moments.min() < -1e-9 * np.abs(moments).max():
        raise ModelError(
            f'link {name!r}, with what is fixed to it: inertia: expected principal moments >= 0, '
            f'got {moments.tolist()} kg m^2'
        )


def _principal(inertia: Inertia) -> tuple[FloatArray, FloatArray]:
    """Return principal moments, shape (3,), and their axes as columns of a rotation (3, 3)."""
    tensor = inertia.inertia_about_com
    if not (tensor - np.diag(np.diag(tensor))).any():
        return np.diag(tensor).copy(), np.eye(3)
    moments, axes = np.linalg.eigh(tensor)
    if np.linalg.det(axes) < 0.0:
        axes[:, 0] = -axes[:, 0]
    return moments, axes


def _numbers(values: Iterable[float]) -> str:
    return ' '.join(repr(float(value)) for value in values)


def _quaternion(rotation: FloatArray) -> str:
    quaternion = np.zeros(4)
    mujoco.mju_mat2Quat(quaternion, np.ascontiguousarray(rotation).reshape(9))
    return _numbers(quaternion)


def _body_element(
    parent: ElementTree.Element, name: str, pose: Transform, inertia: Inertia
) -> ElementTree.Element:
    element = ElementTree.SubElement(
        parent,
        'body',
        name=name,
        pos=_numbers(pose.translation),
        quat=_quaternion(pose.rotation),
    )
    ElementTree.SubElement(
        element,
        'inertial',
        mass='1',
        diaginertia='1 1 1',
        pos=_numbers(inertia.center_of_mass),
        quat=_quaternion(_principal(inertia)[1]),
    )
    return element


def _stiffest(timestep: float) -> str:
    """Return the `solref` of a constraint with the shortest time constant that stays calm."""
    return _numbers((4.0 * timestep, 1.0))


def _joint_element(
    parent: ElementTree.Element,
    robot: Robot,
    body: Body,
    is_leader: bool,
    joint_limits: bool,
    timestep: float,
) -> None:
    joint = robot.joints[body.coordinate]
    attributes = {
        'name': body.joint_name,
        'type': 'slide' if body.joint_type.is_prismatic else 'hinge',
        'axis': _numbers(body.axis),
    }
    if is_leader:
        # Friction and rotor belong to the coordinate, the MuJoCo joint turns m times as far.
        attributes['damping'] = repr(joint.viscous_friction / body.multiplier**2)
        attributes['frictionloss'] = repr(joint.coulomb_friction / abs(body.multiplier))
        attributes['solreffriction'] = _stiffest(timestep)
        attributes['solimpfriction'] = _IMPEDANCE
        attributes['armature'] = repr(joint.reflected_inertia / body.multiplier**2)
        ends = sorted(body.multiplier * end + body.offset for end in (joint.lower, joint.upper))
        if joint_limits and all(math.isfinite(end) for end in ends) and ends[0] < ends[1]:
            attributes['range'] = _numbers(ends)
    ElementTree.SubElement(parent, 'joint', attributes)


def _mjcf(
    robot: Robot,
    inertias: list[Inertia],
    cut: _Cut | None,
    leaders: list[int],
    gravity: FloatArray,
    timestep: float,
    integrator: str,
    joint_limits: bool,
    base: BaseMotion,
    imu_link: Link | None,
) -> str:
    """Write the model as MJCF (masses and moments are stand-ins, see :class:`MujocoArm`)."""
    root = ElementTree.Element('mujoco', model=robot.name)
    ElementTree.SubElement(root, 'compiler', angle='radian', autolimits='true')
    option = ElementTree.SubElement(
        root,
        'option',
        timestep=repr(timestep),
        gravity=_numbers(gravity),
        integrator=INTEGRATORS[integrator],
    )
    ElementTree.SubElement(option, 'flag', contact='disable', autoreset='disable')

    elements = {BASE: _base_element(ElementTree.SubElement(root, 'worldbody'), base)}
    sensor = _sensor_element(elements, cut, BASE)
    for index, body in enumerate(robot.bodies):
        parent, pose = elements[body.parent], body.pose_in_parent
        if (
            cut is not None
            and sensor is not None
            and body.parent == cut.link.body
            and body.name in cut.names_beyond
        ):
            parent, pose = sensor, cut.link.pose_in_body.inverse() @ pose
        elements[index] = _body_element(parent, body.name, pose, inertias[index])
        is_leader = leaders[body.coordinate] == index
        _joint_element(elements[index], robot, body, is_leader, joint_limits, timestep)
        sensor = _sensor_element(elements, cut, index) if sensor is None else sensor
    _add_mimic_constraints(root, robot, leaders, timestep)
    sensors = ElementTree.SubElement(root, 'sensor')
    if cut is not None:
        ElementTree.SubElement(sensors, 'force', name='force', site=_SENSOR)
        ElementTree.SubElement(sensors, 'torque', name='torque', site=_SENSOR)
    if imu_link is not None:
        pose = imu_link.pose_in_body
        ElementTree.SubElement(
            elements[imu_link.body],
            'site',
            name=_IMU,
            pos=_numbers(pose.translation),
            quat=_quaternion(pose.rotation),
        )
        ElementTree.SubElement(sensors, 'framequat', objtype='site', objname=_IMU)
        ElementTree.SubElement(sensors, 'gyro', site=_IMU)
        ElementTree.SubElement(sensors, 'accelerometer', site=_IMU)
    return ElementTree.tostring(root, encoding='unicode')


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
            armature=repr(SIMULATION.driven_inertia),
            stiffness=repr(SIMULATION.driven_inertia * oscillation.angular_frequency**2),
        )
    return element


def _sensor_element(
    elements: Mapping[int, ElementTree.Element], cut: _Cut | None, body: int
) -> ElementTree.Element | None:
    """Add the body beyond the cut, with the sensor's site, if the cut is on `body`."""
    if cut is None or cut.link.body != body:
        return None
    element = _body_element(elements[body], _SENSOR, cut.link.pose_in_body, cut.inertia_beyond)
    ElementTree.SubElement(element, 'site', name=_SENSOR)
    return element


def _add_mimic_constraints(
    root: ElementTree.Element, robot: Robot, leaders: list[int], timestep: float
) -> None:
    """Tie the joints that share a coordinate to the one that carries it."""
    pairs = [
        (robot.bodies[leaders[body.coordinate]], body)
        for index, body in enumerate(robot.bodies)
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
            solref=_stiffest(timestep),
            solimp=_IMPEDANCE,
        )
