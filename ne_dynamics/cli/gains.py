"""``ne_dynamics gains --model MODEL``: gains from the model, with what they are worth."""

from __future__ import annotations

import argparse
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ne_dynamics.cli.options.declaration import declare, take
from ne_dynamics.cli.options.expected_time import say_expected_time
from ne_dynamics.cli.options.model_file import ModelFile, require_packages
from ne_dynamics.cli.options.output_file import (
    check_files,
    check_output,
    check_picture,
    declare_output,
    print_result,
    settle_output,
    write_text,
)
from ne_dynamics.cli.options.thresholds import COMMAND_LINE
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
from ne_dynamics.progress_bar import count_done

if TYPE_CHECKING:
    from ne_dynamics.simulation import Proof

ENDING = '_gains'

OPTIONS = f"""
@model_file
@gravity
# the loop
--rate HZ : float
    joint states a second
--delay S : float
    delay from a state to its effort [s] (default: one period)
--delay-jitter S : float
    largest additional delay [s]
--encoder-bits N : int
    encoder: 2 to the N steps a turn of the joint
or --position-step X[,X...] : values
    step of the measured positions [rad or m], one for all joints or one each (default: none)
--velocity-source : velocity_source
    the node's parameter; unless measured, JTC and drives use differences of positions
--velocity-cutoff HZ > velocity_cutoff_frequency : float
    cut-off of the node's velocity filter (default: chosen)
--drive-rate HZ : float
    rate of the loop of MIT-mode drives
--drive-delay S : float
    delay of that loop [s] (default: one of its periods)
--drive-kp LEAST LARGEST > drive_kp_range : float
    range of kp of the drives
--drive-kd LEAST LARGEST > drive_kd_range : float
    range of kd of the drives
# the arm
--uncertainty PART : float
    relative error of mass and inertia of each link and rotor
--payload KG[,KG] : values
    unknown mass at the tip: the largest, or the least and the largest
--payload-center X,Y,Z : values
    its centre of mass in the frame of the tip [m]
--stiffness K[,K...] : values
    stiffness of the gears [N m/rad or N/m], one for all joints or one each (default: rigid)
--effort-limits X[,X...] : values
    effort limits instead of the model's [N m or N]
--poses POSES : int
    number of random poses
--seed SEED : int
    seed of the poses
# what is wanted
--mode * > modes : mode
    mode; may be repeated (default: all)
--phase-margin DEG : float
    phase margin
--gain-margin FACTOR : float
    gain margin
--strict
    refuse modes that cannot keep these margins; otherwise smaller ones are tried, and reported
--noise-share PART : float
    largest effort of one encoder step, as a part of the effort limit
--position-error RAD : float
    position error at which efforts must be within their limits
--no-integral > integral
    no integral gain for joint_trajectory_controller
#
--trajectory FILE
    motion whose errors are predicted, JointTrajectory in YAML (default: all joints there and back)
{declare_output('FOLDER', ENDING, 'folder for the parameter files')}
--write KIND FILE *
    write one parameter file: node, jtc or mit
--controller NAME = effort_trajectory_controller
    name of the joint_trajectory_controller in the file
--joints JOINT...
    order of arrays in the node's files, that of its parameter `joints` (default: that of the
    model)
--plot FILE.png : path
    plot margins and responses
--prove COUNT : int
    simulate each mode with COUNT random arms in MuJoCo
@json
"""


def _read_values(text: str) -> tuple[float, ...]:
    try:
        return tuple(float(part) for part in text.split(','))
    except ValueError:
        raise argparse.ArgumentTypeError(f'expected X[,X...], got {text!r}') from None


add_parser = declare(
    'gains',
    'Compute the largest gains that keep a phase and a gain margin in all poses, for masses '
    'within an uncertainty and all payloads: for the node, for the PID of '
    'joint_trajectory_controller with effort, and for drives that close the loop. Prints what '
    'limits each gain, the sag, and the errors of a motion. Exit code: 1 if an arm of --prove '
    'does not settle.',
    OPTIONS,
    request=GainRequest,
    values=_read_values,
    velocity_source=[each.value for each in VelocitySource],
    mode=[mode.value for mode in ALL_MODES],
)


def run(args: argparse.Namespace) -> int:
    """Compute, try, write and print; return 0, or 1 when an arm did not settle."""
    _check_options(args)
    request = _read_gain_request(args)
    robot = ModelFile(args).load()
    order_joints(robot.joint_names, args.joints)
    dynamics = Dynamics(robot, args.gravity, backend='python')
    motion = None if args.trajectory is None else _read_motion(args.trajectory, robot)
    share = len(request.modes) / len(ALL_MODES)
    say_expected_time((12.0 + 36.0 * share) * (robot.n / 6) ** 5)
    design = design_gains(dynamics, request, motion)
    files = _make_files(args, design)
    proofs = [] if args.prove is None else _prove(design, dynamics, args.prove)
    if args.plot is not None:
        from ne_dynamics.simulation.gain_plots import plot_design

        plot_design(args.plot, design)
    if args.output is not None:
        args.output.mkdir(parents=True, exist_ok=True)
    for path, text in files:
        write_text(path, text)
    document: dict[str, Any] = {'model': args.model, **design.as_json()}
    if proofs:
        document['proof'] = [{'mode': one.mode.value, **one.as_json()} for one in proofs]
    written = [f'written: {path}' for path, _ in files]
    lines = [*design.text().split('\n'), *_describe_proofs(proofs), *written]
    print_result(args, document, lines)
    is_proven = all(
        proof.count('settled') == len(proof.trials) for proof in proofs if proof.factor == 1.0
    )
    return int(not is_proven)


def _check_options(args: argparse.Namespace) -> None:
    """Refuse what cannot be done or written before anything is computed."""
    for kind, _ in args.write:
        if kind not in KINDS:
            raise InputError(f'--write: expected one of {", ".join(KINDS)}, got {kind!r}')
    most = COMMAND_LINE.most_trials
    if args.prove is not None and not 1 <= args.prove <= most:
        raise InputError(f'--prove: expected 1 to {most}, got {args.prove}')
    require_controller_name(args.controller)
    require_packages(args, plot=args.plot is not None, sim=args.prove is not None)
    settle_output(args, ENDING)
    outputs = [*(('--write', name) for _, name in args.write), ('--plot', args.plot)]
    if args.plot is not None:
        check_picture(args.plot)
    if args.output is not None:
        check_output(args.output, is_folder=True)
        for name in FILE_NAMES.values() if args.output.is_dir() else ():
            check_output(args.output / name)
    check_files(args, outputs, **{'--trajectory': args.trajectory})


def _make_files(args: argparse.Namespace, design: GainDesign) -> list[tuple[Path, str]]:
    """Return the parameter files that are asked for, with their texts."""
    wanted = [(kind, Path(name)) for kind, name in args.write]
    if args.output is not None:
        wanted += [(kind, args.output / FILE_NAMES[kind]) for kind in list_kinds(design)]
    return [(path, as_yaml(design, kind, args.controller, args.joints)) for kind, path in wanted]


def _read_motion(path: str, robot: Robot) -> Waypoints:
    source = read_trajectory(path)
    return Waypoints.from_points(robot.joints, source.joint_names, source.points)


def _prove(design: GainDesign, dynamics: Dynamics, count: int) -> list[Proof]:
    """Try the gains of each mode, and beyond their margin those that have one to speak of."""
    from ne_dynamics.simulation import prove_gains

    few, proofs = COMMAND_LINE.few_beyond, []
    total = len(design.modes) * (count + few)
    with count_done('trying in MuJoCo', total, 'trial') as progress:
        for mode in design.modes:
            proofs.append(prove_gains(design, dynamics, mode, count, progress=progress))
            factor = COMMAND_LINE.beyond_margin * float(design.of(mode).choice.margins.gain.min())
            proofs.append(
                prove_gains(design, dynamics, mode, few, factor=factor, progress=progress)
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


def _read_gain_request(args: argparse.Namespace) -> GainRequest:
    """Return what the options ask for."""
    changed: dict[str, Any] = {'modes': tuple(args.modes or ALL_MODES)}
    if args.encoder_bits is not None:
        most = COMMAND_LINE.largest_bits
        if not 1 <= args.encoder_bits <= most:
            raise InputError(f'--encoder-bits: expected 1 to {most}, got {args.encoder_bits}')
        changed['position_step'] = 2.0 * math.pi / 2**args.encoder_bits
    if args.strict:
        changed['relaxed_margins'] = ()
    return GainRequest(**take(GainRequest, args, **changed))
