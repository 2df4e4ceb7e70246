"""Inverse and forward dynamics, and the terms of the equation of motion.

``tau = M(q) qdd + C(q, qd) qd + g(q) + f(qd) + J^T wrench``: efforts, mass matrix, Coriolis
matrix, gravity and friction, and a wrench that the tip exerts.
"""

from __future__ import annotations

from collections.abc import Mapping

from numpy.typing import ArrayLike

from ne_dynamics.dynamics.external_wrenches import ExternalWrenchMethods
from ne_dynamics.dynamics.friction import FrictionMethods
from ne_dynamics.dynamics.kinematics import KinematicsMethods
from ne_dynamics.model.robot import FloatArray


class TermMethods(ExternalWrenchMethods, FrictionMethods, KinematicsMethods):
    """Inverse and forward dynamics, and the matrices of the equation of motion."""

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
        """Return the joint efforts that a motion requires.

        Parameters
        ----------
        q, qd, qdd : array-like, shape (n,) or (N, n)
            Joint positions [rad or m], velocities and accelerations [rad/s^2 or m/s^2].
        wrench : array-like, shape (6,) or (N, 6), optional
            Force [N], then moment [N m], that the last link exerts on the environment, at the
            tip frame's origin and in its axes.
        base_motion : array-like, shape (9,) or (N, 9), optional
            Angular velocity [rad/s], angular acceleration [rad/s^2] and linear acceleration
            without gravity [m/s^2] of the base link's frame, in its axes.
        payload : array-like, shape (10,) or (N, 10), optional
            Load fixed to the tip link, in addition to the model: mass [kg], first moment (3) [kg
            m], Ixx, Ixy, Iyy, Ixz, Iyz, Izz [kg m^2] about the tip frame's origin, in its axes;
            see :meth:`ne_dynamics.model.robot.Robot.payload_parameters`. The values are not
            checked for physical consistency. Another load needs no compilation.
        external_wrenches : mapping of str to array-like, shape (6,) or (N, 6), optional
            Link name to force [N], then moment [N m], that the environment exerts on that link,
            at its frame's origin and in its axes. The sign is opposite to that of `wrench`.
        out : array, shape (n,) or (N, n), optional
            Array for the result.

        Returns
        -------
        array, shape (n,) or (N, n)
            Efforts [N m or N], friction and rotor inertia included.

        Raises
        ------
        InputError
            On wrong shapes, numbers that are not finite, and results that overflow.
        ModelError
            When a wrench or a payload is given and the robot has no tip.

        Notes
        -----
        Recursion of Luh, Walker and Paul (1980); see
        :func:`ne_dynamics.algorithms.newton_euler.newton_euler`. There are four programs, each
        compiled at its first call: without loads; with a wrench; with a base motion or payload
        (and a wrench); with external wrenches in addition.
        """
        loads = wrench, base_motion, payload
        return self._answer_under_loads(
            'inverse_dynamics', (q, qd, qdd), loads, external_wrenches, out
        )

    def gravity_torque(
        self, q: ArrayLike, *, payload: ArrayLike | None = None, out: FloatArray | None = None
    ) -> FloatArray:
        """Return the efforts that hold the robot at rest, shape (n,) or (N, n) [N m or N].

        `payload` is as in :meth:`inverse_dynamics`.
        """
        return self._answer('gravity_torque', (q, payload), out)

    def mass_matrix(
        self, q: ArrayLike, *, payload: ArrayLike | None = None, out: FloatArray | None = None
    ) -> FloatArray:
        """Return M(q) with rotor inertia, shape (n, n) or (N, n, n) [kg m^2, kg m, kg].

        `payload` is as in :meth:`inverse_dynamics`.
        """
        return self._answer('mass_matrix', (q, payload), out)

    def coriolis_matrix(
        self, q: ArrayLike, qd: ArrayLike, *, out: FloatArray | None = None
    ) -> FloatArray:
        """Return C(q, qd) in Christoffel form, shape (n, n) or (N, n, n).

        ``C @ qd`` is the Coriolis and centrifugal effort; ``dM/dt - 2 C`` is skew-symmetric.
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
        external_wrenches: Mapping[str, ArrayLike] | None = None,
        out: FloatArray | None = None,
    ) -> FloatArray:
        """Return the wrench that each body receives through its joint from the body before it.

        The wrench includes gravity. It is given in the axes of the body's frame and about its
        origin, which lies on the joint's axis: in a URDF the joint's frame; in a DH file frame i-1
        moved by joint i (standard) or frame i (modified). Its component along the joint's axis
        (moment if revolute, force if prismatic) is the joint's effort without friction and rotor
        inertia.

        Parameters
        ----------
        q, qd, qdd, wrench, base_motion, payload, external_wrenches : optional from wrench on
            As for :meth:`inverse_dynamics`.
        out : array, shape (b, 6) or (N, b, 6), optional
            Array for the result.

        Returns
        -------
        array, shape (b, 6) or (N, b, 6)
            Force [N], then moment [N m], of the b bodies in the order of
            :attr:`~ne_dynamics.model.robot.Robot.bodies`: one row per moving joint, mimic joints
            included. Links behind a fixed joint belong to the body before it. If a body carries
            several others, its row includes theirs.

        Raises
        ------
        InputError, ModelError
            As for :meth:`inverse_dynamics`.

        Notes
        -----
        f_i and n_i of Sasaki (1990, JAERI-M 90-147), (2.25), (2.26); Angeles, (7.36) to (7.38).
        """
        loads = wrench, base_motion, payload
        return self._answer_under_loads(
            'joint_wrenches', (q, qd, qdd), loads, external_wrenches, out
        )

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
        """Return the accelerations that efforts cause: the inverse of :meth:`inverse_dynamics`.

        Parameters
        ----------
        q, qd, tau : array-like, shape (n,) or (N, n)
            Joint positions [rad or m], velocities [rad/s or m/s] and efforts [N m or N].
        wrench, base_motion, payload, external_wrenches : optional
            As for :meth:`inverse_dynamics`.
        out : array, shape (n,) or (N, n), optional
            Array for the result.

        Returns
        -------
        array, shape (n,) or (N, n)
            [rad/s^2 or m/s^2]

        Raises
        ------
        InputError
            As for :meth:`inverse_dynamics`.
        ModelError
            As for :meth:`inverse_dynamics`, and when the mass matrix is singular.
        """
        loads = wrench, base_motion, payload
        return self._answer_under_loads(
            'forward_dynamics', (q, qd, tau), loads, external_wrenches, out
        )
