"""What a hypothesis says of a log, in words, and what is to be done about it."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ne_dynamics.driver.evidence.hypotheses import Hypothesis
from ne_dynamics.logs import LogFault
from ne_dynamics.model.robot import Robot

HARMFUL_DELAY = 0.02
HARMFUL_GAIN = 25.0
"""A delay is an error from this size on [s], or when the log is that much likelier without."""

KNOWN_FACTOR = 0.1
"""Standard deviation of a factor, as a part of it, up to which it is known."""


def describe_fault(robot: Robot, found: Hypothesis, rivals: Sequence[Hypothesis]) -> LogFault:
    """Return a fault in words, with how grave it is and whether its repair is certain.

    Parameters
    ----------
    robot : Robot
    found : Hypothesis
    rivals : sequence of Hypothesis
        What explains the log about as well.

    Returns
    -------
    LogFault
    """
    names = tuple(robot.joint_names[joint] for joint in found.joints)
    message, remedy = _word(found, names)
    severity, is_certain = 'error', not rivals
    if found.cause == 'effort-delay':
        is_harmful = abs(found.amount) >= HARMFUL_DELAY or found.cost < -HARMFUL_GAIN
        severity = 'error' if is_harmful else 'warning'
    if found.cause == 'effort-scaled':
        is_certain = is_certain and found.deviation <= KNOWN_FACTOR
    if rivals:
        others = '; '.join(
            sorted(
                {
                    _word(rival, tuple(robot.joint_names[joint] for joint in rival.joints))[0]
                    + f' ({", ".join(robot.joint_names[joint] for joint in rival.joints)})'
                    for rival in rivals[:3]
                }
            )
        )
        message += f'; or else, which this log does not tell apart: {others}'
    return LogFault(severity, found.cause, names, message, remedy, is_certain, found.amount)


def _word(found: Hypothesis, names: tuple[str, ...]) -> tuple[str, str]:
    """Return what was found, and what to do."""
    which = names[0] if len(names) == 1 else 'all'
    amount = found.amount
    match found.cause:
        case 'wrong-sign':
            return 'the effort has the opposite sign', f'--sign {which}'
        case 'position-sign':
            return 'the position has the opposite sign', f'--position-sign {which}'
        case 'axis-sign':
            return (
                'position and effort both have the opposite sign',
                f'--position-sign {which} --sign {which}',
            )
        case 'degrees':
            return 'the position is in degrees', 'give radians, or --degrees'
        case 'zero-offset':
            degrees = math.degrees(-amount)
            return (
                f'the zero of the position is off by {degrees:.0f} degrees',
                f'--zero {which}={amount:.6g}',
            )
        case 'effort-scaled':
            known = f' +- {found.deviation:.0%}' if math.isfinite(found.deviation) else ''
            return (
                f'the effort is {1.0 / amount:.3g} times of what the other joints show{known}',
                f'--scale {which}={amount:.4g}',
            )
        case 'effort-delay':
            word = 'late' if amount > 0.0 else 'early'
            return (
                f'the effort is {word} by {abs(1e3 * amount):.1f} +- '
                f'{1e3 * found.deviation:.1f} ms against the position',
                f'--delay {which}={amount:.4f}',
            )
        case 'effort-offset':
            sizes = ', '.join(f'{-value:.3g}' for value in found.amounts)
            return (
                f'a constant of {sizes} N m or N is in the effort{"s" * (len(names) > 1)}',
                'set the zero of the torque sensors anew, or --repair, which takes it out',
            )
        case 'efforts-swapped':
            return 'the efforts of the two are exchanged', 'exchange these columns, or --repair'
        case 'positions-swapped':
            return 'the positions of the two are exchanged', 'exchange these columns, or --repair'
    return (
        'the two joints are exchanged',
        f'--rename {names[0]}={names[1]} --rename {names[1]}={names[0]}',
    )
