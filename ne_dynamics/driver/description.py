"""What a driver reports, and how late: of a recording, joint by joint, with how sure each is.

recording = DriverRecording.from_samples(names, stamps, position, velocity, effort)
commands = CommandLog.from_samples(names, times, efforts)
description = describe_driver(dynamics, recording, commands)
print(description.text())
description.parameters()          # of the node: {'state_effort': 'torque', ...}
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ne_dynamics.driver.command import describe_commands, describe_no_commands, level_of_delay
from ne_dynamics.driver.delay import find_effort_delay
from ne_dynamics.driver.effort import (
    TORQUE,
    JointEffort,
    describe_efforts,
    summarise_meaning,
    summarise_scale,
)
from ne_dynamics.driver.evidence.evidence import LogEvidence
from ne_dynamics.driver.fault_search import find_meaning
from ne_dynamics.driver.limited_effort import find_limited_efforts
from ne_dynamics.driver.meaning import Meaning
from ne_dynamics.driver.profile import DriverDescription, JointDriver
from ne_dynamics.driver.recording import CommandLog, DriverRecording, find_empty
from ne_dynamics.driver.steps import describe_step
from ne_dynamics.driver.timing import describe_timing
from ne_dynamics.driver.velocity import JointVelocity, describe_velocities, low_pass_log
from ne_dynamics.driver.verdict import Verdict, unknown
from ne_dynamics.dynamics import Dynamics
from ne_dynamics.errors import InputError
from ne_dynamics.identification.evaluation import as_dynamics, require_joints
from ne_dynamics.logs import Certainty, Log
from ne_dynamics.logs.samples.sample_checks import check_samples
from ne_dynamics.logs.samples.sample_faults import count_stale
from ne_dynamics.model.robot import Robot


def describe_driver(
    model: Robot | Dynamics,
    recording: DriverRecording | Log,
    commands: CommandLog | None = None,
) -> DriverDescription:
    """Determine what a driver's efforts, velocities and stamps mean, from recorded states.

    Parameters
    ----------
    model : Robot or Dynamics
        Model of the arm, which may be inaccurate. For a Robot, gravity is (0, 0, -9.80665) in
        base axes.
    recording : DriverRecording or Log
        With the joints of the model, in its order.
    commands : CommandLog, optional
        Commands sent meanwhile; default: those of the recording.

    Returns
    -------
    DriverDescription

    Raises
    ------
    InputError
        When the recording has other joints, or fewer than two samples that can be used.
    """
    dynamics = as_dynamics(model)
    robot = dynamics.robot
    if isinstance(recording, Log):
        recording = DriverRecording.from_log(recording, commands)
    commands = recording.commands if commands is None else commands
    if commands is not None and commands.joint_names != robot.joint_names:
        raise InputError(
            f'{commands.source}: expected commands for {", ".join(robot.joint_names)}, got '
            f'{", ".join(commands.joint_names)}'
        )
    require_joints(robot, recording.as_log())
    log, faults = check_samples(robot, recording.as_log())
    for fault in faults:
        if fault.code == 'time-unit':
            recording, commands = _scale_time(recording, commands, fault.amount)
    signals = low_pass_log(log)
    moves = np.ptp(log.position, axis=0) > 0.0 if signals is None else signals.moves
    missing = find_empty(recording.effort, robot.n)
    meaning, found = find_meaning(LogEvidence.find(dynamics, log), dynamics, log, faults)
    faults += found
    follows = None if commands is None else find_effort_delay(dynamics, log, commands)
    untold = [f'see what is wrong: {one.code}' for one in found]
    efforts = describe_efforts(
        robot, recording.effort, missing, moves, meaning, follows, *untold[:1]
    )
    velocities = describe_velocities(log, ~find_empty(recording.velocity, robot.n), signals)
    effort = summarise_meaning(robot, efforts, moves)
    command = describe_no_commands()
    if commands is not None:
        command = describe_commands(dynamics, log, commands, follows)
        if follows is not None and effort.value in (TORQUE, None):
            limits = robot.limits('effort_limit')
            faults += find_limited_efforts(log, commands, follows.delay, limits)
    joints = tuple(
        _describe_joint(robot, index, recording, effort, velocity, bool(moves[index]))
        for index, (effort, velocity) in enumerate(zip(efforts, velocities, strict=True))
    )
    return DriverDescription(
        source=recording.source,
        joints=joints,
        timing=describe_timing(recording, *count_stale(recording.as_log())),
        effort=effort,
        effort_scale=summarise_scale(robot, efforts),
        effort_delay=_describe_effort_delay(meaning),
        command=command,
        faults=tuple(faults),
    )


def _describe_effort_delay(meaning: Meaning | None) -> Verdict:
    experiment = 'record 20 s of a motion with faster changes'
    if meaning is None:
        return unknown('the efforts do not tell', experiment)
    deviation = meaning.delay_deviation
    text = f'{1e3 * meaning.delay:.1f} +- {1e3 * deviation:.1f} ms'
    level = level_of_delay(deviation)
    if level is Certainty.UNKNOWN:
        return unknown('the efforts do not tell', experiment)
    return Verdict(meaning.delay, level, text, '', deviation)


def _describe_joint(
    robot: Robot,
    index: int,
    recording: DriverRecording,
    effort: JointEffort,
    velocity: JointVelocity,
    moved: bool,
) -> JointDriver:
    joint = robot.joints[index]
    is_angle = not joint.type.is_prismatic
    length, force = ('rad', 'N m') if is_angle else ('m', 'N')
    steps = []
    for what, table, unit, has_bits in (
        ('positions', recording.position, length, is_angle),
        ('velocities', recording.velocity, f'{length}/s', False),
        ('efforts', recording.effort, f'{force} or what it is', False),
    ):
        if table is None or not np.isfinite(table[:, index]).any():
            steps.append(unknown('none is reported', f'record the {what}'))
        else:
            steps.append(describe_step(table[:, index], unit, has_bits))
    position, speed, force_step = steps
    return JointDriver(joint.name, effort, velocity, position, speed, force_step, moved)


def _scale_time(
    recording: DriverRecording, commands: CommandLog | None, factor: float
) -> tuple[DriverRecording, CommandLog | None]:
    if commands is not None:
        commands = replace(commands, times=factor * commands.times)
    return replace(recording, stamps=factor * recording.stamps, commands=None), commands
