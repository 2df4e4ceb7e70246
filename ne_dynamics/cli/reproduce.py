"""``ne_dynamics reproduce``: what the source documents report, computed anew."""

from __future__ import annotations

import argparse
import json
import sys
from typing import Any

from ne_dynamics.cli.options.declaration import fill, take
from ne_dynamics.cli.options.files import say, settle_output
from ne_dynamics.cli.options.model import read_model
from ne_dynamics.papers.studies import document
from ne_dynamics.papers.studies.drawn_study import DRAWN, find_study, run_study
from ne_dynamics.prepared_file import write_whole
from ne_dynamics.progress_bar import show_share

STUDIES = {
    'equivalence': (
        'agreement of all formulations on random arms',
        *('@document', '--arms N : count', '--seed N : natural'),
    ),
    'counts': ('measured and printed operation counts', '@document'),
    'concurrency': (
        'speed-up with several processors',
        *('@document', '--joints N > n : count', '@picture'),
    ),
    'lanes': ('parallelism within one core, timed', '@json'),
    'forms': (
        'every formulation on your robot',
        *('@json', '@model_file', '--seed N : natural'),
        *('--q X... : float', '--qd X... : float', '--qdd X... : float'),
    ),
    'six-link': (
        'torques of a six-link arm between two poses, for two motions',
        *('@document', '--path : path_kind', '--duration S : positive', '@picture'),
    ),
    'puma': (
        'a Puma under computed torque, in two readings of the document',
        *('@document', '--duration S : positive', '@picture'),
    ),
}
"""Of each study a summary, and the options."""


def add_parser(subparsers: Any) -> None:
    """Add the subcommand and its arguments."""
    parser = subparsers.add_parser(
        'reproduce',
        description='Reproduce the results of the publications behind this package: agreement '
        'and cost of the formulations, and two simulations. Prints tables.',
    )
    studies = parser.add_subparsers(dest='study', metavar='STUDY', required=True)
    for name, (summary, *rows) in STUDIES.items():
        about = f'{summary[0].upper()}{summary[1:]}.'
        study = studies.add_parser(name, help=summary, description=about)
        study.set_defaults(document=None, output=None)
        module = find_study(name)
        requests = [module.study, *filter(None, [getattr(module, 'choose_motion', None)])]
        fill(study, '\n'.join(rows), request=requests, path_kind=('line', 'joint'))


def run(args: argparse.Namespace) -> int:
    """Run a study and print what it found.

    Return 1 where forms disagree by more than their tolerance, which is said on stderr; the
    document stays as it was then.
    """
    if args.document is not None:
        document.section(document.read_document(args.document), args.study)
    settle_output(args, '_output', source='reproduce', is_always=args.study in DRAWN)
    with show_share(args.study) as show:
        wanted: dict[str, Any] = {}
        study = find_study(args.study)
        if args.study == 'forms':
            wanted['robot'] = robot = read_model(args).load()
            wanted['motion'] = study.choose_motion(**take(study.choose_motion, args, robot=robot))
        wanted['progress'] = lambda done, total: show(done / total) if show else None
        report = run_study(args.study, take(study.study, args, **wanted), args.output)
    if args.document is not None and not report.disagreements:
        text = document.with_report(document.read_document(args.document), report)
        # Line ends stay as they are, and the old document until the new one is complete.
        write_whole(args.document, text)
    print(json.dumps(report.as_json(), indent=2) if args.json else report.text())
    if report.disagreements:
        sys.stdout.flush()  # the tables come first
        head = f'ne_dynamics reproduce {args.study}: error: '
        say(head + line for line in report.disagreements)
    return 1 if report.disagreements else 0
