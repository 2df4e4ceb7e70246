"""An arm that is led by hand: what is added to its weight, so that it moves and does not run away.

Mode gravity_compensation carries the arm and adds nothing else, unless this is asked for:

    effort = RNE(q, 0, -d(qd) qd) + s(qd) (F(qd) - F(0))

d
    Damping [1/s]. It acts through the mass matrix: every joint slows down by the same rate,
    however heavy it is, and the arm loses the kinetic energy d qd^T M qd per second. One rate for
    all joints, because with several of them M diag(d) is not positive definite: a heavy joint
    could then drive a light one.
braking
    With rho the largest of |qd_i| over its speed limit, d grows by braking (1 - 1/rho) beyond
    rho = 1: what drives the arm with an acceleration a [rad/s^2] takes it beyond the limit by
    a / (braking + damping) at most. It needs a rate well below that of the states, as all feedback
    of velocities does.
s
    The share of the model's friction that is taken off the hand. F is that of the model at the
    measured velocity; s has the factor tanh(|qd| / friction_velocity), which keeps it from
    chattering at rest with the noise of the sensor. As long as the joint has more friction than
    this share of the model's, nothing is driven by it. It fades out from rho = 1/2 to rho = 1.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ne_dynamics.dynamics.compensation import Base, Compensation
from ne_dynamics.model.rigid_body import FloatArray
from ne_dynamics.settings import parameter


@dataclass(frozen=True)
class HandGuidingSettings:
    """The parameters `hand_guiding.*`: what mode gravity_compensation adds to gravity."""

    damping: float = parameter(
        0.0,
        'Rate at which the arm slows down by itself in mode gravity_compensation, through the '
        'mass matrix. Needs velocities. 0: no damping.',
        unit='1/s',
        minimum=0.0,
        maximum=100.0,
    )
    speed_limit: tuple[float, ...] = parameter(
        (),
        'Speed of a joint beyond which the whole arm is braked in mode gravity_compensation. One '
        'for all joints or one per joint. Empty, 0 or `.inf`: none.',
        unit='rad/s or m/s',
        minimum=0.0,
        allow_infinity=True,
    )
    braking: float = parameter(
        20.0,
        'Additional damping rate beyond `hand_guiding.speed_limit`: half of it at twice the '
        'limit, all of it far beyond.',
        unit='1/s',
        minimum=0.0,
        maximum=100.0,
    )
    friction: float = parameter(
        0.0,
        "Share of the model's friction, at the measured velocity, that is compensated in mode "
        'gravity_compensation, up to half the speed limit. If the joints have less friction than '
        'this share, the arm moves by itself.',
        minimum=0.0,
        # No model knows friction to within a tenth: more of it could drive the arm.
        maximum=0.9,
    )
    friction_velocity: float = parameter(
        0.05,
        'Velocity at which 76 % of the share `hand_guiding.friction` is compensated; must be '
        'well above the noise of the velocities.',
        unit='rad/s or m/s',
        minimum=0.0,
        above_minimum=True,
        maximum=1e6,
    )


class HandGuiding:
    """What a hand feels beside the inertia of the arm.

    Parameters
    ----------
    settings : HandGuidingSettings
    speed_limits : array, shape (n,), or None
        In the order of the model [rad/s or m/s], infinite where a joint has none.
    """

    def __init__(
        self, settings: HandGuidingSettings, speed_limits: FloatArray | None = None
    ) -> None:
        self._settings = settings
        self._limits = speed_limits if settings.braking > 0.0 else None

    @property
    def is_off(self) -> bool:
        """Whether nothing is added to gravity."""
        chosen = self._settings
        return not (chosen.damping or chosen.friction or self._limits is not None)

    @property
    def largest_rate(self) -> float:
        """Largest rate at which the arm is slowed down [1/s]."""
        chosen = self._settings
        return chosen.damping + (0.0 if self._limits is None else chosen.braking)

    def excess(self, qd: FloatArray) -> float:
        """Return the largest speed as a part of its limit, 0 without limits."""
        return 0.0 if self._limits is None else float((np.abs(qd) / self._limits).max())

    def effort(
        self,
        compensation: Compensation,
        q: FloatArray,
        qd: FloatArray,
        wrench: FloatArray | None = None,
        base: Base | None = None,
    ) -> FloatArray:
        """Return the effort that carries and damps the arm, shape (n,) [N m or N].

        `q` and `qd`, shape (n,), are measured [rad or m, rad/s or m/s]; wrench and base are as for
        :meth:`ne_dynamics.dynamics.compensation.Compensation.effort`.
        """
        chosen, still, excess = self._settings, np.zeros_like(qd), self.excess(qd)
        rate, share = chosen.damping, chosen.friction
        if excess > 1.0:
            rate += chosen.braking * (1.0 - 1.0 / excess)
        share *= min(1.0, max(0.0, 2.0 - 2.0 * excess))
        effort = compensation.effort(q, still, -rate * qd, still, wrench, base)
        if share:
            moving = compensation.effort(q, still, -rate * qd, qd, wrench, base)
            onset = np.tanh(np.abs(qd) / chosen.friction_velocity)
            effort = effort + share * onset * (moving - effort)
        return effort
