"""Friction of the joints."""

from __future__ import annotations

from typing import cast

import numpy as np
from numpy.typing import ArrayLike

from ne_dynamics.algorithms.joint_friction import friction_efforts
from ne_dynamics.algorithms.mechanism import Mechanism
from ne_dynamics.arguments import Given, check_result, match_samples, require_finite
from ne_dynamics.codegen.programs import make_overflow_error
from ne_dynamics.dynamics.calls import CheckedCalls
from ne_dynamics.errors import InputError
from ne_dynamics.model.robot import FloatArray


class FrictionMethods(CheckedCalls):
    """Bias efforts and the efforts that overcome friction."""

    def bias_torque(
        self, q: ArrayLike, qd: ArrayLike, *, out: FloatArray | None = None
    ) -> FloatArray:
        """Return ``C(q, qd) qd + g(q)``, shape (n,) or (N, n) [N m or N].

        These are the Coriolis, centrifugal and gravity efforts without friction (Pinocchio's
        ``nonLinearEffects``).
        """
        return self._answer('bias_torque', (q, qd), out)

    def friction_torque(
        self,
        qd: ArrayLike,
        *,
        q: ArrayLike | None = None,
        load: ArrayLike | None = None,
        out: FloatArray | None = None,
    ) -> FloatArray:
        """Return the efforts that overcome joint friction, shape (n,) or (N, n) [N m or N].

        :class:`~ne_dynamics.model.friction.FrictionModel` has the formula. Without `q` and `load`,
        the friction that depends on the load is left out.

        Parameters
        ----------
        qd : array-like, shape (n,) or (N, n)
            Joint velocities [rad/s or m/s].
        q : array-like, shape (n,) or (N, n), optional, by name
            Joint positions [rad or m]. The load is then :meth:`bias_torque`, for a base at rest.
        load : array-like, shape (n,) or (N, n), optional, by name
            The load, instead of `q` [N m or N]. With a payload, a wrench or a moving base, pass
            the inverse dynamics of :meth:`without_friction` at ``qdd = 0``.
        out : array, shape (n,) or (N, n), optional
            Array for the result.

        Returns
        -------
        array, shape (n,) or (N, n)
            [N m or N]

        Raises
        ------
        InputError
            On wrong shapes, numbers that are not finite, a result that overflows, and when both
            `q` and `load` are given.
        """
        if q is not None and load is not None:
            raise InputError('load: expected None with q, of which it follows, got both')
        more = [(name, value) for name, value in (('q', q), ('load', load)) if value is not None]
        given = [Given(name, value, self.n) for name, value in (('qd', qd), *more)]
        arrays, is_single = match_samples(given)
        require_finite(given, arrays)
        rates, *rest = arrays
        loads = None if not rest else rest[0] if q is None else self._find_load(rest[0], rates)
        result = _overcome(self._subject.mechanism, rates, loads)
        if not np.isfinite(result).all():
            raise make_overflow_error('friction_torque', [each.name for each in given], arrays)
        result = result[0] if is_single else result
        if out is not None:
            check_result(out, result.shape, arrays)[...] = result
        return result if out is None else out

    def _find_load(self, q: FloatArray, qd: FloatArray) -> FloatArray | None:
        """Return the load that friction depends on, if it does."""
        if not any(friction.depends_on_load for friction in self._subject.mechanism.friction):
            return None
        return self.bias_torque(q, qd)


def _overcome(mechanism: Mechanism, rates: FloatArray, loads: FloatArray | None) -> FloatArray:
    """Return the friction of all joints, shape (N, n), overflow included."""
    if len(rates) == 1:  # floats are quicker than arrays of one number
        single = None if loads is None else loads[0].tolist()
        return np.array([friction_efforts(mechanism, rates[0].tolist(), single)])
    columns = None if loads is None else list(loads.T)
    with np.errstate(over='ignore', invalid='ignore'):
        efforts = friction_efforts(mechanism, list(rates.T), columns)
    return np.stack(cast('list[FloatArray]', efforts), axis=-1)
