"""``ne_dynamics gains --model MODEL``: gains from the model, with what they are worth."""

from __future__ import annotations

import argparse
import json
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ne_dynamics.cli.options.arguments import add_gravity
from ne_dynamics.cli.options.expected_time import say_expected_time
from ne_dynamics.cli.options.model_file import ModelFile, add_model_file, require_packages
from ne_dynamics.cli.options.output_file import (
    add_output,
    check_apart,
    check_folder,
    check_output,
    check_picture,
    settle_output,
    write_text,
)
from ne_dynamics.cli.options.trajectory_file import read_trajectory
from ne_dynamics.control import VelocitySource
from ne_dynamics.dynamics import Dynamics
from ne_dynamics.errors import InputError
from ne_dynamics.gains import (
    ALL_MODES,
    FILE_NAMES,
    KINDS,
    GainDesign,
    GainRequest,
    as_yaml,
    design_gains,
    list_kinds,
    order_joints,
    require_controller_name,
)
from ne_dynamics.model.robot import Robot
from ne_dynamics.motion import Waypoints
from ne_dynamics.printable import print_lines
from ne_dynamics.progress_bar import count_done

if TYPE_CHECKING:
    from ne_dynamics.simulation import Proof

EXIT_NOT_PROVEN = 1
ENDING = '_gains'

BEYOND_MARGIN = 1.5
"""Gains that are tried to see the loop swing: by this and the gain margin larger."""

FEW_BEYOND = 1
"""Arms that such gains are tried on: the one with the least gain margin."""

MOST_TRIALS = 100000

LARGEST_BITS = 40


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the subcommand to a parser."""
    parser = subparsers.add_parser(
        'gains',
        description='Compute the largest gains that keep a phase and a gain margin in all poses, '
        'for masses within an uncertainty and all payloads: for the node, for the '
        'PID of joint_trajectory_controller with effort, and for drives that close '
        'the loop. Prints what limits each gain, the sag, and the errors of a '
        'motion. Exit code: 1 if an arm of --prove does not settle.',
    )
    add_model_file(parser)
    add_gravity(parser)
    _add_gain_request(parser)
    parser.add_argument(
        '--trajectory',
        metavar='FILE',
        help='motion whose errors are predicted, JointTrajectory in YAML (default: all joints '
        'there and back)',
    )
    add_output(parser, ENDING, 'folder for the parameter files', type=Path, metavar='FOLDER')
    parser.add_argument(
        '--write',
        nargs=2,
        action='append',
        default=[],
        metavar=('KIND', 'FILE'),
        help='write one parameter file: node, jtc or mit',
    )
    parser.add_argument(
        '--controller',
        default='effort_trajectory_controller',
        metavar='NAME',
        help='name of the joint_trajectory_controller in the file (default: %(default)s)',
    )
    parser.add_argument(
        '--joints',
        nargs='+',
        metavar='JOINT',
        help="order of arrays in the node's files, that of its parameter `joints` (default: that "
        'of the model)',
    )
    parser.add_argument('--plot', type=Path, metavar='FILE.png', help='plot margins and responses')
    parser.add_argument(
        '--prove',
        type=int,
        metavar='COUNT',
        help='simulate each mode with COUNT random arms in MuJoCo',
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
    for kind, _ in args.write:
        if kind not in KINDS:
            raise InputError(f'--write: expected one of {", ".join(KINDS)}, got {kind!r}')
    if args.prove is not None and not 1 <= args.prove <= MOST_TRIALS:
        raise InputError(f'--prove: expected 1 to {MOST_TRIALS}, got {args.prove}')
    require_controller_name(args.controller)
    require_packages(args, plot=args.plot is not None, sim=args.prove is not None)
    settle_output(args, ENDING)
    _check_outputs(args)
    request = _read_gain_request(args)
    robot = ModelFile(args).load()
    order_joints(robot.joint_names, args.joints)
    dynamics = Dynamics(robot, args.gravity, backend='python')
    motion = None if args.trajectory is None else _read_motion(args.trajectory, robot)
    share = len(request.modes) / len(ALL_MODES)
    say_expected_time((12.0 + 36.0 * share) * (robot.n / 6) ** 5)
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
    source = read_trajectory(path)
    return Waypoints.from_points(robot.joints, source.joint_names, source.points)


def _prove(design: GainDesign, dynamics: Dynamics, count: int) -> list[Proof]:
    """Try the gains of each mode, and beyond their margin those that have one to speak of."""
    from ne_dynamics.simulation import prove_gains

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


def _add_gain_request(parser: argparse.ArgumentParser) -> None:
    """Add the options to a parser; :func:`_read_gain_request` reads them."""
    _add_loop(parser.add_argument_group('the loop'))
    _add_arm(parser.add_argument_group('the arm'))
    _add_aims(parser.add_argument_group('what is wanted'))


def _add_loop(group: Any) -> None:
    group.add_argument(
        '--rate',
        type=float,
        default=500.0,
        metavar='HZ',
        help='joint states a second (default: 500)',
    )
    group.add_argument(
        '--delay',
        type=float,
        metavar='S',
        help='delay from a state to its effort [s] (default: one period)',
    )
    group.add_argument(
        '--delay-jitter',
        type=float,
        default=0.0,
        metavar='S',
        help='largest additional delay [s] (default: 0)',
    )
    encoder = group.add_mutually_exclusive_group()
    encoder.add_argument(
        '--encoder-bits',
        type=int,
        metavar='N',
        help='encoder: 2 to the N steps a turn of the joint',
    )
    encoder.add_argument(
        '--position-step',
        type=_numbers,
        metavar='X[,X...]',
        help='step of the measured positions [rad or m], one for all joints or one each '
        '(default: none)',
    )
    group.add_argument(
        '--velocity-source',
        choices=[each.value for each in VelocitySource],
        default=VelocitySource.DIFFERENTIATED.value,
        help="the node's parameter; unless measured, JTC and drives use differences of positions "
        '(default: differentiated)',
    )
    group.add_argument(
        '--velocity-cutoff',
        type=float,
        metavar='HZ',
        help="cut-off of the node's velocity filter (default: chosen)",
    )
    group.add_argument(
        '--drive-rate',
        type=float,
        default=1000.0,
        metavar='HZ',
        help='rate of the loop of MIT-mode drives (default: 1000)',
    )
    group.add_argument(
        '--drive-delay',
        type=float,
        metavar='S',
        help='delay of that loop [s] (default: one of its periods)',
    )
    for gain in ('kp', 'kd'):
        group.add_argument(
            f'--drive-{gain}',
            nargs=2,
            type=float,
            default=(0.0, math.inf),
            metavar=('LEAST', 'LARGEST'),
            help=f'range of {gain} of the drives',
        )


def _add_arm(group: Any) -> None:
    group.add_argument(
        '--uncertainty',
        type=float,
        default=0.3,
        metavar='PART',
        help='relative error of mass and inertia of each link and rotor (default: 0.3)',
    )
    group.add_argument(
        '--payload',
        type=_numbers,
        default=(0.0,),
        metavar='KG[,KG]',
        help='unknown mass at the tip: the largest, or the least and the largest (default: 0)',
    )
    group.add_argument(
        '--payload-center',
        type=_numbers,
        default=(0.0, 0.0, 0.0),
        metavar='X,Y,Z',
        help='its centre of mass in the frame of the tip [m] (default: 0,0,0)',
    )
    group.add_argument(
        '--stiffness',
        type=_numbers,
        metavar='K[,K...]',
        help='stiffness of the gears [N m/rad or N/m], one for all joints or one each (default: '
        'rigid)',
    )
    group.add_argument(
        '--effort-limits',
        type=_numbers,
        metavar='X[,X...]',
        help="effort limits instead of the model's [N m or N]",
    )
    group.add_argument(
        '--poses', type=int, default=64, help='number of random poses (default: 64)'
    )
    group.add_argument('--seed', type=int, default=0, help='seed of the poses (default: 0)')


def _add_aims(group: Any) -> None:
    group.add_argument(
        '--mode',
        action='append',
        choices=[mode.value for mode in ALL_MODES],
        help='mode; may be repeated (default: all)',
    )
    group.add_argument(
        '--phase-margin',
        type=float,
        default=45.0,
        metavar='DEG',
        help='phase margin (default: 45)',
    )
    group.add_argument(
        '--gain-margin', type=float, default=2.0, metavar='FACTOR', help='gain margin (default: 2)'
    )
    group.add_argument(
        '--strict',
        action='store_true',
        help='refuse modes that cannot keep these margins; otherwise smaller ones are tried, and '
        'reported',
    )
    group.add_argument(
        '--noise-share',
        type=float,
        default=0.02,
        metavar='PART',
        help='largest effort of one encoder step, as a part of the effort limit (default: 0.02)',
    )
    group.add_argument(
        '--position-error',
        type=float,
        default=0.05,
        metavar='RAD',
        help='position error at which efforts must be within their limits (default: 0.05)',
    )
    group.add_argument(
        '--no-integral',
        action='store_true',
        help='no integral gain for joint_trajectory_controller',
    )


def _read_gain_request(args: argparse.Namespace) -> GainRequest:
    """Return what the options ask for.

    Raises
    ------
    InputError
        When a value cannot be used.
    """
    step: Any = 0.0 if args.position_step is None else args.position_step
    if args.encoder_bits is not None:
        if not 1 <= args.encoder_bits <= LARGEST_BITS:
            raise InputError(
                f'--encoder-bits: expected 1 to {LARGEST_BITS}, got {args.encoder_bits}'
            )
        step = 2.0 * math.pi / 2**args.encoder_bits
    relaxed: dict[str, Any] = {'relaxed_margins': ()} if args.strict else {}
    return GainRequest(
        rate=args.rate,
        delay=args.delay,
        delay_jitter=args.delay_jitter,
        position_step=step,
        velocity_source=args.velocity_source,
        velocity_cutoff_frequency=args.velocity_cutoff,
        uncertainty=args.uncertainty,
        payload=args.payload,
        payload_center=args.payload_center,
        modes=tuple(args.mode or ALL_MODES),
        stiffness=args.stiffness,
        phase_margin=args.phase_margin,
        gain_margin=args.gain_margin,
        noise_share=args.noise_share,
        position_error=args.position_error,
        integral=not args.no_integral,
        drive_rate=args.drive_rate,
        drive_delay=args.drive_delay,
        drive_kp_range=args.drive_kp,
        drive_kd_range=args.drive_kd,
        effort_limits=args.effort_limits,
        poses=args.poses,
        seed=args.seed,
        **relaxed,
    )


def _numbers(text: str) -> tuple[float, ...]:
    try:
        return tuple(float(part) for part in text.split(','))
    except ValueError:
        raise argparse.ArgumentTypeError(f'expected X[,X...], got {text!r}') from None
