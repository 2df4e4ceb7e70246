"""What the effort of each joint is, in words: torque, with gravity and friction or without.

What :mod:`~ne_dynamics.driver.meaning` finds likeliest becomes verdicts here, each
no surer than what tells it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ne_dynamics.driver.delay import EffortDelay
from ne_dynamics.driver.meaning import Meaning
from ne_dynamics.driver.thresholds import EFFORTS
from ne_dynamics.driver.verdict import (
    Verdict,
    least_sure,
    level_of,
    unknown,
)
from ne_dynamics.logs import Certainty
from ne_dynamics.logs.thresholds import FILTER
from ne_dynamics.model.rigid_body import FloatArray
from ne_dynamics.model.robot import Robot

TORQUE = 'torque'
WITHOUT_GRAVITY = 'torque_without_gravity'
OTHER_UNIT = 'current'
NOTHING = 'nothing'


MOVE = 'move all joints at once over most of their range, at half their speed, both ways, for 20 s'
ALONE = 'move this joint, back and forth, at half its speed'
LOAD = (
    'hold a known payload of 1-5 kg in two poses or more, and `identify --payload` or '
    '`--drive-gains` of that log'
)


@dataclass(frozen=True)
class JointEffort:
    """What the effort of a joint is.

    Attributes
    ----------
    meaning : Verdict
        `torque`, `torque_without_gravity`, `current` (proportional to a torque, in another unit)
        or `nothing`.
    gravity, friction : Verdict
        Whether it contains them.
    sign : Verdict
        1.0, or -1.0 where it is the opposite of the joint's positive direction.
    scale : Verdict
        N m or N for one of what is reported.
    offset : Verdict
        What is reported of an effort of 0, in what is reported.
    is_unexplained : bool
        Whether it has little to do with the motion of the joint, which moved.
    """

    meaning: Verdict
    gravity: Verdict
    friction: Verdict
    sign: Verdict
    scale: Verdict
    offset: Verdict
    is_unexplained: bool = False

    def get_verdicts(self) -> dict[str, Verdict]:
        """Return the verdicts by their names."""
        return {key: value for key, value in vars(self).items() if isinstance(value, Verdict)}


def describe_nothing(reason: Verdict, is_unexplained: bool = False) -> JointEffort:
    """Return what is said of a joint whose effort is not looked at: the same of all."""
    rest = unknown(reason.text, reason.experiment)
    return JointEffort(reason, rest, rest, rest, rest, rest, is_unexplained)


def describe_efforts(
    robot: Robot,
    reported: FloatArray | None,
    missing: NDArray[np.bool_],
    moves: NDArray[np.bool_],
    meaning: Meaning | None,
    follows: EffortDelay | None = None,
    untold: str = 'too little was recorded',
) -> tuple[JointEffort, ...]:
    """Return what the effort of each joint is.

    Parameters
    ----------
    robot : Robot
    reported : array, shape (N, n), or None
        As it came.
    missing : bool array, shape (n,)
        Where there is no number at all.
    moves : bool array, shape (n,)
    meaning : Meaning or None
        None where the log does not tell one.
    follows : EffortDelay, optional
        How efforts follow commands, which are in N m or N: that tells scale and sign.
    untold : str
        Why the log does not tell a meaning.

    Returns
    -------
    tuple of JointEffort
    """
    found, limits = [], robot.limits('effort_limit')
    for joint in range(robot.n):
        if reported is None or missing[joint]:
            verdict = Verdict(NOTHING, Certainty.KNOWN, 'none is reported')
            found.append(describe_nothing(verdict))
            continue
        column = reported[:, joint]
        column = column[np.isfinite(column)]
        if not np.ptp(column) > 0.0:
            limit = float(limits[joint])
            found.append(
                describe_nothing(_describe_constant(float(column[0]), limit, moves, joint))
            )
        elif meaning is None or not moves[joint]:
            what = 'the joint did not move' if not moves[joint] else untold
            found.append(describe_nothing(unknown(what, MOVE)))
        elif meaning.left[joint] > EFFORTS.unexplained_share:
            part = max(1.0 - float(meaning.left[joint]) ** 2, 0.0)
            text = f'no arm like the given one explains more than {part:.0%} of it'
            found.append(describe_nothing(unknown(text, MOVE), is_unexplained=True))
        else:
            found.append(_describe(robot, joint, meaning, follows))
    return _agree_on_friction(found)


def _agree_on_friction(found: list[JointEffort]) -> tuple[JointEffort, ...]:
    """Return efforts of which none is said to be without friction where another has it."""
    if not any(effort.friction.value is True for effort in found):
        return tuple(found)
    return tuple(
        replace(effort, friction=unknown('friction is too small to tell', ALONE))
        if effort.friction.value is False
        else effort
        for effort in found
    )


def summarise_meaning(
    robot: Robot, efforts: tuple[JointEffort, ...], moves: NDArray[np.bool_]
) -> Verdict:
    """Return what the efforts of all joints are, where those that tell agree.

    Parameters
    ----------
    robot : Robot
    efforts : tuple of JointEffort
        Of its joints.
    moves : bool array, shape (n,)

    Returns
    -------
    Verdict
        Its text names the joints that do not tell. Of one driver the surest joint speaks for
        those that moved and do not tell it, and less surely for one that stood; that nothing is
        reported is said of all joints or of none.
    """
    meanings = {
        joint.name: effort.meaning for joint, effort in zip(robot.joints, efforts, strict=True)
    }
    told = {name: verdict for name, verdict in meanings.items() if verdict.is_identifiable}
    rest = {name: verdict for name, verdict in meanings.items() if name not in told}
    experiment = next((verdict.experiment for verdict in rest.values()), '') or MOVE
    left_out = '; '.join(f'{name}: {verdict.text}' for name, verdict in rest.items())
    if not told:
        return unknown(f'no joint tells: {left_out}', experiment)
    values = {verdict.value for verdict in told.values()}
    if len(values) > 1:
        each = ', '.join(f'{name} {verdict.value}' for name, verdict in told.items())
        return unknown(f'joints differ: {each}', MOVE)
    best = max(told.values(), key=lambda verdict: verdict.level is Certainty.KNOWN)
    if not rest:
        return replace(best, text=f'all joints tell{_list_factors(robot, efforts)}')
    if best.value == NOTHING:
        return unknown(f'{", ".join(told)}: {NOTHING}; not told: {left_out}', experiment)
    stands = any(
        joint.name in rest and not moved for joint, moved in zip(robot.joints, moves, strict=True)
    )
    return replace(
        best,
        level=least_sure(best.level, Certainty.LIKELY) if stands else best.level,
        text=f'{len(told)} of {len(meanings)} joints tell{_list_factors(robot, efforts)}; '
        f'not told: {left_out}',
        experiment=best.experiment or experiment,
    )


def summarise_scale(robot: Robot, efforts: tuple[JointEffort, ...]) -> Verdict:
    """Return whether efforts in another unit are in one unit, and in which.

    Parameters
    ----------
    robot : Robot
    efforts : tuple of JointEffort
        Of its joints.

    Returns
    -------
    Verdict
        N m or N for one of what is reported, where the factors of all joints that tell one agree;
        no value where they do not, or where joints that slide are among others.
    """
    known = _find_factors(robot, efforts)
    if not known:
        return unknown('no joint reports efforts in another unit, with a factor', '')
    shown = ', '.join(f'{name} {value:.3g} {unit}' for name, value, _, unit in known)
    if len(known) == 1:
        return unknown(f'one is {shown}, of this joint alone', LOAD)
    if len({unit for *_, unit in known}) > 1:
        return unknown(f'one is {shown}: in different units', LOAD)
    values = np.array([value for _, value, *_ in known])
    spreads = np.array([max(spread, 1e-6) for _, _, spread, _ in known])
    weights = 1.0 / spreads**2
    middle = float(np.exp((weights * np.log(values)).sum() / weights.sum()))
    if (np.abs(np.log(values / middle)) > EFFORTS.disagreeing_deviations * spreads).any():
        return unknown(f'factors disagree from joint to joint: one is {shown}', LOAD)
    deviation = float(middle / math.sqrt(weights.sum()))
    return Verdict(
        middle,
        Certainty.LIKELY,
        f'one unit for all, within their deviations: one is {shown}',
        LOAD,
        deviation,
    )


def _find_factors(
    robot: Robot, efforts: tuple[JointEffort, ...]
) -> list[tuple[str, float, float, str]]:
    """Return name, factor, its relative deviation and unit of joints in another unit."""
    found = []
    for joint, effort in zip(robot.joints, efforts, strict=True):
        value, unit = effort.scale.value, joint.type.effort_unit
        if effort.meaning.value == OTHER_UNIT and isinstance(value, float):
            spread = effort.scale.deviation / value
            found.append((joint.name, value, spread if math.isfinite(spread) else 0.0, unit))
    return found


def _list_factors(robot: Robot, efforts: tuple[JointEffort, ...]) -> str:
    """Return what is said of factors beside the meaning: '' where there are none."""
    return f'; {summarise_scale(robot, efforts).text}' if _find_factors(robot, efforts) else ''


def _describe_constant(
    value: float, limit: float, moves: NDArray[np.bool_], joint: int
) -> Verdict:
    if 0.0 < FILTER.saturation * limit <= abs(value):
        return unknown(f'always {value:g}: its effort limit', MOVE)
    if moves[joint]:
        return Verdict(NOTHING, Certainty.KNOWN, f'always {value:g}, while the joint moves')
    if value == 0.0 and moves.any():
        return Verdict(NOTHING, Certainty.LIKELY, 'always 0, while other joints move', ALONE)
    return unknown(f'always {value:g}, but the joint did not move', MOVE)


def _describe(
    robot: Robot, joint: int, meaning: Meaning, follows: EffortDelay | None
) -> JointEffort:
    unit = robot.joints[joint].type.effort_unit
    factor = abs(float(meaning.reading.effort_factor[joint]))
    gravity = _describe_gravity(meaning, joint)
    sign = _describe_sign(meaning, joint)
    in_unit, unit_level = _choose_unit(meaning, joint)
    scale = _describe_scale(meaning, joint, unit, in_unit, unit_level)
    if follows is not None and follows.follows[joint]:
        own, spread = float(follows.factor[joint]), float(follows.factor_deviation[joint])
        if spread <= EFFORTS.known_scale_deviation * abs(own):
            is_commanded_unit = (
                1.0 / EFFORTS.commanded_factor <= abs(own) <= EFFORTS.commanded_factor
            )
            if unit_level is Certainty.KNOWN and in_unit != is_commanded_unit:
                # Commands may be in another unit themselves, as those of a drive by its current.
                scale = _describe_contradicted_scale(own, factor, unit)
                unit_level = Certainty.UNKNOWN
            else:
                in_unit, unit_level = is_commanded_unit, Certainty.KNOWN
                scale = _describe_commanded_scale(own, spread, unit)
            sign = _describe_commanded_sign(sign, own)
    return JointEffort(
        meaning=_describe_meaning(meaning, joint, in_unit, unit_level, gravity),
        gravity=gravity,
        friction=_describe_friction(meaning, joint, unit),
        sign=sign,
        scale=scale,
        offset=_describe_offset(meaning, joint, factor),
    )


def _describe_commanded_scale(factor: float, deviation: float, unit: str) -> Verdict:
    value = 1.0 / abs(factor)
    spread = deviation / abs(factor) * value
    if 1.0 / EFFORTS.commanded_factor <= value <= EFFORTS.commanded_factor:
        value, text = (
            1.0,
            f'in {unit}: it is {abs(factor):.3g} +- {deviation:.2g} times the command',
        )
    else:
        text = f'one is {value:.4g} +- {spread:.2g} {unit} of the command'
    return Verdict(value, Certainty.KNOWN, text, '', spread)


def _describe_contradicted_scale(own: float, factor: float, unit: str) -> Verdict:
    return unknown(
        f'{abs(own):.3g} times the command, but by the motion one is about {factor:.3g} {unit}: '
        f'the commands are not in {unit}, or the masses of the given model are far off',
        LOAD,
    )


def _describe_commanded_sign(found: Verdict, factor: float) -> Verdict:
    """Return the sign by the commands, unless the motion contradicts it."""
    value = math.copysign(1.0, factor)
    if found.value is not None and found.value != value and found.level is Certainty.KNOWN:
        # What the arm does counts: the commands may be reversed themselves.
        return replace(
            found,
            level=Certainty.LIKELY,
            text=f'{found.text} by the motion, but not by the commands',
            experiment='check the sign of the commands: pulses of one joint, held by hand',
        )
    text = "in the joint's positive direction" if value > 0.0 else 'the opposite sign'
    return Verdict(value, Certainty.KNOWN, f'{text}, as the commands have it')


def _choose_unit(meaning: Meaning, joint: int) -> tuple[bool, Certainty]:
    """Return whether an effort is in N m or N, and how sure that is."""
    own, common = float(meaning.joint_unit_gains[joint]), meaning.unit_gain
    if own * common <= 0.0:
        # One joint that is off the others: what is off is that joint.
        if abs(common) >= abs(own) or own > 0.0:
            return own > 0.0, Certainty.UNKNOWN
        if meaning.left[joint] <= EFFORTS.explained_share:
            # It is a torque as well: a factor would but bring the arm nearer to the given one.
            return False, Certainty.UNKNOWN
        return False, level_of(-own)
    return own > 0.0, level_of(min(abs(own), abs(common)))


def _describe_meaning(
    meaning: Meaning, joint: int, in_unit: bool, unit_level: Certainty, gravity: Verdict
) -> Verdict:
    left = f'residual {meaning.left[joint]:.0%}'
    if unit_level is Certainty.UNKNOWN:
        return unknown(f'a torque or a multiple of one; {left}', LOAD)
    if not in_unit:
        without = ' without gravity' if gravity.value is False else ''
        return Verdict(
            OTHER_UNIT,
            unit_level,
            f'proportional to a torque{without}, in another unit: a motor current, or the torque '
            f'before the gear; {left}',
            LOAD,
        )
    if gravity.value is None:
        return unknown(f'a torque, with or without gravity; {left}', gravity.experiment)
    level = least_sure(unit_level, gravity.level)
    return Verdict(TORQUE if gravity.value else WITHOUT_GRAVITY, level, left)


def _describe_gravity(meaning: Meaning, joint: int) -> Verdict:
    level = level_of(meaning.gravity_gain)
    experiment = 'move the joints that carry the arm through other heights, slowly and fast'
    if level is Certainty.UNKNOWN:
        return unknown('with or without gravity', experiment)
    contains = not meaning.without_gravity
    text = 'with gravity' if contains else 'without gravity'
    if meaning.gravity_share[joint] < EFFORTS.gravity_share:
        # Its own efforts hardly depend on it.
        return Verdict(
            contains,
            Certainty.LIKELY,
            f'{text}, as in the other joints; this one carries little',
            '',
        )
    return Verdict(contains, level, text)


def _describe_friction(meaning: Meaning, joint: int, unit: str) -> Verdict:
    terms = meaning.terms
    coulomb, viscous = float(terms.coulomb[joint]), float(terms.viscous[joint])
    spreads = float(terms.coulomb_deviation[joint]), float(terms.viscous_deviation[joint])
    size, amount, deviation = (
        float(meaning.size[joint]),
        math.hypot(coulomb, viscous),
        math.hypot(*spreads),
    )
    moving, speed = float(terms.moving[joint]), float(terms.speed[joint])
    per_speed = 'N s/m' if unit == 'N' else 'N m s/rad'
    shown = (
        f'Coulomb {coulomb / moving:.3g} +- {spreads[0] / moving:.2g} {unit}, '
        f'viscous {viscous / speed:.3g} +- {spreads[1] / speed:.2g} {per_speed}'
    )
    if amount > EFFORTS.friction_deviations * deviation and amount > EFFORTS.friction_share * size:
        return Verdict(True, Certainty.KNOWN, f'with friction: {shown}')
    if amount <= 2.0 * deviation < EFFORTS.friction_share * size:
        return Verdict(
            False,
            Certainty.LIKELY,
            f'without friction ({shown}): compensated, measured behind the gear, or none',
            'move the arm by hand with the drives off: it has friction or not',
        )
    return unknown(f'friction is not significant: {shown}', ALONE)


def _describe_sign(meaning: Meaning, joint: int) -> Verdict:
    level = level_of(float(meaning.sign_gains[joint]))
    if level is Certainty.UNKNOWN:
        return unknown('the efforts are too small, or fit either sign', ALONE)
    if meaning.signs[joint] > 0.0:
        return Verdict(1.0, level, "in the joint's positive direction")
    return Verdict(-1.0, level, 'the opposite sign', 'push the joint by hand against the drive')


def _describe_scale(
    meaning: Meaning, joint: int, unit: str, in_unit: bool, unit_level: Certainty
) -> Verdict:
    factor = abs(float(meaning.reading.effort_factor[joint]))
    own = float(meaning.factor_deviations[joint])
    if unit_level is Certainty.UNKNOWN or not math.isfinite(own):
        return unknown('the motion of this joint does not tell its scale', LOAD)
    deviation = math.hypot(own, EFFORTS.model_prior_scale)
    if in_unit:
        return Verdict(1.0, Certainty.LIKELY, f'in {unit}, by the masses of the given model', LOAD)
    return Verdict(
        factor,
        Certainty.LIKELY,
        f'one is about {factor:.3g} {unit}, to {deviation:.0%}: by the masses of the given model',
        LOAD,
        deviation * factor,
    )


def _describe_offset(meaning: Meaning, joint: int, factor: float) -> Verdict:
    value = float(meaning.terms.constant[joint]) / factor * float(meaning.signs[joint])
    deviation = float(meaning.terms.constant_deviation[joint]) / factor
    size = float(meaning.size[joint]) / factor
    shown = f'{value:.3g} +- {deviation:.2g}'
    if (
        abs(value) > EFFORTS.friction_deviations * deviation
        and abs(value) > EFFORTS.friction_share * size
    ):
        return Verdict(
            value,
            Certainty.LIKELY,
            f'{shown}; or gravity that the given model lacks, or asymmetric friction',
            'hold two poses in which this joint carries the same with opposite signs',
            deviation,
        )
    if 2.0 * deviation < EFFORTS.friction_share * size:
        return Verdict(0.0, Certainty.LIKELY, f'not significant: {shown}', '', deviation)
    return unknown(f'not known well enough: {shown}', MOVE)
