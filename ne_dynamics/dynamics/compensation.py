"""What the model feeds forward: the one account of it, for the node's laws and for annotation.

Efforts of the robot's links, rotors and payload come from its inverse dynamics without friction;
friction is added by itself, at the velocity that is wanted. So nothing is subtracted that the
recursion has added.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from ne_dynamics.algorithms.hysteresis import compute_hysteresis, move_hysteresis
from ne_dynamics.algorithms.joint_friction import compute_friction
from ne_dynamics.dynamics.drive_friction import DriveFriction
from ne_dynamics.dynamics.dynamics import Dynamics
from ne_dynamics.errors import InputError
from ne_dynamics.model.friction import FrictionModel
from ne_dynamics.model.rigid_body import FloatArray
from ne_dynamics.settings import parameter

BASE_MOTION = 9
"""Numbers of a base's motion."""


class Base(NamedTuple):
    """Tilt and motion of the base.

    Attributes
    ----------
    motion : array, shape (9,)
        Angular velocity [rad/s], angular acceleration [rad/s^2] and linear acceleration [m/s^2]
        of the base in its axes, as in :meth:`ne_dynamics.Dynamics.inverse_dynamics`; a tilt is
        expressed as an acceleration in addition to the constant gravity of the dynamics.
    resting : array, shape (9,)
        The part of it that is due to the tilt alone.
    """

    motion: FloatArray
    resting: FloatArray

    @property
    def at_rest(self) -> Base:
        """The base with the same tilt, at rest."""
        return Base(self.resting, self.resting)


@dataclass(frozen=True)
class Terms:
    """The parts of the model that are used: the parameters `terms.*`."""

    gravity: bool = parameter(
        True, 'Compensate gravity. Set to false if the robot does it itself.'
    )
    coriolis: bool = parameter(True, 'Compensate Coriolis and centrifugal efforts.')
    inertia: bool = parameter(
        True, 'Feed forward the desired acceleration through the mass matrix.'
    )
    friction: bool = parameter(
        True, "Feed forward the model's joint friction at the desired velocity."
    )


class Compensation:
    """Feed-forward of the model: efforts of links, rotors, payload and friction.

    Parameters
    ----------
    dynamics : Dynamics
        Of the model.
    terms : Terms
        Parts of the model that are used; `inertia` is left to the caller, who chooses the
        acceleration.
    payload : array, shape (10,), optional
        Inertial parameters of a load at the tip that the model does not have, as in
        :meth:`ne_dynamics.Dynamics.inverse_dynamics`.
    smoothing_velocity : float
        Velocity range around rest over which friction changes its sign, for joints whose model
        gives none [rad/s or m/s]; 0 for a step.
    payload_without_wrench : array, shape (10,), optional
        Replaces `payload` if no wrench is given: includes the load that the wrist sensor would
        have measured.

    Attributes
    ----------
    dynamics : Dynamics
    friction : tuple of n FrictionModel
        With the smoothing velocity.
    drives : DriveFriction or None
        Friction of the coupled drives; None if there is none.
    has_viscous_friction : bool
        Whether viscous friction is fed forward.
    has_hysteresis : bool
        Whether the friction of a joint depends on its path.
    """

    def __init__(
        self,
        dynamics: Dynamics,
        terms: Terms,
        payload: FloatArray | None = None,
        smoothing_velocity: float = 0.0,
        payload_without_wrench: FloatArray | None = None,
    ) -> None:
        self.dynamics = dynamics
        self.terms = terms
        self._payload = payload
        self._payload_without_wrench = (
            payload if payload_without_wrench is None else payload_without_wrench
        )
        robot = dynamics.robot
        self._viscous = robot.joint_values('viscous_friction')
        self._coulomb = robot.joint_values('coulomb_friction')
        models = [joint.friction for joint in robot.joints]
        is_simple = all(model.is_off for model in models)
        self.drives = DriveFriction.of(robot, smoothing_velocity)
        has_friction = not is_simple or bool(self._viscous.any() or self._coulomb.any())
        has_friction = has_friction or self.drives is not None
        self.friction = tuple(
            replace(model, smoothing_velocity=smoothing_velocity)
            if model.smoothing_velocity == 0.0 != smoothing_velocity
            else model
            for model in models
        )
        self._adds_friction = terms.friction and has_friction
        is_viscous = self._viscous.any() or self.drives is not None
        self.has_viscous_friction = self._adds_friction and bool(is_viscous)
        self._is_simple = is_simple
        self._has_coulomb = bool(self._coulomb.any())
        self._sharpness = 0.0 if smoothing_velocity == 0.0 else 1.0 / smoothing_velocity
        self.has_hysteresis = any(model.has_hysteresis for model in models)
        self._depends_on_load = any(model.depends_on_load for model in models)
        self._rigid = dynamics.without_friction() if has_friction else dynamics
        self._falling = np.zeros(BASE_MOTION)
        self._falling[6:] = dynamics.gravity
        self._zero = np.zeros(len(robot.joints))
        self._zero.setflags(write=False)

    def effort_or_infinite(
        self,
        q: FloatArray,
        qd: FloatArray,
        qdd: FloatArray,
        wrench: FloatArray | None = None,
        base: Base | None = None,
    ) -> FloatArray:
        """Return the effort of a motion with its own friction; infinite where it overflows.

        Parameters and result are those of :meth:`effort`.
        """
        try:
            return self.effort(q, qd, qdd, qd, wrench, base)
        except InputError:
            return np.full(q.shape, np.inf)

    def effort(
        self,
        q: FloatArray,
        qd: FloatArray,
        qdd: FloatArray,
        qd_friction: FloatArray,
        wrench: FloatArray | None = None,
        base: Base | None = None,
        direction: FloatArray | None = None,
    ) -> FloatArray:
        """Return the effort of a motion.

        Parameters
        ----------
        q, qd, qdd : array, shape (n,) or (N, n)
            Positions [rad or m], velocities and accelerations for which links and rotors count.
        qd_friction : array, shape (n,) or (N, n)
            Velocities for which friction counts [rad/s or m/s].
        wrench : array, shape (6,) or (N, 6), optional
            Force [N], then moment [N m], that the last link exerts on the environment, at the
            tip frame, in tip axes. None where nobody measures it: then the payload is the one
            without a wrench.
        base : Base, optional
            How the base stands and moves; at rest under the dynamics' gravity when omitted.
        direction : array, shape (n + k,) or (N, n + k), optional
            In place of the sign of `qd_friction`, and of the shafts of the k coupled drives if
            `drives` has these, where that is a step.

        Returns
        -------
        array, shape (n,) or (N, n)
            [N m or N]
        """
        rigid, payload = self._rigid, self.find_payload(wrench)
        if not self.terms.coriolis:
            qd = self._zero if qd.ndim == 1 else np.zeros_like(qd)
        motion = self.find_motion(base)
        if motion is None and payload is None:
            effort = rigid.inverse_dynamics(q, qd, qdd, wrench)
        else:
            effort = rigid.inverse_dynamics(q, qd, qdd, wrench, motion, payload)
        if not self._adds_friction:
            return effort
        of_drives = None
        if direction is not None:
            n = self._zero.size
            direction, of_drives = direction[..., :n], direction[..., n:]
        if self._is_simple:
            friction = self._viscous * qd_friction
            if self._has_coulomb:
                friction += self._coulomb * self._choose_direction(qd_friction, direction)
            return self._add_drives(effort + friction, qd_friction, of_drives)
        load = None
        if self._depends_on_load:
            still = self._zero if q.ndim == 1 else np.zeros_like(q)
            resting = None if base is None else base.motion
            load = rigid.inverse_dynamics(q, qd, still, wrench, resting, payload)
        effort = effort + self._friction_of_models(qd_friction, load, direction)
        return self._add_drives(effort, qd_friction, of_drives)

    def viscous_effort(self, qd: FloatArray) -> FloatArray:
        """Return the viscous friction, whatever `terms` say, shape (n,) [N m or N].

        Velocities have the same shape [rad/s or m/s].
        """
        effort: FloatArray = self._viscous * qd
        return effort if self.drives is None else effort + self.drives.viscous_effort(qd)

    def move_hysteresis(self, states: FloatArray, displacement: FloatArray) -> FloatArray:
        """Return the states of the hysteresis, -1 to 1, after displacements in one direction each.

        All of shape (n,) or (N, n); displacements [rad or m].
        """
        joints = zip(self.friction, _list_joints(states), _list_joints(displacement), strict=True)
        return _gather_joints([move_hysteresis(*joint) for joint in joints], states)

    def hysteresis_effort(
        self, states: FloatArray, qd: FloatArray, direction: FloatArray | None = None
    ) -> FloatArray:
        """Return what the states of the hysteresis add to :meth:`effort`, whatever `terms` say.

        All of shape (n,) or (N, n): states, velocities for which friction counted, the direction
        as it was given, and efforts [N m or N].
        """
        rates = _list_joints(qd)
        directions = [None] * len(rates) if direction is None else _list_joints(direction)
        joints = zip(self.friction, _list_joints(states), rates, directions, strict=True)
        return _gather_joints([compute_hysteresis(*joint) for joint in joints], qd)

    def inertial_effort(
        self, q: FloatArray, qdd: FloatArray, wrench: FloatArray | None = None
    ) -> FloatArray:
        """Return the mass matrix times `qdd`, shape (n,) [N m or N]; zero without `terms.inertia`.

        Positions [rad or m] and accelerations have the same shape. The load is another one without
        the wrench, shape (6,), that is given to :meth:`effort`.
        """
        if not self.terms.inertia:
            return self._zero
        payload = self.find_payload(wrench)
        return self._rigid.inverse_dynamics(q, self._zero, qdd, None, self._falling, payload)

    def find_payload(self, wrench: FloatArray | None) -> FloatArray | None:
        """Return the payload that counts with a wrench, or without one (None): (10,) or None."""
        return self._payload_without_wrench if wrench is None else self._payload

    def gravity(self, q: FloatArray, base: Base | None = None) -> FloatArray:
        """Return the effort that gravity takes, whatever `terms` say, shape (n,) [N m or N].

        Of the payload, too; under the dynamics' gravity where no base is given.
        """
        still, payload = self._zero, self._payload_without_wrench
        resting = None if base is None else base.resting
        if resting is None and payload is None:
            return self._rigid.inverse_dynamics(q, still, still)
        return self._rigid.inverse_dynamics(q, still, still, None, resting, payload)

    def find_motion(self, base: Base | None) -> FloatArray | None:
        """Return the base motion that the inverse dynamics take, shape (9,): gravity is in it.

        None for a base at rest under the dynamics' gravity.
        """
        if self.terms.gravity:
            return None if base is None else base.motion
        # In free fall nothing has weight.
        return self._falling if base is None else base.motion - base.resting + self._falling

    def _add_drives(
        self, effort: FloatArray, qd: FloatArray, direction: FloatArray | None
    ) -> FloatArray:
        return effort if self.drives is None else effort + self.drives.effort(qd, direction)

    def _choose_direction(self, qd: FloatArray, direction: FloatArray | None) -> FloatArray:
        if self._sharpness:
            smooth: FloatArray = np.tanh(self._sharpness * qd)
            return smooth
        return np.sign(qd) if direction is None else direction

    def _friction_of_models(
        self, qd: FloatArray, load: FloatArray | None, direction: FloatArray | None
    ) -> FloatArray:
        """Return friction with more than viscous and Coulomb friction, joint by joint."""
        rates = _list_joints(qd)
        loads = [0.0] * len(rates) if load is None else _list_joints(load)
        directions = [None] * len(rates) if direction is None else _list_joints(direction)
        joints = zip(
            self.friction,
            self._viscous.tolist(),
            self._coulomb.tolist(),
            rates,
            loads,
            directions,
            strict=True,
        )
        return _gather_joints([compute_friction(*joint) for joint in joints], qd)


def _list_joints(values: FloatArray) -> Sequence[Any]:
    """Return what each joint has: floats of one sample, which are quicker than arrays."""
    return values.tolist() if values.ndim == 1 else list(values.T)


def _gather_joints(found: Sequence[Any], like: FloatArray) -> FloatArray:
    """Return what was found for each joint, in the shape of what the joints were given."""
    if like.ndim == 1:
        return np.array(found)
    return np.stack([np.broadcast_to(each, len(like)) for each in found], axis=-1)


def changes_sign(friction: FrictionModel, coulomb_friction: float) -> bool:
    """Return whether friction of a joint jumps, or is steep, where the joint turns round."""
    return bool(
        coulomb_friction
        or friction.static_friction
        or friction.load_coefficient
        or friction.friction_asymmetry
        or friction.hysteresis_friction
    )
