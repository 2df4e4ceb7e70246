"""``ne_dynamics annotate IN OUT``: fill a trajectory with the efforts that it takes."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from ne_dynamics.cli.options import files
from ne_dynamics.cli.options.declaration import declare, take
from ne_dynamics.cli.options.model import read_model
from ne_dynamics.dynamics import Dynamics
from ne_dynamics.errors import ParameterError, TrajectoryError
from ne_dynamics.motion import (
    AnnotatedFile,
    AnnotationRequest,
    read_trajectory,
    trajectory_text,
)
from ne_dynamics.prepared_file import STANDARD, name_stream, write_text

ENDING = '_annotated.yaml'
MODEL_VARIABLE = 'NE_DYNAMICS_MODEL'

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
--effort-tolerance X[,X...] : numbers
--start Q[,Q...] : numbers
    joint positions at time 0, in the order of joint_names, if the first point is later; with a
    leading minus --start=-0.5,...
--retime
--fastest
--effort-share X : float
@gravity
--without TERM * : term
    leave out a term that the robot compensates itself: {', '.join(TERMS)}; may be repeated
--payload-mass M : float
--payload-com X Y Z : float
--allow-nonzero-velocity-at-end
--max-points N : int
@json
    print a summary as JSON; OUT must be a file
""",
    request=AnnotationRequest,
    variable=MODEL_VARIABLE,
    term=TERMS,
)


def run(args: argparse.Namespace) -> int:
    """Annotate one file; return 0. What goes wrong is raised, and nothing is written then."""
    given, is_standard = args.input, args.input == STANDARD
    is_alone = args.output is None and not is_standard and not Path(given).exists()
    if not args.model or is_alone:
        # Two names may be IN and OUT, or MODEL and IN.
        raise ParameterError(
            f'expected --model MODEL or the environment variable {MODEL_VARIABLE}, or MODEL '
            f'before IN, got neither{f" and no file {given}" * is_alone}'
        )
    if args.output is None and is_standard:
        args.output = STANDARD
    files.settle_output(args, ENDING, source=given, is_always=True)
    target = str(args.output)
    if args.json and target == STANDARD:
        raise ParameterError('--json: expected a file as OUT, got standard output')
    files.check_files(args, [('OUT', target)], IN=given)
    request = AnnotationRequest(**take(AnnotationRequest, args))
    source = read_trajectory(given)
    dynamics = Dynamics(read_model(args).load(), gravity=args.gravity, backend='python')
    names = name_stream(given, 'input'), name_stream(target, 'output')
    try:
        found = AnnotatedFile.make(dynamics, source, request)
    except TrajectoryError as error:
        raise TrajectoryError(f'{names[0]}: {error}') from error
    write_text(target, trajectory_text(found.result, source.stamp, source.frame_id))
    if args.json:
        print(json.dumps(found.as_json(*names)))
    else:
        files.say(found.lines(*names))
    return 0
