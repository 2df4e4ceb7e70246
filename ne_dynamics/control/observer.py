"""A momentum observer: what acts on the joints that the model does not have.

De Luca's residual (De Luca and Mattone, ICRA 2003; Haddadin, De Luca and Albu-Schaeffer, IEEE
T-RO 33(6), 2017, section IV-D), with p = M(q) qd, is

    r = K (p(t) - p(0) - integral of (tau + C^T qd - g - f + r) dt),

a first-order filter of the joint efforts tau_ext from outside, r' = K (tau_ext - r), that needs no
acceleration. States come one by one, so does r. Over a period T, with the effort tau that was
commanded for it, the momentum that the model does not account for is

    dp - T (tau + C^T qd - g - f)  =  T (RNE(q, qd, dqd / T) + f - tau)  +  O(T^3)

at the middle of the period, because p' = M qdd + (C + C^T) qd: the difference of the momenta, the
Coriolis and the gravity efforts are those of one inverse dynamics whose acceleration is the
difference of the velocities. It is the same sum, term by term, and as good: the rule of the
midpoint errs by T^3 a period, which r forgets with its time constant. But the recursion has what
M(q) qd alone has not: the wrench at the tip, a payload, a base that moves or is tilted, and the
terms that the robot compensates itself, which are not in tau. The filter is then exact for an
effort that is constant over the period, whatever T times K is:

    r := r + (1 - exp(-K T)) (RNE(q, qd, dqd / T) + f - tau - r).

tau is the command after all limits. Viscous friction is that of the measured velocity, all other
friction that of the velocity which the law feeds it forward for: at rest nobody knows its sign.
Where velocities are measured late, q and tau are those of that time. Commands that act late are
left to r: what it then takes for a push undoes some of what the delay does. What is wrong with the
model's masses, friction, payload and motors is in r like a push from outside: it cannot be told
apart by the joints alone.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass
from math import expm1, inf, pi

import numpy as np
from numpy.typing import NDArray

from ne_dynamics.control.contact import ContactReaction
from ne_dynamics.control.laws import ControlLaw, ResidualStep
from ne_dynamics.control.thresholds import COMMAND
from ne_dynamics.dynamics.compensation import Base
from ne_dynamics.model.rigid_body import FloatArray
from ne_dynamics.settings import parameter


class ObserverMode(str, enum.Enum):
    """What becomes of the residual; the values are the words of `observer.mode`."""

    OFF = 'off'
    ESTIMATE = 'estimate'
    """It is reported."""
    COMPENSATE = 'compensate'
    """It is taken out of the command as well."""


@dataclass(frozen=True)
class ObserverSettings:
    """The parameters `observer.*`: what is done about efforts that the model does not have."""

    mode: ObserverMode = parameter(
        ObserverMode.OFF,
        'Momentum observer for efforts that the model lacks: `off`; `estimate`, reports '
        '`~/external_torque` and `~/contact`; `compensate`, also subtracts them from the '
        'command, in modes with feedback.',
    )
    cutoff_frequency: float = parameter(
        3.0,
        'Cut-off frequency of the compensation.',
        unit='Hz',
        minimum=0.0,
        above_minimum=True,
        maximum=1000.0,
    )
    velocity_lag: float = parameter(
        0.0,
        'Lag of measured velocities behind the positions, if the driver differentiates and '
        'filters. The lag of `velocity_source` is known and does not count here.',
        unit='s',
        minimum=0.0,
        maximum=0.1,
    )
    max_effort: tuple[float, ...] = parameter(
        (),
        'Largest compensation, one for all joints or one per joint. Empty: 0.3 of the effort '
        'limits. `.inf`: any.',
        unit='N m or N',
        minimum=0.0,
        allow_infinity=True,
    )


@dataclass(frozen=True, eq=False)
class DisturbanceTuning:
    """How disturbances are observed, and what is done about them.

    Attributes
    ----------
    compensates : bool
        Whether they are taken out of the command, too.
    cutoff_frequency : float
        Of the compensation [Hz].
    velocity_lag, lag_periods : float
        By how much velocities are late behind positions [s], and by how many periods more.
    bounds : array, shape (n,)
        Of the compensation [N m or N]; infinite for none.
    contact_cutoff_frequency : float
        [Hz]
    least_contact : array, shape (n,)
        Least thresholds of a contact [N m or N].
    reaction : ContactReaction
    """

    compensates: bool
    cutoff_frequency: float
    velocity_lag: float
    lag_periods: float
    bounds: FloatArray
    contact_cutoff_frequency: float
    least_contact: FloatArray
    reaction: ContactReaction = ContactReaction.NONE

    @property
    def feedback_rate(self) -> float:
        """By how much the compensation adds to the gain of velocities [1/s]."""
        return 2.0 * pi * self.cutoff_frequency if self.compensates else 0.0


class MomentumObserver:
    """Keeps two residuals of one arm, a slow one and a fast one.

    Attributes
    ----------
    residuals : array, shape (2, n), or None
        Slow and fast: efforts exerted on the joints from outside, and what the model lacks
        [N m or N]; None before the second state. Never changed in place.
    """

    def __init__(self, slow_cutoff: float = 0.0, fast_cutoff: float = 0.0) -> None:
        self.configure(slow_cutoff, fast_cutoff)
        self.reset()

    def configure(self, slow_cutoff: float, fast_cutoff: float) -> None:
        """Let other cut-offs count from the next state on."""
        self._rates = -2.0 * pi * slow_cutoff, -2.0 * pi * fast_cutoff
        self._elapsed = self._lag = inf
        self._step = ResidualStep(0.0, 0.0, 0.0, 0.0)

    def reset(self) -> None:
        """Forget states and residuals."""
        self.residuals: FloatArray | None = None
        self._last: tuple[FloatArray, float] | None = None

    def settle(self, slow: FloatArray) -> None:
        """Let the slow residual go on from another value."""
        if self.residuals is not None:
            self.residuals = np.array([slow, self.residuals[1]])

    def update(
        self,
        law: ControlLaw,
        q: FloatArray,
        qd: FloatArray,
        friction_qd: FloatArray,
        effort: FloatArray,
        now: float,
        wrench: FloatArray | None = None,
        base: Base | None = None,
        velocity_lag: float = 0.0,
        held: NDArray[np.bool_] | None = None,
    ) -> None:
        """Take a state.

        Parameters
        ----------
        law : ControlLaw
            Whose model and terms count.
        q, qd : array, shape (n,)
            Position [rad or m] and velocity [rad/s or m/s]; kept, so not to be changed.
        friction_qd : array, shape (n,)
            Velocities that friction but the viscous one counts for [rad/s or m/s].
        effort : array, shape (n,)
            What was commanded from the last state to this one, after all limits [N m or N].
        now : float
            [s]
        wrench, base : optional
            As :meth:`ControlLaw.effort` takes them.
        velocity_lag : float
            By how much velocities are late behind positions [s].
        held : array, shape (n,), dtype bool, or None
            Joints whose slow residual stays as it is.

        Raises
        ------
        InputError
            When the model has no finite effort for the motion; nothing is changed then.
        """
        last = self._last
        if last is None:
            self._last = qd, now
            return
        before, elapsed = last[0], now - last[1]
        if not 0.0 < elapsed <= COMMAND.observer_longest_period:
            if elapsed != 0.0:
                self._last = qd, now
            return
        # Times are counted in nanoseconds.
        if abs(elapsed - self._elapsed) > 1e-8 or velocity_lag != self._lag:
            self._elapsed, self._lag = elapsed, velocity_lag
            shares = [-expm1(rate * elapsed) for rate in self._rates]
            # From the position back: of a joint without an end the last one may be a turn away.
            self._step = ResidualStep(1.0 / elapsed, 0.5 * elapsed + velocity_lag, *shares)
        residuals = self.residuals
        if residuals is None:
            residuals = np.zeros((2, q.size))
        slow = residuals[0]
        self.residuals = law.disturbance_residuals(
            q, qd, before, friction_qd, effort, residuals, self._step, wrench, base
        )
        if held is not None:
            self.residuals = np.array([np.where(held, slow, self.residuals[0]), self.residuals[1]])
        self._last = qd, now
