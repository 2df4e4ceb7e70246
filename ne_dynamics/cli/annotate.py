"""``ne_dynamics annotate IN OUT``: fill a trajectory with the efforts that it takes."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ne_dynamics.cli.options.declaration import declare
from ne_dynamics.cli.options.files import STANDARD, choose_name, read_trajectory, say, write_text
from ne_dynamics.cli.options.model import read_model
from ne_dynamics.dynamics import Dynamics
from ne_dynamics.dynamics.compensation import Terms
from ne_dynamics.errors import ParameterError, TrajectoryError
from ne_dynamics.json_numbers import as_json
from ne_dynamics.model.rigid_body import Inertia
from ne_dynamics.motion import (
    AnnotatedTrajectory,
    TrajectoryFile,
    Waypoints,
    annotate,
    check_positions,
    resting_state,
    retime,
    trajectory_text,
)

ENDING = '_annotated.yaml'
MODEL_VARIABLE = 'NE_DYNAMICS_MODEL'
"""Environment variable that names the model when the option does not."""

TERMS = ('gravity', 'coriolis', 'inertia', 'friction')

add_parser = declare(
    'annotate',
    'Add efforts to a trajectory_msgs/JointTrajectory. Points are added until linear '
    "interpolation of the efforts, as in ros2_controllers' joint_trajectory_controller, is within "
    'a tolerance of the inverse dynamics. Files are YAML, as `ros2 topic echo --full-length '
    '--once` prints and `ros2 topic pub` reads.',
    f"""
@model_file
    ...; default: the environment variable {MODEL_VARIABLE}
IN > input
    file to read; - for standard input
[OUT] > output
    file to write; - for standard output (default: IN{ENDING}, with a number where that is there)
@lock
--effort-tolerance X[,X...] : numbers = 0.1
    tolerance of the efforts [N m or N]: one for all joints, or one each in the order of
    joint_names
--start Q[,Q...] : numbers
    joint positions at time 0, in the order of joint_names, if the first point is later; with a
    leading minus --start=-0.5,...
--retime
    slow the motion down on its path where it exceeds the limits of effort, velocity or
    acceleration; never faster than in IN. It stops at corners of linear segments
--fastest
    with --retime: as fast as the limits allow, from rest to rest
--effort-share X : float
    with --retime: part of the effort limits for the motion; the rest is for the controller's
    feedback (default: 0.95)
@gravity
--without TERM * : term
    leave out a term that the robot compensates itself: {', '.join(TERMS)}; may be repeated
--payload-mass M : float = 0
    mass of a load at the tip link [kg]
--payload-com X Y Z : float = 0 0 0
    its centre of mass in the frame of the tip link [m]
--allow-nonzero-velocity-at-end
    accept a last point with a velocity; a point at rest is added
--max-points N : int = 100000
    largest number of points to write
@json
    print a summary as JSON; OUT must be a file
""",
    variable=MODEL_VARIABLE,
    term=TERMS,
)


def run(args: argparse.Namespace) -> int:
    """Annotate one file; return 0. What goes wrong is raised, and nothing is written then."""
    is_alone = args.output is None and args.input != STANDARD and not Path(args.input).exists()
    if not args.model or is_alone:
        # Two names may be IN and OUT, or MODEL and IN.
        raise ParameterError(
            f'model: expected --model MODEL or the environment variable {MODEL_VARIABLE}, or '
            f'MODEL before IN, got neither{f" and no file {args.input}" * is_alone}'
        )
    if args.output is None:
        args.output = STANDARD if args.input == STANDARD else str(choose_name(args.input, ENDING))
    for option, given in (('--fastest', args.fastest), ('--effort-share', args.effort_share)):
        if given and not args.retime:
            raise ParameterError(f'{option}: expected with --retime, got it alone')
    if args.json and args.output == STANDARD:
        raise ParameterError('--json: expected a file as OUT, got standard output')
    source = read_trajectory(args.input)
    dynamics = Dynamics(read_model(args).load(), gravity=args.gravity, backend='python')
    names = [
        f'standard {kind}' if path == STANDARD else path
        for kind, path in (('input', args.input), ('output', args.output))
    ]
    try:
        result, retimed = _annotate(args, dynamics, source)
    except TrajectoryError as error:
        raise TrajectoryError(f'{names[0]}: {error}') from error
    write_text(args.output, trajectory_text(result, source.stamp, source.frame_id))
    _report(args, names, source, result, retimed)
    return 0


def _annotate(
    args: argparse.Namespace, dynamics: Dynamics, source: TrajectoryFile
) -> tuple[AnnotatedTrajectory, Any]:
    """Return the trajectory with efforts, and how it was slowed down where that was asked for."""
    robot, names = dynamics.robot, source.joint_names
    payload = None
    if args.payload_mass:
        load = Inertia(args.payload_mass, args.payload_com, np.zeros((3, 3)))
        payload = robot.payload_parameters(load)
    is_moving = args.allow_nonzero_velocity_at_end
    waypoints = Waypoints.from_points(
        robot.joints, names, source.points, allow_nonzero_velocity_at_end=is_moving
    )
    # From the sender's order to the robot's.
    order = [names.index(name) for name in robot.joint_names]
    start = None
    if args.start is not None:
        start = resting_state(_one_each(args.start, order, '--start'))
    tolerance: Sequence[float] = args.effort_tolerance
    if len(tolerance) > 1:
        tolerance = _one_each(tolerance, order, '--effort-tolerance')
    others: dict[str, Any] = {'payload': payload, 'start': start}
    retimed = None
    if args.retime:
        shares = {'effort_share': args.effort_share, 'is_fastest': args.fastest}
        retimed = retime(dynamics, waypoints, **shares, **others)
        waypoints = retimed.waypoints
    else:
        check_positions(robot.joints, waypoints, start=start)
    others |= {'effort_tolerance': tolerance, 'max_points': args.max_points}
    terms = Terms(**dict.fromkeys(args.without, False))
    return annotate(dynamics, names, waypoints, terms=terms, **others), retimed


def _one_each(values: Sequence[float], order: list[int], option: str) -> list[float]:
    if len(values) != len(order):
        raise ParameterError(
            f'{option}: expected {len(order)} values, one per joint of the trajectory, got '
            f'{len(values)}'
        )
    return [values[index] for index in order]


def _report(
    args: argparse.Namespace,
    names: Sequence[str],
    source: TrajectoryFile,
    result: AnnotatedTrajectory,
    retimed: Any,
) -> None:
    """Print what was done: on standard error, or as JSON."""
    remarks = [*(retimed.remarks if retimed else ()), *result.remarks]
    given, duration = source.points[-1].time_from_start, result.nanoseconds[-1] * 1e-9
    if args.json:
        document: dict[str, Any] = {
            'input': {'name': names[0], 'points': len(source.points), 'duration': given},
            'output': {'name': names[1], 'points': len(result), 'duration': duration},
            'effort_deviation': dict(zip(result.joint_names, result.deviation, strict=True)),
            'remarks': remarks,
        }
        if retimed:
            document |= {'path_deviation': retimed.deviation, 'stops': retimed.stops}
        print(json.dumps(as_json(document)))
        return
    worst = int((result.deviation / args.effort_tolerance).argmax())
    summary = (
        f'{names[0]}: {len(source.points)} points, {given if retimed else duration:.6g} s; '
        f'{names[1]}: {len(result)} points with efforts, '
        + f'{duration:.6g} s, '
        * bool(retimed)
        + f'straight lines within {result.deviation[worst]:.3g} of the inverse dynamics '
        f'({result.joint_names[worst]})'
    )
    say([summary, *(f'note: {remark}' for remark in remarks)])
