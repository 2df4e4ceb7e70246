"""``python -m benchmark``: this package beside others, measured in one run."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from benchmark import report as reports
from benchmark.machine import compile_for
from ne_dynamics.prepared_file import write_whole
from ne_dynamics.program import run_with_exit_code

PROGRAM = 'python -m benchmark'

SECTIONS = (
    'calls',
    'matrices',
    'derivatives',
    'functions',
    'parameters',
    'batch',
    'arrays',
    'growth',
    'regressor',
    'operations',
    'load',
    'memory',
    'sweep',
    'node',
    'hold_up',
    'loaded_hop',
)

APART = 'functions'
"""Has its own file of results and its own place in the document; `make bench` runs it alone."""


def build_parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    parser = argparse.ArgumentParser(
        prog=PROGRAM,
        description='Measure this package beside Pinocchio, MuJoCo, the Robotics Toolbox, '
        'adam-robotics and a textbook recursion, and the node beside a relay that computes '
        'nothing: interleaved, medians of many rounds, the ratio first. What is not installed is '
        'left out, and said so. The exit code does not depend on whether aims are met.',
    )
    parser.add_argument('--quick', action='store_true', help='fewer rounds, for an impression')
    parser.add_argument('--rounds', type=_count, metavar='N', help='samples of every contender')
    parser.add_argument(
        '--only',
        nargs='+',
        choices=SECTIONS,
        metavar='PART',
        default=[section for section in SECTIONS if section != APART],
        help=f'of {", ".join(SECTIONS)} (default: all but {APART})',
    )
    parser.add_argument(
        '--package',
        action='append',
        type=_checkout,
        default=[],
        metavar='PATH',
        help='another checkout of the package, whose node loaded_hop drives in turns with ours',
    )
    parser.add_argument(
        '--processor',
        default='',
        metavar='NAME',
        help='compile for another processor, as LLVM calls it, whose code this one can run, such '
        'as haswell; parts that start processes do not heed it',
    )
    parser.add_argument('--json', action='store_true', help='print JSON instead of tables')
    parser.add_argument('--output', type=Path, metavar='FILE', help='write the JSON to a file')
    parser.add_argument(
        '--document',
        type=Path,
        metavar='FILE',
        help='write the tables between the markers of a Markdown file',
    )
    parser.add_argument(
        '--results',
        type=Path,
        metavar='FILE',
        help='measure nothing: take what --output wrote earlier',
    )
    return parser


def _count(text: str) -> int:
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f'expected a number >= 1, got {text}')
    return value


def _checkout(text: str) -> Path:
    path = Path(text)
    if not (path / 'ne_dynamics' / '__init__.py').is_file():
        raise argparse.ArgumentTypeError(f'expected a checkout of ne_dynamics, got {text}')
    return path


def run(args: argparse.Namespace) -> int:
    """Measure, or read earlier results, and print; return 0.

    Raises
    ------
    NeDynamicsError
        When the results or the document are not as expected, a process does not answer, or our
        backends do not agree.
    """
    if args.document is not None:
        # Before minutes of measuring: a document without markers is an error.
        reports.require_markers(args.document.read_text(encoding='utf-8'), args.only)
    if args.results is not None:
        report = reports.loads(args.results.read_text(encoding='utf-8'))
    else:
        report = _measured(args)
    data = json.dumps(report.as_json(), indent=2, allow_nan=False)
    if args.output is not None:
        write_whole(args.output, data + '\n')
    if args.document is not None:
        document = args.document.read_text(encoding='utf-8')
        write_whole(args.document, reports.with_results(document, report))
    print(data if args.json else reports.text(report))
    return 0


def _measured(args: argparse.Namespace) -> Any:
    from benchmark.suite import Settings, Suite

    def say(line: str) -> None:
        print(f'{PROGRAM}: {line}', file=sys.stderr, flush=True)

    if args.processor:
        compile_for(args.processor)
    settings = Settings.chosen(args.quick, args.rounds)
    return Suite(replace(settings, packages=tuple(args.package)), say).run(args.only)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line.

    Parameters
    ----------
    arguments : sequence of str, optional
        Default: those of the process.

    Returns
    -------
    int
        Exit code, as that of :func:`ne_dynamics.cli.main.main`: 0, or 1 after an error, whose
        message is on stderr.
    """
    args = build_parser().parse_args(arguments)
    return run_with_exit_code(PROGRAM, lambda: run(args))


if __name__ == '__main__':
    sys.exit(main())
