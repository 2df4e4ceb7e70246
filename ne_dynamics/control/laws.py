"""The control laws: measured and desired state in, joint effort out.

Four modes, all built on the robot's inverse dynamics RNE(q, qd, qdd), with the tip wrench added
in each of them. Subscript d is desired, e = q_d - q is the position error (to the nearest turn
where a joint is continuous), e' = qd_d - qd.

==================== ==========================================================
computed_torque      RNE(q, qd, qdd_d + Kv e' + Kp e)
feedforward          RNE(q_d, qd_d, qdd_d)
feedforward_pd       RNE(q_d, qd_d, qdd_d) + Kp e + Kv e'
gravity_compensation RNE(q, 0, 0), and what a hand is to feel
==================== ==========================================================

Terms switch off one by one, for robots that compensate themselves:

gravity
    The gravity torque is left out.
coriolis
    Velocities are taken as zero in the dynamics.
inertia
    The desired acceleration is not fed forward. In computed_torque the feedback still acts
    through the mass matrix, M(q) (Kv e' + Kp e): it has no other way to act.
friction
    No friction is fed forward. When on, it is that of the *desired* velocity in every mode: the
    measured one would make Coulomb friction chatter with the noise of the sensor.

A payload and a base that is tilted or moves enter wherever the model does. Where no wrench is
given the payload may be another one: what a sensor does not say of the tool, the model puts in.

What a hand is to feel beside the inertia of the arm is in :mod:`ne_dynamics.control.hand_guiding`;
by default it is nothing.

So feedforward_pd with gravity alone is PD with gravity compensation, and with all terms off it
is PD alone.

With diagonal gains the laws with feedback are one call of machine code,
:meth:`ne_dynamics.Dynamics.control_effort`, traced from :mod:`ne_dynamics.algorithms.control_law`.
Full gain matrices, and whatever that law lacks, are computed here by NumPy around the inverse
dynamics; both give the same.
"""

from __future__ import annotations

import enum
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ne_dynamics.control.feedback_gains import Gains
from ne_dynamics.control.hand_guiding import HandGuiding
from ne_dynamics.dynamics import Dynamics
from ne_dynamics.dynamics.compensation import Base, Compensation, Terms
from ne_dynamics.errors import InputError, ParameterError
from ne_dynamics.model.rigid_body import FloatArray
from ne_dynamics.motion.waypoints import DesiredState, continuous_joints, wrap_turns


class Mode(str, enum.Enum):
    """Control law; the values are the words of the node's parameter `mode`."""

    COMPUTED_TORQUE = 'computed_torque'
    FEEDFORWARD = 'feedforward'
    FEEDFORWARD_PD = 'feedforward_pd'
    GRAVITY_COMPENSATION = 'gravity_compensation'

    @property
    def has_feedback(self) -> bool:
        """Whether the law uses the tracking error, and so the measured velocity."""
        return self in (Mode.COMPUTED_TORQUE, Mode.FEEDFORWARD_PD)

    @property
    def follows(self) -> bool:
        """Whether the law follows a desired motion."""
        return self is not Mode.GRAVITY_COMPENSATION


def _find_mode(mode: Mode | str) -> Mode:
    try:
        return Mode(mode)
    except ValueError:
        words = [one.value for one in Mode]
        raise ParameterError(f'mode: expected one of {words}, got {mode!r}') from None


def _require_measured(velocity: FloatArray | None) -> FloatArray:
    if velocity is None:
        raise InputError('qd: expected the measured velocity, got None')
    return velocity


class ResidualStep(NamedTuple):
    """Parameters of one update of the momentum observer's residuals.

    Attributes
    ----------
    rate : float
        Reciprocal of the time between the two states [1/s].
    lag : float
        Time from the middle between the two states to the present position [s].
    slow_share, fast_share : float
        Shares by which the residuals move towards the new value.
    """

    rate: float
    lag: float
    slow_share: float
    fast_share: float


class ControlLaw:
    """One control law with its gains and terms, for one robot.

    Parameters
    ----------
    dynamics : Dynamics
        :class:`ne_dynamics.Dynamics` of the model to compensate.
    mode : Mode or str
    gains : Gains, optional
        Required by the modes with feedback.
    terms : Terms
        Parts of the model to use; default: all.
    payload : array, shape (10,), optional
        Inertial parameters of a load at the tip that the model does not have, as in
        :meth:`ne_dynamics.Dynamics.inverse_dynamics`.
    smoothing_velocity : float
        Velocity range around rest over which friction changes its sign, for joints whose model
        gives none [rad/s or m/s]; 0 for a step.
    payload_without_wrench : array, shape (10,), optional
        See :class:`~ne_dynamics.dynamics.compensation.Compensation`.
    hand_guiding : HandGuiding, optional
        Added to gravity in mode gravity_compensation; not used in other modes.

    Attributes
    ----------
    compensation : Compensation
        The model's feed-forward.
    has_feedback : bool
        Whether the law uses the tracking error.
    needs_velocity : bool
        Whether the law uses the measured velocity.
    guiding_rate : float
        Largest rate at which it slows down an arm that is led by hand [1/s].
    error : array, shape (n,)
        With feedback: the position error in the last call of :meth:`effort` [rad or m].

    Raises
    ------
    ParameterError
        When the mode is unknown, or gains are missing or have a wrong size.
    """

    def __init__(
        self,
        dynamics: Dynamics,
        mode: Mode | str = Mode.COMPUTED_TORQUE,
        gains: Gains | None = None,
        terms: Terms | None = None,
        payload: FloatArray | None = None,
        smoothing_velocity: float = 0.0,
        payload_without_wrench: FloatArray | None = None,
        hand_guiding: HandGuiding | None = None,
    ) -> None:
        self.mode = _find_mode(mode)
        self.terms = Terms() if terms is None else terms
        self.gains = gains
        self.dynamics = dynamics
        self.compensation = Compensation(
            dynamics, self.terms, payload, smoothing_velocity, payload_without_wrench
        )
        self.joints = joints = dynamics.robot.joints
        n = len(joints)
        self._continuous = continuous_joints(joints)
        self._zero = np.zeros(n)
        self._zero.setflags(write=False)
        self.error = self._zero
        self.has_feedback = self.mode.has_feedback
        is_led = self.mode is Mode.GRAVITY_COMPENSATION
        is_led = is_led and hand_guiding is not None and not hand_guiding.is_off
        self._hand_guiding = guiding = hand_guiding if is_led else None
        self.guiding_rate = 0.0 if guiding is None else guiding.largest_rate
        self.needs_velocity = self.has_feedback or is_led
        self._has_tip = dynamics.robot.tip_link is not None
        self._traced: Dynamics | None = None
        self._step: ResidualStep | None = None
        self._step_values = np.zeros(0)
        if self.mode.has_feedback:
            if gains is None:
                raise ParameterError(f'{self.mode.value}: expected gains, got none')
            self._use_gains(gains, n, smoothing_velocity)

    def _use_gains(self, gains: Gains, n: int, smoothing_velocity: float) -> None:
        """Prepare the feedback of n joints."""
        for key, gain in (('kp', gains.kp), ('kv', gains.kv)):
            if gain.ndim and gain.shape[0] != n:
                raise ParameterError(f'{key}: expected gains for {n} joints, got {gain.shape[0]}')
        # Plain floats are the quickest factor NumPy knows.
        self._kp = gains.kp if gains.kp.ndim else float(gains.kp)
        self._kv = gains.kv if gains.kv.ndim else float(gains.kv)
        self._kp_is_full = gains.kp.ndim == 2
        self._kv_is_full = gains.kv.ndim == 2
        self._traced = self._find_traced()
        if self._traced is not None:
            diagonal = [np.array(np.broadcast_to(gain, n)) for gain in (gains.kp, gains.kv)]
            none = [self._zero, self._zero]
            is_computed_torque = self.mode is Mode.COMPUTED_TORQUE
            both = diagonal + none if is_computed_torque else none + diagonal
            self._settings = *both, np.array([smoothing_velocity])
            self._motion_at_rest = self.compensation.find_motion(None)

    def _find_traced(self) -> Dynamics | None:
        """Return the dynamics whose :meth:`Dynamics.control_effort` is this law, if it is.

        It has diagonal gains, friction as it is at rest where that is switched off, and one base
        motion for the model and for the load of friction. Where Python checks its arguments, as
        it does of robots without a tip on a base that moves, one call takes longer than the
        operations of this class.
        """
        terms, friction, dynamics = self.terms, self.compensation.friction, self.dynamics
        if (
            dynamics.has_entries
            and type(dynamics).inverse_dynamics is Dynamics.inverse_dynamics
            and not (self._kp_is_full or self._kv_is_full)
            and (terms.gravity or self._has_tip)
            and (terms.gravity or not any(model.depends_on_load for model in friction))
            and (terms.friction or not any(model.friction_offset for model in friction))
            and (terms.gravity or terms.coriolis or terms.inertia or terms.friction)
        ):
            return dynamics
        return None

    def position_error(self, q_desired: FloatArray, q: FloatArray) -> FloatArray:
        """Return the desired less the measured position, modulo full turns of continuous joints.

        All of shape (n,) [rad or m].
        """
        return wrap_turns(q_desired - q, self._continuous)

    def _feedback(self, q: FloatArray, qd: FloatArray, desired: DesiredState) -> FloatArray:
        error = self.error = self.position_error(desired.position, q)
        rate = desired.velocity - qd
        proportional = self._kp @ error if self._kp_is_full else self._kp * error
        derivative = self._kv @ rate if self._kv_is_full else self._kv * rate
        feedback: FloatArray = proportional + derivative
        return feedback

    def effort(
        self,
        q: FloatArray,
        qd: FloatArray | None,
        desired: DesiredState,
        wrench: FloatArray | None = None,
        base: Base | None = None,
    ) -> FloatArray:
        """Return the joint efforts of the law, not limited.

        Parameters
        ----------
        q : array, shape (n,)
            Measured position [rad or m].
        qd : array, shape (n,), or None
            Measured velocity [rad/s or m/s]; may be None if the mode does not need it.
        desired : DesiredState
            Not used by gravity_compensation.
        wrench : array, shape (6,), optional
            Force [N], then moment [N m], that the last link exerts on the environment, at the
            tip frame, in tip axes.
        base : Base, optional
            Tilt and motion of the base; default: at rest under the gravity of the dynamics.

        Returns
        -------
        array, shape (n,)
            [N m or N]

        Raises
        ------
        InputError
            When the mode needs the measured velocity and there is none.
        """
        mode = self.mode
        if self._traced is not None and (base is None or self._has_tip):
            return self._traced_effort(self._traced, q, qd, desired, wrench, base)
        if mode is Mode.COMPUTED_TORQUE:
            qd = _require_measured(qd)
            acceleration = self._feedback(q, qd, desired)
            if self.terms.inertia:
                acceleration += desired.acceleration
            return self.compensation.effort(q, qd, acceleration, desired.velocity, wrench, base)
        if self._hand_guiding is not None:
            return self._hand_guiding.effort(
                self.compensation, q, _require_measured(qd), wrench, base
            )
        if mode is Mode.GRAVITY_COMPENSATION:
            still = self._zero
            return self.compensation.effort(q, still, still, still, wrench, base)
        effort = self._feedforward(desired, wrench, base)
        if mode is Mode.FEEDFORWARD_PD:
            effort = effort + self._feedback(q, _require_measured(qd), desired)
        return effort

    def disturbance_residuals(
        self,
        q: FloatArray,
        qd: FloatArray,
        qd_before: FloatArray,
        friction_qd: FloatArray,
        effort: FloatArray,
        residuals: FloatArray,
        step: ResidualStep,
        wrench: FloatArray | None = None,
        base: Base | None = None,
    ) -> FloatArray:
        """Return the residuals of the momentum observer after a state, as far as `terms` apply.

        Terms that the robot compensates itself are neither in the command nor in the residuals.
        Inertia is always included: `terms.inertia` refers to its feed-forward only.

        Parameters
        ----------
        q, qd, qd_before : array, shape (n,)
            Position [rad or m], velocity, and velocity of the previous state [rad/s or m/s].
        friction_qd : array, shape (n,)
            Velocities for the friction other than viscous friction, as fed forward [rad/s or m/s]:
            the sign of measured velocities would follow their noise.
        effort : array, shape (n,)
            Effort commanded between the two states [N m or N].
        residuals : array, shape (2, n)
            Slow and fast residuals of the previous state [N m or N].
        step : ResidualStep
        wrench, base : optional
            As for :meth:`effort`.

        Returns
        -------
        array, shape (2, n)
            The new slow and fast residuals [N m or N].
        """
        dynamics, compensation = self._traced, self.compensation
        if dynamics is None or not (base is None or self._has_tip):
            mean = 0.5 * (qd_before + qd)
            missing = compensation.effort(
                q - step.lag * mean, mean, step.rate * (qd - qd_before), friction_qd, wrench, base
            )
            if compensation.has_viscous_friction:
                missing = missing + compensation.viscous_effort(mean - friction_qd)
            shares = np.array([[step.slow_share], [step.fast_share]])
            found: FloatArray = residuals + shares * (missing - effort - residuals)
            return found
        if step is not self._step:
            uses = self.terms.coriolis, self.terms.friction
            self._step, self._step_values = step, np.array((*step, *uses, *self._settings[-1]))
        values = q, qd, qd_before, friction_qd, effort, residuals[0], residuals[1]
        payload = compensation.find_payload(wrench)
        motion = self._motion_at_rest if base is None else compensation.find_motion(base)
        compute: Callable[..., FloatArray] = dynamics.disturbance_residuals
        if motion is None and payload is None and wrench is None:
            return compute(*values, self._step_values)
        return compute(*values, self._step_values, wrench, motion, payload)

    def _traced_effort(
        self,
        dynamics: Dynamics,
        q: FloatArray,
        qd: FloatArray | None,
        desired: DesiredState,
        wrench: FloatArray | None,
        base: Base | None,
    ) -> FloatArray:
        """Return the effort of a law with feedback by one call of the traced equations."""
        qd = _require_measured(qd)
        terms, payload = self.terms, self.compensation.find_payload(wrench)
        q_desired, qd_desired, qdd = desired
        q_model, qd_model, friction_qd = q, qd, qd_desired
        if self.mode is Mode.FEEDFORWARD_PD:
            q_model, qd_model = q_desired, qd_desired
        if not terms.coriolis:
            qd_model = self._zero
        if not terms.inertia:
            qdd = self._zero
        if not terms.friction:
            friction_qd = self._zero
        motion = self._motion_at_rest if base is None else self.compensation.find_motion(base)
        compute: Callable[..., FloatArray] = dynamics.control_effort
        state = q, qd, q_desired, qd_desired, q_model, qd_model, qdd, friction_qd
        if motion is None and payload is None and wrench is None:
            both = compute(*state, *self._settings)
        else:
            both = compute(*state, *self._settings, wrench, motion, payload)
        self.error = both[1]
        effort: FloatArray = both[0]
        return effort

    def _feedforward(
        self, desired: DesiredState, wrench: FloatArray | None, base: Base | None
    ) -> FloatArray:
        terms = self.terms
        if wrench is None and not (
            terms.gravity or terms.coriolis or terms.inertia or terms.friction
        ):
            return self._zero
        acceleration = desired.acceleration if terms.inertia else self._zero
        return self.compensation.effort(
            desired.position, desired.velocity, acceleration, desired.velocity, wrench, base
        )
