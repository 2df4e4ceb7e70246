"""``ne_dynamics gains --model MODEL``: gains from the model, with what they are worth."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ne_dynamics.cli.options.gain_request import add_gain_request, read_gain_request
from ne_dynamics.cli.options.model_file import ModelFile, add_model_file
from ne_dynamics.cli.options.output_file import (
    check_apart,
    check_folder,
    check_output,
    check_picture,
)
from ne_dynamics.dynamics import STANDARD_GRAVITY, Dynamics
from ne_dynamics.errors import InputError
from ne_dynamics.printable import print_lines
from ne_dynamics.progress_bar import count_done

if TYPE_CHECKING:
    from ne_dynamics.gains import GainDesign
    from ne_dynamics.model.robot import Robot
    from ne_dynamics.motion import Waypoints
    from ne_dynamics.simulation.gain_proof import Proof

EXIT_NOT_PROVEN = 1

BEYOND_MARGIN = 1.5
"""Gains that are tried to see the loop swing: by this and the gain margin larger."""

FEW_BEYOND = 1
"""Arms that such gains are tried on: the one with the least gain margin."""

MOST_TRIALS = 100000


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the subcommand to a parser.

    Parameters
    ----------
    subparsers : argparse action
        What ``ArgumentParser.add_subparsers`` returned.
    """
    parser = subparsers.add_parser(
        'gains',
        help='compute gains from the model, its uncertainty and the timing of the loop',
        description='Compute the largest gains that keep a phase and a gain margin in all poses, '
        'for all masses within an uncertainty and all payloads: for the modes of the node, for '
        'the PID of joint_trajectory_controller with effort, and for drives that close the loop. '
        'Say what bounds each of them, how far the arm sags, and how large the errors of a motion '
        'will be. Exit code: 1 when --prove saw an arm that does not settle.',
    )
    add_model_file(parser)
    parser.add_argument(
        '--gravity',
        nargs=3,
        type=float,
        metavar=('X', 'Y', 'Z'),
        default=STANDARD_GRAVITY,
        help='in the axes of the base link [m/s^2] (default: 0 0 -9.80665)',
    )
    add_gain_request(parser)
    parser.add_argument(
        '--trajectory',
        metavar='FILE',
        help='motion that errors are predicted for: JointTrajectory in YAML (default: all joints '
        'there and back)',
    )
    parser.add_argument(
        '-o', '--output', type=Path, metavar='FOLDER', help='write the files of parameters there'
    )
    parser.add_argument(
        '--write',
        nargs=2,
        action='append',
        default=[],
        metavar=('KIND', 'FILE'),
        help='write one of them: node, jtc or mit',
    )
    parser.add_argument(
        '--controller',
        default='effort_trajectory_controller',
        metavar='NAME',
        help='of the joint_trajectory_controller in the file (default: %(default)s)',
    )
    parser.add_argument(
        '--joints',
        nargs='+',
        metavar='JOINT',
        help="order of the arrays in the node's files: that of its parameter `joints` (default: "
        'that of the model)',
    )
    parser.add_argument('--plot', type=Path, metavar='FILE.png', help='draw margins and responses')
    parser.add_argument(
        '--prove',
        type=int,
        metavar='COUNT',
        help='try the gains of each mode on so many random arms in MuJoCo',
    )
    parser.add_argument('--json', action='store_true', help='print JSON instead of tables')
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Compute, try, write and print.

    Parameters
    ----------
    args : argparse.Namespace

    Returns
    -------
    int
        0, or 1 when an arm did not settle.

    Raises
    ------
    NeDynamicsError
        When there are no gains, or something cannot be read; nothing is written then.
    """
    from ne_dynamics.gains import (
        FILE_NAMES,
        KINDS,
        as_yaml,
        design_gains,
        list_kinds,
        order_joints,
        require_controller_name,
    )
    from ne_dynamics.motion import write_text

    for kind, _ in args.write:
        if kind not in KINDS:
            raise InputError(f'--write: expected one of {", ".join(KINDS)}, got {kind!r}')
    if args.prove is not None and not 1 <= args.prove <= MOST_TRIALS:
        raise InputError(f'--prove: expected 1 to {MOST_TRIALS}, got {args.prove}')
    require_controller_name(args.controller)
    _check_outputs(args)
    request = read_gain_request(args)
    robot = ModelFile(args).load()
    order_joints(robot.joint_names, args.joints)
    dynamics = Dynamics(robot, args.gravity, backend='python')
    motion = None if args.trajectory is None else _read_motion(args.trajectory, robot)
    design = design_gains(dynamics, request, motion)
    wanted = [(kind, Path(name)) for kind, name in args.write]
    if args.output is not None:
        wanted += [(kind, args.output / FILE_NAMES[kind]) for kind in list_kinds(design)]
    files = [(path, as_yaml(design, kind, args.controller, args.joints)) for kind, path in wanted]
    proofs = [] if args.prove is None else _prove(design, dynamics, args.prove)
    if args.plot is not None:
        from ne_dynamics.simulation.gain_plots import plot_design

        plot_design(args.plot, design)
    if args.output is not None:
        args.output.mkdir(parents=True, exist_ok=True)
    for path, text in files:
        write_text(str(path), text)
    if args.json:
        document: dict[str, Any] = {'model': args.model, **design.as_json()}
        if proofs:
            document['proof'] = [{'mode': one.mode.value, **one.as_json()} for one in proofs]
        print(json.dumps(document, indent=2, allow_nan=False))
    else:
        lines = [*design.text().split('\n'), *_describe_proofs(proofs)]
        lines += [f'written: {path}' for path, _ in files]
        print_lines(lines)
    is_proven = all(
        proof.count('settled') == len(proof.trials) for proof in proofs if proof.factor == 1.0
    )
    return 0 if is_proven else EXIT_NOT_PROVEN


def _check_outputs(args: argparse.Namespace) -> None:
    """Refuse what cannot be written before anything is computed."""
    from ne_dynamics.gains import FILE_NAMES

    for _, name in args.write:
        check_output(name)
    if args.plot is not None:
        check_picture(args.plot)
    if args.output is not None:
        check_folder(args.output)
        if args.output.is_dir():
            for name in FILE_NAMES.values():
                check_output(str(args.output / name))
    check_apart(
        [*(('--write', name) for _, name in args.write), ('--plot', args.plot)],
        {'--model': args.model, '--extras': args.extras, '--trajectory': args.trajectory},
    )


def _read_motion(path: str, robot: Robot) -> Waypoints:
    from ne_dynamics.motion import Waypoints, read_trajectory

    source = read_trajectory(path)
    return Waypoints.from_points(robot.joints, source.joint_names, source.points)


def _prove(design: GainDesign, dynamics: Dynamics, count: int) -> list[Proof]:
    """Try the gains of each mode, and beyond their margin those that have one to speak of."""
    from ne_dynamics.simulation.gain_proof import prove_gains

    total = len(design.modes) * (count + FEW_BEYOND)
    proofs = []
    with count_done('trying in MuJoCo', total, 'trial') as progress:
        for mode in design.modes:
            proofs.append(prove_gains(design, dynamics, mode, count, progress=progress))
            factor = BEYOND_MARGIN * float(design.of(mode).choice.margins.gain.min())
            proofs.append(
                prove_gains(design, dynamics, mode, FEW_BEYOND, factor=factor, progress=progress)
            )
    return proofs


def _describe_proofs(proofs: list[Proof]) -> list[str]:
    if not proofs:
        return []
    lines = ['', 'tried in MuJoCo on random arms in random poses']
    for proof in proofs:
        found = proof.as_json()
        gains = 'the gains' if proof.factor == 1.0 else f'{proof.factor:.3g} times the gains'
        text = (
            f'  {proof.mode.value}, {gains}: {found["settled"]} of {found["trials"]} settled, '
            f'{found["swings"]} swing, {found["diverged"]} diverged'
        )
        if proof.factor == 1.0 and proof.count('settled'):
            text += (
                f'; of what was predicted at the most, error at rest {proof.settled_share:.2f}, '
                f'overshoot {proof.overshoot_share:.2f}'
            )
        lines.append(text)
    return lines
