"""What ``ne_dynamics identify`` says of the files that it writes."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from ne_dynamics.cli.options.log_set_source import LogSetSource
from ne_dynamics.cli.options.log_source import diagnose, read_log_source
from ne_dynamics.dynamics import Dynamics
from ne_dynamics.identification import FilteredLogs, JointResidual, evaluate
from ne_dynamics.identification.effort_sums import EffortSums
from ne_dynamics.identification.logs_evaluation import evaluate_filtered
from ne_dynamics.identification.writing.written_model import WrittenModel


def evaluate_written(
    args: argparse.Namespace, written: WrittenModel, source: LogSetSource, logs: FilteredLogs
) -> tuple[JointResidual, ...]:
    """Return what a model leaves of the logs when its texts are read again, as `evaluate` does it.

    Parameters
    ----------
    args : argparse.Namespace
    written : WrittenModel
    source : LogSetSource
        The logs that it was fitted to.
    logs : FilteredLogs
        As they were read, without locking what stands in them.
    """
    if source.single is not None and source.single.locked:
        # Joints that stand were locked, which `evaluate` does not.
        again = read_log_source(args, written)
        robot = written.load(again.locked)
        dynamics = Dynamics(robot, args.gravity, backend='python')
        log = diagnose(args, dynamics, again.log)[1] if args.repair else again.log
        return evaluate(dynamics, log, cutoff_frequency=args.cutoff).joints
    robot = written.load(source.locked)
    dynamics = Dynamics(robot, args.gravity, backend='python')
    return EffortSums.merge(evaluate_filtered(dynamics, logs)).describe(robot)


def describe_written(
    output: Path, extras: Path | None, rest: Sequence[JointResidual]
) -> list[str]:
    """Return lines on the files, and on what they leave of the log.

    Parameters
    ----------
    output : Path
        The URDF.
    extras : Path or None
        What is beside it.
    rest : sequence of JointResidual
    """
    files = f'written: {output}' + ('' if extras is None else f' and {extras.name} beside it')
    lines = ['', files, '  read again, of the whole log they leave, as evaluate says it:']
    width = max(len(joint.name) for joint in rest)
    lines += [
        f'  {joint.name:{width}}  {joint.rms_difference:10.4g} {joint.unit}' for joint in rest
    ]
    return lines
