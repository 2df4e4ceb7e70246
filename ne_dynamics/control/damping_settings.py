"""How an arm is damped after a fault, and how strongly."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ne_dynamics.model.rigid_body import FloatArray
from ne_dynamics.model.robot import Joint
from ne_dynamics.motion.joint_limits import usual_velocities


@dataclass(frozen=True)
class DampingSettings:
    """How an arm is damped after a fault.

    Attributes
    ----------
    rate, largest_rate : float
        At which velocities decay [1/s], and at which they decay at most.
    model_error : float
        Part of gravity by which the model may be wrong.
    drift : float
        Speed that this may cause, by the velocity limit, before the rate is higher.
    largest_product : float
        Of the rate and the time between two states: where states come slowly the rate is lower.
    cutoff_frequency : float
        Of the filter that computes velocities from positions [Hz]. It is late by 8 ms.
    velocity_time : float
        Time before a joint was believed no more over which its velocity is measured [s].
    latest_states : int
        Over so many of them the velocities at the fault are measured, where they are not those
        that were reported: an arm that shakes turns round within a few.
    velocity_share : float
        Part of the motion by which reported velocities may differ from it to count at first.
    still_distance : float
        A position that is not believed has been wrong since it last changed by this [rad or m].
    together, sudden_stop : float
        Joints that have been still for this part of that time too, and would have gone on by so
        many times that distance, are not believed either.
    longest_prediction : float
        Time from the last believed state on after which a joint counts as standing [s]. Without
        friction a prediction diverges.
    prediction_steps : int
        Steps in which the time before the fault is predicted.
    places : int
        At which a joint may be shown, each a jump from the others.
    switch_distance : float
        Where a joint of an arm within its velocity limits jumps, others do that are so far from
        where they are expected [rad or m].
    most_jumps : int
        States in a row in which a joint may jump to a new place.
    trust_time, trust_states : float, int
        A joint that has jumped more often is believed again when its position has gone on evenly
        for so long [s], and in so many states. For as long a jump is known.
    coriolis_speed : float
        Speed, by the velocity limits, up to which Coriolis efforts count; at twice that not at
        all.
    fade_time : float
        In which the difference from the last command fades [s]: an arm that pushes at a wall is
        not thrown back by it.
    longest_fade : float
        In which it fades where a joint is slow to let go [s].
    rest_speed : float
        Speed above which a joint moves [rad/s or m/s]. That difference counts for joints at rest
        alone, and ends where it would drive the joint on.
    balance_time : float
        Over which it is found what friction or a contact balances [s].
    release_speed : float
        Speed of a joint, by its velocity limit, above which the difference waits.
    """

    rate: float = 10.0
    largest_rate: float = 40.0
    model_error: float = 0.1
    drift: float = 0.15
    largest_product: float = 0.3
    cutoff_frequency: float = 40.0
    velocity_time: float = 0.02
    latest_states: int = 4
    velocity_share: float = 0.3
    still_distance: float = 1e-3
    together: float = 0.5
    sudden_stop: float = 4.0
    longest_prediction: float = 0.5
    prediction_steps: int = 8
    places: int = 3
    switch_distance: float = 2e-3
    most_jumps: int = 5
    trust_time: float = 0.05
    trust_states: int = 5
    coriolis_speed: float = 3.0
    fade_time: float = 0.5
    longest_fade: float = 3.0
    rest_speed: float = 0.05
    balance_time: float = 0.03
    release_speed: float = 0.1


def find_damping_rate(
    joints: Sequence[Joint],
    fall: FloatArray,
    period: float,
    settings: DampingSettings | None = None,
) -> float:
    """Return the rate at which velocities decay [1/s].

    It is higher where joints are light or slow: what the model lacks of gravity would let them
    drift too fast.

    Parameters
    ----------
    joints : sequence of Joint
    fall : array, shape (n,)
        Acceleration by gravity alone, M^-1 g [rad/s^2 or m/s^2].
    period : float
        Mean time between two states [s]; 0 where it is not known.
    settings : DampingSettings, optional
    """
    settings = DampingSettings() if settings is None else settings
    error = settings.model_error * np.abs(fall)
    needed = float((error / (settings.drift * usual_velocities(joints))).max())
    rate = min(max(settings.rate, needed), settings.largest_rate)
    return min(rate, settings.largest_product / period) if period > 0.0 else rate
