"""``ne_dynamics gains --model MODEL``: gains from the model, with what they are worth."""

from __future__ import annotations

import argparse
import math
from typing import Any

from ne_dynamics import gains
from ne_dynamics.cli.options import files
from ne_dynamics.cli.options.declaration import declare, take
from ne_dynamics.cli.options.model import read_model, require_packages
from ne_dynamics.control import VelocitySource
from ne_dynamics.dynamics import Dynamics
from ne_dynamics.errors import InputError
from ne_dynamics.gains import ALL_MODES, GainRequest
from ne_dynamics.motion import Waypoints, read_trajectory
from ne_dynamics.prepared_file import check_output, write_text
from ne_dynamics.progress_bar import say_expected_time

ENDING = '_gains'

OPTIONS = f"""
@model_file
@gravity
# the loop
--rate HZ : float
--delay S : float
--delay-jitter S : float
--encoder-bits N : int
    encoder: 2 to the N steps a turn of the joint
or --position-step X[,X...] : values
--velocity-source : velocity_source
--velocity-cutoff HZ > velocity_cutoff_frequency : float
--drive-rate HZ : float
--drive-delay S : float
--drive-kp LEAST LARGEST > drive_kp_range : float
--drive-kd LEAST LARGEST > drive_kd_range : float
# the arm
--uncertainty PART : float
--payload KG[,KG] : values
--payload-center X,Y,Z : values
--stiffness K[,K...] : values
--effort-limits X[,X...] : values
--poses POSES : int
--seed SEED : int
# what is wanted
--mode * > modes : mode
    mode; may be repeated (default: all)
--phase-margin DEG : float
--gain-margin FACTOR : float
--strict
    refuse modes that cannot keep these margins; otherwise smaller ones are tried, and reported
--noise-share PART : float
--position-error RAD : float
--no-integral > integral
    no integral gain for joint_trajectory_controller
#
--trajectory FILE
    motion whose errors are predicted, JointTrajectory in YAML (default: all joints there and back)
{files.declare_output('FOLDER', ENDING, 'folder for the parameter files')}
--write KIND FILE *
    write one parameter file: node, jtc or mit
--controller NAME
--joints JOINT...
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
        raise InputError(f'expected X[,X...], got {text!r}') from None


add_parser = declare(
    'gains',
    'Compute the largest gains that keep a phase and a gain margin in all poses, for masses '
    'within an uncertainty and all payloads: for the node, for the PID of '
    'joint_trajectory_controller with effort, and for drives that close the loop. Prints what '
    'limits each gain, the sag, and the errors of a motion. Exit code: 1 if an arm of --prove '
    'does not settle.',
    OPTIONS,
    request=(gains.as_yaml, GainRequest),
    values=_read_values,
    velocity_source=[each.value for each in VelocitySource],
    mode=[mode.value for mode in ALL_MODES],
)


def run(args: argparse.Namespace) -> int:
    """Compute, try, write and print; return 0, or 1 when an arm did not settle."""
    _check_options(args)
    changed: dict[str, Any] = {'modes': tuple(args.modes or ALL_MODES)}
    if args.encoder_bits is not None:
        changed['position_step'] = 2.0 * math.pi / 2**args.encoder_bits
    if args.strict:
        changed['relaxed_margins'] = ()
    request = GainRequest(**take(GainRequest, args, **changed))
    robot = read_model(args).load()
    gains.order_joints(robot.joint_names, args.joints)
    dynamics = Dynamics(robot, args.gravity, backend='python')
    motion = None
    if args.trajectory is not None:
        source = read_trajectory(args.trajectory)
        motion = Waypoints.from_points(robot.joints, source.joint_names, source.points)
    share = len(request.modes) / len(ALL_MODES)
    say_expected_time((12.0 + 36.0 * share) * (robot.n / 6) ** 5)
    design = gains.design_gains(dynamics, request, motion)
    texts = gains.make_files(design, args.output, args.write, args.controller, args.joints)
    document: dict[str, Any] = {'model': args.model, **design.as_json()}
    lines, is_unproven = design.text().split('\n'), False
    if args.prove is not None:
        from ne_dynamics.simulation.design_proof import describe_proofs, is_proven, prove_design

        proofs = prove_design(design, dynamics, args.prove)
        document['proof'] = [{'mode': one.mode, **one.as_json()} for one in proofs]
        lines += describe_proofs(proofs)
        is_unproven = not is_proven(proofs)
    if args.plot is not None:
        from ne_dynamics.simulation.gain_plots import plot_design

        plot_design(args.plot, design)
    if args.output is not None:
        args.output.mkdir(parents=True, exist_ok=True)
    for path, text in texts:
        write_text(path, text)
    files.print_result(args, document, [*lines, *(f'written: {path}' for path, _ in texts)])
    return int(is_unproven)


def _check_options(args: argparse.Namespace) -> None:
    """Refuse what cannot be done or written before anything is computed."""
    for kind, _ in args.write:
        if kind not in gains.KINDS:
            raise InputError(f'--write: expected one of {", ".join(gains.KINDS)}, got {kind!r}')
    for option, value, most in (
        ('--prove', args.prove, 100_000),
        ('--encoder-bits', args.encoder_bits, 40),
    ):
        if value is not None and not 1 <= value <= most:
            raise InputError(f'{option}: expected 1 to {most}, got {value}')
    gains.require_controller_name(args.controller)
    require_packages(args, plot=args.plot is not None, sim=args.prove is not None)
    files.settle_output(args, ENDING)
    outputs = [*(('--write', name) for _, name in args.write), ('--plot', args.plot)]
    if args.output is not None:
        check_output(args.output, is_folder=True)
        for name in gains.FILE_NAMES.values() if args.output.is_dir() else ():
            check_output(args.output / name)
    files.check_files(args, outputs, **{'--trajectory': args.trajectory})
