"""``ne_dynamics commission``: a guided run from a given model to an arm that follows."""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ne_dynamics.cli.options.declaration import declare
from ne_dynamics.cli.options.files import declare_output, generate_names, get_stem
from ne_dynamics.cli.options.model import require_packages
from ne_dynamics.commission import (
    CommissionedArm,
    CommissionFolder,
    Ending,
    Outcome,
    Step,
    perform,
)
from ne_dynamics.commission.arm.operator import Operator
from ne_dynamics.commission.arm.signal_masking import interrupted_in_order
from ne_dynamics.commission.arm.simulated_arm import prepare_simulated_arm
from ne_dynamics.commission.folder import PROGRESS, fingerprint, holds_run, only_run
from ne_dynamics.commission.motions import lengths
from ne_dynamics.commission.shown_progress import show_progress
from ne_dynamics.dynamics import Dynamics
from ne_dynamics.errors import EXIT_ERROR, EXIT_INTERRUPTED, InputError, MissingDependencyError
from ne_dynamics.printable import print_lines
from ne_dynamics.progress_bar import describe_time
from ne_dynamics.shipped import shipped_file
from ne_dynamics.simulation import EffortMeaning, draw_hidden_errors
from ne_dynamics.simulation.demo.arm import SHIPPED_MODEL, SHIPPED_TIP
from ne_dynamics.tables import name_error_unit

if TYPE_CHECKING:
    from ne_dynamics.commission import ArmSteps, Session
    from ne_dynamics.commission.offline_steps import OfflineSteps

ENDING = '_commission'
NAMESPACE = re.compile(r'[A-Za-z_]\w*(/[A-Za-z_]\w*)*', re.ASCII)

OPTIONS = f"""
@model
    URDF of the arm (with --simulated: default one of our own)
@links
{declare_output('FOLDER', ENDING, 'folder of the run', 'folder = True')}
--simulated
    commission a simulated arm that differs from its model, in a ROS domain of its own
--seed N : natural = 1
    seed of the errors of the simulated arm
--reports : reports = {EffortMeaning.TORQUE.value}
    effort that the simulated arm reports
--reversed-joint
    the simulated arm reports the effort of one joint with the wrong sign
--yes [NAME]
    consent to all motions; for a real arm, NAME must be that of the robot in the URDF
--reach RAD : positive = 0.7
    how far joints move to either side; sliding joints a fifth of it [m]
--planned
    excite with a motion of `ne_dynamics excite`, which avoids self-collision and the floor (needs
    scipy and coal); the other motions avoid neither
--namespace NAME : namespace = ''
    ROS namespace of the arm and its node
"""


def _read_namespace(text: str) -> str:
    """Return a ROS namespace with its slash, '' for that of everybody; for argparse."""
    names = text.strip('/')
    if names and not NAMESPACE.fullmatch(names):
        raise argparse.ArgumentTypeError(
            f'expected names of letters, digits and _ with / between them, got {text!r}'
        )
    return f'/{names}' if names else ''


def _read_folder(text: str) -> Path:
    """Return the folder of a run; for argparse."""
    if not text:
        raise argparse.ArgumentTypeError('expected the name of a folder, got an empty one')
    return Path(text)


add_parser = declare(
    'commission',
    'Check the model, listen to the arm, hold it, move it, identify it, validate the result, '
    'choose gains, and compare before and after. Asks before every motion. Results are in the '
    'folder; the same command resumes a run. Exit code: 0 when all steps are done, 1 when not, '
    '130 when interrupted.',
    OPTIONS,
    needs_model=False,
    reports=[meaning.value for meaning in EffortMeaning],
    folder=_read_folder,
    namespace=_read_namespace,
)


def run(args: argparse.Namespace) -> int:
    """Do the run; return 0 when all steps are done, 1 when not, 130 when interrupted."""
    # Before anything moves: what is missing must not show up in the middle.
    try:
        from ne_dynamics.commission.offline_steps import MADE, REPORT, ROW, OfflineSteps
    except MissingDependencyError:
        _require_packages(args)
        raise

    subject = _subject(args)
    agreed = _agreed(args, subject)
    operator = Operator()
    if agreed is None and not operator.has_terminal:
        raise InputError(
            'consent: expected a terminal to ask on, got none; '
            f'--yes{"" if args.simulated else f" {subject.robot.name!r}"} consents to all motions'
        )
    if args.planned:
        _require_shapes(args, subject)
    about = _about(args, subject)
    if args.output is True:
        args.output = _choose_folder(subject, about)
    with only_run(args.output):
        folder = CommissionFolder(args.output, about)
        folder.check_row({name: step.files for name, step in ROW.items()}, MADE)
        if not folder.file(REPORT).exists():
            folder.forget('report')
        left = [step for step in ROW if not folder.is_done(step)]
        offline = OfflineSteps(subject, folder, args.simulated, show_progress)
        if left in ([], ['report']):
            with interrupted_in_order():
                steps = offline.steps('report')
                outcome = perform(steps, folder, lambda step: False, _announce, lambda: None)
        else:
            outcome = _perform(args, offline, agreed, operator)
    unit = name_error_unit(joint.type.is_prismatic for joint in subject.robot.joints)
    return _tell(outcome, folder, unit)


def _require_packages(args: argparse.Namespace) -> None:
    require_packages(args, ros=True, report=True, sim=args.simulated, excite=args.planned)


def _require_shapes(args: argparse.Namespace, subject: CommissionedArm) -> None:
    """Refuse an arm that cannot keep off itself, before anything is written."""
    _require_packages(args)
    from ne_dynamics.excitation import load_solids

    load_solids(subject.file, subject.robot, description_file=subject.file)


def _about(args: argparse.Namespace, subject: CommissionedArm) -> dict[str, Any]:
    """Return what the run is of."""
    about: dict[str, Any] = {
        'model': subject.file,
        'fingerprint': fingerprint(subject.text + (subject.extras_text or '')),
        'base_link': subject.base_link,
        'tip_link': subject.tip_link,
        'simulated': args.simulated,
    }
    if args.simulated:
        about |= {key: getattr(args, key) for key in ('seed', 'reports', 'reversed_joint')}
    return about


def _choose_folder(subject: CommissionedArm, about: dict[str, Any]) -> Path:
    """Return the folder in which such a run goes on, or a new one, and say it."""
    names = generate_names(Path(get_stem(subject.file) + ENDING))
    for path in names:
        is_run = holds_run(path, about)
        if is_run or not path.exists() or (path.is_dir() and not any(path.iterdir())):
            break
    print_lines([f'output: {path}' + ', where the run goes on' * is_run], sys.stderr)
    return path


def _perform(
    args: argparse.Namespace, offline: OfflineSteps, agreed: bool | None, operator: Operator
) -> Outcome:
    """Do what is left with the arm."""
    _require_packages(args)
    from ne_dynamics.commission import ArmSteps, Motions, Session
    from ne_dynamics.commission.self_collision import SelfCollision

    subject, folder = offline.subject, offline.folder
    # No arm is needed to see that its model cannot be.
    offline.check()
    if not folder.is_done('hold'):
        # The arm may stand elsewhere now.
        folder.forget('listen')
    simulated = None
    if args.simulated:
        meaning = EffortMeaning(args.reports)
        errors = draw_hidden_errors(subject.robot, args.seed, meaning, args.reversed_joint)
        simulated = prepare_simulated_arm(subject, errors, folder.path)
    motions = Motions(reach=args.reach, is_planned=args.planned)
    if not folder.is_done('probe'):
        moving = describe_time(motions.add_up(subject.robot.n))
        print_lines([f'The arm moves for about {moving} in all; fits take about as long again.'])
    with (
        interrupted_in_order(),
        Session(subject.robot, simulated, operator.does, args.namespace) as session,
    ):
        dynamics = Dynamics(subject.robot, backend='python')
        links = SelfCollision(dynamics, subject.file, session.position)
        session.check = links.check
        joints = ', '.join(subject.robot.joint_names)
        print_lines([links.sentence, f'Commands are efforts of, in this order: {joints}'])
        if not (args.simulated or operator.has_terminal):
            print_lines(['No terminal: nobody is waited for to switch the brakes.'])
        work = ArmSteps(subject, folder, session, show_progress, motions)

        def consent(step: Step) -> bool:
            way_back = _way_back(work, session)
            if agreed:
                print_lines([f'  {way_back}'] if way_back else [])
                return True
            first = f'{way_back}; then ' if way_back else ''
            what = f'{first}{step.motion}. Stay clear of the arm, a hand on the emergency stop.'
            return operator.consents([what, links.sentence])

        return perform(work.steps(), folder, consent, _announce, session.rest)


def _subject(args: argparse.Namespace) -> CommissionedArm:
    if args.model is not None:
        return CommissionedArm.read(args.model, args.base, args.tip)
    if not args.simulated:
        raise InputError('--model: expected the URDF of the arm, got none')
    return CommissionedArm.read(
        str(shipped_file(SHIPPED_MODEL)), args.base, args.tip or SHIPPED_TIP
    )


def _agreed(args: argparse.Namespace, subject: CommissionedArm) -> bool | None:
    """Return whether all motions are consented to; None: each is asked for."""
    if args.yes is None:
        return None
    given = '' if args.yes is True else args.yes
    if not args.simulated and given != subject.robot.name:
        raise InputError(
            f'--yes: expected the name of the robot, {subject.robot.name!r}, to consent to all '
            f'motions of an arm that is there, got {given!r}'
        )
    return True


def _announce(step: Step, is_done: bool) -> None:
    print_lines([f'{step.name}: {step.title}' + (' (done before)' if is_done else '')])
    sys.stdout.flush()


def _way_back(work: ArmSteps, session: Session) -> str:
    """Return what an arm does first that is not where it stood when it was listened to."""
    session.catch_up()
    away = (work.start - session.position).tolist()
    way = [
        f'{joint.name} by {distance:.2g} {"m" if joint.type.is_prismatic else "rad"}'
        for joint, distance, length in zip(
            session.robot.joints, away, lengths(session.robot).tolist(), strict=True
        )
        if abs(distance) > 0.05 * length
    ]
    return f'first it goes back to where it stood at first: {", ".join(way)}' if way else ''


def _tell(outcome: Outcome, folder: CommissionFolder, unit: str) -> int:
    if outcome.ending is Ending.COMPLETE:
        after = folder.results['test_after']['overall_rms_error']
        before = folder.results['test_before'].get('overall_rms_error')
        was = 'given up' if before is None else f'{1e3 * before:.3g} {unit}'
        print_lines(
            [
                f'RMS error of the test motion: {was} before, {1e3 * after:.3g} {unit} after',
                *folder.results['identify']['found'],
                f'All results are in {folder.path}; begin with report.html',
            ]
        )
        return 0
    print_lines(
        [
            f'ne_dynamics commission: {outcome.ending.value} at step {outcome.step!r}: '
            f'{outcome.reason}',
            f'  {folder.path / PROGRESS} has what is done; the same command goes on with '
            f'{outcome.step!r}',
        ],
        sys.stderr,
    )
    is_interrupted = outcome.ending is Ending.INTERRUPTED
    return EXIT_INTERRUPTED if is_interrupted else EXIT_ERROR
