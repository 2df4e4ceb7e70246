"""``ne_dynamics evaluate --model MODEL LOG...``: what a model leaves of the efforts in logs."""

from __future__ import annotations

import argparse

from ne_dynamics.cli.options.declaration import declare
from ne_dynamics.cli.options.files import check_files, print_result
from ne_dynamics.cli.options.logs import open_report, open_work, prepared_for_logs, read_logs
from ne_dynamics.cli.options.model import read_model
from ne_dynamics.driver.diagnosis import diagnose_logs
from ne_dynamics.dynamics import Dynamics
from ne_dynamics.errors import InputError
from ne_dynamics.identification import evaluate
from ne_dynamics.identification.logs_evaluation import LogsEvaluation
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
        check_files(args, [('--plot', args.plot)], **{f'LOG {log}': log for log in args.log})
        with open_work(args) as work:
            source = read_logs(args, read_model(args), work)
            if args.plot is not None and (len(source.logs) > 1 or is_long(source.logs[0])):
                raise InputError('--plot: expected one log that is read at once')
            dynamics = Dynamics(source.robot, args.gravity, backend='python')
            found = diagnose_logs(dynamics, source, work, is_repaired=args.repair)
            result = LogsEvaluation.of(dynamics, found, work, args.cutoff)
        if args.plot is not None:
            from ne_dynamics.identification.report.plots import plot_efforts

            (used,) = found.logs
            shown = evaluate(dynamics, used, cutoff_frequency=args.cutoff)
            plot_efforts(args.plot, source.robot, shown)
        write_report(lambda: show_evaluation(dynamics, result))
    print_result(args, {'model': args.model, **result.as_json()}, result.lines())
    return 0
