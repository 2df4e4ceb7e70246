"""Inverse and forward dynamics, and the terms of the equation of motion.

``tau = M(q) qdd + C(q, qd) qd + g(q) + f(qd) + J^T wrench``: efforts, mass matrix, Coriolis
matrix, gravity and friction, and a wrench that the tip exerts.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike

from ne_dynamics.arguments import Given, match_samples, require_finite
from ne_dynamics.dynamics.external_wrenches import ExternalWrenchMethods
from ne_dynamics.model.robot import FloatArray


class TermMethods(ExternalWrenchMethods):
    """Efforts, accelerations and matrices."""

    def inverse_dynamics(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        qdd: ArrayLike,
        wrench: ArrayLike | None = None,
        base_motion: ArrayLike | None = None,
        payload: ArrayLike | None = None,
        *,
        external_wrenches: Mapping[str, ArrayLike] | None = None,
        out: FloatArray | None = None,
    ) -> FloatArray:
        """Return the joint efforts that a motion takes.

        Parameters
        ----------
        q, qd, qdd : array-like, shape (n,) or (N, n)
            Joint positions [rad or m], velocities and accelerations.
        wrench : array-like, shape (6,) or (N, 6), optional
            Force [N], then moment [N m], which the last link exerts on the environment, at the
            tip frame's origin and in its axes.
        base_motion : array-like, shape (9,) or (N, 9), optional
            Angular velocity [rad/s], angular acceleration [rad/s^2] and linear acceleration
            [m/s^2] (without gravity) of the base link's frame, in its axes.
        payload : array-like, shape (10,) or (N, 10), optional
            Load that is rigidly attached to the body of the tip link, beyond what the model
            has: mass [kg], first moment (3) [kg m], Ixx, Ixy, Iyy, Ixz, Iyz, Izz [kg m^2] about
            the tip frame's origin, in its axes
            (:meth:`ne_dynamics.model.robot.Robot.payload_parameters`). Any numbers are taken;
            nothing is compiled for another load.
        external_wrenches : mapping of str to array-like, shape (6,) or (N, 6), optional
            By name of any link: force [N], then moment [N m], which the environment exerts on
            it, at the origin of its frame and in its axes. The sign is the opposite of `wrench`.
        out : array, shape (n,) or (N, n), optional
            For the result.

        Returns
        -------
        array, shape (n,) or (N, n)
            Efforts [N m or N], friction and rotor inertia included.

        Raises
        ------
        InputError
            On wrong shapes, numbers that are not finite, and numbers so large that the result
            overflows.
        ModelError
            With a wrench or a payload, when the robot has no tip.

        Notes
        -----
        Three programs answer: plain, with a wrench, and in full (wrench, base motion and
        payload, zeros for what is missing) as soon as there is a base motion or a payload. The
        last is compiled at the first such call.

        Recursion of Luh, Walker and Paul (1980); see
        :func:`ne_dynamics.algorithms.newton_euler.newton_euler`.
        """
        if payload is not None or (wrench is not None and base_motion is not None):
            self._require_tip_for_load(wrench, payload)
        values = q, qd, qdd, wrench, base_motion, payload
        if external_wrenches is None:
            return self._answer('inverse_dynamics', values, out)
        loads = wrench, base_motion, payload
        more = self._compute_external_load(
            'inverse_dynamics', q, qd, external_wrenches, out, loads
        )
        result = self._answer('inverse_dynamics', values, out)
        with np.errstate(over='ignore'):
            result -= more
        self._require_finite_sum('inverse_dynamics', result, external_wrenches)
        return result

    def gravity_torque(
        self, q: ArrayLike, *, payload: ArrayLike | None = None, out: FloatArray | None = None
    ) -> FloatArray:
        """Return the efforts that hold the robot at rest, shape (n,) or (N, n) [N m or N].

        With a `payload` as :meth:`inverse_dynamics` takes it.
        """
        return self._answer('gravity_torque', (q, payload), out)

    def mass_matrix(
        self, q: ArrayLike, *, payload: ArrayLike | None = None, out: FloatArray | None = None
    ) -> FloatArray:
        """Return M(q) with rotor inertia, shape (n, n) or (N, n, n) [kg m^2, kg m, kg].

        With a `payload` as :meth:`inverse_dynamics` takes it.
        """
        return self._answer('mass_matrix', (q, payload), out)

    def coriolis_matrix(
        self, q: ArrayLike, qd: ArrayLike, *, out: FloatArray | None = None
    ) -> FloatArray:
        """Return C(q, qd) in Christoffel form, shape (n, n) or (N, n, n).

        ``C @ qd`` are the Coriolis and centrifugal efforts and ``dM/dt - 2 C`` is skew.
        """
        return self._answer('coriolis_matrix', (q, qd), out)

    def joint_wrenches(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        qdd: ArrayLike,
        wrench: ArrayLike | None = None,
        base_motion: ArrayLike | None = None,
        payload: ArrayLike | None = None,
        *,
        out: FloatArray | None = None,
    ) -> FloatArray:
        """Return the force and the moment onto each body through its joint.

        They are f_i and n_i of documents 000 (2.25), (2.26) and 004 (7.36) to (7.38): what the
        body before exerts on body i, with gravity, in the axes of the body's frame and about its
        origin, which lies on the joint's axis (in a URDF the joint's frame). The component along
        the joint's axis, of the force at a prismatic joint and of the moment at a revolute one,
        is the joint's effort without friction and rotor inertia.

        Parameters
        ----------
        q, qd, qdd, wrench, base_motion, payload : array-like
            As :meth:`inverse_dynamics` takes them.
        out : array, shape (b, 6) or (N, b, 6), optional
            For the result.

        Returns
        -------
        array, shape (b, 6) or (N, b, 6)
            Force [N], then moment [N m], one row each of the b bodies in the order of
            :attr:`~ne_dynamics.model.robot.Robot.bodies`: one each joint that moves, mimic
            joints among them. A fixed joint has no row, what is beyond it belongs to the body
            before it. Where a body carries several others, its row has the sum of theirs.

        Raises
        ------
        InputError, ModelError
            As for :meth:`inverse_dynamics`.
        """
        if payload is not None or (wrench is not None and base_motion is not None):
            self._require_tip_for_load(wrench, payload)
        return self._answer('joint_wrenches', (q, qd, qdd, wrench, base_motion, payload), out)

    def forward_dynamics(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        tau: ArrayLike,
        wrench: ArrayLike | None = None,
        base_motion: ArrayLike | None = None,
        payload: ArrayLike | None = None,
        *,
        external_wrenches: Mapping[str, ArrayLike] | None = None,
        out: FloatArray | None = None,
    ) -> FloatArray:
        """Return the accelerations that efforts give: the inverse of :meth:`inverse_dynamics`.

        Parameters
        ----------
        q, qd, tau : array-like, shape (n,) or (N, n)
        wrench, base_motion, payload, external_wrenches : optional
            As for :meth:`inverse_dynamics`.
        out : array, shape (n,) or (N, n), optional
            For the result.

        Returns
        -------
        array, shape (n,) or (N, n)
            [rad/s^2 or m/s^2]

        Raises
        ------
        InputError
            As for :meth:`inverse_dynamics`.
        ModelError
            When the mass matrix is singular.
        """
        if payload is not None or (wrench is not None and base_motion is not None):
            self._require_tip_for_load(wrench, payload)
        if external_wrenches is not None:
            given = [Given(name, value, self.n) for name, value in (('q', q), ('tau', tau))]
            arrays, is_single = match_samples(given)
            require_finite(given, arrays)
            loads = wrench, base_motion, payload
            more = self._compute_external_load(
                'forward_dynamics', q, qd, external_wrenches, out, loads
            )
            with np.errstate(over='ignore'):
                total = (arrays[1][0] if is_single else arrays[1]) + more
            self._require_finite_sum('forward_dynamics', total, external_wrenches)
            tau = total
        values = q, qd, tau, wrench, base_motion, payload
        return self._answer('forward_dynamics', values, out)
