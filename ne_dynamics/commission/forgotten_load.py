"""A load that the model does not have: a joint gives way as a weight at the tip would pull it."""

from __future__ import annotations

import numpy as np

from ne_dynamics.commission.record import Record
from ne_dynamics.dynamics import Dynamics
from ne_dynamics.logs import Certainty, Finding
from ne_dynamics.model.rigid_body import FloatArray


def find_forgotten_load(
    given: Dynamics, record: Record, start: FloatArray, allowed: FloatArray
) -> list[Finding]:
    """Return the load that explains why a joint of an arm, which was held, gives way.

    It was held at the start, and has given way by half of what is allowed at least, shape (n,)
    [rad or m] both; the given model is without the load. The finding is of the joint that gave way
    most; the amount is the least mass at the tip [kg]. A reversed effort looks the same as long as
    only positions are known.
    """
    record = record.answered
    is_moved = (np.abs(record.desired - start) > 0.5 * allowed).any()
    if given.robot.tip_link is None or not record.times.size or is_moved:
        return []
    position, command = record.position[-1], record.command[-1]
    way = (position - start) / allowed
    joint = int(np.abs(way).argmax())
    still = np.zeros(given.n)
    kilogram = np.zeros(10)
    kilogram[0] = 1.0
    without = given.without_friction()
    own = without.inverse_dynamics(position, still, still)
    loaded = without.inverse_dynamics(position, still, still, payload=kilogram)
    by_mass = float((loaded - own)[joint])
    if abs(way[joint]) < 0.5 or not by_mass * way[joint] < 0.0:
        return []
    mass = float((command - own)[joint]) / by_mass
    if not mass > 0.0:
        return []
    name = record.joint_names[joint]
    return [
        Finding(
            'forgotten-load',
            (name,),
            f'gives way as a weight at the tip would pull it: a load of {mass:.2g} kg there, or '
            'more, that the model does not have?',
            mass,
            certainty=Certainty.UNKNOWN,
            remedy='Give its mass to the last link of the URDF, or take it off',
        )
    ]
