"""``ne_dynamics identify --model MODEL LOG... -o FILE``: a model from logs."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ne_dynamics.cli.options.declaration import declare, take
from ne_dynamics.cli.options.files import check_output, declare_output, print_result, settle_output
from ne_dynamics.cli.options.logs import open_report, open_work, prepared_for_logs, read_logs
from ne_dynamics.cli.options.model import read_model
from ne_dynamics.driver.diagnosis import diagnose_load_logs, diagnose_logs
from ne_dynamics.dynamics import Dynamics
from ne_dynamics.errors import EXIT_ERROR, InputError, ModelError
from ne_dynamics.excitation.solids import read_bounds
from ne_dynamics.identification import (
    FilteredLogs,
    JointResidual,
    fit_drive_gains,
    fit_payload,
    identify,
    identify_filtered,
    identify_payload,
)
from ne_dynamics.identification.evaluation import EffortSums
from ne_dynamics.identification.fit_evidence import show_log
from ne_dynamics.identification.load.payload import is_slow
from ne_dynamics.identification.load.payload_parameters import (
    describe_gains,
    describe_payload,
    format_parameters,
)
from ne_dynamics.identification.logs_evaluation import evaluate_filtered
from ne_dynamics.identification.report.pages import show_identification, show_refusal
from ne_dynamics.identification.report.text import describe_identified
from ne_dynamics.identification.writing.model_files import require_own_extras, write_model
from ne_dynamics.identification.writing.write_back import encode_urdf
from ne_dynamics.identification.writing.written_model import WrittenModel, make_written_model
from ne_dynamics.logs import Log
from ne_dynamics.logs.diagnosis import DiagnosedLogs
from ne_dynamics.logs.parts import get_last
from ne_dynamics.logs.robot_logs import RobotLogs
from ne_dynamics.logs.work import Work
from ne_dynamics.model.description_file import looks_like_xml, read_text
from ne_dynamics.model.extras import SUFFIX
from ne_dynamics.model.model_source import ModelSource
from ne_dynamics.printable import print_lines
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
{declare_output('FILE', ENDING, WRITTEN)}
--holdout PART : part
--spread PART : positive
--blocks COUNT : blocks
--offsets
    the constant part of the efforts is a measurement error: reported, not part of the model
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
    mass of the load, with --drive-gains
--payload-link LINK = ''
    link fixed to the tip link whose frame describes the load (default: the tip link)
""",
    request=identify,
    blocks=range(2, 51),
)


def run(args: argparse.Namespace) -> int:
    """Identify, print the report and write the model; return 1 when there is an error in it."""
    with prepared_for_logs(args):
        return _run_load(args) if _is_load_asked(args) else _run_fit(args)


def _run_fit(args: argparse.Namespace) -> int:
    """Fit the arm; see :func:`run`."""
    with open_report(args) as write_report:
        model = read_model(args)
        if args.output is not None:
            _settle_output(args, model)
        say_expected_time(2.0 + 0.3e-6 * sum(map(_measure_bytes, args.log)))
        with open_work(args) as work:
            whole = read_logs(args, model, work)
            source = whole.lock_still(model, work)
            dynamics = Dynamics(source.robot, args.gravity, backend='python')
            found = diagnose_logs(dynamics, source.logs, work, is_repaired=args.repair)
            if found.refused and not args.force:
                write_report(lambda: show_refusal(source, found, dynamics, args.cutoff))
                return _refuse(args, source, found)
            return _fit_logs(args, model, whole, source, found, dynamics, work, write_report)


def _settle_output(args: argparse.Namespace, model: ModelSource) -> None:
    """Refuse an output that cannot be written, or would replace what is no model: a log."""
    if not model.is_urdf:
        raise ModelError(
            f'{args.model}: --output: expected a URDF to write back to, got a DH file; '
            'without --output the values are printed (--json: with all digits)'
        )
    settle_output(args, ENDING, SUFFIX)
    path = args.output
    check_output(path)
    is_named = path.suffix in ('.urdf', '.xml') or not path.is_file()
    if not (is_named or looks_like_xml(read_text(path)[0])):
        raise InputError(f'{path}: -o: expected a new file or a URDF to replace, got another file')
    require_own_extras(path, Path(args.model), model.find_own_extras())


def _measure_bytes(log: str) -> int:
    """Return the size of a log, a file or a folder of files; 0 where there is none."""
    place = Path(log)
    files = place.rglob('*') if place.is_dir() else [place]
    return sum(file.stat().st_size for file in files if file.is_file())


def _fit_logs(
    args: argparse.Namespace,
    model: ModelSource,
    whole: RobotLogs,
    source: RobotLogs,
    found: DiagnosedLogs,
    dynamics: Dynamics,
    work: Work,
    write_report: Any,
) -> int:
    """Fit to logs and write; return the exit code."""
    logs = FilteredLogs.read(source.robot, found.logs, work, args.cutoff)
    bounds = read_bounds(source.robot, model.text, args.model)
    given = take(identify_filtered, args, dynamics=dynamics, logs=logs, bounds=bounds)
    result = identify_filtered(**given)
    is_unusable = result.report.has_errors and not args.force
    part = None
    if args.json or args.report is not None:
        last = get_last(found.logs[-1], logs.cutoff_frequency)
        part = show_log(dynamics, result.evidence, logs, result.report.fitted, last)
    written: WrittenModel | None = None
    rest: tuple[JointResidual, ...] = ()
    if args.output is not None and not is_unusable:
        written = make_written_model(model.text, result.robot, model.read_extras())
        rest = _evaluate_written(args, written, whole, logs)
    # All that can fail comes before the files are written.
    document: dict[str, Any] = {}
    if part is not None:
        document = {
            'model': args.model,
            'written': None if written is None else str(args.output),
            'as_written': [joint.as_json() for joint in rest],
            'locked': source.locked,
            **found.as_json(),
            **result.report.as_json(),
            'noise_floor': part.spectra.noise_floor,
            **result.evidence.as_json(),
        }
    notes = [*source.lines(), *found.lines()]
    lines = [*describe_identified(source.robot, result), *[''] * bool(notes), *notes]
    if written is not None:
        data = encode_urdf(written.text, model.encoding)
        extras = write_model(args.output, data, written.extras_text)
        lines += _describe_written(args.output, extras, rest)
    try:
        if part is not None:
            write_report(lambda: show_identification(source, found, dynamics, result, part))
    finally:
        # What was written is said, whatever became of the report.
        print_result(args, document, lines)
    return _say_unusable('the log cannot be used') if is_unusable else 0


def _say_unusable(reason: str) -> int:
    """Say why nothing came of a log; return the exit code."""
    print_lines([f'ne_dynamics identify: error: {reason}'], sys.stderr)
    return EXIT_ERROR


def _refuse(args: argparse.Namespace, source: RobotLogs, found: DiagnosedLogs) -> int:
    """Say what is wrong with the logs and what to do; return the exit code."""
    said = [(log.source, log.summary()) for log in source.logs]
    document = {
        'model': args.model,
        'written': None,
        'log': '; '.join(summary for _, summary in said),
        'logs': [{'source': name, 'summary': summary} for name, summary in said],
        'locked': source.locked,
        **found.as_json(),
    }
    heads = [f'{name}: {summary}' for name, summary in said]
    print_result(args, document, [*heads, *source.lines(), '', *found.lines()])
    return _say_unusable(_describe_refusal(found))


def _describe_refusal(found: DiagnosedLogs) -> str:
    """Return why nothing came of logs that are wrong, and what to do."""
    return (
        f'the log cannot be used as it is: nothing was fitted; {found.remedy}, --force uses it '
        'all the same'
    )


def _evaluate_written(
    args: argparse.Namespace, written: WrittenModel, source: RobotLogs, logs: FilteredLogs
) -> tuple[JointResidual, ...]:
    """Return what a model leaves of the logs when its texts are read again, as `evaluate` does it.

    `source` has the logs without locking what stands in them, `logs` is what was fitted to.
    """
    robot = written.load(source.locked)
    dynamics = Dynamics(robot, args.gravity, backend='python')
    if robot.n != logs.logs[0].log.position.shape[1]:
        # Joints that stand were locked, which `evaluate` does not.
        used = source.logs
        if args.repair:
            used = diagnose_logs(dynamics, used, logs.work, is_repaired=True).logs
        logs = FilteredLogs.read(robot, used, logs.work, args.cutoff)
    return EffortSums.merge(evaluate_filtered(dynamics, logs)).describe(robot)


def _describe_written(
    output: Path, extras: Path | None, rest: Sequence[JointResidual]
) -> list[str]:
    """Return lines on the URDF, on the extras beside it, and on what they leave of the log."""
    width = max(len(joint.name) for joint in rest)
    return [
        '',
        f'written: {output}' + ('' if extras is None else f' and {extras.name} beside it'),
        '  RMS residual of these files on the whole log:',
        *(f'  {joint.name:{width}}  {joint.rms_difference:10.4g} {joint.unit}' for joint in rest),
    ]


def _is_load_asked(args: argparse.Namespace) -> bool:
    """Return whether a load is asked for; refuse options that do not go together."""
    asked = ['--payload'] * args.payload + ['--drive-gains'] * args.drive_gains
    if len(asked) > 1:
        raise InputError('expected either --payload or --drive-gains, got both')
    if not asked:
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
            raise InputError(f'{asked[0]}: expected {expected}')
    return True


def _run_load(args: argparse.Namespace) -> int:
    """Find the load, or gains from a load that is known, and print them.

    Return 1 when a log is found to be wrong, and nothing was fitted.
    """
    without = [] if args.without is None else [args.without]
    source = read_logs(args, read_model(args), Work(), *without)
    dynamics = Dynamics(source.robot, args.gravity, backend='python')
    found = diagnose_load_logs(
        dynamics,
        source.logs,
        is_repaired=args.repair,
        mass=args.mass,
        link_name=args.payload_link,
    )
    document: dict[str, Any] = {
        'model': args.model,
        'log': source.logs[0].summary(),
        'without': found.logs[1].summary() if without else None,
        'diagnosis': found.diagnoses[0].as_json(),
        'diagnosis_without': found.diagnoses[1].as_json() if without else None,
    }
    lines = []
    for log, own in zip(found.logs, found.describe_each(), strict=True):
        lines += [f'{log.source}: {log.summary()}', *own]
    refused = [] if args.force else found.refused
    if not refused:
        result, told = _fit_load(args, dynamics, *found.logs)
        document, lines = document | result, lines + told
    print_result(args, document, lines)
    if refused:
        return _say_unusable(f'{", ".join(refused)}: {_describe_refusal(found)}')
    return 0


def _fit_load(
    args: argparse.Namespace, dynamics: Dynamics, log: Log, without: Log | None = None
) -> tuple[dict[str, Any], list[str]]:
    """Return what the logs tell of the load, for programs and for people."""
    options = {'without': without, 'cutoff_frequency': args.cutoff, 'spread': args.spread}
    if args.drive_gains:
        gains = fit_drive_gains(dynamics, log, args.mass, args.payload_link, **options)
        return {'drive_gains': gains.as_json()}, describe_gains(gains, args.mass)
    if without is None and is_slow(dynamics, log):
        estimate = identify_payload(dynamics, log, args.payload_link)
        return {'payload': estimate.as_json()}, [estimate.text]
    load = fit_payload(dynamics, log, args.payload_link, **options)
    document = {'payload': load.as_json(), 'parameters': format_parameters(load)}
    return document, describe_payload(load)
