"""``ne_dynamics identify --model MODEL LOG -o FILE``: a model from a log."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from ne_dynamics.cli.evaluate import add_log_arguments, positive
from ne_dynamics.cli.identifying.load import add_load_arguments, check_load_arguments, run_load
from ne_dynamics.cli.identifying.text import describe
from ne_dynamics.cli.identifying.written_files import describe_written, evaluate_written
from ne_dynamics.cli.options.log_source import LogSource, diagnose, read_log_source
from ne_dynamics.cli.options.model_file import ModelFile
from ne_dynamics.dynamics import Dynamics
from ne_dynamics.errors import ModelError
from ne_dynamics.identification.evaluation import JointResidual
from ne_dynamics.identification.identify import (
    DEFAULT_BLOCKS,
    DEFAULT_HOLDOUT,
    identify,
)
from ne_dynamics.identification.log import Log
from ne_dynamics.identification.log_diagnosis import LogDiagnosis
from ne_dynamics.identification.model_files import require_own_extras, write_model
from ne_dynamics.identification.write_back import encode_urdf
from ne_dynamics.identification.written_model import make_written_model
from ne_dynamics.model.description_file import looks_like_xml
from ne_dynamics.printable import print_lines

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
        help='of the log, at its end, that is predicted by a fit to the rest; the model that is '
        'written is fitted to all of it (default: %(default)s)',
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
    add_load_arguments(parser)
    parser.set_defaults(run=run)


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
    if check_load_arguments(args):
        return _run_load(args)
    model = ModelFile(args)
    if args.output is not None and not looks_like_xml(model.text):
        raise ModelError(
            f'{args.model}: --output: expected a URDF to write back to, got a DH file; without '
            '--output the values are printed (--json: with all digits)'
        )
    if args.output is not None:
        require_own_extras(args.output, Path(args.model), model.find_own_extras())
    source = read_log_source(args, model, lock_still=True)
    robot = source.robot
    dynamics = Dynamics(robot, args.gravity, backend='python')
    diagnosis, log, doubts = diagnose(args, dynamics, source.log)
    if not args.force and (diagnosis.remaining if args.repair else diagnosis.errors):
        return _refuse(args, source, diagnosis, doubts)
    result = identify(
        dynamics,
        log,
        cutoff_frequency=args.cutoff,
        holdout=args.holdout,
        spread=args.spread,
        offsets=args.offsets,
        blocks=args.blocks,
    )
    written, data = None, b''
    rest: tuple[JointResidual, ...] = ()
    if args.output is not None and not result.report.has_errors:
        written = make_written_model(model.text, result.robot, model.read_extras())
        data = encode_urdf(written.text, model.encoding)
        rest = evaluate_written(args, written, source)
    # All that can fail comes before the files are written.
    if args.json:
        document = {
            'model': args.model,
            'written': None if written is None else str(args.output),
            'as_written': [joint.as_json() for joint in rest],
            'locked': source.locked,
            'diagnosis': diagnosis.as_json(),
            **result.report.as_json(),
        }
        shown = [json.dumps(document, indent=2, allow_nan=False)]
    else:
        notes = [*source.lines(), *doubts]
        shown = [*describe(args.log, robot, result), *([''] if notes else []), *notes]
    if written is not None:
        extras = write_model(args.output, data, written.extras_text)
        if not args.json:
            shown += describe_written(args.output, extras, rest)
    if args.json:
        print(shown[0])
    else:
        print_lines(shown)
    if result.report.has_errors:
        print('ne_dynamics identify: error: the log cannot be used', file=sys.stderr)
        return EXIT_UNUSABLE
    return 0


def _refuse(
    args: argparse.Namespace, source: LogSource, diagnosis: LogDiagnosis, doubts: list[str]
) -> int:
    """Say what is wrong with the log and what to do; return 1."""
    if args.json:
        document = {
            'model': args.model,
            'written': None,
            'log': source.log.summary(),
            'locked': source.locked,
            'diagnosis': diagnosis.as_json(),
        }
        print(json.dumps(document, indent=2, allow_nan=False))
    else:
        print_lines([f'{args.log}: {source.log.summary()}', *source.lines(), '', *doubts])
    certain = not diagnosis.remaining
    print(
        'ne_dynamics identify: error: the log cannot be used as it is: nothing was fitted; '
        f'{"--repair takes out what is wrong" if certain else "not all of it can be repaired"}, '
        '--force uses it all the same',
        file=sys.stderr,
    )
    return EXIT_UNUSABLE


def _run_load(args: argparse.Namespace) -> int:
    """Find what is asked of a load, and print it; return 0.

    Raises
    ------
    NeDynamicsError
        When model or log cannot be read, do not go together, or do not tell the load.
    """
    model = ModelFile(args)
    source = read_log_source(args, model)

    def read(name: str) -> Log:
        return read_log_source(argparse.Namespace(**{**vars(args), 'log': name}), model).log

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
