"""Lost motion: how far a joint turns behind a reversal until its friction has turned round.

Where gears have play, or give, the motor turns and its load stands: the encoder, which is at the
motor, sees a motion that takes little effort. Friction that is fitted by the sign of the velocity
comes out too low then. With the state z of a hysteresis (see
:class:`~ne_dynamics.model.friction.FrictionModel`) in the place of that sign, the effort is

    viscous v + friction z + rotor a + offset

and the displacement of that hysteresis is the lost motion.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ne_dynamics.algorithms.hysteresis import follow_hysteresis
from ne_dynamics.commission.motions import length_of
from ne_dynamics.commission.thresholds import FIT
from ne_dynamics.dynamics import Dynamics
from ne_dynamics.logs import Finding, Signals
from ne_dynamics.model.friction import FrictionModel
from ne_dynamics.model.rigid_body import FloatArray
from ne_dynamics.model.robot import Joint


def with_lost_motion(
    pieces: Sequence[tuple[Signals, FloatArray]], index: int, joint: Joint
) -> Joint:
    """Return a joint with its lost motion; as it is where friction turns round with the velocity.

    By pieces of logs with the effort, shape (M, n), that a model without friction leaves
    [N m or N].
    """
    chosen = [signals.usable[:, index] for signals, _ in pieces]
    if sum(int(part.sum()) for part in chosen) < FIT.fewest_of_friction:
        return joint
    target = np.concatenate(
        [rest[part, index] for (_, rest), part in zip(pieces, chosen, strict=True)]
    )

    def fit(displacement: float) -> tuple[float, FloatArray]:
        columns = np.concatenate(
            [
                _columns(signals, index, displacement)[part]
                for (signals, _), part in zip(pieces, chosen, strict=True)
            ]
        )
        return _least_squares(columns, target)

    turned_at_once, _ = fit(0.0)
    displacements = [length_of(joint) * each for each in FIT.lost_motions]
    fits = [fit(each) for each in displacements]
    best = int(np.argmin([left for left, _ in fits]))
    left, (friction, offset, _, viscous) = fits[best]
    if left > FIT.lost_motion_share * turned_at_once or not friction > 0.0:
        return joint
    found = FrictionModel(
        friction_offset=offset,
        hysteresis_friction=friction,
        hysteresis_displacement=displacements[best],
    )
    return replace(joint, viscous_friction=viscous, coulomb_friction=0.0, friction=found)


def tell_lost_motion(dynamics: Dynamics, position: FloatArray) -> list[Finding]:
    """Return the joints of a fitted model that have lost motion; amounts in rad or m.

    The inertia behind each gear is that of its vibration at a position, shape (n,) [rad or m].
    """
    inertias = np.diag(dynamics.mass_matrix(position)).tolist()
    found = []
    for joint, inertia in zip(dynamics.robot.joints, inertias, strict=True):
        if not joint.friction.has_hysteresis:
            continue
        lost = joint.friction.hysteresis_displacement
        stiffness = joint.friction.hysteresis_friction / lost
        behind = max(inertia - joint.reflected_inertia, 1e-9 * inertia)
        frequency = math.sqrt(stiffness / behind) / (2.0 * math.pi)
        found.append(
            Finding(
                'lost-motion',
                (joint.name,),
                f'turns on by {lost:.2g} rad (m) behind a reversal until its friction acts the '
                'other way: play, or an elastic gear, by which it would swing at about '
                f'{frequency:.2g} Hz while its motor is held?',
                lost,
                remedy='Tighten or stiffen its gear, or measure behind it',
                severity='warning',
            )
        )
    return found


def _columns(signals: Signals, index: int, displacement: float) -> FloatArray:
    """Return efforts of one unit of friction, offset, rotor and viscous friction, shape (M, 4)."""
    parts = []
    for segment in signals.segments:
        velocity = segment.velocity[:, index]
        turned = np.sign(velocity)
        if displacement > 0.0:
            turned = follow_hysteresis(segment.position[:, index], displacement)
        every = [turned, np.ones_like(velocity), segment.acceleration[:, index], velocity]
        parts.append(segment.filtered(np.column_stack(every)))
    return np.concatenate(parts)


def _least_squares(columns: FloatArray, target: FloatArray) -> tuple[float, FloatArray]:
    """Return the RMS that is left, and the numbers; the last of them is not negative."""
    numbers: FloatArray = np.asarray(np.linalg.lstsq(columns, target, rcond=None)[0], np.float64)
    if numbers[-1] < 0.0:
        kept = np.linalg.lstsq(columns[:, :-1], target, rcond=None)[0]
        numbers = np.append(kept.astype(np.float64), 0.0)
    return float(np.sqrt(np.mean((target - columns @ numbers) ** 2))), numbers
