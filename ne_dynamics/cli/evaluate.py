"""``ne_dynamics evaluate --model MODEL LOG...``: what a model leaves of the efforts in logs."""

from __future__ import annotations

import argparse
import math
from collections.abc import Sequence

from ne_dynamics.cli.options.declaration import declare
from ne_dynamics.cli.options.log_options import LOG_READERS
from ne_dynamics.cli.options.log_set_source import (
    diagnose_logs,
    find_logs,
    open_work,
    require_log_packages,
)
from ne_dynamics.cli.options.model_file import ModelFile
from ne_dynamics.cli.options.output_file import print_result
from ne_dynamics.cli.options.report_file import report_errors, write_evaluated
from ne_dynamics.dynamics import Dynamics
from ne_dynamics.errors import InputError
from ne_dynamics.identification import FilteredLogs, JointResidual, evaluate
from ne_dynamics.identification.evaluation import EffortSums
from ne_dynamics.identification.logs_evaluation import evaluate_filtered
from ne_dynamics.logs.parts import is_long
from ne_dynamics.simulation.demo.ros_process import terminated_in_order

add_parser = declare(
    'evaluate',
    'Compare the measured efforts of a log with those that the model computes for its motion, '
    'both low-pass filtered.',
    """
@logs
--plot FILE.png : path
    plot measured and modelled efforts
@report
""",
    **LOG_READERS,
)


def run(args: argparse.Namespace) -> int:
    """Compare, print and draw; return 0."""
    require_log_packages(args)
    # A bag may have been unpacked into temporary files: whatever ends this removes them.
    with terminated_in_order(), report_errors(args):
        return _run(args)


def _run(args: argparse.Namespace) -> int:
    """Compare; see :func:`run`."""
    with open_work(args) as work:
        source = find_logs(args, ModelFile(args), work)
        robot = source.robot
        if args.plot is not None and (len(source.logs) > 1 or is_long(source.logs[0])):
            raise InputError('--plot: expected one log that is read at once')
        dynamics = Dynamics(robot, args.gravity, backend='python')
        found = diagnose_logs(args, dynamics, source, work)
        logs = FilteredLogs.read(robot, found.logs, work, args.cutoff)
        sums = evaluate_filtered(dynamics, logs)
    if args.plot is not None:
        from ne_dynamics.identification.report.plots import plot_efforts

        (used,) = found.logs
        plot_efforts(args.plot, robot, evaluate(dynamics, used, cutoff_frequency=args.cutoff))
    results = [part.describe(robot) for part in sums]
    together = EffortSums.merge(sums).describe(robot)
    write_evaluated(args, source, found, dynamics, logs, together)
    document = {
        'model': args.model,
        'log': '; '.join(log.text for log in logs.logs),
        'logs': [
            {
                'source': log.source,
                'summary': log.text,
                'joints': [joint.as_json() for joint in joints],
            }
            for log, joints in zip(logs.logs, results, strict=True)
        ],
        'cutoff_frequency': logs.cutoff_frequency,
        'joints': [joint.as_json() for joint in together],
        'locked': source.locked,
        **found.as_json(),
    }
    low_pass = f'low-pass {logs.cutoff_frequency:.4g} Hz; RMS of the efforts [N m or N]'
    if len(results) == 1:
        head = f'{logs.logs[0].source}: {logs.logs[0].text}'
        lines = [head, *source.lines(), low_pass, '', *_describe(together)]
    else:
        lines = [*source.lines(), low_pass]
        for log, joints in zip(logs.logs, results, strict=True):
            lines += ['', f'{log.source}: {log.text}', *_describe(joints)]
        lines += ['', f'all {len(results)} logs together', *_describe(together)]
    doubts = found.lines(args)
    print_result(args, document, lines + ['', *doubts] * bool(doubts))
    return 0


def _describe(joints: Sequence[JointResidual]) -> list[str]:
    width = max(len(joint.name) for joint in joints)
    lines = [f'  {"":{width}}  {"measured":>10}  {"model":>10}  {"difference":>10}  explained']
    for joint in joints:
        explained = f'{100.0 * joint.explained:8.1f} %' if math.isfinite(joint.explained) else '-'
        lines.append(
            f'  {joint.name:{width}}  {joint.rms_measured:10.4g}  {joint.rms_model:10.4g}  '
            f'{joint.rms_difference:10.4g}  {explained:>9}'
        )
    return lines
