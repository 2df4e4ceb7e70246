"""``ne_dynamics identify --model MODEL LOG... -o FILE``: a model from logs."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from ne_dynamics.cli.evaluate import add_log_arguments
from ne_dynamics.cli.identifying.load import add_load_arguments, check_load_arguments, run_load
from ne_dynamics.cli.identifying.report_file import (
    add_report,
    report_errors,
    write_identified,
    write_refused,
)
from ne_dynamics.cli.identifying.text import describe, describe_refusal
from ne_dynamics.cli.identifying.written_files import describe_written, evaluate_written
from ne_dynamics.cli.options.log_set_source import (
    DiagnosedLogs,
    LogSetSource,
    diagnose_recordings,
    find_logs,
    lock_still,
    read_filtered,
)
from ne_dynamics.cli.options.log_source import read_log_source
from ne_dynamics.cli.options.model_file import ModelFile
from ne_dynamics.cli.options.numbers import positive
from ne_dynamics.cli.options.work import open_runner
from ne_dynamics.dynamics import Dynamics
from ne_dynamics.errors import ModelError
from ne_dynamics.identification import JointResidual, identify_filtered
from ne_dynamics.identification.fit_evidence import ShownLog, list_noise_floor, show_log
from ne_dynamics.identification.pieces.log_set import FilteredLog
from ne_dynamics.identification.run import DEFAULT_BLOCKS, DEFAULT_HOLDOUT
from ne_dynamics.identification.writing.model_files import require_own_extras, write_model
from ne_dynamics.identification.writing.write_back import encode_urdf
from ne_dynamics.identification.writing.written_model import make_written_model
from ne_dynamics.logs import Log
from ne_dynamics.logs.runner import Runner
from ne_dynamics.model.description_file import looks_like_xml
from ne_dynamics.printable import print_lines
from ne_dynamics.simulation.demo.ros_process import terminated_in_order

EXIT_UNUSABLE = 1


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the subcommand to a parser.

    Parameters
    ----------
    subparsers : argparse action
        What ``ArgumentParser.add_subparsers`` returned.
    """
    parser = subparsers.add_parser(
        'identify',
        help='fit inertias and friction of a model to a log, and write its URDF anew',
        description='Fit mass, centre of mass and inertia of every moving link, and viscous and '
        'Coulomb friction, offset and rotor inertia of every joint, to the efforts in a log; '
        'other terms of friction where they predict parts of the log better. What the log does '
        'not tell stays as the model has it. Exit code: 1 when the log cannot be used or the fit '
        'does not reach its minimum; nothing is written then.',
    )
    add_log_arguments(parser)
    parser.add_argument(
        '-o',
        '--output',
        type=Path,
        metavar='FILE',
        help='URDF to write: the text of the model with other numbers; what a URDF has no place '
        'for goes into NAME.extras.yaml beside it (default: only report)',
    )
    parser.add_argument(
        '--holdout',
        type=_part,
        default=DEFAULT_HOLDOUT,
        metavar='PART',
        help='of the logs, at their end, that is predicted by a fit to the rest; the model that '
        'is written is fitted to all of them (default: %(default)s)',
    )
    parser.add_argument(
        '--spread',
        type=positive,
        metavar='PART',
        help="how far the model's inertias may be off, as a part of themselves "
        '(default: what predicts blocks of the log best)',
    )
    parser.add_argument(
        '--blocks',
        type=int,
        choices=range(2, 51),
        default=DEFAULT_BLOCKS,
        metavar='COUNT',
        help='in which the log is predicted from itself, 2 to 50 (default: %(default)s)',
    )
    parser.add_argument(
        '--offsets',
        action='store_true',
        help='the constant part of the measured efforts is an error of the measurement: it is '
        'reported, and no part of the model',
    )
    parser.add_argument(
        '--force',
        action='store_true',
        help='fit and write even when the log is found to be wrong',
    )
    add_report(parser)
    add_load_arguments(parser)
    parser.set_defaults(run=run, command='identify')


def run(args: argparse.Namespace) -> int:
    """Identify, print the report and write the model.

    Returns
    -------
    int
        0; 1 when the report has an error, and nothing was written.

    Raises
    ------
    NeDynamicsError
        When model or log cannot be read or do not go together, or the model cannot be written.
    """
    # A bag may have been unpacked into temporary files: whatever ends this removes them.
    with terminated_in_order():
        if check_load_arguments(args):
            return _run_load(args)
        with report_errors(args):
            return _run_fit(args)


def _run_fit(args: argparse.Namespace) -> int:
    """Fit the arm; see :func:`run`."""
    model = ModelFile(args)
    if args.output is not None and not looks_like_xml(model.text):
        raise ModelError(
            f'{args.model}: --output: expected a URDF to write back to, got a DH file; without '
            '--output the values are printed (--json: with all digits)'
        )
    if args.output is not None:
        require_own_extras(args.output, Path(args.model), model.find_own_extras())
    source = find_logs(args, model, lock_still=True)
    with open_runner(args) as runner:
        return _fit_logs(args, model, source, runner)


def _fit_logs(
    args: argparse.Namespace, model: ModelFile, source: LogSetSource, runner: Runner
) -> int:
    """Fit to logs and write; return the exit code."""
    dynamics = Dynamics(source.robot, args.gravity, backend='python')
    found = diagnose_recordings(args, dynamics, source.recordings)
    if found.is_refused(args):
        write_refused(args, source, found, dynamics)
        return _refuse(args, source, found, [])
    every_joint, found = read_filtered(args, source.robot, found, runner)
    if found.is_refused(args):
        write_refused(args, source, found, dynamics)
        return _refuse(args, source, found, every_joint.logs)
    moved, logs = lock_still(model, source, every_joint)
    robot = moved.robot
    if robot is not source.robot:
        dynamics = Dynamics(robot, args.gravity, backend='python')
    result = identify_filtered(
        dynamics,
        logs,
        holdout=args.holdout,
        spread=args.spread,
        offsets=args.offsets,
        blocks=args.blocks,
    )
    unusable = result.report.has_errors and not args.force
    doubts = found.lines(args)
    part: ShownLog | None = None
    if args.json or args.report is not None:
        last = found.recordings[-1].read_last(logs.cutoff_frequency)
        part = show_log(dynamics, result.evidence, logs, result.report.fitted, last)
    written, data = None, b''
    rest: tuple[JointResidual, ...] = ()
    if args.output is not None and not unusable:
        written = make_written_model(model.text, result.robot, model.read_extras())
        data = encode_urdf(written.text, model.encoding)
        rest = evaluate_written(args, written, source, every_joint)
    # All that can fail comes before the files are written.
    if args.json:
        assert part is not None
        document = {
            'model': args.model,
            'written': None if written is None else str(args.output),
            'as_written': [joint.as_json() for joint in rest],
            'locked': moved.locked,
            **found.as_json(),
            **result.report.as_json(),
            'noise_floor': list_noise_floor(part.spectra),
            **result.evidence.as_json(),
        }
        shown = [json.dumps(document, indent=2, allow_nan=False)]
    else:
        notes = [*moved.lines(), *doubts]
        shown = [*describe(robot, result), *([''] if notes else []), *notes]
    if written is not None:
        extras = write_model(args.output, data, written.extras_text)
        if not args.json:
            shown += describe_written(args.output, extras, rest)
    try:
        if part is not None:
            write_identified(args, moved, found, dynamics, result, part)
    finally:
        # What was written is said, whatever became of the report.
        if args.json:
            print(shown[0])
        else:
            print_lines(shown)
    if unusable:
        print('ne_dynamics identify: error: the log cannot be used', file=sys.stderr)
        return EXIT_UNUSABLE
    return 0


def _refuse(
    args: argparse.Namespace,
    source: LogSetSource,
    found: DiagnosedLogs,
    logs: Sequence[FilteredLog],
) -> int:
    """Say what is wrong with the logs and what to do; return 1."""
    if logs:
        summaries = [log.text for log in logs]
    elif source.single is not None:
        summaries = [source.single.log.summary()]
    else:
        summaries = ['looked at in parts' if item.is_long else '' for item in source.recordings]
        summaries = [
            text or item.looks[0].summary()
            for text, item in zip(summaries, source.recordings, strict=True)
        ]
    names = [recording.source for recording in source.recordings]
    if args.json:
        document = {
            'model': args.model,
            'written': None,
            'log': '; '.join(summaries),
            'logs': [
                {'source': name, 'summary': text}
                for name, text in zip(names, summaries, strict=True)
            ],
            'locked': source.locked,
            **found.as_json(),
        }
        print(json.dumps(document, indent=2, allow_nan=False))
    else:
        heads = [f'{name}: {text}' for name, text in zip(names, summaries, strict=True)]
        print_lines([*heads, *source.lines(), '', *found.lines(args)])
    reason = describe_refusal(found.is_certain)
    print(f'ne_dynamics identify: error: {reason}', file=sys.stderr)
    return EXIT_UNUSABLE


def _run_load(args: argparse.Namespace) -> int:
    """Find what is asked of a load, and print it; return 0, or 1 when a log is refused.

    Raises
    ------
    NeDynamicsError
        When model or log cannot be read, do not go together, or do not tell the load.
    """
    model = ModelFile(args)
    source = read_log_source(args, model)

    def read(name: str) -> Log:
        return read_log_source(argparse.Namespace(**{**vars(args), 'log': [name]}), model).log

    dynamics = Dynamics(source.robot, args.gravity, backend='python')
    return run_load(args, dynamics, source.log, read)


def _part(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0.0 <= value <= 0.9:
        raise argparse.ArgumentTypeError(f'expected a part from 0 to 0.9, got {text!r}')
    return value
