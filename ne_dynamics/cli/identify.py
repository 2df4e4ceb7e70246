"""``ne_dynamics identify --model MODEL LOG... -o FILE``: a model from logs."""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path
from typing import Any

from ne_dynamics.cli.options import files
from ne_dynamics.cli.options.declaration import declare, take
from ne_dynamics.cli.options.logs import open_report, open_work, prepared_for_logs, read_logs
from ne_dynamics.cli.options.model import read_model
from ne_dynamics.driver.diagnosis import diagnose_load_logs, diagnose_logs
from ne_dynamics.dynamics import Dynamics
from ne_dynamics.errors import InputError, ModelError
from ne_dynamics.excitation.solids import read_bounds
from ne_dynamics.identification import FilteredLogs, identify, identify_filtered
from ne_dynamics.identification.load.load_report import LoadReport, report_load
from ne_dynamics.identification.logs_evaluation import compare_models
from ne_dynamics.identification.report.pages import show_identification, show_refusal
from ne_dynamics.identification.report.text import LogsFit
from ne_dynamics.identification.writing.model_files import require_own_extras
from ne_dynamics.identification.writing.written_model import make_written_model
from ne_dynamics.logs.recorded_joints import LogRequest
from ne_dynamics.logs.robot_logs import RobotLogs
from ne_dynamics.logs.work import Work
from ne_dynamics.model.extras import SUFFIX
from ne_dynamics.model.model_source import ModelSource
from ne_dynamics.prepared_file import STANDARD, check_output
from ne_dynamics.progress_bar import say_expected_time

ENDING = '_identified.urdf'
WRITTEN = (
    'URDF to write: the text of the model with other numbers; what a URDF has no place for goes '
    'into NAME.extras.yaml beside it; without the option there is only a report'
)

add_parser = declare(
    'identify',
    'Fit mass, centre of mass and inertia of every moving link, and friction, offset and rotor '
    'inertia of every joint, to the efforts of a log. What the log does not determine stays as in '
    'the model. Exit code: 1, and nothing written, if the log cannot be used or the fit does not '
    'reach its minimum.',
    f"""
@logs
{files.declare_output('FILE', ENDING, WRITTEN)}
--holdout PART : part
--spread PART : positive
--blocks COUNT : blocks
--offsets
--force
    fit and write even if the log has errors
@report
--payload
    estimate mass and centre of mass of the load from held poses or a slow motion, from a fast one
    its inertia too. The model is not fitted, nothing is written
--drive-gains
    find the effort per motor current of each joint from a load of known --mass. The model is not
    fitted, nothing is written
--without LOG
    log without the load, of the same or another motion: errors of the model cancel
--mass KG : float
--payload-link LINK > link_name
""",
    request=(report_load, identify, LogRequest),
    blocks=range(2, 51),
)


def run(args: argparse.Namespace) -> int:
    """Identify, print the report and write the model; return 0.

    That a log cannot be used is an error once all is printed.
    """
    with prepared_for_logs(args):
        if _is_load_asked(args):
            _run_load(args)
        else:
            _run_fit(args)
    return 0


def _run_fit(args: argparse.Namespace) -> None:
    """Fit the arm; see :func:`run`."""
    with open_report(args) as write_report:
        model = read_model(args)
        if args.output is not None:
            _settle_output(args, model)
        places = (place for log in map(Path, args.log) for place in (log, *log.rglob('*')))
        size = sum(place.stat().st_size for place in places if place.is_file())
        say_expected_time(2.0 + 0.3e-6 * size)
        with open_work(args) as work:
            whole = read_logs(args, model, work)
            source = whole.lock_still(model, work)
            dynamics = Dynamics(source.robot, args.gravity, backend='python')
            found = diagnose_logs(dynamics, source, work, is_repaired=args.repair)
            if found.refused and not args.force:
                write_report(lambda: show_refusal(found, dynamics, args.cutoff))
                document = {'model': args.model, 'written': None, **found.as_json()}
                files.print_result(args, document, found.lines())
                raise InputError(found.refusal)
            logs = FilteredLogs.read(source.robot, found.logs, work, args.cutoff)
            bounds = read_bounds(source.robot, model.text, args.model)
            given = take(identify_filtered, args, dynamics=dynamics, logs=logs, bounds=bounds)
            fit = LogsFit(found, dynamics, logs, identify_filtered(**given))
            is_usable = args.force or not fit.result.report.has_errors
            if args.output is not None and is_usable:
                fit = _with_written(args, fit, model, whole)
        # All that can fail comes before the files are written.
        written = None if fit.written is None else args.output
        found_out = fit.as_json() if args.json else {}
        document = {'model': args.model, 'written': written, **found_out}
        page = show_identification(fit) if args.report is not None else None
        lines = [*fit.lines(), *fit.write(args.output)]
        try:
            if page is not None:
                write_report(lambda: page)
        finally:
            # What was written is said, whatever became of the report.
            files.print_result(args, document, lines)
        if not is_usable:
            raise InputError('the log cannot be used')


def _with_written(
    args: argparse.Namespace, fit: LogsFit, model: ModelSource, source: RobotLogs
) -> LogsFit:
    """Return a fit with the model that is to be written, and what it leaves of the logs.

    That is as `evaluate` has it when the files are read again: `source` has the logs without
    locking what stands in them.
    """
    logs, written = fit.logs, make_written_model(model, fit.result.robot)
    robot = written.load(source.locked)
    dynamics = Dynamics(robot, args.gravity, backend='python')
    if robot.n != logs.logs[0].log.position.shape[1]:
        # Joints that stand were locked, which `evaluate` does not.
        found = diagnose_logs(dynamics, source, logs.work, is_repaired=args.repair)
        logs = FilteredLogs.read(robot, found.logs, logs.work, args.cutoff)
    rest = compare_models(logs, 0, dynamics)[0].describe(robot)
    return replace(fit, written=written, rest=rest)


def _settle_output(args: argparse.Namespace, model: ModelSource) -> None:
    """Refuse an output that cannot be written, or would replace what is no model: a log."""
    if not model.is_urdf:
        raise ModelError(
            f'{args.model}: --output: expected a URDF to write back to, got a DH file; '
            'without --output the values are printed (--json: with all digits)'
        )
    files.settle_output(args, ENDING, SUFFIX)
    path = args.output
    if str(path) == STANDARD:
        raise InputError('-o: expected a file, got -: a model is two files')
    check_output(path)
    require_own_extras(path, Path(args.model), model.find_own_extras())


def _is_load_asked(args: argparse.Namespace) -> bool:
    """Return whether a load is asked for; refuse options that do not go together."""
    if args.payload and args.drive_gains:
        raise InputError('expected either --payload or --drive-gains, got both')
    if not (args.payload or args.drive_gains):
        for name in ('without', 'mass'):
            if getattr(args, name) is not None:
                raise InputError(f'--{name}: expected --payload or --drive-gains with it')
        return False
    for is_wrong, expected in (
        (len(args.log) > 1, f'one LOG, got {len(args.log)}'),
        (args.scheduler is not None, 'no --scheduler: the log is read at once'),
        (args.jobs != 1, 'no --jobs: the log is read at once'),
        (args.output is not None, 'no --output: a load is no part of the model'),
        (args.report is not None, 'no --report: it is of a fit of the arm'),
        (args.drive_gains and args.mass is None, 'the --mass of the load'),
        (args.payload and args.mass is not None, 'no --mass: it is what is asked for'),
    ):
        if is_wrong:
            asked = '--payload' if args.payload else '--drive-gains'
            raise InputError(f'{asked}: expected {expected}')
    return True


def _run_load(args: argparse.Namespace) -> None:
    """Find the load, or gains from a load that is known, and print them; see :func:`run`."""
    source = read_logs(args, read_model(args), Work(), *filter(None, [args.without]))
    dynamics = Dynamics(source.robot, args.gravity, backend='python')
    known: dict[str, Any] = {'mass': args.mass, 'link_name': args.link_name}
    found = diagnose_load_logs(dynamics, source, is_repaired=args.repair, **known)
    refused, result = [] if args.force else found.refused, LoadReport(found)
    if not refused:
        known |= {'cutoff_frequency': args.cutoff, 'spread': args.spread}
        result = report_load(dynamics, found, **known)
    files.print_result(args, {'model': args.model, **result.as_json()}, result.lines())
    if refused:
        raise InputError(f'{", ".join(refused)}: {found.refusal}')
