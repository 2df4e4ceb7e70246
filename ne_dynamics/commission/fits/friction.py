"""Friction of each joint from what its motors did while it moved, also slowly.

The fit of all the model filters by a few hertz, and has the Stribeck effect in two widths. A joint
passes the velocities at which friction rises in some hundredths of a second: what tells of them is
in faster signals. So, with inertias and rotors of a fit, what is left of each effort is fitted
once more by

    viscous v + (coulomb + (static - coulomb) exp(-(v / w)^2)) sign(v) + offset

with a cut-off frequency as high as the encoder of the joint allows, and a grid for the width w.
Only where the joint moves: what holds one that sticks is anything up to its static friction.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ne_dynamics.commission.fits.lost_motion import with_lost_motion
from ne_dynamics.commission.thresholds import FIT
from ne_dynamics.driver.steps import find_steps
from ne_dynamics.dynamics import Dynamics
from ne_dynamics.identification.evaluation import without_joint_friction
from ne_dynamics.logs import Log, Signals, filtered
from ne_dynamics.logs.signals import find_step
from ne_dynamics.logs.thresholds import FILTER
from ne_dynamics.model.rigid_body import FloatArray
from ne_dynamics.model.robot import Joint, Robot


class _Piece(NamedTuple):
    """A log with one cut-off frequency, and the effort of the model without friction."""

    signals: Signals
    rest: FloatArray


class _Fit(NamedTuple):
    """What was found of a joint: the numbers, what they leave, and the width of the sign."""

    viscous: float
    coulomb: float
    offset: float
    raised: float
    width: float
    left: float
    step: float = 0.0

    @property
    def is_possible(self) -> bool:
        """Whether it is friction."""
        most = (FIT.largest_static - 1.0) * self.coulomb
        return self.viscous >= 0.0 and self.coulomb >= 0.0 and 0.0 <= self.raised <= most


def refine_friction(dynamics: Dynamics, logs: Sequence[Log]) -> Robot:
    """Return the robot of a fitted model with friction that is fitted anew to logs.

    These have the efforts that acted. Inertias, rotors, and joints that have not moved enough to
    tell, are as they were.
    """
    robot = dynamics.robot
    rigid = without_joint_friction(dynamics)
    chosen = _choose_cutoffs(dynamics, logs)
    joints = list(robot.joints)
    for cutoff in sorted(set(chosen.tolist())):
        pieces = [_read(rigid, log, cutoff) for log in logs]
        for index in np.flatnonzero(chosen == cutoff).tolist():
            if (found := _fit_joint(pieces, index)) is not None:
                joints[index] = _with_friction(joints[index], found)
            joints[index] = with_lost_motion(pieces, index, joints[index])
    return replace(robot, joints=tuple(joints))


def _choose_cutoffs(dynamics: Dynamics, logs: Sequence[Log]) -> FloatArray:
    """Return the cut-off frequency of each joint, by the noise of its encoder, shape (n,) [Hz]."""
    robot = dynamics.robot
    first = logs[0]
    highest = 1.0 / find_step(first) / FIT.samples_a_period
    cutoffs = np.array(
        [cutoff for cutoff in FIT.friction_cutoffs if cutoff <= highest] or [highest]
    )
    lowest = float(cutoffs[0])
    read = [filtered(log, robot.limits('effort_limit'), lowest) for log in logs]
    noise = _noise_of_encoders(logs, read)
    largest = np.abs(read[0].velocity).max(axis=0)
    inertia = np.diag(dynamics.mass_matrix(np.median(first.position, axis=0)))
    friction = np.array([joint.coulomb_friction for joint in robot.joints])
    with np.errstate(divide='ignore', invalid='ignore'):
        room = FIT.noise_share * friction / (inertia * noise)
        # Of white noise: that of the velocity by that of the acceleration, at this cut-off.
        speed_noise = noise * np.sqrt(5.0 / 3.0) / (2.0 * np.pi * lowest)
        slow_room = FIT.speed_noise_share * largest / (speed_noise * FILTER.motion_band**1.5)
    # They grow with the cut-off frequency to the power of 5/2 and 3/2.
    most = lowest * np.minimum(
        np.nan_to_num(room, nan=1.0, posinf=1e9) ** 0.4,
        np.nan_to_num(slow_room, nan=1.0, posinf=1e9) ** (2.0 / 3.0),
    )
    chosen = np.maximum(np.searchsorted(cutoffs, most, side='right') - 1, 0)
    result: FloatArray = cutoffs[chosen]
    return result


def _noise_of_encoders(logs: Sequence[Log], read: Sequence[Signals]) -> FloatArray:
    """Return the noise of the acceleration by encoders, shape (n,) [rad/s^2 or m/s^2].

    A joint that swings where it turns round seems to have more of it. But encoders of an arm are
    of a kind, and their noise goes by their steps: the calmest joint tells by how much.
    """
    noise, ratio = read[0].acceleration_noise.copy(), math.inf
    # Infinite where no step of an encoder was seen.
    each = np.array([find_steps(log.position) for log in logs])
    steps = np.where(each > 0.0, each, math.inf).min(axis=0)
    for signals in read:
        speeds = np.abs(signals.velocity)
        standing = FIT.friction_standing_share * speeds.max(axis=0, initial=0.0)
        is_moving = (speeds > standing).mean(axis=0) > 0.5
        noise[is_moving] = np.minimum(noise, signals.acceleration_noise)[is_moving]
        known = is_moving & np.isfinite(steps)
        ratio = min(
            ratio, float((signals.acceleration_noise / steps)[known].min(initial=math.inf))
        )
    by_steps = np.where(np.isfinite(steps), steps, 1.0) * ratio
    found: FloatArray = np.clip(by_steps, noise / FIT.most_swinging, noise)
    return found


def _read(rigid: Dynamics, log: Log, cutoff: float) -> _Piece:
    signals = filtered(log, rigid.robot.limits('effort_limit'), cutoff)
    model = [
        segment.filtered(
            rigid.inverse_dynamics(segment.position, segment.velocity, segment.acceleration)
        )
        for segment in signals.segments
    ]
    return _Piece(signals, signals.effort - np.concatenate(model))


def _fit_joint(pieces: Sequence[_Piece], joint: int) -> _Fit | None:
    """Return the friction of a joint; None when it has not moved enough."""
    used = [
        piece.signals.usable[:, joint] & ~_near_sticking(piece.signals, joint) for piece in pieces
    ]
    if sum(int(part.sum()) for part in used) < FIT.fewest_of_friction:
        return None
    target = np.concatenate(
        [piece.rest[part, joint] for piece, part in zip(pieces, used, strict=True)]
    )
    speeds = [np.abs(piece.signals.velocity[:, joint]) for piece in pieces]
    largest = max(float(part.max()) for part in speeds)
    slowest = min(
        float(part[kept].min()) for part, kept in zip(speeds, used, strict=True) if kept.any()
    )
    widths = np.geomspace(
        max(FIT.narrowest_width * largest, slowest),
        max(FIT.widest_width * largest, 2.0 * slowest),
        FIT.stribeck_widths,
    )
    columns = np.concatenate(
        [
            _columns(piece.signals, joint, widths)[part]
            for piece, part in zip(pieces, used, strict=True)
        ]
    )
    always = columns[:, :3]
    best = _fit(always, target, 0.0)
    for number, width in enumerate(widths.tolist()):
        found = _fit(np.column_stack([always, columns[:, 3 + number]]), target, width)
        if found.left < best.left and found.is_possible:
            best = found
    return best._replace(step=FIT.sign_width * largest) if best.is_possible else None


def _fit(matrix: FloatArray, target: FloatArray, width: float) -> _Fit:
    numbers = np.linalg.lstsq(matrix, target, rcond=None)[0]
    left = float(np.mean((target - matrix @ numbers) ** 2))
    viscous, coulomb, offset, *raised = numbers.tolist()
    return _Fit(viscous, coulomb, offset, raised[0] if raised else 0.0, width, left)


def _columns(signals: Signals, joint: int, widths: FloatArray) -> FloatArray:
    """Return efforts of one unit of each term, filtered, shape (M, 3 + widths).

    Viscous and Coulomb friction, offset, and what the Stribeck effect adds with each width.
    """
    parts: list[FloatArray] = []
    for segment in signals.segments:
        velocity = segment.velocity[:, joint]
        sign = np.sign(velocity)
        slow = np.exp(-((velocity[:, np.newaxis] / widths) ** 2)) * sign[:, np.newaxis]
        every = np.column_stack([velocity, sign, np.ones_like(velocity), slow])
        parts.append(segment.filtered(every))
    return np.concatenate(parts)


def _near_sticking(signals: Signals, joint: int) -> NDArray[np.bool_]:
    """Return which samples a time of sticking has a part in, by the filter, shape (M,)."""
    speeds = np.abs(signals.velocity[:, joint])
    standing = FIT.friction_standing_share * float(speeds.max(initial=0.0))
    parts = []
    for segment in signals.segments:
        is_slow = (np.abs(segment.velocity[:, joint]) < standing).astype(np.float64)
        longest = max(round(FIT.longest_turn * segment.rate), 1)
        # Runs of slow samples that are longer than a turn takes, grown by what the filter sees.
        kernel = np.ones(longest)
        is_stuck = np.convolve(is_slow, kernel)[longest - 1 :] >= longest - 0.5
        reach = longest + round(FIT.filter_reach * segment.rate / signals.cutoff_frequency)
        near = np.convolve(is_stuck, np.ones(2 * reach + 1), mode='same') > 0.5
        parts.append(np.asarray(near[segment.kept], dtype=bool))
    return np.concatenate(parts)


def _with_friction(joint: Joint, found: _Fit) -> Joint:
    has_effect = found.raised > 0.0
    friction = replace(
        joint.friction,
        friction_offset=found.offset,
        friction_asymmetry=0.0,
        load_coefficient=0.0,
        square_root_friction=0.0,
        cubic_friction=0.0,
        hysteresis_friction=0.0,
        hysteresis_displacement=0.0,
        static_friction=found.coulomb + found.raised if has_effect else None,
        stribeck_velocity=found.width if has_effect else 0.0,
        smoothing_velocity=found.step,
    )
    return replace(
        joint,
        viscous_friction=found.viscous,
        coulomb_friction=found.coulomb,
        friction=friction,
    )
