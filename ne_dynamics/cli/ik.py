"""``ne_dynamics ik --model MODEL --position X Y Z``: joint positions that lead to a pose."""

from __future__ import annotations

import argparse
import math

import numpy as np

from ne_dynamics.cli.options.declaration import declare
from ne_dynamics.cli.options.files import print_result
from ne_dynamics.cli.options.model import read_model, require_tip
from ne_dynamics.dynamics import Dynamics
from ne_dynamics.errors import InputError
from ne_dynamics.kinematics import (
    compute_pose_errors,
    inverse_kinematics,
    inverse_kinematics_branches,
)
from ne_dynamics.model.orientation import quaternion_rotation
from ne_dynamics.model.rigid_body import Transform
from ne_dynamics.model.robot import FloatArray, Robot

add_parser = declare(
    'ik',
    'Find joint positions within the limits for a pose of the tip (or another link) in the frame '
    'of the base link. If none is found, print the error of the nearest one; exit code 1.',
    """
@model_file
--link LINK
    link of the pose (default: the tip)
required --position X Y Z : number
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
)


def run(args: argparse.Namespace) -> int:
    """Search, and print the joint positions; return 0."""
    if args.all and args.start is not None:
        raise InputError('--all: expected no --from beside it, the list has its own order')
    robot = read_model(args).load()
    if args.link is None and robot.tip_link is None:
        require_tip(robot, args.tip)
    dynamics = Dynamics(robot, backend='python')
    target = Transform.from_xyz_rpy(args.position, args.rpy).matrix
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
    if args.all:
        positions = inverse_kinematics_branches(dynamics, target, link=args.link)
    else:
        positions = inverse_kinematics(dynamics, target, args.start, link=args.link)[None]
    errors = compute_pose_errors(dynamics.forward_kinematics(positions, args.link), target)
    shifts, angles = (np.linalg.norm(part, axis=1) for part in (errors[:, :3], errors[:, 3:]))
    link = args.link or robot.tip.name
    document = {
        'model': args.model,
        'link': link,
        'target_pose': target,
        'joints': robot.joint_names,
        'positions': positions,
        'position_errors': shifts,
        'orientation_errors': angles,
    }
    met = f'  met within {shifts.max():.1e} m and {angles.max():.1e} rad by {link}'
    print_result(args, document, [*_make_lines(robot, positions), met])
    return 0


def _make_lines(robot: Robot, positions: FloatArray) -> list[str]:
    """Return the positions as a table: a row a joint, a column a solution, degrees beside one."""
    width = max(len(joint.name) for joint in robot.joints)
    lines = [f'  {len(positions)} positions, one a column'] * (len(positions) > 1)
    for joint, row in zip(robot.joints, positions.T, strict=True):
        numbers = '  '.join(f'{value + 0.0:10.6f}' for value in row)
        line = f'  {joint.name:{width}}  {numbers}  {joint.type.position_unit}'
        if len(row) == 1 and not joint.type.is_prismatic:
            line += f'  {math.degrees(row[0]):9.3f} deg'
        lines.append(line)
    return lines
