"""Friction of the joints."""

from __future__ import annotations

from typing import cast

import numpy as np
from numpy.typing import ArrayLike

from ne_dynamics.algorithms.newton_euler import friction_efforts
from ne_dynamics.arguments import Given, check_result, match_samples, require_finite
from ne_dynamics.codegen.programs import make_overflow_error
from ne_dynamics.dynamics.calls import CheckedCalls
from ne_dynamics.errors import InputError
from ne_dynamics.model.robot import FloatArray


class FrictionMethods(CheckedCalls):
    """Efforts that overcome friction; computed by Python."""

    def bias_torque(
        self, q: ArrayLike, qd: ArrayLike, *, out: FloatArray | None = None
    ) -> FloatArray:
        """Return ``C(q, qd) qd + g(q)``, shape (n,) or (N, n) [N m or N].

        Coriolis, centrifugal and gravity efforts, without friction: Pinocchio's
        ``nonLinearEffects``.
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

        The formula is that of :class:`~ne_dynamics.model.friction.FrictionModel`. What depends on
        the load is left out when neither `q` nor `load` is given.

        Parameters
        ----------
        qd : array-like, shape (n,) or (N, n)
            Joint velocities [rad/s or m/s].
        q : array-like, shape (n,) or (N, n), optional, by name
            Joint positions [rad or m]: the load is :meth:`bias_torque`, that of the robot alone
            on a base at rest.
        load : array-like, shape (n,) or (N, n), optional, by name
            The load, in place of `q` [N m or N]: for a payload, a wrench or a moving base the
            inverse dynamics of :meth:`without_friction` with ``qdd = 0``.
        out : array, shape (n,) or (N, n), optional
            For the result.

        Returns
        -------
        array, shape (n,) or (N, n)

        Raises
        ------
        InputError
            On wrong shapes, numbers that are not finite, a result that overflows, and `q` beside
            `load`.
        """
        if q is not None and load is not None:
            raise InputError('load: expected None with q, of which it follows, got both')
        given = [Given('qd', qd, self.n)]
        given += [
            Given(name, value, self.n)
            for name, value in (('q', q), ('load', load))
            if value is not None
        ]
        arrays, is_single = match_samples(given)
        require_finite(given, arrays)
        rates, loads = arrays[0], arrays[1] if len(arrays) > 1 else None
        mechanism = self._subject.mechanism
        if q is not None and loads is not None:
            depends = any(friction.depends_on_load for friction in mechanism.friction)
            loads = self.bias_torque(loads, rates) if depends else None
        if len(rates) == 1:  # floats are quicker than arrays of one number
            single = None if loads is None else loads[0].tolist()
            result = np.array([friction_efforts(mechanism, rates[0].tolist(), single)])
        else:
            columns = None if loads is None else list(loads.T)
            with np.errstate(over='ignore', invalid='ignore'):
                efforts = friction_efforts(mechanism, list(rates.T), columns)
            result = np.stack(cast('list[FloatArray]', efforts), axis=-1)
        if not np.isfinite(result).all():
            raise make_overflow_error('friction_torque', [each.name for each in given], arrays)
        result = result[0] if is_single else result
        if out is None:
            return result
        check_result(out, result.shape, arrays)[...] = result
        return out
