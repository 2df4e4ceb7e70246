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
inertia each, so heavy (`DRIVEN_INERTIA`) that the arm does not disturb them. The arm then
feels all inertial forces, in whatever way MuJoCo integrates.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ne_dynamics.arguments import check_vector
from ne_dynamics.dynamics import STANDARD_GRAVITY
from ne_dynamics.errors import InputError, ModelError, optional_dependency
from ne_dynamics.model.rigid_body import FloatArray, Inertia
from ne_dynamics.model.robot import BASE, Robot
from ne_dynamics.simulation.base_motion import BaseMotion
from ne_dynamics.simulation.friction_levels import FrictionLevels, HysteresisEfforts
from ne_dynamics.simulation.integrators import INTEGRATORS
from ne_dynamics.simulation.joint_map import JointMap, find_leaders
from ne_dynamics.simulation.lumped_inertia import (
    check_inertia,
    check_moved_masses,
    lump_links,
    principal_moments,
)
from ne_dynamics.simulation.mjcf import SENSOR, MjcfWriter

with optional_dependency('the simulated robot needs MuJoCo', 'sim'):
    import mujoco


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
    """A robot arm simulated with MuJoCo: efforts in, positions and velocities out.

    Parameters
    ----------
    robot : Robot
        The simulated robot, payload and model errors included.
    gravity : array-like, shape (3,)
        Acceleration of gravity in the world's axes [m/s^2].
    period : float
        Simulated time of one :meth:`step`, over which the effort is held [s].
    substeps : int
        Integration steps in a period.
    integrator : str
        'rk4' (fourth order; the default), 'implicitfast' (first order, stable for stiff joint
        friction) or 'euler'.
    sensor_link : str, optional
        Last link before the force/torque sensor, which measures everything beyond it.
    joint_limits : bool
        Whether joints stop at their position limits (by MuJoCo's soft constraint). Default:
        off, so that a test shows when a controller exceeds them.
    base : BaseMotion, optional
        Tilt and motion of the base in the world; default: level and at rest.
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
        The model as MuJoCo's XML, with placeholders (mass 1, moments 1) for the inertias,
        which are written into `model` after compilation.

    Raises
    ------
    ModelError
        When a moving link, with what is fixed to it, has a negative mass or a negative
        principal moment of inertia, when the mass matrix is not positive definite (the message
        names the joint and its link), or when `sensor_link` or `imu_link` is unknown.
    InputError
        When period, substeps, gravity or integrator is invalid.

    Notes
    -----
    Mimic joints are a soft constraint of MuJoCo: they agree with their joint to about 1e-7.
    Coulomb friction is a soft constraint as well (`frictionloss`, as stiff as the step allows):
    a sticking joint creeps by microradians a second. Its level is set at the start of every
    period from the velocity there, with Stribeck effect and asymmetry
    (:class:`~ne_dynamics.simulation.friction_levels.FrictionLevels`). Hysteresis is an effort
    that depends on the path since :meth:`reset`. Friction terms in the load, the square root or
    the cube of the velocity are left out.
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
        _check_options(period, substeps, integrator)
        free_fall = check_vector(gravity, 'gravity [m/s^2]', 3)
        check_moved_masses(robot)
        self.robot = robot
        self._substeps = substeps
        self.period = period
        self.sensor_link = sensor_link
        self._leaders = find_leaders(robot)
        self._base = BaseMotion(np.eye(3)) if base is None else base
        inertias, cut = lump_links(robot, sensor_link)
        writer = MjcfWriter(robot, self._leaders, inertias, cut, period / substeps, joint_limits)
        self.mjcf = writer.write(
            free_fall, integrator, self._base, None if imu_link is None else robot.link(imu_link)
        )
        self.model = mujoco.MjModel.from_xml_string(self.mjcf)
        self.data = mujoco.MjData(self.model)
        named = [(body.name, inertias[index]) for index, body in enumerate(robot.bodies)]
        if cut is not None:
            named.append((SENSOR, cut.inertia_beyond))
        self._set_inertias(named)
        self._imu_address: int | None = None
        if imu_link is not None:
            self._imu_address = 6 if sensor_link is not None else 0
        self._joints = JointMap(robot, self.model, self._leaders)
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

    def _set_inertias(self, inertias: list[tuple[str, Inertia]]) -> None:
        """Put what the bodies of these names have in place of the stand-ins."""
        for name, inertia in inertias:
            check_inertia(name, inertia)
            index = mujoco.mj_name2id(self.model, mujoco.mjtObj.mjOBJ_BODY, name)
            self.model.body_mass[index] = inertia.mass
            self.model.body_inertia[index] = principal_moments(inertia)[0]
        mujoco.mj_setConst(self.model, self.data)

    # -- state ------------------------------------------------------------------------------

    @property
    def n(self) -> int:
        """Number of joints."""
        return self.robot.n

    @property
    def time(self) -> float:
        """Time since the last reset [s]."""
        return self._periods * self.period

    @property
    def position(self) -> FloatArray:
        """Joint positions [rad or m], shape (n,); a copy."""
        joints = self._joints
        position: FloatArray = (
            self.data.qpos[joints.addresses] - joints.offsets
        ) / joints.multipliers
        return position

    @property
    def velocity(self) -> FloatArray:
        """Joint velocities [rad/s or m/s], shape (n,); a copy."""
        joints = self._joints
        velocity: FloatArray = self.data.qvel[joints.addresses] / joints.multipliers
        return velocity

    @property
    def effort(self) -> FloatArray:
        """Efforts during the last step [N m or N], shape (n,); a copy."""
        return self._effort.copy()

    @property
    def wrench(self) -> FloatArray:
        """Wrench that the arm exerts on everything beyond the sensor, shape (6,).

        Force [N], then moment [N m] about the origin of the sensor link's frame, in its axes
        (f_{n+1}, n_{n+1}). At rest the force points up and equals the weight of everything beyond.
        A sensor that measures `on_tool` reads the negative.

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
        """Reading of the inertial measurement unit.

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
        """Put the arm at rest in a position, with the brakes engaged; time becomes 0.

        Parameters
        ----------
        position : array-like, shape (n,)
            [rad or m]

        Raises
        ------
        InputError
            When the shape differs or a value is not finite.
        """
        target = check_vector(position, 'position', self.n)
        mujoco.mj_resetData(self.model, self.data)
        self._joints.place(self.data.qpos, target)
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
        """Advance by one period with the brakes engaged: the base moves, the joints do not."""
        self._periods += 1
        self._effort = np.zeros(self.n)
        self._brake()

    def continue_from(self, other: MujocoArm) -> None:
        """Take over time, position, velocity and effort of another arm with the same joints.

        Parameters
        ----------
        other : MujocoArm
            Built with the same options, from a robot that differs only in its masses.
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
            Efforts of the motors, positive along the joints' positive directions [N m or N].
        disturbance : array-like, shape (n,)
            Additional efforts on the joints [N m or N].

        Raises
        ------
        InputError
            When the shape differs, a value is not finite, or the simulation diverges.
        """
        joints = self._joints
        self._effort = np.array(check_vector(effort, 'effort', self.n))
        applied = self._effort + disturbance
        if self._friction is not None:
            level = self._friction.at(self.velocity)
            self.model.dof_frictionloss[joints.addresses] = level / np.abs(joints.multipliers)
            applied = applied - self._friction.offset
        if self._hysteresis is not None:
            applied = applied - self._hysteresis.at(self.position)
        self.data.qfrc_applied[joints.addresses] = applied / joints.multipliers
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
        """Return the efforts that hold the arm at rest, without friction, (n,) [N m or N]."""
        rest = self._at_rest
        rest.qpos[:] = self.data.qpos
        mujoco.mj_kinematics(self.model, rest)
        mujoco.mj_comPos(self.model, rest)
        mujoco.mj_comVel(self.model, rest)
        effort = np.zeros(self.model.nv)
        mujoco.mj_rne(self.model, rest, 0, effort)
        return self._joints.expand().T @ effort

    def mass_matrix(self) -> FloatArray:
        """Return MuJoCo's mass matrix at the present position [kg m^2, kg], shape (n, n)."""
        expand = self._joints.expand()
        columns = np.zeros((self.n, self.model.nv))
        for column, direction in zip(columns, np.ascontiguousarray(expand.T), strict=True):
            mujoco.mj_mulM(self.model, self.data, column, direction)
        return columns @ expand

    def effort_of_force(self, link_name: str, force: ArrayLike) -> FloatArray:
        """Return the efforts equivalent to a force on the origin of a link's frame.

        Parameters
        ----------
        link_name : str
        force : array-like, shape (3,)
            In the world's axes [N].

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
        effort: FloatArray = self._joints.expand().T @ generalized
        return effort

    # -- checks -----------------------------------------------------------------------------

    def _check_mass_matrix(self) -> None:
        """Refuse an arm that can be accelerated without effort somewhere."""
        rng = np.random.default_rng(0)
        for position in (np.zeros(self.n), *rng.uniform(-np.pi, np.pi, (8, self.n))):
            self.reset(position)
            matrix = self.mass_matrix()
            for index, moved in enumerate(np.diag(matrix)):
                # What a joint must have as inertia at least; MuJoCo itself adds 1e-15.
                if not moved > 1e-10:
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


def _check_options(period: float, substeps: int, integrator: str) -> None:
    if not (math.isfinite(period) and period > 0.0):
        raise InputError(f'period [s]: expected a finite number > 0, got {period}')
    if substeps < 1:
        raise InputError(f'substeps: expected at least 1, got {substeps}')
    if integrator not in INTEGRATORS:
        raise InputError(
            f'integrator: expected one of {", ".join(INTEGRATORS)}, got {integrator!r}'
        )
