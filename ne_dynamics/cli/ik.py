"""``ne_dynamics ik --model MODEL --position X Y Z``: joint positions that lead to a pose."""

from __future__ import annotations

import argparse

from ne_dynamics.cli.options.declaration import declare
from ne_dynamics.cli.options.files import print_result
from ne_dynamics.cli.options.model import read_model
from ne_dynamics.dynamics import Dynamics
from ne_dynamics.errors import InputError
from ne_dynamics.kinematics import PoseSolutions, inverse_kinematics
from ne_dynamics.model.chains import require_tip
from ne_dynamics.model.orientation import quaternion_rotation
from ne_dynamics.model.rigid_body import Transform

add_parser = declare(
    'ik',
    'Find joint positions within the limits for a pose of the tip (or another link) in the frame '
    'of the base link. If none is found, print the error of the nearest one; exit code 1.',
    """
@model_file
--link LINK
required --position X Y Z > target_pose : number
    position of the link's origin [m]
--rpy R P Y : number = 0 0 0
    orientation as roll, pitch and yaw about fixed axes, as in URDF [rad]
or --quaternion X Y Z W : number
    orientation, scalar last, as in ROS; need not be normalised
--from Q... > start : number
    start of the search [rad or m], for a solution near it (default: the solution nearest to the
    middle of the limits)
--all
    all solutions, nearest to the middle of the limits first; not for redundant arms
@json
""",
    request=inverse_kinematics,
)


def run(args: argparse.Namespace) -> int:
    """Search, and print the joint positions; return 0."""
    if args.all and args.start is not None:
        raise InputError('--all: expected no --from beside it, the list has its own order')
    robot = read_model(args).load()
    if args.link is None and robot.tip_link is None:
        require_tip(robot, args.tip)
    target = Transform.from_xyz_rpy(args.target_pose, args.rpy).matrix
    if args.quaternion is not None:
        if not any(args.quaternion):
            raise InputError(
                f'--quaternion: expected four numbers that are not all 0, got {args.quaternion}'
            )
        target[:3, :3] = quaternion_rotation(args.quaternion)
    if args.start is not None and len(args.start) != robot.n:
        raise InputError(
            f'--from: expected {robot.n} joint positions, {", ".join(robot.joint_names)}, got '
            f'{len(args.start)}'
        )
    dynamics = Dynamics(robot, backend='python')
    found = PoseSolutions.find(dynamics, target, args.start, link=args.link, finds_all=args.all)
    print_result(args, {'model': args.model, **found.as_json()}, found.lines())
    return 0
