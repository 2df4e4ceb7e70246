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
    """Control laws, momentum observer and friction hysteresis, for control loops."""

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
        """Return the efforts of the computed-torque law with diagonal gains, limited.

        With the position error e = q_desired - q (at continuous joints modulo full turns, the
        nearest) and the velocity error e' = qd_desired - qd::

            RNE(q, qd, qdd_desired + kp e + kv e') + f(qd_desired)

        RNE is the inverse dynamics of links, rotors and loads without friction; f is friction.
        ``ne_dynamics equations`` exports this law for firmware as one program.

        Parameters
        ----------
        q, qd : array-like, shape (n,) or (N, n)
            Measured joint positions [rad or m] and velocities [rad/s or m/s].
        q_desired, qd_desired, qdd_desired : array-like, shape (n,) or (N, n)
            Desired positions, velocities and accelerations [rad/s^2 or m/s^2].
        kp, kv : array-like, shape (n,) or (N, n)
            Accelerations per error [1/s^2, 1/s].
        effort_limits : array-like, shape (n,) or (N, n)
            Largest magnitudes of the efforts [N m or N]; a large number for no limit.
        smoothing_velocity : array-like, shape (1,) or (N, 1)
            Velocity range around rest over which friction changes its sign, for joints whose model
            gives none [rad/s or m/s]; 0 for a step.
        wrench, base_motion, payload : optional
            As for :meth:`inverse_dynamics`.
        out : array, shape (n,) or (N, n), optional
            Array for the result.

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
        given = *values, smoothing_velocity, wrench, base_motion, payload
        return self._answer('computed_torque', given, out)

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
        """Return the efforts of feed-forward plus PD with diagonal gains, limited.

        With the errors of :meth:`computed_torque`, ``RNE(q_desired, qd_desired, qdd_desired) +
        f(qd_desired) + kp e + kv e'``.

        Parameters
        ----------
        q, qd, q_desired, qd_desired, qdd_desired, effort_limits, smoothing_velocity : array-like
            As for :meth:`computed_torque`.
        kp, kv : array-like, shape (n,) or (N, n)
            Efforts per error [N m/rad or N/m, N m s/rad or N s/m].
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
        given = *values, smoothing_velocity, wrench, base_motion, payload
        return self._answer('feedforward_pd', given, out)

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
        """Return the efforts of a general law with diagonal gains, and the position errors.

        With the errors e and e' of :meth:`computed_torque`::

            RNE(q_model, qd_model, qdd + kp e + kv e') + f(friction_qd)
                + effort_kp e + effort_kv e'

        RNE is the inverse dynamics of links, rotors and loads without friction; f is friction,
        with the load at q_model, qd_model. For computed torque, q_model and qd_model are measured
        and the effort gains zero; for feed-forward plus PD, they are desired and kp and kv zero.
        :class:`ne_dynamics.control.laws.ControlLaw` calls this method.

        Parameters
        ----------
        q, qd, q_desired, qd_desired : array-like, shape (n,) or (N, n)
            Measured and desired positions [rad or m] and velocities [rad/s or m/s].
        q_model, qd_model, qdd : array-like, shape (n,) or (N, n)
            Motion for the inverse dynamics.
        friction_qd : array-like, shape (n,) or (N, n)
            Velocities for the friction.
        kp, kv : array-like, shape (n,) or (N, n)
            Accelerations per error [1/s^2, 1/s].
        effort_kp, effort_kv : array-like, shape (n,) or (N, n)
            Efforts per error [N m/rad or N/m, N m s/rad or N s/m].
        smoothing_velocity : array-like, shape (1,) or (N, 1)
            As for :meth:`computed_torque`.
        wrench, base_motion, payload : optional
            As for :meth:`inverse_dynamics`.
        out : array, shape (2, n) or (2, N, n), optional
            Array for the result.

        Returns
        -------
        array, shape (2, n) or (2, N, n)
            Unpacks as efforts, not limited [N m or N], and position errors e [rad or m].

        Raises
        ------
        InputError, ModelError
            As for :meth:`inverse_dynamics`.
        """
        values = (
            *(q, qd, q_desired, qd_desired, q_model, qd_model, qdd, friction_qd),
            *(kp, kv, effort_kp, effort_kv, smoothing_velocity),
        )
        return self._answer(CONTROL_EFFORT, (*values, wrench, base_motion, payload), out)

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
        """Return the slow and the fast residual of a momentum observer, updated by one state.

        Each residual moves, by its share, towards the difference between the effort that the
        motion since the previous state required and the commanded effort. With v the mean of `qd`
        and `qd_before`::

            RNE(q - lag v, v, (qd - qd_before) rate) + f(friction_qd)
                + viscous friction of (v - friction_qd) - effort

        :class:`ne_dynamics.control.observer.MomentumObserver` calls this method.

        Parameters
        ----------
        q, qd, qd_before : array-like, shape (n,) or (N, n)
            Position [rad or m], velocity, and velocity of the previous state [rad/s or m/s].
        friction_qd : array-like, shape (n,) or (N, n)
            Velocities for the friction other than viscous friction [rad/s or m/s].
        effort : array-like, shape (n,) or (N, n)
            Effort commanded between the two states [N m or N].
        slow, fast : array-like, shape (n,) or (N, n)
            Residuals of the previous state [N m or N].
        step : array-like, shape (7,) or (N, 7)
            In this order: rate, the reciprocal of the time between the states [1/s]; lag [s];
            share of slow; share of fast; 1 or 0: include Coriolis efforts; 1 or 0: include
            friction; smoothing velocity as in :meth:`computed_torque` [rad/s or m/s].
        wrench, base_motion, payload : optional
            As for :meth:`inverse_dynamics`.
        out : array, shape (2, n) or (2, N, n), optional
            Array for the result.

        Returns
        -------
        array, shape (2, n) or (2, N, n)
            Unpacks as the new slow and fast residuals [N m or N].

        Raises
        ------
        InputError, ModelError
            As for :meth:`inverse_dynamics`.
        """
        values = q, qd, qd_before, friction_qd, effort, slow, fast, step
        given = *values, wrench, base_motion, payload
        return self._answer(DISTURBANCE_RESIDUALS, given, out)

    def friction_hysteresis(
        self,
        hysteresis: ArrayLike,
        displacement: ArrayLike,
        friction_qd: ArrayLike,
        smoothing_velocity: ArrayLike = (0.0,),
        *,
        out: FloatArray | None = None,
    ) -> FloatArray:
        """Return the next hysteresis states, and the efforts that they add to other methods.

        The other methods know only position and velocity, not the path, and include half of the
        hysteresis friction in the direction of the velocity; see
        :class:`~ne_dynamics.model.friction.FrictionModel`. A loop that keeps the hysteresis states
        adds the rest::

            hysteresis, more = dynamics.friction_hysteresis(hysteresis, q - q_before, qd)
            tau = dynamics.inverse_dynamics(q, qd, qdd) + more

        Parameters
        ----------
        hysteresis : array-like, shape (n,) or (N, n)
            Previous states, between -1 and 1; 0 if unknown.
        displacement : array-like, shape (n,) or (N, n)
            Displacements of the joints since then, each in one direction [rad or m].
        friction_qd : array-like, shape (n,) or (N, n)
            Velocities for which the other method computed friction [rad/s or m/s].
        smoothing_velocity : array-like, shape (1,) or (N, 1)
            As for :meth:`computed_torque`, and as in the call of the other method.
        out : array, shape (2, n) or (2, N, n), optional
            Array for the result.

        Returns
        -------
        array, shape (2, n) or (2, N, n)
            Unpacks as the new states and the efforts to add [N m or N]. Joints without hysteresis
            keep their state, with effort 0.

        Raises
        ------
        InputError
            As for :meth:`inverse_dynamics`.
        """
        values = hysteresis, displacement, friction_qd, smoothing_velocity
        return self._answer(FRICTION_HYSTERESIS, values, out)
