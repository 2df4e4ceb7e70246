"""The computed-torque law, by substitution into a recursion and explicitly.

Source: 003 section 4. The law (4.1) needs D, H and G of Lagrange's form. By (4.4) any inverse
dynamics gives the same torque when its acceleration is replaced by the desired one plus the gain
matrices times the errors. Gains are full matrices; efforts are n scalars [N m or N].

That law and substitution agree for any gains; that the error vanishes is promised under three
conditions, which :func:`check_gains` checks.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ne_dynamics.algorithms.gain_conditions import find_broken_conditions
from ne_dynamics.errors import InputError
from ne_dynamics.papers.forms import lagrange_euler
from ne_dynamics.papers.forms.arm import Arm
from ne_dynamics.papers.forms.bookkeeping import bookkeeping
from ne_dynamics.papers.forms.formulation import InverseDynamicsFunction
from ne_dynamics.papers.forms.generic_scalars import Scalar, Scalars
from ne_dynamics.papers.forms.strobing import default_formulation

Gain = Sequence[Scalars]
"""n rows of n numbers."""


def check_gains(kp: Sequence[Sequence[float]], kv: Sequence[Sequence[float]]) -> None:
    """Refuse gains for which 003 does not promise that the error vanishes.

    Parameters
    ----------
    kp, kv : n rows of n floats
        [1/s^2] and [1/s]

    Raises
    ------
    InputError
        When a matrix is not square, of another size or not finite, or a condition does not hold:
        (a) Kv symmetric and non-negative definite, (b) Kp symmetric and positive definite, (c)
        the rank of [Kv | Kp Kv | ... | Kp^(n-1) Kv] is n. The message names all that do not.
    """
    matrices = {}
    for name, gain in (('kp', kp), ('kv', kv)):
        _check_square(name, gain, max(len(kp), 1))
        matrix = np.array(gain, dtype=np.float64)
        if not np.isfinite(matrix).all():
            raise InputError(f'{name}: expected finite numbers, got {matrix.tolist()}')
        matrices[name] = matrix
    broken = find_broken_conditions(matrices['kp'], matrices['kv'])
    if broken:
        # 003, below (4.3).
        reasons = '; '.join(f'({item.condition}) {item.gain} {item.reason}' for item in broken)
        raise InputError(f'gains: expected the conditions of a vanishing error, got {reasons}')


def _check_square(name: str, gain: Gain, n: int) -> None:
    if len(gain) != n or any(len(row) != n for row in gain):
        raise InputError(f'{name}: expected {n} rows of {n} numbers')


def substituted_acceleration(
    q: Scalars,
    qd: Scalars,
    desired_q: Scalars,
    desired_qd: Scalars,
    desired_qdd: Scalars,
    *,
    kp: Gain,
    kv: Gain,
) -> list[Scalar]:
    """Return the acceleration that (4.4) substitutes: qdd_d + Kv ed + Kp e.

    Parameters
    ----------
    q, qd : sequence of n scalars
        Measured position and velocity.
    desired_q, desired_qd, desired_qdd : sequence of n scalars
    kp, kv : n rows of n scalars
        Position gains [1/s^2] and velocity gains [1/s].

    Raises
    ------
    InputError
        When an argument does not have n entries.
    """
    n = len(q)
    for name, values in (
        ('qd', qd),
        ('desired_q', desired_q),
        ('desired_qd', desired_qd),
        ('desired_qdd', desired_qdd),
    ):
        if len(values) != n:
            raise InputError(f'{name}: expected {n} numbers, got {len(values)}')
    for name, gain in (('kp', kp), ('kv', kv)):
        _check_square(name, gain, n)
    term, _ = bookkeeping(*q, *qd, *desired_q)
    term('qdd + Kv ed + Kp e')
    # 003 below (4.1): e = theta^d - theta.
    errors = [wanted - real for wanted, real in zip(desired_q, q, strict=True)]
    rates = [wanted - real for wanted, real in zip(desired_qd, qd, strict=True)]
    result = []
    for acceleration, p_row, v_row in zip(desired_qdd, kp, kv, strict=True):
        value = acceleration
        for p, v, error, rate in zip(p_row, v_row, errors, rates, strict=True):
            # 003 (4.4).
            value = value + v * rate + p * error
        result.append(value)
    return result


def by_substitution(
    arm: Arm,
    q: Scalars,
    qd: Scalars,
    desired_q: Scalars,
    desired_qd: Scalars,
    desired_qdd: Scalars,
    *,
    kp: Gain,
    kv: Gain,
    gravity: Scalars,
    wrench: Scalars | None = None,
    formulation: InverseDynamicsFunction | None = None,
) -> list[Scalar]:
    """Return the effort of the law by substitution into a recursion (4.4).

    Parameters
    ----------
    q, qd, desired_q, desired_qd, desired_qdd, kp, kv
        As for :func:`substituted_acceleration`.
    arm, gravity, wrench
        As for :meth:`Formulation.inverse_dynamics
        <ne_dynamics.papers.forms.formulation.Formulation.inverse_dynamics>`.
    formulation : callable, optional
        Inverse dynamics; by default that of Luh, Walker and Paul, or of Craig for modified frames.
    """
    form = formulation or default_formulation(arm)
    acceleration = substituted_acceleration(
        q, qd, desired_q, desired_qd, desired_qdd, kp=kp, kv=kv
    )
    # 003 (3.21)-(3.27) with (4.4) for the acceleration.
    return form(arm, q, qd, acceleration, gravity=gravity, wrench=wrench)


def explicit(
    arm: Arm,
    q: Scalars,
    qd: Scalars,
    desired_q: Scalars,
    desired_qd: Scalars,
    desired_qdd: Scalars,
    *,
    kp: Gain,
    kv: Gain,
    gravity: Scalars,
) -> list[Scalar]:
    """Return the effort of the explicit law (4.1): D [qdd_d + Kv ed + Kp e] + H + G.

    D, H and G are those of :mod:`~ne_dynamics.papers.forms.lagrange_euler`; viscous friction is
    added to H.

    Parameters
    ----------
    arm : Arm
        In standard Denavit-Hartenberg frames.
    q, qd, desired_q, desired_qd, desired_qdd, kp, kv, gravity
        As for :func:`by_substitution`.
    """
    # 003 (4.1).
    return by_substitution(
        arm,
        q,
        qd,
        desired_q,
        desired_qd,
        desired_qdd,
        kp=kp,
        kv=kv,
        gravity=gravity,
        formulation=lagrange_euler.PLAIN_FORM.inverse_dynamics,
    )
