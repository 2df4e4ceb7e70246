"""``ne_dynamics evaluate --model MODEL LOG...``: what a model leaves of the efforts in logs."""

from __future__ import annotations

import argparse
from dataclasses import replace

from ne_dynamics.cli.options.declaration import declare
from ne_dynamics.cli.options.files import print_result
from ne_dynamics.cli.options.logs import open_report, open_work, prepared_for_logs, read_logs
from ne_dynamics.cli.options.model import read_model
from ne_dynamics.driver.diagnosis import diagnose_logs
from ne_dynamics.dynamics import Dynamics
from ne_dynamics.errors import InputError
from ne_dynamics.identification import FilteredLogs, evaluate
from ne_dynamics.identification.evaluation import EffortSums, describe_residuals
from ne_dynamics.identification.logs_evaluation import evaluate_filtered
from ne_dynamics.identification.report.pages import show_evaluation
from ne_dynamics.logs.parts import is_long
from ne_dynamics.logs.recorded_joints import LogRequest

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
    request=LogRequest,
)


def run(args: argparse.Namespace) -> int:
    """Compare, print and draw; return 0."""
    with prepared_for_logs(args), open_report(args) as write_report:
        with open_work(args) as work:
            source = read_logs(args, read_model(args), work)
            if args.plot is not None and (len(source.logs) > 1 or is_long(source.logs[0])):
                raise InputError('--plot: expected one log that is read at once')
            dynamics = Dynamics(source.robot, args.gravity, backend='python')
            found = diagnose_logs(dynamics, source.logs, work, is_repaired=args.repair)
            logs = FilteredLogs.read(source.robot, found.logs, work, args.cutoff)
            sums = evaluate_filtered(dynamics, logs)
        if args.plot is not None:
            from ne_dynamics.identification.report.plots import plot_efforts

            (used,) = found.logs
            shown = evaluate(dynamics, used, cutoff_frequency=args.cutoff)
            plot_efforts(args.plot, source.robot, shown)
        results = [part.describe(source.robot) for part in sums]
        together = EffortSums.merge(sums).describe(source.robot)
        cutoff = logs.cutoff_frequency
        write_report(lambda: show_evaluation(source, found, dynamics, cutoff, together))
    document = {
        'model': args.model,
        **replace(source, logs=found.logs).as_json(),
        **found.as_json(),
    }
    document |= {'cutoff_frequency': cutoff, 'joints': [joint.as_json() for joint in together]}
    for log, own in zip(document['logs'], results, strict=True):
        log['joints'] = [joint.as_json() for joint in own]
    low_pass = f'low-pass {cutoff:.4g} Hz; RMS of the efforts [N m or N]'
    heads = [f'{log.source}: {log.text}' for log in logs.logs]
    if len(results) == 1:
        lines = [*heads, *source.lines(), low_pass, '', *describe_residuals(together)]
    else:
        lines = [*source.lines(), low_pass]
        for head, joints in zip(heads, results, strict=True):
            lines += ['', head, *describe_residuals(joints)]
        lines += ['', f'all {len(results)} logs together', *describe_residuals(together)]
    doubts = found.lines()
    print_result(args, document, lines + ['', *doubts] * bool(doubts))
    return 0
