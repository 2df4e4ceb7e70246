"""Friction that differs with the position of its joint, from motions there and back.

Wherever a joint has passed a place both ways, half the difference of what a model leaves of its
effort is friction that the model has too little of there, whatever gravity is.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ne_dynamics.commission.motions import length_of
from ne_dynamics.commission.thresholds import FIT
from ne_dynamics.dynamics import Dynamics
from ne_dynamics.identification import evaluate
from ne_dynamics.logs import Finding, Log
from ne_dynamics.logs.signals import find_step
from ne_dynamics.model.rigid_body import FloatArray


def find_uneven_friction(dynamics: Dynamics, logs: Sequence[Log]) -> list[Finding]:
    """Return the joints whose friction differs with their position.

    By a model that was fitted to the logs, which have the efforts that acted. The amount is the
    standard deviation over the places, by the mean friction.
    """
    highest = min(1.0 / find_step(log) / FIT.samples_a_period for log in logs)
    cutoff = min(FIT.friction_cutoffs[0], highest)
    judged = [evaluate(dynamics, log, cutoff_frequency=cutoff) for log in logs]
    velocity = np.concatenate([one.signals.velocity for one in judged])
    position = np.concatenate(
        [part.position[part.kept] for one in judged for part in one.signals.segments]
    )
    rest = np.concatenate([one.signals.effort - one.model_effort for one in judged])
    usable = np.concatenate([one.signals.usable for one in judged])
    found = []
    for index, joint in enumerate(dynamics.robot.joints):
        speed = np.abs(velocity[:, index])
        rows = usable[:, index] & (speed > FIT.passing_share * speed.max(initial=0.0))
        spread = _spread_by_place(
            np.floor(position[rows, index] / (FIT.place * length_of(joint))),
            velocity[rows, index] > 0.0,
            rest[rows, index],
        )
        friction = joint.coulomb_friction + joint.friction.hysteresis_friction
        if friction > 0.0 and spread > FIT.uneven_share * friction:
            found.append(
                Finding(
                    'uneven-friction',
                    (joint.name,),
                    f'has friction that differs by +-{spread / friction:.0%} from place to place '
                    'along its way, which no model here has',
                    spread / friction,
                    remedy='Look for a worn gear, a bent shaft, a cable that is dragged',
                    severity='warning',
                )
            )
    return found


def _spread_by_place(place: FloatArray, is_forward: FloatArray, rest: FloatArray) -> float:
    """Return the standard deviation of the friction over places; 0 where too few are known."""
    levels, weights = [], []
    for one in np.unique(place):
        there, back = (rest[(place == one) & (is_forward == way)] for way in (True, False))
        if min(there.size, back.size) >= FIT.fewest_of_place:
            levels.append(0.5 * (there.mean() - back.mean()))
            weights.append(there.size + back.size)
    if len(levels) < FIT.fewest_places:
        return 0.0
    mean = np.average(levels, weights=weights)
    return float(np.sqrt(np.average((np.array(levels) - mean) ** 2, weights=weights)))
