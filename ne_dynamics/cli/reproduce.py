"""``ne_dynamics reproduce``: what the source documents report, computed anew."""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from ne_dynamics.cli.options.arguments import accept_exponents, count, natural, positive
from ne_dynamics.cli.options.model_file import ModelFile, add_model_file
from ne_dynamics.cli.options.output_file import choose_name

Number = TypeVar('Number', int, float)

if TYPE_CHECKING:
    from ne_dynamics.papers import StudyReport

PROGRESS_EVERY = 0.2
"""Seconds between two lines of progress on a terminal."""


def add_parser(subparsers: Any) -> None:
    """Add the subcommand and its arguments."""
    parser = subparsers.add_parser(
        'reproduce',
        description='Reproduce the results of the publications behind this package: agreement '
        'and cost of the formulations, and two simulations. Prints tables.',
    )
    studies = parser.add_subparsers(dest='study', metavar='STUDY', required=True)
    equivalence = _study(studies, 'equivalence', 'agreement of all formulations on random arms')
    equivalence.add_argument(
        '--arms', type=count, default=160, metavar='N', help='number of random arms (default: 160)'
    )
    equivalence.add_argument(
        '--seed', type=natural, default=4, metavar='N', help='seed of the arms (default: 4)'
    )
    _study(studies, 'counts', 'measured and printed operation counts')
    concurrency = _study(studies, 'concurrency', 'speed-up with several processors')
    concurrency.add_argument(
        '--joints', type=count, default=6, metavar='N', help='joints of a general arm (default: 6)'
    )
    _add_output(concurrency)
    _study(studies, 'lanes', 'parallelism within one core, timed', is_written=False)
    _add_forms(studies)
    six_link = _study(
        studies, 'six-link', 'torques of a six-link arm between two poses, for two motions'
    )
    six_link.add_argument(
        '--path',
        choices=('line', 'joint'),
        default='line',
        help='motion of picture and --json: tip on a straight line, or trapezoids of the joint '
        'velocities (default: %(default)s); the document prescribes both, and the tables '
        'have both',
    )
    puma = _study(studies, 'puma', 'a Puma under computed torque, in two readings of the document')
    for picture, duration, what in ((six_link, 1.0, 'T'), (puma, 4.0, 'of the motion')):
        picture.add_argument(
            '--duration',
            type=positive,
            default=duration,
            metavar='S',
            help=f'{what} [s] (default: {duration:g})',
        )
        _add_output(picture)
    parser.set_defaults(run=run)


def _add_forms(studies: Any) -> None:
    forms = _study(studies, 'forms', 'every formulation on your robot', is_written=False)
    accept_exponents(forms)
    add_model_file(forms)
    forms.add_argument(
        '--seed', type=natural, default=0, metavar='N', help='seed of the motion (default: 0)'
    )
    for name, unit in (('q', 'rad or m'), ('qd', 'per s'), ('qdd', 'per s^2')):
        forms.add_argument(
            f'--{name}',
            type=float,
            nargs='+',
            metavar='X',
            help=f'{name} of the motion, one number a joint [{unit}] (default: at random)',
        )


def _study(
    studies: Any, name: str, summary: str, is_written: bool = True
) -> argparse.ArgumentParser:
    parser: argparse.ArgumentParser = studies.add_parser(
        name, help=summary, description=f'{summary[0].upper()}{summary[1:]}.'
    )
    parser.set_defaults(document=None)
    parser.add_argument('--json', action='store_true', help='print the results as JSON')
    if not is_written:
        return parser
    parser.add_argument(
        '--document',
        type=Path,
        metavar='FILE',
        help='write the tables between markers of a Markdown file',
    )
    return parser


def _add_output(study: argparse.ArgumentParser) -> None:
    study.add_argument(
        '--output',
        type=Path,
        default=True,
        metavar='DIR',
        help='folder for the picture (default: reproduce_output, or with a number after it)',
    )


def run(args: argparse.Namespace) -> int:
    """Run a study and print what it found.

    Returns
    -------
    int
        0; 1 where forms disagree by more than their tolerance, which is said on stderr. The
        document stays as it was then.

    Raises
    ------
    NeDynamicsError
        When the document has no markers, or matplotlib is missing.
    """
    from ne_dynamics.papers.studies import document
    from ne_dynamics.prepared_file import write_whole

    if args.document is not None:
        document.section(document.read_document(args.document), args.study)
    if getattr(args, 'output', None) is True:
        args.output = choose_name('reproduce', '_output')
    report = _report(args)
    if args.document is not None and not report.disagreements:
        text = document.with_report(document.read_document(args.document), report)
        # Line ends stay as they are, and the old document until the new one is complete.
        write_whole(args.document, text)
    print(json.dumps(report.as_json(), indent=2) if args.json else report.text())
    return _report_disagreements(args.study, report.disagreements)


def _report_disagreements(study: str, disagreements: Sequence[str]) -> int:
    from ne_dynamics.printable import print_lines

    sys.stdout.flush()  # the tables come first
    print_lines(
        [f'ne_dynamics reproduce {study}: error: {line}' for line in disagreements], sys.stderr
    )
    return 1 if disagreements else 0


def _report(args: argparse.Namespace) -> StudyReport:
    progress = _Progress(args.study)
    try:
        if args.study == 'equivalence':
            from ne_dynamics.papers.studies import equivalence

            return equivalence.study(args.arms, args.seed, progress)
        if args.study == 'counts':
            from ne_dynamics.papers.studies import counts

            return counts.study(progress=progress)
        if args.study == 'lanes':
            from ne_dynamics.papers.studies import lanes

            return lanes.study(progress)
        if args.study == 'forms':
            return _run_forms(args, progress)
        if args.study == 'concurrency':
            from ne_dynamics.papers.studies import concurrency, concurrency_picture

            report, curves = concurrency.study(args.joints)
            path = args.output / f'{args.study}.png'
            concurrency_picture.draw_speedups(path, curves, args.joints)
            report.pictures.append(path)
            return report
        # Imported before the work: what is missing must not show up at the end.
        from ne_dynamics.papers.studies import pictures, puma, six_link, six_link_picture

        path = args.output / f'{args.study}.png'
        if args.study == 'six-link':
            report, ways = six_link.study(args.duration, args.path)
            six_link_picture.draw_ways(path, ways)
        else:
            report, runs = puma.study(args.duration, progress)
            pictures.draw_errors(path, runs)
        report.pictures.append(path)
        return report
    finally:
        progress.close()


def _run_forms(args: argparse.Namespace, progress: _Progress) -> StudyReport:
    from ne_dynamics.papers.studies import forms

    robot = ModelFile(args).load()
    motion = forms.choose_motion(robot, args.seed, args.q, args.qd, args.qdd)
    return forms.study(robot, motion, progress)


class _Progress:
    """A line on stderr that tells how far a study is; nothing when that is no terminal."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._shown = time.monotonic()
        self._is_open = False

    def __call__(self, done: float, total: float) -> None:
        now = time.monotonic()
        if sys.stderr.isatty() and now - self._shown > PROGRESS_EVERY:
            self._shown, self._is_open = now, True
            sys.stderr.write(f'\rne_dynamics reproduce {self._name}: {100 * done / total:3.0f} %')
            sys.stderr.flush()

    def close(self) -> None:
        if self._is_open:
            sys.stderr.write('\r\x1b[K')
            sys.stderr.flush()
