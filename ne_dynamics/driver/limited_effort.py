"""Efforts that stay below what is commanded: of a drive with a limit, or of a weak motor.

An effort of which a drive takes only part is seen where it is reported: it has a plateau while
more is commanded, or is a part of each command though that of other joints is all of it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ne_dynamics.driver.recording import CommandLog
from ne_dynamics.logs import Certainty, Finding, Log
from ne_dynamics.model.rigid_body import FloatArray


@dataclass(frozen=True)
class LimitedEffortSettings:
    """When an effort is taken to be limited, or weak.

    Attributes
    ----------
    largest : float
        Quantile of an effort that is taken for its largest value.
    flat : float
        Part of that by which an effort on its plateau may differ from it.
    beyond : float
        Command over the plateau, at least, while an effort is on it.
    shortest : float
        How long it is on it at least, in all [s].
    weak : float
        Part of a command that a weak motor gives, at most.
    usual : float
        By how much the part that most joints give may differ from 1.
    below : float
        Part of the plateau below which an effort is compared with its command.
    related : float
        Correlation of an effort with its command there, at least, for one to be a part of the
        other.
    """

    largest: float = 0.98
    flat: float = 0.05
    beyond: float = 1.15
    shortest: float = 0.1
    weak: float = 0.75
    usual: float = 0.15
    below: float = 0.8
    related: float = 0.9


LIMITED = LimitedEffortSettings()
"""Those that count."""


def find_limited_efforts(
    log: Log,
    commands: CommandLog,
    delay: float,
    limits: FloatArray,
) -> list[Finding]:
    """Return the joints whose efforts stay below what is commanded.

    Parameters
    ----------
    log : Log
        Of a motion of all joints.
    commands : CommandLog
        Of the same joints.
    delay : float
        Of the efforts behind their commands [s].
    limits : array, shape (n,)
        Effort limits of the given model [N m or N].

    Returns
    -------
    list of Finding
        Of efforts in another unit than the commands nothing is said.
    """
    held = commands.hold(log.times - delay)
    kept = np.isfinite(held).all(axis=1) & (log.times - delay <= commands.times[-1])
    effort, held = log.effort[kept], held[kept]
    if len(held) < 2:
        return []
    period = float(np.median(np.diff(log.times)))
    tops = np.quantile(np.abs(effort), LIMITED.largest, axis=0)
    parts = np.array([_find_part(*pair) for pair in zip(effort.T, held.T, tops, strict=True)])
    known = parts[np.isfinite(parts)]
    if not known.size or abs(float(np.median(known)) - 1.0) > LIMITED.usual:
        return []
    on_top = (np.abs(np.abs(effort) - tops) <= LIMITED.flat * tops) & (
        np.sign(effort) * held > LIMITED.beyond * tops
    )
    seconds = period * on_top.sum(axis=0)
    # Of another joint's command an effort is no plateau.
    is_limited = np.isfinite(parts) & (tops < (1.0 - LIMITED.flat) * limits)
    is_limited &= seconds >= LIMITED.shortest
    found = []
    for joint, name in enumerate(log.joint_names):
        if parts[joint] <= LIMITED.weak:
            found.append(_describe_weak(name, float(parts[joint])))
        elif is_limited[joint]:
            top, most = float(tops[joint]), float(np.abs(held[:, joint]).max())
            found.append(
                _describe_limited(name, top, float(limits[joint]), float(seconds[joint]), most)
            )
    return found


def _describe_limited(
    name: str, plateau: float, limit: float, seconds: float, most: float
) -> Finding:
    return Finding(
        'effort-limited',
        (name,),
        f'the effort does not go beyond {plateau:.3g} N m or N, {plateau / limit:.0%} of its '
        f'limit, for {seconds:.2g} s in which up to {most:.3g} is commanded',
        plateau,
        certainty=Certainty.KNOWN,
        remedy='take the limit out of the drive, or set the effort limit of the joint in the '
        'URDF to it',
    )


def _describe_weak(name: str, part: float) -> Finding:
    return Finding(
        'effort-weak',
        (name,),
        f'the effort is {part:.2g} of what is commanded, that of other joints all of it',
        part,
        certainty=Certainty.KNOWN,
        remedy='look at the torque constant and the gear ratio that the drive has for this joint',
    )


def _find_part(effort: FloatArray, command: FloatArray, top: float) -> float:
    """Return which part of a command an effort is below its plateau; NaN where it is none."""
    below = np.abs(command) < LIMITED.below * top
    effort, command = effort[below], command[below]
    if below.sum() < 2 or not (np.ptp(effort) > 0.0 and np.ptp(command) > 0.0):
        return math.nan
    if float(np.corrcoef(effort, command)[0, 1]) < LIMITED.related:
        return math.nan
    return float(command @ effort / (command @ command))
