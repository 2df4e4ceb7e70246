"""A whole run, from what is asked for to its outcome: folder, consent, arm and steps."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ne_dynamics.commission.arm.operator import Operator
from ne_dynamics.commission.arm.signal_masking import interrupted_in_order
from ne_dynamics.commission.arm.simulated_arm import prepare_simulated_arm
from ne_dynamics.commission.folder import (
    PROGRESS,
    CommissionFolder,
    fingerprint,
    holds_run,
    only_run,
)
from ne_dynamics.commission.motions import lengths
from ne_dynamics.commission.offline_steps import MADE, REPORT, ROW, Motions, OfflineSteps
from ne_dynamics.commission.shown_progress import show_progress
from ne_dynamics.commission.steps import Ending, Outcome, Step, perform
from ne_dynamics.commission.subject import CommissionedArm
from ne_dynamics.dynamics import Dynamics
from ne_dynamics.errors import InputError
from ne_dynamics.model.robot import Robot
from ne_dynamics.prepared_file import generate_names, get_stem
from ne_dynamics.printable import print_lines
from ne_dynamics.progress_bar import describe_time
from ne_dynamics.shipped import shipped_file
from ne_dynamics.simulation import EffortMeaning, draw_hidden_errors
from ne_dynamics.simulation.demo.arm import SHIPPED_MODEL, SHIPPED_TIP
from ne_dynamics.tables import name_error_unit

NAMESPACE = re.compile(r'[A-Za-z_]\w*(/[A-Za-z_]\w*)*', re.ASCII)

ENDING = '_commission'
"""Of the folder of a run, after the name of the model."""


@dataclass(frozen=True)
class CommissionRequest:
    """What is to be commissioned, and how.

    Attributes
    ----------
    model : str, optional
        URDF of the arm; only for a simulated arm there is one by default.
    base, tip : str, optional
        First and last link of the chain.
    simulated : bool
        Commission a simulated arm that differs from its model, in a ROS domain of its own.
    seed : int
        Seed of the errors of the simulated arm.
    reports : EffortMeaning or str
        Effort that the simulated arm reports.
    reversed_joint : bool
        The simulated arm reports the effort of one joint with the wrong sign.
    yes : bool or str, optional
        Consent to all motions; for a real arm, NAME must be that of the robot in the URDF.
    reach : float
        How far joints move to either side; sliding joints a fifth of it [m].
    planned : bool
        Excite with a motion of `ne_dynamics excite`, which avoids self-collision and the floor
        (needs scipy and coal); the other motions avoid neither.
    namespace : str
        ROS namespace of the arm and its node.
    """

    model: str | None = None
    base: str | None = None
    tip: str | None = None
    simulated: bool = False
    seed: int = 1
    reports: EffortMeaning | str = EffortMeaning.TORQUE
    reversed_joint: bool = False
    yes: bool | str | None = None
    reach: float = 0.7
    planned: bool = False
    namespace: str = ''

    def read_subject(self) -> CommissionedArm:
        """Return the arm that the model is of."""
        if self.model is not None:
            return CommissionedArm.read(self.model, self.base, self.tip)
        if not self.simulated:
            raise InputError('--model: expected the URDF of the arm, got none')
        return CommissionedArm.read(
            str(shipped_file(SHIPPED_MODEL)), self.base, self.tip or SHIPPED_TIP
        )

    def describe(self, subject: CommissionedArm) -> dict[str, Any]:
        """Return what the run is of, as its folder has it."""
        about: dict[str, Any] = {
            'model': subject.file,
            'fingerprint': fingerprint(subject.texts),
            'base_link': subject.base_link,
            'tip_link': subject.tip_link,
            'simulated': self.simulated,
        }
        if self.simulated:
            about |= {'seed': self.seed, 'reports': EffortMeaning(self.reports).value}
            about['reversed_joint'] = self.reversed_joint
        return about

    def choose_folder(self, subject: CommissionedArm) -> Path:
        """Return the folder in which such a run goes on, or a new one, and say it."""
        about = self.describe(subject)
        for path in generate_names(Path(get_stem(subject.file) + ENDING)):
            is_run = holds_run(path, about)
            if is_run or not path.exists() or (path.is_dir() and not any(path.iterdir())):
                break
        print_lines([f'output: {path}' + ', where the run goes on' * is_run], sys.stderr)
        return path

    def read_consent(self, subject: CommissionedArm, operator: Operator) -> bool:
        """Return whether all motions are consented to; otherwise each is asked for.

        Raises
        ------
        InputError
            When the name is not that of a real arm, or there is nobody to be asked.
        """
        name = subject.robot.name
        if self.yes is not None:
            given = '' if self.yes is True else self.yes
            if not self.simulated and given != name:
                raise InputError(
                    f'--yes: expected the name of the robot, {name!r}, to consent to all '
                    f'motions of an arm that is there, got {given!r}'
                )
        elif not operator.has_terminal:
            raise InputError(
                'consent: expected a terminal to ask on, got none; '
                f'--yes{"" if self.simulated else f" {name!r}"} consents to all motions'
            )
        return self.yes is not None


def read_namespace(text: str) -> str:
    """Return a ROS namespace with its slash, '' for that of everybody."""
    names = text.strip('/')
    if names and not NAMESPACE.fullmatch(names):
        raise InputError(
            f'expected names of letters, digits and _ with / between them, got {text!r}'
        )
    return f'/{names}' if names else ''


def run_commission(
    request: CommissionRequest,
    subject: CommissionedArm,
    path: Path,
    operator: Operator,
    *,
    is_agreed: bool,
    prepare: Callable[[], None] = lambda: None,
) -> tuple[Outcome, CommissionFolder]:
    """Do the run, or what is left of it.

    Parameters
    ----------
    request : CommissionRequest
    subject : CommissionedArm
    path : Path
        Folder of the run.
    operator : Operator
    is_agreed : bool
        See :meth:`CommissionRequest.read_consent`.
    prepare : callable
        Called before the arm is needed.

    Raises
    ------
    InputError
        When the folder has another run.
    """
    with only_run(path):
        folder = CommissionFolder(path, request.describe(subject))
        folder.check_row({name: step.files for name, step in ROW.items()}, MADE)
        if not folder.file(REPORT).exists():
            folder.forget('report')
        offline = OfflineSteps(subject, folder, request.simulated, show_progress)
        if any(not folder.is_done(step) for step in ROW if step != 'report'):
            prepare()
            return _perform(request, offline, is_agreed, operator), folder
        with interrupted_in_order():
            steps = offline.steps('report')
            return perform(steps, folder, lambda step: False, _announce, lambda: None), folder


def _perform(
    request: CommissionRequest, offline: OfflineSteps, is_agreed: bool, operator: Operator
) -> Outcome:
    """Do what is left with the arm."""
    from ne_dynamics.commission.arm.session import Session
    from ne_dynamics.commission.arm_steps import ArmSteps
    from ne_dynamics.commission.self_collision import SelfCollision

    subject, folder = offline.subject, offline.folder
    # No arm is needed to see that its model cannot be.
    offline.check()
    if not folder.is_done('hold'):
        # The arm may stand elsewhere now.
        folder.forget('listen')
    simulated = None
    if request.simulated:
        meaning = EffortMeaning(request.reports)
        errors = draw_hidden_errors(subject.robot, request.seed, meaning, request.reversed_joint)
        simulated = prepare_simulated_arm(subject, errors, folder.path)
    motions = Motions(reach=request.reach, is_planned=request.planned)
    if not folder.is_done('probe'):
        moving = describe_time(motions.add_up(subject.robot.n))
        print_lines([f'The arm moves for about {moving} in all; fits take about as long again.'])
    with (
        interrupted_in_order(),
        Session(subject.robot, simulated, operator.does, request.namespace) as session,
    ):
        dynamics = Dynamics(subject.robot, backend='python')
        links = SelfCollision(dynamics, subject.file, session.position)
        session.check = links.check
        joints = ', '.join(subject.robot.joint_names)
        print_lines([links.sentence, f'Commands are efforts of, in this order: {joints}'])
        if not (request.simulated or operator.has_terminal):
            print_lines(['No terminal: nobody is waited for to switch the brakes.'])
        work = ArmSteps(subject, folder, session, show_progress, motions)

        def consent(step: Step) -> bool:
            way_back = _describe_way_back(work)
            if is_agreed:
                print_lines([f'  {way_back}'] if way_back else [])
                return True
            first = f'{way_back}; then ' if way_back else ''
            what = f'{first}{step.motion}. Stay clear of the arm, a hand on the emergency stop.'
            return operator.consents([what, links.sentence])

        return perform(work.steps(), folder, consent, _announce, session.rest)


def _announce(step: Step, is_done: bool) -> None:
    print_lines([f'{step.name}: {step.title}' + (' (done before)' if is_done else '')])
    sys.stdout.flush()


def _describe_way_back(work: Any, least: float = 0.05) -> str:
    """Return what an arm does first that is not where it stood when it was listened to.

    It goes back without a word where it is nearer than `least` [rad, or 0.2 m].
    """
    session = work.session
    session.catch_up()
    away = (work.start - session.position).tolist()
    way = [
        f'{joint.name} by {distance:.2g} {joint.type.position_unit}'
        for joint, distance, length in zip(
            session.robot.joints, away, lengths(session.robot).tolist(), strict=True
        )
        if abs(distance) > least * length
    ]
    return f'first it goes back to where it stood at first: {", ".join(way)}' if way else ''


def describe_outcome(outcome: Outcome, folder: CommissionFolder, robot: Robot) -> list[str]:
    """Return what came of a run in lines: the figures, or why it ended and where it goes on."""
    if outcome.ending is not Ending.COMPLETE:
        return [
            f'ne_dynamics commission: {outcome.ending.value} at step {outcome.step!r}: '
            f'{outcome.reason}',
            f'  {folder.path / PROGRESS} has what is done; the same command goes on with '
            f'{outcome.step!r}',
        ]
    unit = name_error_unit(joint.type.is_prismatic for joint in robot.joints)
    after = folder.results['test_after']['overall_rms_error']
    before = folder.results['test_before'].get('overall_rms_error')
    was = 'given up' if before is None else f'{1e3 * before:.3g} {unit}'
    return [
        f'RMS error of the test motion: {was} before, {1e3 * after:.3g} {unit} after',
        *folder.results['identify']['found'],
        f'All results are in {folder.path}; begin with report.html',
    ]
