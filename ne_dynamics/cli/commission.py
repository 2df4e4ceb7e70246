"""``ne_dynamics commission``: a guided run from a given model to an arm that follows."""

from __future__ import annotations

import argparse
from functools import partial
from pathlib import Path

from ne_dynamics.cli.options import files
from ne_dynamics.cli.options.declaration import declare, take
from ne_dynamics.cli.options.model import require_packages
from ne_dynamics.commission import Ending
from ne_dynamics.commission.arm.operator import Operator
from ne_dynamics.commission.run import (
    ENDING,
    CommissionRequest,
    describe_outcome,
    read_namespace,
    run_commission,
)
from ne_dynamics.errors import EXIT_ERROR, EXIT_INTERRUPTED, InputError
from ne_dynamics.printable import print_lines
from ne_dynamics.simulation import EffortMeaning


def _read_folder(text: str) -> Path:
    """Return the folder of a run."""
    if not text:
        raise InputError('expected the name of a folder, got an empty one')
    return Path(text)


add_parser = declare(
    'commission',
    'Check the model, listen to the arm, hold it, move it, identify it, validate the result, '
    'choose gains, and compare before and after. Asks before every motion. Results are in the '
    'folder; the same command resumes a run. Exit code: 0 when all steps are done, 1 when not, '
    '130 when interrupted.',
    f"""
@model
    URDF of the arm (with --simulated: default one of our own)
@links
{files.declare_output('FOLDER', ENDING, 'folder of the run', 'folder')}
--simulated
--seed N : natural
--reports : reports
--reversed-joint
--yes [NAME]
--reach RAD : positive
--planned
--namespace NAME : namespace
""",
    request=CommissionRequest,
    needs_model=False,
    reports=[meaning.value for meaning in EffortMeaning],
    folder=_read_folder,
    namespace=read_namespace,
)


def run(args: argparse.Namespace) -> int:
    """Do the run; return 0 when all steps are done, 1 when not, 130 when interrupted."""
    prepare = partial(
        require_packages, args, ros=True, report=True, sim=args.simulated, excite=args.planned
    )
    request = CommissionRequest(**take(CommissionRequest, args))
    subject, operator = request.read_subject(), Operator()
    is_agreed = request.read_consent(subject, operator)
    if args.planned:
        from ne_dynamics.excitation import load_solids

        # An arm that cannot keep off itself is refused before anything is written.
        prepare()
        load_solids(subject.file, subject.robot, description_file=subject.file)
    if args.output in (None, True):
        args.output = request.choose_folder(subject)
    outcome, folder = run_commission(
        request, subject, args.output, operator, is_agreed=is_agreed, prepare=prepare
    )
    lines = describe_outcome(outcome, folder, subject.robot)
    if outcome.ending is Ending.COMPLETE:
        print_lines(lines)
        return 0
    files.say(lines)
    return EXIT_INTERRUPTED if outcome.ending is Ending.INTERRUPTED else EXIT_ERROR
