"""Everybody's way to the same numbers: this package, Pinocchio, MuJoCo, Robotics Toolbox, NumPy.

Each maker takes a robot and the input arrays, which are read anew at every call, and returns a
:class:`~benchmark.timing.Contender`. What is not installed raises MissingDependencyError.
"""

from __future__ import annotations

import importlib
import importlib.util
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy as np

from benchmark.textbook import inverse_dynamics, rotation_to_z, textbook_links
from benchmark.timing import Contender
from ne_dynamics.codegen.llvm.compiler import toolchain
from ne_dynamics.dynamics import STANDARD_GRAVITY, Dynamics
from ne_dynamics.errors import MissingDependencyError, ModelError
from ne_dynamics.model.rigid_body import FloatArray, Transform
from ne_dynamics.model.robot import Robot
from ne_dynamics.papers import Case

COMPILED = 'ours, compiled'
PYTHON = 'ours, python'
PINOCCHIO = 'Pinocchio'
MUJOCO = 'MuJoCo mj_inverse'
TOOLBOX = 'Robotics Toolbox rne'
TOOLBOX_PYTHON = 'Robotics Toolbox rne_python'
TEXTBOOK = 'textbook NumPy recursion'

PARALLEL = 1e-9
"""Sine of the angle, and distance [m], up to which two axes are one or parallel."""


@dataclass(eq=False)
class Inputs:
    """Arrays that all contenders read; contents change, the arrays stay.

    Parameters
    ----------
    shape : tuple of int
        (n,) or (N, n).
    seed : int
    """

    shape: tuple[int, ...]
    seed: int = 0

    def __post_init__(self) -> None:
        self._rng = np.random.default_rng(self.seed)
        self.q, self.qd, self.qdd, self.tau, self.out = (np.empty(self.shape) for _ in range(5))
        self.wrench = np.empty((*self.shape[:-1], 6))
        self.renew()

    def renew(self) -> None:
        """Draw other positions, velocities, accelerations, efforts and wrenches."""
        self.q[...] = self._rng.uniform(-np.pi, np.pi, self.shape)
        self.qd[...] = self._rng.uniform(-2.0, 2.0, self.shape)
        self.qdd[...] = self._rng.uniform(-5.0, 5.0, self.shape)
        self.tau[...] = self._rng.uniform(-50.0, 50.0, self.shape)
        self.wrench[...] = self._rng.uniform(-20.0, 20.0, self.wrench.shape)

    @property
    def names(self) -> dict[str, Any]:
        """The arrays by the names that statements use; `out` takes results of the same shape."""
        return {
            'q': self.q,
            'qd': self.qd,
            'qdd': self.qdd,
            'tau': self.tau,
            'wrench': self.wrench,
            'out': self.out,
        }


def require(module: str, package: str) -> ModuleType:
    """Import a module.

    Raises
    ------
    MissingDependencyError
        When it cannot be imported; the message names the package that brings it.
    """
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise MissingDependencyError(
            f'{package} is not installed: pip install {package} ({error})'
        ) from error


# ---- ours


def dynamics(robot: Robot, backend: str, threads: int = 1) -> Dynamics:
    """Return our dynamics of a robot.

    Raises
    ------
    BackendError
        When the compiler cannot be had; the message says why.
    """
    if backend == 'compiled':
        toolchain()
    return Dynamics(robot, backend=backend, threads=threads)


def ours(dyn: Dynamics, inputs: Inputs, method: str, arguments: str, name: str) -> Contender:
    """Return a call of one of our methods; once it has run, it is the entry that users get."""
    samples = inputs.shape[0] if len(inputs.shape) == 2 else 1
    contender = Contender(
        name,
        f'dyn.{method}({arguments})',
        {**inputs.names, 'dyn': dyn},
        samples=samples,
        friction=True,
    )
    contender.value()
    return contender


# ---- Pinocchio


class PinocchioModel:
    """The robot in Pinocchio: read from its file where there is one, otherwise built here.

    Parameters
    ----------
    case : Case

    Attributes
    ----------
    names : dict of str
        Module, model and data by the names that statements use.

    Raises
    ------
    MissingDependencyError
        When Pinocchio is not installed.
    """

    def __init__(self, case: Case) -> None:
        pin = require('pinocchio', 'pin')
        if case.urdf is not None:
            model = pin.buildModelFromUrdf(case.urdf)
            if case.locked:
                locked = [model.getJointId(name) for name in case.locked]
                model = pin.buildReducedModel(model, locked, pin.neutral(model))
        else:
            model = _pinocchio_model(pin, case.robot)
        model.gravity.linear = np.array(STANDARD_GRAVITY)
        self.names = {'pin': pin, 'model': model, 'data': model.createData()}

    def contender(self, inputs: Inputs, function: str, arguments: str) -> Contender:
        """Return a call of one of Pinocchio's functions, e.g. ``'rnea', 'q, qd, qdd'``.

        The columns of its ``computeJointTorqueRegressor`` are in the order of
        :meth:`ne_dynamics.Dynamics.inertial_parameters`, body by body.
        """
        return Contender(
            f'{PINOCCHIO} {function}',
            f'pin.{function}(model, data, {arguments})',
            {**inputs.names, **self.names},
        )


def _pinocchio_model(pin: Any, robot: Robot) -> Any:
    """Return the model of a robot, body by body; axes along x, y, z become those joint types."""
    model = pin.Model()
    aligned = {
        (1.0, 0.0, 0.0): (pin.JointModelRX, pin.JointModelPX),
        (0.0, 1.0, 0.0): (pin.JointModelRY, pin.JointModelPY),
        (0.0, 0.0, 1.0): (pin.JointModelRZ, pin.JointModelPZ),
    }
    armature = []
    for index, body in enumerate(robot.bodies):
        if body.coordinate != index or (body.multiplier, body.offset) != (1.0, 0.0):
            raise ModelError(f'robot {robot.name!r}: expected no mimic joints')
        slides = body.joint_type.is_prismatic
        if tuple(body.axis) in aligned:
            joint = aligned[tuple(body.axis)][slides]()
        elif slides:
            joint = pin.JointModelPrismaticUnaligned(np.array(body.axis))
        else:
            joint = pin.JointModelRevoluteUnaligned(np.array(body.axis))
        pose = pin.SE3(np.array(body.pose_in_parent.rotation), body.pose_in_parent.translation)
        number = model.addJoint(body.parent + 1, joint, pose, body.joint_name)
        inertia = body.inertia
        model.appendBodyToJoint(
            number,
            pin.Inertia(
                inertia.mass,
                np.array(inertia.center_of_mass),
                np.array(inertia.inertia_about_com),
            ),
            pin.SE3.Identity(),
        )
        armature.append(robot.joints[index].reflected_inertia)
    model.armature = np.array(armature)
    return model


# ---- MuJoCo


def mujoco_inverse(case: Case, inputs: Inputs) -> Contender:
    """Return a call of ``mj_inverse``, all of MuJoCo that is not rigid-body dynamics switched off.

    Raises
    ------
    MissingDependencyError
        When MuJoCo is not installed.
    """
    mujoco = require('mujoco', 'mujoco')
    from ne_dynamics.simulation import MujocoArm

    arm = MujocoArm(case.robot.without_friction(), gravity=STANDARD_GRAVITY)
    flags = mujoco.mjtDisableBit
    arm.model.opt.disableflags |= int(flags.mjDSBL_CONTACT) | int(flags.mjDSBL_CONSTRAINT)
    statement = '\n'.join(
        (
            'data.qpos[:] = q',
            'data.qvel[:] = qd',
            'data.qacc[:] = qdd',
            'mujoco.mj_inverse(model, data)',
        )
    )
    names = {**inputs.names, 'mujoco': mujoco, 'model': arm.model, 'data': arm.data}
    return Contender(MUJOCO, statement, names, result='data.qfrc_inverse')


# ---- Robotics Toolbox


class ToolboxModel:
    """The robot in the Robotics Toolbox, as the modified DH parameters of its joint axes.

    Parameters
    ----------
    case : Case

    Raises
    ------
    MissingDependencyError
        When the toolbox is not installed.
    """

    def __init__(self, case: Case) -> None:
        toolbox = require('roboticstoolbox', 'roboticstoolbox-python')
        links, base_rotation = modified_dh(case.robot)
        self.robot = toolbox.DHRobot(
            [
                (toolbox.PrismaticMDH if link.is_prismatic else toolbox.RevoluteMDH)(
                    a=link.a,
                    alpha=link.alpha,
                    offset=link.offset,
                    m=link.mass,
                    r=link.center_of_mass,
                    I=link.inertia,
                    Jm=link.rotor_inertia,
                    G=1.0,
                    **({'theta': link.theta} if link.is_prismatic else {'d': link.d}),
                )
                for link in links
            ],
            name=case.robot.name,
            gravity=base_rotation.T @ np.array(STANDARD_GRAVITY),
        )
        self.is_compiled = importlib.util.find_spec('roboticstoolbox._frne_c') is not None

    def compiled(self, inputs: Inputs) -> Contender:
        """Return a call of ``rne``, which runs in C.

        Raises
        ------
        MissingDependencyError
            When the toolbox was installed without its C part.
        """
        if not self.is_compiled:
            raise MissingDependencyError('the Robotics Toolbox here has no compiled part')
        return self._contender(TOOLBOX, 'rne', inputs)

    def python(self, inputs: Inputs) -> Contender:
        """Return a call of ``rne_python``."""
        return self._contender(TOOLBOX_PYTHON, 'rne_python', inputs)

    def _contender(self, name: str, method: str, inputs: Inputs) -> Contender:
        samples = inputs.shape[0] if len(inputs.shape) == 2 else 1
        names = {**inputs.names, 'robot': self.robot}
        return Contender(name, f'robot.{method}(q, qd, qdd)', names, samples=samples)


@dataclass(frozen=True, eq=False)
class DhLink:
    """Modified DH parameters of one link, and its inertia in the frame that they give.

    Attributes
    ----------
    a, alpha : float
        From the axis before to this one [m, rad].
    d, theta : float
        Along and about this axis [m, rad]; the one that the joint moves is 0 and its value at
        joint position zero is `offset`.
    offset : float
    mass : float
        [kg]
    center_of_mass : array, shape (3,)
        [m]
    inertia : array, shape (3, 3)
        About the centre of mass [kg m^2].
    rotor_inertia : float
        As the joint feels it.
    is_prismatic : bool
    """

    a: float
    alpha: float
    d: float
    theta: float
    offset: float
    mass: float
    center_of_mass: FloatArray
    inertia: FloatArray
    rotor_inertia: float
    is_prismatic: bool


def modified_dh(robot: Robot) -> tuple[list[DhLink], FloatArray]:
    """Return a chain in modified DH parameters, and the rotation of frame 0 in base axes.

    Frame i lies on axis i, its x axis along the common normal to axis i + 1. Frame 0 is frame 1
    at joint position zero.

    Raises
    ------
    ModelError
        When the robot is not a chain, or has mimic joints.
    """
    if not robot.is_chain or len(robot.bodies) != robot.n:
        raise ModelError(f'robot {robot.name!r}: expected a chain without mimic joints')
    poses, pose = [], Transform.identity()
    for body in robot.bodies:
        pose = pose @ body.pose_in_parent
        poses.append(pose)
    frames = _dh_frames(
        [pose.rotation @ body.axis for pose, body in zip(poses, robot.bodies, strict=True)],
        [pose.translation for pose in poses],
    )
    links, before = [], frames[0]
    for body, body_pose, frame in zip(robot.bodies, poses, frames, strict=True):
        step = before.inverse() @ frame
        # Rx(alpha) Tx(a) Rz(theta) Tz(d)
        alpha = float(np.arctan2(-step.rotation[1, 2], step.rotation[2, 2]))
        theta = float(np.arctan2(-step.rotation[0, 1], step.rotation[0, 0]))
        d = float(step.translation @ step.rotation[:, 2])
        slides = body.joint_type.is_prismatic
        inertia = body.inertia.transformed(frame.inverse() @ body_pose)
        links.append(
            DhLink(
                a=float(step.translation[0]),
                alpha=alpha,
                d=0.0 if slides else d,
                theta=theta if slides else 0.0,
                offset=d if slides else theta,
                mass=inertia.mass,
                center_of_mass=inertia.center_of_mass,
                inertia=inertia.inertia_about_com,
                rotor_inertia=robot.joints[body.coordinate].reflected_inertia,
                is_prismatic=slides,
            )
        )
        before = frame
    return links, frames[0].rotation


def _dh_frames(axes: list[FloatArray], points: list[FloatArray]) -> list[Transform]:
    """Return a frame on each axis (direction, a point on it), all in base axes."""
    frames: list[Transform] = []
    for index, (z, point) in enumerate(zip(axes, points, strict=True)):
        origin, x = point, rotation_to_z(z)[0]
        if index + 1 < len(axes):
            z_next, away = axes[index + 1], points[index + 1] - point
            normal = np.cross(z, z_next)
            sine = float(np.linalg.norm(normal))
            if sine > PARALLEL:
                # Foot of the common normal: where the plane of it and the next axis is met.
                origin = point + z * (np.cross(away, z_next) @ normal) / sine**2
                x = normal / sine
            else:
                # Parallel: any common normal will do; that through the origin before is short.
                across = away - z * (away @ z)
                if np.linalg.norm(across) > PARALLEL:
                    x = across / np.linalg.norm(across)
        frames.append(Transform(np.column_stack((x, np.cross(z, x), z)), origin))
    return frames


# ---- the textbook


def textbook(case: Case, inputs: Inputs) -> Contender:
    """Return a call of the textbook's recursion."""
    names = {
        **inputs.names,
        'inverse_dynamics': inverse_dynamics,
        'links': textbook_links(case.robot),
        'gravity': np.array(STANDARD_GRAVITY),
    }
    return Contender(TEXTBOOK, 'inverse_dynamics(links, gravity, q, qd, qdd)', names)
