"""Ten arms that are not as their models say, commissioned one after the other.

    python -m studies.commission_study FOLDER [--arms UR5 Panda]
    python -m studies.commission_study FOLDER --in-process [--seeds 1 2 3]
    python -m studies.commission_study FOLDER --harder backlash elastic [--arms Panda]

Each is the simulated robot behind DDS with errors drawn by a seed. In process it is the same arm
and controller without DDS: each run is the same to the last bit, and nothing waits. After its
commissioning the test motion is followed with the true model and true friction, and by PD with the
gravity of the given model. The rows of the table are in ``results.json``; arms that are in it are
not run again.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from ne_dynamics.commission import (
    ArmSteps,
    CommissionedArm,
    CommissionFolder,
    Ending,
    Motions,
    OneProcessSession,
    Session,
    perform,
)
from ne_dynamics.commission.arm.simulated_arm import prepare_simulated_arm
from ne_dynamics.commission.shown_progress import show_progress
from ne_dynamics.dynamics import Dynamics
from ne_dynamics.model.robot import Robot
from ne_dynamics.papers.robots import example_robots
from ne_dynamics.prepared_file import write_whole
from ne_dynamics.shipped import shipped_file
from ne_dynamics.simulation import EffortMeaning, HiddenErrors, draw_hidden_errors
from ne_dynamics.simulation.demo.ros_process import terminated_in_order
from studies.commission_picture import draw_study
from studies.harder_arms import KINDS, USUAL

RESULTS = 'results.json'
TRUE = 'true.urdf'
SHIPPED = 'six_axis_arm.urdf'

ACCEPTED_RATIO = 1.5
ACCEPTED_DELAY = 0.001
"""By which a delay may be missed [s]: half a period of the states."""


@dataclass(frozen=True)
class StudiedArm:
    """One of the arms.

    Attributes
    ----------
    name : str
    file : str
        Below the folder of example-robot-data; the shipped arm's name.
    base_link, tip_link : str or None
    seed : int
    effort_meaning : EffortMeaning
    reversed_joint : bool
    kind : str
        Of :data:`~studies.harder_arms.KINDS`; '': as its hidden errors have it.
    """

    name: str
    file: str
    base_link: str | None
    tip_link: str | None
    seed: int
    effort_meaning: EffortMeaning
    reversed_joint: bool = False
    kind: str = ''


TORQUE, WITHOUT_GRAVITY = EffortMeaning.TORQUE, EffortMeaning.TORQUE_WITHOUT_GRAVITY
CURRENT, NOTHING = EffortMeaning.CURRENT, EffortMeaning.NOTHING

ARMS = (
    StudiedArm('shipped arm', SHIPPED, None, 'tcp', 3, TORQUE),
    StudiedArm('UR5', 'ur_description/urdf/ur5_robot.urdf', 'base_link', 'tool0', 1, CURRENT),
    StudiedArm(
        'Panda', 'panda_description/urdf/panda.urdf', None, 'panda_hand_tcp', 2, WITHOUT_GRAVITY
    ),
    StudiedArm('xArm7', 'xarm_description/urdf/xarm7.urdf', None, 'link_eef', 4, NOTHING),
    StudiedArm(
        'UR10', 'ur_description/urdf/ur10_robot.urdf', 'base_link', 'ee_link', 5, TORQUE, True
    ),
    StudiedArm('UR3', 'ur_description/urdf/ur3_robot.urdf', None, 'tool0', 6, CURRENT),
    StudiedArm(
        'Kinova Jaco',
        'kinova_description/robots/kinova.urdf',
        None,
        'j2s6s200_end_effector',
        7,
        TORQUE,
    ),
    StudiedArm('Z1', 'z1_description/urdf/z1.urdf', None, 'link06', 8, WITHOUT_GRAVITY),
    StudiedArm(
        'SO-101', 'so_arm_description/urdf/so101.urdf', None, 'gripper_frame_link', 9, NOTHING
    ),
    StudiedArm(
        'TIAGo arm',
        'tiago_description/robots/tiago.urdf',
        'torso_lift_link',
        'arm_tool_link',
        10,
        CURRENT,
    ),
)

HARDER = (
    replace(ARMS[0], seed=41),
    replace(ARMS[2], seed=42),
)
"""Those that are made harder by a kind."""


def subject_of(arm: StudiedArm) -> CommissionedArm:
    """Return the model of an arm."""
    file = shipped_file(SHIPPED) if arm.file == SHIPPED else example_robots() / arm.file
    return CommissionedArm.read(str(file), arm.base_link, arm.tip_link)


def study_arm(
    arm: StudiedArm,
    folder: Path,
    motions: Motions,
    rivals: bool = True,
    in_process: bool = False,
) -> dict[str, Any]:
    """Commission one arm, and follow the test motion with what only the simulation knows.

    Parameters
    ----------
    arm : StudiedArm
    folder : Path
        Of its run; one that ended goes on.
    motions : Motions
    rivals : bool
        Whether PD with gravity is followed too.
    in_process : bool
        Whether without DDS; then nothing is drawn.

    Returns
    -------
    dict
        What was planted, found and measured [SI].
    """
    subject, kind = subject_of(arm), KINDS[arm.kind] if arm.kind else USUAL
    folder.mkdir(parents=True, exist_ok=True)
    if arm.kind:
        given = folder / 'given.urdf'
        write_whole(given, kind.given_text(subject.source.text))
        subject = CommissionedArm.read(str(given), arm.base_link, arm.tip_link)
    drawn = draw_hidden_errors(subject.robot, arm.seed, arm.effort_meaning, arm.reversed_joint)
    errors = kind.reports(drawn, subject.robot)
    kept = CommissionFolder(folder, {'arm': arm.name, 'seed': arm.seed, 'dds': not in_process})
    simulated = prepare_simulated_arm(subject, errors, folder)
    start = kind.first_position(subject.robot, np.array(simulated['initial_position']))
    simulated['initial_position'] = start.tolist()
    true = kind.true_robot(errors.apply(subject.robot), start)
    began = time.monotonic()
    with contextlib.ExitStack() as stack:
        session: Session | OneProcessSession
        if in_process:
            simulated = {'rate': 500.0, **simulated}
            physics = kind.physics(true, start, 1.0 / simulated['rate'])
            session = OneProcessSession(subject.robot, errors, simulated, physics)
        else:
            stack.enter_context(terminated_in_order())
            session = stack.enter_context(Session(subject.robot, simulated, lambda _: True))
        work = ArmSteps(subject, kept, session, show_progress, motions)
        outcome = perform(
            [step for step in work.steps() if not (in_process and step.name == 'report')],
            kept,
            lambda step: True,
            lambda step, done: print(f'{arm.name}: {step.name}', flush=True),
            session.rest,
        )
        row: dict[str, Any] = {
            'arm': run_name(arm),
            'seed': arm.seed,
            'joints': subject.robot.n,
            'ending': outcome.ending.value,
            'reason': outcome.reason,
            'causes': [[cause['code'], *cause['joints']] for cause in kept.causes],
            **_planted(errors),
        }
        if outcome.ending is Ending.INTERRUPTED:
            raise KeyboardInterrupt
        row |= _found(kept.results, errors)
        row['simulated_seconds'] = _simulated_seconds(work)
        if outcome.ending is Ending.COMPLETE:
            row |= _follow_rivals(work, true, kind.gravity, rivals)
    row['seconds'] = time.monotonic() - began
    return row


def _simulated_seconds(work: ArmSteps) -> float:
    """Return the time of all motions that were recorded [s], also before it was interrupted."""
    return sum(float(np.ptp(work.log(file.stem).times)) for file in work.folder.path.glob('*.csv'))


def _planted(errors: HiddenErrors) -> dict[str, Any]:
    return {
        'planted_delay': errors.delay,
        'planted_meaning': errors.effort_meaning.value,
        'planted_reversed': list(errors.reversed_joints),
        'encoder_bits': errors.encoder_bits,
    }


def _found(results: Mapping[str, Mapping[str, Any]], errors: HiddenErrors) -> dict[str, Any]:
    row: dict[str, Any] = {}
    if 'tremble' in results:
        row['found_delay'] = results['tremble']['delay']
        row['delay_is_found'] = abs(row['found_delay'] - errors.delay) <= ACCEPTED_DELAY
    if 'identify' in results:
        efforts = results['identify']['efforts']
        row['found_meaning'] = efforts['meaning']
        row['found_reversed'] = efforts['reversed_joints']
        row['meaning_is_found'] = efforts['meaning'] == errors.effort_meaning.value
        row['signs_are_found'] = tuple(efforts['reversed_joints']) == errors.reversed_joints
    if 'test_before' in results:
        row['given'] = results['test_before'].get('overall_rms_error')
    if 'test_after' in results:
        row['identified'] = results['test_after']['overall_rms_error']
    return row


def _follow_rivals(
    work: ArmSteps, true: Robot, gravity: tuple[float, ...], rivals: bool
) -> dict[str, Any]:
    work.subject.write(work.folder.file(TRUE), true)
    parameters = {
        **work.after_parameters(),
        **work.subject.parameters(work.folder.file(TRUE)),
        'gravity': [float(value) for value in gravity],
        # It knows that a joint that begins to move may take more than its motor has.
        'trajectory.when_infeasible': 'follow',
    }
    row = _result('true', work.test('test_true', parameters))
    if row['true'] is not None:
        row['ratio'] = work.found('test_after')['overall_rms_error'] / row['true']
    if rivals:
        gains = work.found('gains')['parameters']
        mass = np.diag(Dynamics(true, backend='python').mass_matrix(work.start))
        parameters = {
            **work.before_parameters(),
            'mode': 'feedforward_pd',
            'feedforward_pd.kp': (mass * gains['computed_torque.kp']).tolist(),
            'feedforward_pd.kv': (mass * gains['computed_torque.kv']).tolist(),
            'terms.coriolis': False,
            'terms.inertia': False,
            'terms.friction': False,
        }
        row |= _result('pd_gravity', work.test('test_pd_gravity', parameters))
    return row


def _result(name: str, found: Mapping[str, Any]) -> dict[str, Any]:
    """Return the error of a test motion, or why it was given up."""
    row = {name: found.get('overall_rms_error')}
    return {**row, f'{name}_fault': found['fault']} if 'fault' in found else row


def table(rows: Iterable[Mapping[str, Any]]) -> str:
    """Return the results as a Markdown table; errors in mrad or mm."""
    lines = [
        '| arm | joints | effort is, found | delay, found [ms] | '
        'PD with gravity | given URDF | commissioned | true model | ratio |',
        '| --- | --- | --- | --- | --- | --- | --- | --- | --- |',
    ]
    for row in rows:
        cells = [
            row['arm'],
            str(row['joints']),
            f'{row["planted_meaning"]}, {row.get("found_meaning", "-")}',
            f'{1e3 * row["planted_delay"]:.0f}, {_milli(row.get("found_delay"))}',
            *(_milli(row.get(key)) for key in ('pd_gravity', 'given', 'identified', 'true')),
            '-' if row.get('ratio') is None else f'{row["ratio"]:.2f}',
        ]
        lines.append(f'| {" | ".join(cells)} |')
    return '\n'.join(lines)


def _milli(value: float | None) -> str:
    return '-' if value is None else f'{1e3 * value:.3g}'


def chosen_arms(
    names: Sequence[str] | None, seeds: Sequence[int] | None, kinds: Sequence[str] = ()
) -> list[StudiedArm]:
    """Return arms of these names, or all, each with each of the seeds, or with its own."""
    arms = [arm for arm in ARMS if names is None or arm.name in names]
    if kinds:
        chosen = [arm for arm in HARDER if names is None or arm.name in names]
        arms = [replace(arm, kind=kind) for kind in kinds for arm in chosen]
    if seeds is None:
        return arms
    return [replace(arm, seed=seed) for seed in seeds for arm in arms]


def run_name(arm: StudiedArm) -> str:
    """Return what tells the run of an arm from others; its name alone with its own seed."""
    is_own = any(own.name == arm.name and own.seed == arm.seed for own in (*ARMS, *HARDER))
    return ' '.join([arm.name] + [str(arm.seed)] * (not is_own) + [arm.kind] * bool(arm.kind))


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the study; return 0 when every arm was commissioned and nothing was missed."""
    parser = argparse.ArgumentParser(description='Commission ten arms with hidden errors.')
    parser.add_argument('folder', type=Path)
    parser.add_argument('--arms', nargs='+', metavar='NAME', help='some of them')
    parser.add_argument(
        '--in-process', action='store_true', help='without DDS, and without reports'
    )
    parser.add_argument(
        '--seeds',
        nargs='+',
        type=int,
        metavar='N',
        help='in place of the one that each arm has by itself',
    )
    parser.add_argument(
        '--harder',
        nargs='*',
        choices=list(KINDS),
        metavar='KIND',
        help=f'two arms that are harder, in process: some of {", ".join(KINDS)}; default: all',
    )
    args = parser.parse_args(arguments)
    kinds = None if args.harder is None else args.harder or list(KINDS)
    in_process = args.in_process or kinds is not None
    args.folder.mkdir(parents=True, exist_ok=True)
    file = args.folder / RESULTS
    rows = json.loads(file.read_text(encoding='utf-8')) if file.exists() else {}
    for arm in chosen_arms(args.arms, args.seeds, kinds or ()):
        key = run_name(arm)
        if key in rows:
            continue
        place = args.folder / key.replace(' ', '_')
        rows[key] = study_arm(arm, place, Motions(), in_process=in_process)
        write_whole(file, json.dumps(rows, indent=2) + '\n')
        print(table([rows[key]]), flush=True)
    done = list(rows.values())
    text = table(done)
    write_whole(args.folder / 'results.md', text + '\n')
    draw_study(done, args.folder / 'commission_study.png')
    print(text)
    keys = ('delay_is_found', 'meaning_is_found', 'signs_are_found')
    sound = [
        all(row.get(key) for key in keys) and (row.get('ratio') or np.inf) <= ACCEPTED_RATIO
        for row in done
    ]
    return 0 if all(sound) else 1


if __name__ == '__main__':
    sys.exit(main())
