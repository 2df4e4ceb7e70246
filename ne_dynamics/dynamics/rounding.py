"""What the tolerance changes, at most."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from ne_dynamics.arguments import check_vector
from ne_dynamics.codegen.programs import make_overflow_error
from ne_dynamics.dynamics.calls import CheckedCalls
from ne_dynamics.model.robot import FloatArray

if TYPE_CHECKING:
    from ne_dynamics.algorithms.scalars.rounding import LoadSizes


class RoundingMethods(CheckedCalls):
    """Bound on the effect of the tolerance."""

    def rounding_bound(
        self,
        qd: ArrayLike = 1.0,
        qdd: ArrayLike = 1.0,
        q: ArrayLike = np.pi,
        *,
        wrench: ArrayLike | None = None,
        base_motion: ArrayLike | None = None,
        payload: ArrayLike | None = None,
    ) -> FloatArray:
        """Return an upper bound on the change of each effort that `tolerance` causes.

        Small constants of the model (sines of 1e-13, lengths of 1e-17) are replaced by exact zeros
        and ones within the tolerance of :class:`Dynamics`. The bound holds for all motions up to
        the given size; the actual change is usually many times smaller.

        Parameters
        ----------
        qd, qdd : array-like, scalar or shape (n,)
            Largest velocities [rad/s or m/s] and accelerations [rad/s^2 or m/s^2].
        q : array-like, scalar or shape (n,)
            Largest positions; only those of prismatic joints matter [m].
        wrench : array-like, shape (6,), optional
            As for :meth:`inverse_dynamics`: forces and moments up to the norms of these [N, N m].
        base_motion : array-like, shape (9,), optional
            Likewise [rad/s, rad/s^2, m/s^2].
        payload : array-like, shape (10,), optional
            Likewise: masses, first moments and principal moments of inertia up to these [kg, kg m,
            kg m^2].

        Returns
        -------
        array, shape (n,)
            [N m or N]; zero when no constant was replaced.

        Raises
        ------
        InputError
            On wrong shapes, numbers that are not finite, and sizes for which the bound overflows.
        ModelError
            When a wrench or a payload is given and the robot has no tip.
        """
        from ne_dynamics.algorithms.scalars.rounding import torque_bound

        if self._structure.tip_link is None:
            self._require_tip_for_loads('inverse_dynamics', (q, qd, qdd, wrench, None, payload))
        loads = _measure_loads(wrench, base_motion, payload)
        plain = self._subject.plain_mechanism
        sizes = []
        for name, value in (('q', q), ('qd', qd), ('qdd', qdd)):
            flat = np.full(self.n, value) if np.ndim(value) == 0 else value
            sizes.append(check_vector(flat, name, self.n).tolist())
        bound = np.array(
            torque_bound(
                self._subject.mechanism,
                plain,
                q=sizes[0],
                qd=sizes[1],
                qdd=sizes[2],
                gravity=self._subject.gravity,
                loads=loads,
                tip=None if self._structure.tip_link is None else self._structure.tip,
            )
        )
        if not np.isfinite(bound).all():
            names = ['q', 'qd', 'qdd', 'loads']
            arrays = [np.array(each) for each in (*sizes, loads)]
            raise make_overflow_error('rounding_bound', names, arrays)
        return bound


def _measure_loads(
    wrench: ArrayLike | None, base_motion: ArrayLike | None, payload: ArrayLike | None
) -> LoadSizes:
    """Return the sizes of loads for which :meth:`RoundingMethods.rounding_bound` holds."""
    from ne_dynamics.algorithms.scalars.rounding import LoadSizes

    tip = check_vector(np.zeros(6) if wrench is None else wrench, 'wrench', 6).reshape(2, 3)
    base = check_vector(np.zeros(9) if base_motion is None else base_motion, 'base_motion', 9)
    load = check_vector(np.zeros(10) if payload is None else payload, 'payload', 10)
    xx, xy, yy, xz, yz, zz = load[4:]
    tensor = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    with np.errstate(over='ignore', invalid='ignore'):
        force, moment, rate, turning, acceleration, first = (
            float(np.linalg.norm(each)) for each in (*tip, *base.reshape(3, 3), load[1:4])
        )
        # No principal moment exceeds the root of the sum of all squares.
        inertia = float(np.linalg.norm(tensor))
    mass = abs(float(load[0]))
    return LoadSizes(force, moment, rate, turning, acceleration, mass, first, inertia)
