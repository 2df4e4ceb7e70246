"""``ne_dynamics reproduce``: what the source documents report, computed anew."""

from __future__ import annotations

import argparse
import json
import sys
from typing import Any

from ne_dynamics.cli.options.declaration import fill, take
from ne_dynamics.cli.options.files import say, settle_output
from ne_dynamics.cli.options.model import read_model
from ne_dynamics.progress_bar import show_share

DOCUMENT = """
@json
--document FILE : path
    write the tables between markers of a Markdown file
"""
PICTURE = """
--output DIR : path = True
    folder for the picture (default: reproduce_output, or with a number after it)
"""
ARMS = """
--arms N : count = 160
    number of random arms
--seed N : natural = 4
    seed of the arms
"""
JOINTS = """
--joints N > n : count = 6
    joints of a general arm
"""
FORMS = """
@json
@model_file
--seed N : natural = 0
    seed of the motion
--q X... : float
    q of the motion, one number a joint [rad or m] (default: at random)
--qd X... : float
    qd of the motion, one number a joint [per s] (default: at random)
--qdd X... : float
    qdd of the motion, one number a joint [per s^2] (default: at random)
"""
SIX_LINK = """
--path : path_kind = line
    motion of picture and --json: tip on a straight line, or trapezoids of the joint velocities
    (default: line); the document prescribes both, and the tables have both
--duration S : positive = 1
    T [s]
"""
PUMA = """
--duration S : positive = 4
    of the motion [s]
"""

STUDIES = {
    'equivalence': ('agreement of all formulations on random arms', DOCUMENT + ARMS),
    'counts': ('measured and printed operation counts', DOCUMENT),
    'concurrency': ('speed-up with several processors', DOCUMENT + JOINTS + PICTURE),
    'lanes': ('parallelism within one core, timed', '@json'),
    'forms': ('every formulation on your robot', FORMS),
    'six-link': (
        'torques of a six-link arm between two poses, for two motions',
        DOCUMENT + SIX_LINK + PICTURE,
    ),
    'puma': (
        'a Puma under computed torque, in two readings of the document',
        DOCUMENT + PUMA + PICTURE,
    ),
}
"""Summary and options of each study."""


def add_parser(subparsers: Any) -> None:
    """Add the subcommand and its arguments."""
    parser = subparsers.add_parser(
        'reproduce',
        description='Reproduce the results of the publications behind this package: agreement '
        'and cost of the formulations, and two simulations. Prints tables.',
    )
    studies = parser.add_subparsers(dest='study', metavar='STUDY', required=True)
    for name, (summary, options) in STUDIES.items():
        about = f'{summary[0].upper()}{summary[1:]}.'
        study = studies.add_parser(name, help=summary, description=about)
        study.set_defaults(document=None, output=None)
        fill(study, options, path_kind=('line', 'joint'))


def run(args: argparse.Namespace) -> int:
    """Run a study and print what it found.

    Return 1 where forms disagree by more than their tolerance, which is said on stderr; the
    document stays as it was then.
    """
    from ne_dynamics.papers.studies import document
    from ne_dynamics.papers.studies.drawn_study import find_study, run_study
    from ne_dynamics.prepared_file import write_whole

    if args.document is not None:
        document.section(document.read_document(args.document), args.study)
    settle_output(args, '_output', source='reproduce')
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
