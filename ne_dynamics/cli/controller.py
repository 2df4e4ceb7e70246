"""``ne_dynamics controller MODEL -o FOLDER``: a controller of ros2_control for one arm."""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path
from typing import Any

from ne_dynamics.cli.options.arguments import natural
from ne_dynamics.cli.options.model_file import (
    ModelFile,
    add_lock,
    add_model_file,
    require_packages,
    require_tip,
)
from ne_dynamics.cli.options.package_folder import (
    add_package_folder,
    choose_folder,
    write_package,
)
from ne_dynamics.errors import InputError
from ne_dynamics.model.description_file import looks_like_xml
from ne_dynamics.model.robot import Robot
from ne_dynamics.printable import print_lines

ENDING = '_controller'


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the subcommand to a parser."""
    parser = subparsers.add_parser(
        'controller',
        description='Write a ROS 2 package with a chainable controller for ros2_control: the '
        "arm's equations of motion as C, computed torque, feed-forward with PD and gravity "
        'compensation in C++ around them, parameters, and a launch file with '
        'joint_trajectory_controller in front. At run time it needs nothing of ne_dynamics.',
    )
    add_model_file(parser)
    add_lock(parser)
    add_package_folder(parser, ENDING)
    parser.add_argument(
        '--rate',
        type=natural,
        default=500,
        metavar='HZ',
        help='update rate of the controller manager, for which the gains are checked '
        '(default: %(default)s)',
    )
    parser.add_argument(
        '--params',
        type=Path,
        metavar='FILE',
        help='parameter file of the node computed_torque, such as `ne_dynamics gains --write '
        'node` writes it: gains, limits, terms and payload are taken over',
    )
    parser.add_argument(
        '--sensor',
        default='',
        metavar='NAME',
        help='name of a wrist sensor in <ros2_control>, with the state interfaces NAME/force.x '
        'to NAME/torque.z; the model is cut at its link',
    )
    parser.add_argument(
        '--sensor-link',
        default='',
        metavar='LINK',
        help="last link on the arm's side of the sensor (default: the tip)",
    )
    parser.add_argument(
        '--gravity',
        nargs=3,
        type=float,
        metavar=('X', 'Y', 'Z'),
        help='acceleration of free fall in base axes [m/s^2] (default: 0 0 -9.80665)',
    )
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Write the package; return 0.

    Raises
    ------
    NeDynamicsError
        When the model cannot be loaded or has no one tip, a parameter cannot be, or the folder
        holds something already; nothing is written then.
    """
    from ne_dynamics.bring_up import ArmController, find_others, render_controller
    from ne_dynamics.ros import PARAMETERS

    require_packages(args, report=True)
    folder = choose_folder(args, ENDING)
    values = _read_values(args)
    remarks = [f'not of the controller: {name}' for name in find_others(values)]
    model = ModelFile(args)
    robot = model.load()
    robot = replace(robot, tip_link=require_tip(robot, args.tip))
    lacking = _find_lacking(model.text, robot)
    remarks += [
        f'no {kind} effort in <ros2_control>: {", ".join(names)}'
        for kind, names in lacking.items()
    ]
    if 'state_interface' in lacking:
        values.setdefault('state_effort', 'ignore')
    name, settings = folder.absolute().name, PARAMETERS.changed(values)
    controller = ArmController.from_settings(name, robot, settings, args.rate, args.sensor)
    texts = render_controller(controller)
    write_package(folder, texts)
    print_lines(
        [
            f'{folder}: {len(texts)} files for {robot.n} joints, tip {robot.tip_link}',
            *remarks,
            *controller.remarks,
            f'Next: colcon build --packages-select {name}, then',
            f'      ros2 launch {name} controllers.launch.py   ({folder}/README.md)',
        ]
    )
    return 0


def _read_values(args: argparse.Namespace) -> dict[str, Any]:
    """Return the parameters of the node that are asked for, by name."""
    from ne_dynamics.ros import read_parameters

    if args.sensor_link and not args.sensor:
        raise InputError('--sensor-link: expected --sensor beside it')
    given = {} if args.params is None else read_parameters(args.params, '/computed_torque')
    if given.get('wrench.enabled') and not args.sensor:
        raise InputError(f'--sensor: expected the name of the wrist sensor of {args.params}')
    values = given | {'wrench.enabled': bool(args.sensor)}
    if args.sensor_link:
        values['wrench.sensor_link'] = args.sensor_link
    if args.gravity is not None:
        values['gravity'] = args.gravity
    return values


def _find_lacking(text: str, robot: Robot) -> dict[str, list[str]]:
    """Return the joints without an interface `effort` in a URDF, by the kind of the interface."""
    from ne_dynamics.bring_up import find_joints_without_effort

    if not looks_like_xml(text):
        return {}
    found = {
        kind: find_joints_without_effort(text, robot.joint_names, kind)
        for kind in ('command_interface', 'state_interface')
    }
    return {kind: names for kind, names in found.items() if names}
