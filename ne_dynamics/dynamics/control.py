"""Control laws, the momentum observer and the hysteresis of friction, each one program."""

from __future__ import annotations

from numpy.typing import ArrayLike

from ne_dynamics.codegen.functions import (
    CONTROL_EFFORT,
    DISTURBANCE_RESIDUALS,
    FRICTION_HYSTERESIS,
)
from ne_dynamics.dynamics.calls import CheckedCalls
from ne_dynamics.model.robot import FloatArray


class ControlMethods(CheckedCalls):
    """What control loops call."""

    def computed_torque(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        q_desired: ArrayLike,
        qd_desired: ArrayLike,
        qdd_desired: ArrayLike,
        kp: ArrayLike,
        kv: ArrayLike,
        effort_limits: ArrayLike,
        smoothing_velocity: ArrayLike = (0.0,),
        wrench: ArrayLike | None = None,
        base_motion: ArrayLike | None = None,
        payload: ArrayLike | None = None,
        *,
        out: FloatArray | None = None,
    ) -> FloatArray:
        """Return the limited efforts of computed torque, gains diagonal.

        With e = q_desired - q, to the nearest turn where a joint is continuous, and
        e' = qd_desired - qd:

            RNE(q, qd, qdd_desired + kp e + kv e') + f(qd_desired)

        RNE are the efforts of links, rotors and loads; f is friction.

        Parameters
        ----------
        q, qd : array-like, shape (n,) or (N, n)
            Measured joint positions [rad or m] and velocities [rad/s or m/s].
        q_desired, qd_desired, qdd_desired : array-like, shape (n,) or (N, n)
            Desired positions, velocities and accelerations [rad/s^2 or m/s^2].
        kp, kv : array-like, shape (n,) or (N, n)
            Accelerations per error [1/s^2, 1/s].
        effort_limits : array-like, shape (n,) or (N, n)
            Magnitudes that no effort exceeds [N m or N]; a large number for none.
        smoothing_velocity : array-like, shape (1,) or (N, 1)
            Width of the change of sign of friction around rest where the model gives none
            [rad/s or m/s], at least 0; 0 for a step.
        wrench, base_motion, payload : optional
            As for :meth:`inverse_dynamics`.
        out : array, shape (n,) or (N, n), optional
            For the result.

        Returns
        -------
        array, shape (n,) or (N, n)
            Efforts [N m or N].

        Raises
        ------
        InputError, ModelError
            As for :meth:`inverse_dynamics`.

        Notes
        -----
        One program with all of it, which ``ne_dynamics equations`` prints for a firmware; see
        :func:`ne_dynamics.algorithms.control_law.computed_torque`.
        """
        values = q, qd, q_desired, qd_desired, qdd_desired, kp, kv, effort_limits
        loads = wrench, base_motion, payload
        return self._answer_control('computed_torque', (*values, smoothing_velocity), loads, out)

    def feedforward_pd(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        q_desired: ArrayLike,
        qd_desired: ArrayLike,
        qdd_desired: ArrayLike,
        kp: ArrayLike,
        kv: ArrayLike,
        effort_limits: ArrayLike,
        smoothing_velocity: ArrayLike = (0.0,),
        wrench: ArrayLike | None = None,
        base_motion: ArrayLike | None = None,
        payload: ArrayLike | None = None,
        *,
        out: FloatArray | None = None,
    ) -> FloatArray:
        """Return the limited efforts of feed-forward with PD, gains diagonal.

        With the errors of :meth:`computed_torque`, ``RNE(q_desired, qd_desired, qdd_desired) +
        f(qd_desired) + kp e + kv e'``.

        Parameters
        ----------
        kp, kv : array-like, shape (n,) or (N, n)
            Efforts per error [N m/rad or N/m, N m s/rad or N s/m].
        q, qd, q_desired, qd_desired, qdd_desired, effort_limits, smoothing_velocity : array-like
            As for :meth:`computed_torque`.
        wrench, base_motion, payload, out : optional
            As for :meth:`computed_torque`.

        Returns
        -------
        array, shape (n,) or (N, n)
            Efforts [N m or N].

        Raises
        ------
        InputError, ModelError
            As for :meth:`inverse_dynamics`.
        """
        values = q, qd, q_desired, qd_desired, qdd_desired, kp, kv, effort_limits
        loads = wrench, base_motion, payload
        return self._answer_control('feedforward_pd', (*values, smoothing_velocity), loads, out)

    def control_effort(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        q_desired: ArrayLike,
        qd_desired: ArrayLike,
        q_model: ArrayLike,
        qd_model: ArrayLike,
        qdd: ArrayLike,
        friction_qd: ArrayLike,
        kp: ArrayLike,
        kv: ArrayLike,
        effort_kp: ArrayLike,
        effort_kv: ArrayLike,
        smoothing_velocity: ArrayLike,
        wrench: ArrayLike | None = None,
        base_motion: ArrayLike | None = None,
        payload: ArrayLike | None = None,
        *,
        out: FloatArray | None = None,
    ) -> FloatArray:
        """Return the efforts of a control law with diagonal gains, and its position errors.

        With e the position error (to the nearest turn where a joint is continuous) and e' the
        velocity error, desired less measured:

            RNE(q_model, qd_model, qdd + kp e + kv e') + f(friction_qd)
                + effort_kp e + effort_kv e'

        RNE are the efforts of links, rotors and loads, f is friction, whose load is that of the
        model's state. Computed torque has the measured state in the model and no effort gains,
        feed-forward with PD the desired one and effort gains alone; see
        :class:`ne_dynamics.control.laws.ControlLaw`, which calls this.

        Parameters
        ----------
        q, qd, q_desired, qd_desired : array-like, shape (n,) or (N, n)
            Measured and desired positions [rad or m] and velocities [rad/s or m/s].
        q_model, qd_model, qdd : array-like, shape (n,) or (N, n)
            For which links and rotors count.
        friction_qd : array-like, shape (n,) or (N, n)
            Velocities for which friction counts.
        kp, kv : array-like, shape (n,) or (N, n)
            Accelerations per error [1/s^2, 1/s].
        effort_kp, effort_kv : array-like, shape (n,) or (N, n)
            Efforts per error [N m/rad or N/m, N m s/rad or N s/m].
        smoothing_velocity : array-like, shape (1,) or (N, 1)
            As for :meth:`computed_torque`.
        wrench, base_motion, payload : optional
            As for :meth:`inverse_dynamics`.
        out : array, shape (2, n) or (2, N, n), optional
            For the result.

        Returns
        -------
        array, shape (2, n) or (2, N, n)
            It unpacks as efforts [N m or N], not limited, and errors e [rad or m].

        Raises
        ------
        InputError, ModelError
            As for :meth:`inverse_dynamics`.
        """
        values = (
            *(q, qd, q_desired, qd_desired, q_model, qd_model, qdd, friction_qd),
            *(kp, kv, effort_kp, effort_kv, smoothing_velocity),
        )
        return self._answer_control(CONTROL_EFFORT, values, (wrench, base_motion, payload), out)

    def disturbance_residuals(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        qd_before: ArrayLike,
        friction_qd: ArrayLike,
        effort: ArrayLike,
        slow: ArrayLike,
        fast: ArrayLike,
        step: ArrayLike,
        wrench: ArrayLike | None = None,
        base_motion: ArrayLike | None = None,
        payload: ArrayLike | None = None,
        *,
        out: FloatArray | None = None,
    ) -> FloatArray:
        """Return the two residuals of a momentum observer after a state.

        Each follows, by its share, what the motion since the state before has taken beyond the
        command: with v the mean of the velocities, at q - lag v,

            RNE(q - lag v, v, (qd - qd_before) rate) + f(friction_qd)
                + viscous friction of v - friction_qd - effort

        See :class:`ne_dynamics.control.observer.MomentumObserver`, which calls this.

        Parameters
        ----------
        q, qd, qd_before : array-like, shape (n,) or (N, n)
            Position [rad or m] and velocity, and the velocity of the state before.
        friction_qd : array-like, shape (n,) or (N, n)
            Velocities that friction but the viscous one counts for [rad/s or m/s].
        effort : array-like, shape (n,) or (N, n)
            Commanded between the two states [N m or N].
        slow, fast : array-like, shape (n,) or (N, n)
            Residuals of the state before [N m or N].
        step : array-like, shape (7,) or (N, 7)
            Rate, one by the time since the state before [1/s]; lag [s]; shares of slow and fast;
            whether Coriolis efforts count, and friction (1 or 0); width of the change of sign of
            friction around rest where the model gives none [rad/s or m/s].
        wrench, base_motion, payload : optional
            As for :meth:`inverse_dynamics`.
        out : array, shape (2, n) or (2, N, n), optional
            For the result.

        Returns
        -------
        array, shape (2, n) or (2, N, n)
            It unpacks as slow and fast [N m or N].

        Raises
        ------
        InputError, ModelError
            As for :meth:`inverse_dynamics`.
        """
        values = q, qd, qd_before, friction_qd, effort, slow, fast, step
        loads = wrench, base_motion, payload
        return self._answer_control(DISTURBANCE_RESIDUALS, values, loads, out)

    def friction_hysteresis(
        self,
        hysteresis: ArrayLike,
        displacement: ArrayLike,
        friction_qd: ArrayLike,
        smoothing_velocity: ArrayLike = (0.0,),
        *,
        out: FloatArray | None = None,
    ) -> FloatArray:
        """Return how friction with hysteresis goes on, and what it adds to the other methods.

        What knows a position and a velocity, and not how the joint came there, takes half of the
        hysteresis in the direction of the velocity; see
        :class:`~ne_dynamics.model.friction.FrictionModel`. A loop that keeps the states of the
        hysteresis adds the rest::

            hysteresis, more = dynamics.friction_hysteresis(hysteresis, q - q_before, qd)
            tau = dynamics.inverse_dynamics(q, qd, qdd) + more

        Parameters
        ----------
        hysteresis : array-like, shape (n,) or (N, n)
            States before, between -1 and 1; 0 where nobody knows.
        displacement : array-like, shape (n,) or (N, n)
            By which the joints have moved since, in one direction each [rad or m].
        friction_qd : array-like, shape (n,) or (N, n)
            Velocities that the friction was computed for [rad/s or m/s].
        smoothing_velocity : array-like, shape (1,) or (N, 1)
            Width of the change of sign of friction around rest, as the friction was computed
            with, where the model gives none [rad/s or m/s], at least 0; 0 for a step.
        out : array, shape (2, n) or (2, N, n), optional
            For the result.

        Returns
        -------
        array, shape (2, n) or (2, N, n)
            It unpacks as the states after the displacement and the efforts to be added
            [N m or N]. Joints without hysteresis keep their states, and have 0.

        Raises
        ------
        InputError
            As from :meth:`inverse_dynamics`.
        """
        values = hysteresis, displacement, friction_qd, smoothing_velocity
        return self._answer(FRICTION_HYSTERESIS, values, out)

    def _answer_control(
        self,
        method: str,
        values: tuple[ArrayLike, ...],
        loads: tuple[ArrayLike | None, ArrayLike | None, ArrayLike | None],
        out: FloatArray | None,
    ) -> FloatArray:
        """Answer for a control law; its loads are wrench, motion of the base and payload."""
        wrench, _, payload = loads
        if wrench is not None or payload is not None:
            self._require_tip_for_load(wrench, payload)
        return self._answer(method, (*values, *loads), out)
