"""What becomes of commands: by how much later they act, and what the driver adds to them.

Commands are read as efforts of the same motion: whether gravity and friction are in them tells
what the driver adds by itself, and a delay of the motion behind them is the one that a feedback
loop has to bear.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from ne_dynamics.driver.delay import EffortDelay, find_longest
from ne_dynamics.driver.effort import LOAD, OTHER_UNIT, TORQUE, JointEffort, describe_efforts
from ne_dynamics.driver.evidence.evidence import LogEvidence
from ne_dynamics.driver.fault_search import find_meaning
from ne_dynamics.driver.meaning import find_delay, prepare_for_delay
from ne_dynamics.driver.order import find_order
from ne_dynamics.driver.recording import CommandLog
from ne_dynamics.driver.thresholds import DELAY, EFFORTS
from ne_dynamics.driver.verdict import Verdict, least_sure, unknown
from ne_dynamics.dynamics import Dynamics
from ne_dynamics.errors import InputError
from ne_dynamics.logs import Certainty, Log, LogReading
from ne_dynamics.model.rigid_body import FloatArray
from ne_dynamics.model.robot import Robot

RECORD = (
    'record the commands too: columns <joint>.command [N m], or the topic of the commands '
    'with --command-topic'
)

CLOCKS = 'the clocks of states and commands differ'
ONE_CLOCK = 'record states and commands with one clock'
PULSES = 'send small pulses to one joint after the other, held by hand or brakes'
MOTOR_COMMANDS = 'record the commands of the motors: efforts, not desired positions or velocities'
FASTER = 'record 20 s of a motion with faster changes, and the commands that made it'


@dataclass(frozen=True)
class CommandEffect:
    """What becomes of commands.

    Attributes
    ----------
    delay : Verdict
        From a command to its effect [s].
    jitter : Verdict
        Its standard deviation [s].
    by_motion, by_effort : Verdict
        The same delay by the motion of the arm, and by the efforts that are reported.
    echo : Verdict
        Whether the reported efforts are the commands.
    gravity, friction : Verdict
        Whether commands have to contain them; False: the driver adds them.
    order : Verdict
        Whether each command is that of the joint whose name it has.
    sign : Verdict
        1.0 where a positive command pushes in the joint's positive direction, of all joints; -1.0
        where it does not of some.
    unit : Verdict
        `torque`, in N m or N, or `current`, in another unit.
    """

    delay: Verdict
    jitter: Verdict
    by_motion: Verdict
    by_effort: Verdict
    echo: Verdict
    gravity: Verdict
    friction: Verdict
    order: Verdict
    sign: Verdict
    unit: Verdict

    def as_json(self) -> dict[str, Any]:
        """Return the verdicts."""
        return {key: value.as_json() for key, value in vars(self).items()}


def describe_no_commands() -> CommandEffect:
    """Return what is said of commands that were not recorded."""
    return _describe_all(unknown('no commands were recorded', RECORD))


def _describe_all(verdict: Verdict) -> CommandEffect:
    """Return one verdict on everything."""
    return CommandEffect(*[verdict] * len(fields(CommandEffect)))


def find_command_faults(effect: CommandEffect) -> list[str]:
    """Return what is wrong with commands: lines for people."""
    wrong = (
        (effect.order, False),
        (effect.sign, -1.0),
        (effect.unit, OTHER_UNIT),
    )
    return [
        f'commands  {verdict.level.value}  {verdict.text}: {verdict.experiment}'
        for verdict, fault in wrong
        if verdict.value == fault and verdict.value is not None
    ]


def describe_commands(
    dynamics: Dynamics, log: Log, commands: CommandLog, effort: EffortDelay | None
) -> CommandEffect:
    """Return what becomes of commands.

    Parameters
    ----------
    dynamics : Dynamics
        The given model.
    log : Log
        States, without the faults that their samples show.
    commands : CommandLog
    effort : EffortDelay or None
        How the reported efforts follow them; None where they do not.
    """
    by_effort, jitter, echo = _describe_effort(effort, find_longest(log, commands))
    found = _find_by_motion(dynamics, log, commands)
    if found.order.value is False:
        by_effort = jitter = found.delay
    delay = by_effort
    if effort is None or effort.is_echo or not by_effort.is_identifiable:
        delay = found.delay
    elif found.delay.is_identifiable and by_effort.is_identifiable:
        # The efforts say it sharply, if they are not late themselves.
        off = float(by_effort.value or 0.0) - float(found.delay.value or 0.0)
        if abs(off) > DELAY.contradicting_deviations * math.hypot(
            by_effort.deviation, found.delay.deviation
        ):
            text = f'{by_effort.text}, but by the motion {found.delay.text}'
            delay = replace(by_effort, level=Certainty.LIKELY, text=text, experiment=FASTER)
            if off > 0.0:
                # The arm cannot move before the motors push: what is reported is late itself.
                text = f'{found.delay.text} by the motion; efforts follow {by_effort.text} later'
                delay = replace(found.delay, text=text, experiment=FASTER)
    return replace(found, delay=delay, jitter=jitter, by_effort=by_effort, echo=echo)


def find_delay_by_motion(
    dynamics: Dynamics,
    times: FloatArray,
    position: FloatArray,
    commands: CommandLog,
    cutoff_frequency: float,
) -> tuple[float, float]:
    """Return how much later than it is sent a command acts, and the standard deviation [s].

    Parameters
    ----------
    dynamics : Dynamics
        A model that was fitted to the arm: commands are efforts in its units.
    times : array, shape (N,)
        [s]
    position : array, shape (N, n)
        Of its joints [rad or m].
    commands : CommandLog
        That moved it.
    cutoff_frequency : float
        Up to which the motion tells the delay [Hz].

    Returns
    -------
    tuple of float
        A delay of NaN, with an infinite deviation, where the motion does not tell it.

    Raises
    ------
    InputError
        When too little was recorded.
    """
    late = commands.acting(times, position, DELAY.shift_of_commands)
    evidence = prepare_for_delay(dynamics, late, cutoff_frequency)
    untold = math.nan, math.inf
    if evidence is None:
        return untold
    recorded = LogReading.as_recorded(dynamics.n)
    found, deviation = find_delay(evidence, dynamics.robot, recorded)
    delay = DELAY.shift_of_commands - found
    left = evidence.explain(recorded.with_effort(range(dynamics.n), delay=found)).left
    if not _tells_delay(delay, deviation) or _leave_motion_open(left[evidence.moves]):
        return untold
    return delay, deviation


def _tells_delay(delay: float, deviation: float) -> bool:
    """Return whether a motion tells a delay of its commands [s]."""
    is_sure = level_of_delay(deviation) is not Certainty.UNKNOWN
    return is_sure and abs(delay) <= DELAY.longest_by_motion


def _leave_motion_open(left: FloatArray) -> bool:
    """Return whether commands do not explain a motion, by the parts of them that are left."""
    return bool(2 * (left > EFFORTS.unexplained_share).sum() >= left.size)


def _describe_effort(
    found: EffortDelay | None, longest: float
) -> tuple[Verdict, Verdict, Verdict]:
    if found is None and not longest:
        no = unknown('too little was recorded to compare efforts with commands', FASTER)
        return no, no, no
    none = Verdict(
        False,
        Certainty.KNOWN,
        f'the reported efforts are not the commands, of up to {longest:g} s before',
    )
    if found is None:
        no = unknown(f'no reported effort follows the commands within {longest:g} s', FASTER)
        return no, no, none
    level = level_of_delay(found.deviation)
    text = f'{1e3 * found.delay:.1f} +- {1e3 * found.deviation:.1f} ms'
    if found.delay < 0.0:
        early = unknown(f'efforts come before their commands, {text}: {CLOCKS}', ONE_CLOCK)
        return early, early, none
    delay = (
        unknown(f'about {text}', FASTER)
        if level is Certainty.UNKNOWN
        else Verdict(found.delay, level, text, '', found.deviation)
    )
    jitter = unknown('commands change too little for the noise of the efforts', FASTER)
    if math.isfinite(found.jitter):
        jitter = Verdict(
            found.jitter,
            Certainty.LIKELY,
            f'{1e3 * found.jitter:.2g} ms at most, noise of the efforts included',
        )
    if found.is_echo:
        return (
            delay,
            jitter,
            Verdict(
                True,
                Certainty.LIKELY,
                f'the reported efforts are the commands of {text} before, to the last digits: an '
                'echo, or a drive that reports its setpoint',
                'let the arm run into an effort limit, or push it: what is measured changes',
            ),
        )
    return delay, jitter, none


def level_of_delay(deviation: float) -> Certainty:
    """Return how sure a delay is that has a standard deviation [s]."""
    if deviation <= DELAY.known_deviation:
        return Certainty.KNOWN
    return Certainty.LIKELY if deviation <= DELAY.likely_deviation else Certainty.UNKNOWN


def _find_by_motion(dynamics: Dynamics, log: Log, commands: CommandLog) -> CommandEffect:
    """Return what the motion says of commands; every delay is that of the motion."""
    robot = dynamics.robot
    try:
        late = commands.acting(log.times, log.position, DELAY.shift_of_commands)
        evidence = LogEvidence(dynamics, late)
    except InputError:
        return _describe_all(unknown('too little was recorded together with commands', FASTER))
    concerned = evidence.moves & (np.ptp(late.effort, axis=0) > 0.0)
    if not evidence.is_telling or not concerned.any():
        return _describe_all(unknown('no joint moves by these commands', FASTER))
    meaning, _ = find_meaning(evidence, dynamics, late)
    own = None
    if meaning is not None:
        own = replace(meaning.reading, effort_source=np.arange(robot.n))
    order = find_order(evidence, robot.joint_names, own)
    if order.value is False:
        rest = unknown('the commands are in another order', order.experiment)
        return replace(_describe_all(rest), order=order)
    if meaning is None or _leave_motion_open(meaning.left[concerned]):
        rest = unknown('these commands do not explain the motion', MOTOR_COMMANDS)
        return replace(_describe_all(rest), order=order)
    efforts = describe_efforts(
        robot, late.effort, np.zeros(robot.n, dtype=bool), evidence.moves, meaning
    )
    delay = DELAY.shift_of_commands - meaning.delay
    deviation = meaning.delay_deviation
    level = level_of_delay(deviation)
    verdict = Verdict(
        max(delay, 0.0), level, f'{1e3 * delay:.1f} +- {1e3 * deviation:.1f} ms', '', deviation
    )
    if not _tells_delay(delay, deviation):
        verdict = unknown('the motion does not tell it', FASTER)
    elif delay < -DELAY.early_deviations * deviation:
        verdict = unknown(
            f'the arm moves before its commands, {verdict.text}: {CLOCKS}', ONE_CLOCK
        )
    gravity, friction = _summarise(efforts)
    return replace(
        _describe_all(verdict),
        gravity=gravity,
        friction=friction,
        order=order,
        sign=_describe_sign(robot, efforts),
        unit=describe_unit(efforts),
    )


def _describe_sign(robot: Robot, efforts: tuple[JointEffort, ...]) -> Verdict:
    """Return whether commands push as the joints are counted."""
    told = {
        joint.name: effort.sign
        for joint, effort in zip(robot.joints, efforts, strict=True)
        if effort.sign.is_identifiable
    }
    if not told:
        return unknown('the motion does not tell which way the commands push', PULSES)
    against = {name: verdict for name, verdict in told.items() if verdict.value == -1.0}
    if against:
        level = max(
            (one.level for one in against.values()), key=lambda one: one is Certainty.KNOWN
        )
        return Verdict(
            -1.0, level, f'commands of {", ".join(against)} push the opposite way', PULSES
        )
    missing = [name for name in robot.joint_names if name not in told]
    return Verdict(
        1.0,
        least_sure(*(verdict.level for verdict in told.values())),
        "commands push in the joints' positive directions"
        + (f'; not told: {", ".join(missing)}' if missing else ''),
        PULSES if missing else '',
    )


def describe_unit(efforts: tuple[JointEffort, ...]) -> Verdict:
    """Return whether commands are in N m or N, by what the motion says of those of each joint."""
    told = [effort.meaning for effort in efforts if effort.meaning.is_identifiable]
    is_other = {verdict.value == OTHER_UNIT for verdict in told}
    if len(is_other) != 1:
        return unknown('the motion does not tell the unit of the commands', LOAD)
    level = max((one.level for one in told), key=lambda one: one is Certainty.KNOWN)
    # Motor currents have torque constants all above 1 or all below; a poor model has both.
    factors = [effort.scale.value for effort in efforts if effort.scale.is_identifiable]
    is_wild = len({factor > 1.0 for factor in factors if isinstance(factor, float)}) > 1
    if is_other == {True} and is_wild and level is not Certainty.KNOWN:
        return unknown('the motion does not tell the unit of the commands', LOAD)
    if is_other == {True}:
        text = 'the commands are not in N m or N, but in another unit, as of motor currents'
        return Verdict(OTHER_UNIT, level, text, LOAD)
    return Verdict(TORQUE, level, 'in N m or N, by the masses of the given model')


def _summarise(efforts: tuple[JointEffort, ...]) -> tuple[Verdict, Verdict]:
    """Return whether commands contain gravity and friction, by the joints that tell it."""
    result = []
    for key, what in (('gravity', 'gravity'), ('friction', 'friction')):
        verdicts = [getattr(effort, key) for effort in efforts]
        told = [verdict for verdict in verdicts if verdict.is_identifiable]
        values = {verdict.value for verdict in told}
        if len(values) != 1:
            result.append(unknown(f'the commands do not tell whether they need {what}', FASTER))
            continue
        best = max(told, key=lambda verdict: verdict.level is Certainty.KNOWN)
        contains = bool(best.value)
        text = (
            f'commands contain {what}: the driver adds none'
            if contains
            else f'commands are without {what}: the driver adds it, or there is none'
        )
        result.append(Verdict(contains, best.level, text, best.experiment))
    return result[0], result[1]
