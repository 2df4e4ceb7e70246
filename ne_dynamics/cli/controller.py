"""``ne_dynamics controller MODEL -o FOLDER``: a controller of ros2_control for one arm."""

from __future__ import annotations

import argparse
from pathlib import Path

from ne_dynamics.cli.options.model_file import ModelFile, add_lock, add_model_file
from ne_dynamics.cli.options.output_file import check_folder, write_text
from ne_dynamics.errors import InputError
from ne_dynamics.model.description_file import looks_like_xml
from ne_dynamics.printable import print_lines


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
    parser.add_argument(
        '-o',
        '--output',
        type=Path,
        required=True,
        metavar='FOLDER',
        help='new folder, whose name is that of the package',
    )
    parser.add_argument(
        '--rate',
        type=int,
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
    from ne_dynamics.bring_up import (
        ArmController,
        find_joints_without_effort,
        find_others,
        render_controller,
        require_tip,
    )
    from ne_dynamics.ros import PARAMETERS, read_parameters

    folder: Path = args.output
    check_folder(folder)
    if folder.exists() and any(folder.iterdir()):
        raise InputError(f'-o: expected a new or empty folder, got {str(folder)!r}')
    if args.sensor_link and not args.sensor:
        raise InputError('--sensor-link: expected --sensor beside it')
    given = {} if args.params is None else read_parameters(args.params, '/computed_torque')
    if given.get('wrench.enabled') and not args.sensor:
        raise InputError(
            f'--sensor: expected the name of the wrist sensor, as {args.params} has one'
        )
    values = given | {'wrench.enabled': bool(args.sensor)}
    if args.sensor_link:
        values['wrench.sensor_link'] = args.sensor_link
    if args.gravity is not None:
        values['gravity'] = args.gravity
    model = ModelFile(args)
    robot = require_tip(model.load())
    remarks = []
    if looks_like_xml(model.text):
        for kind in ('command_interface', 'state_interface'):
            missing = find_joints_without_effort(model.text, robot.joint_names, kind)
            if missing:
                remarks.append(f'no {kind} effort in <ros2_control>: {", ".join(missing)}')
                if kind == 'state_interface':
                    values.setdefault('state_effort', 'ignore')
    settings = PARAMETERS.changed(values)
    controller = ArmController.from_settings(
        folder.absolute().name, robot, settings, args.rate, args.sensor
    )
    texts = render_controller(controller)
    for path, text in texts.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        write_text(str(folder / path), text)
    lines = [f'{folder}: {len(texts)} files for {robot.n} joints, tip {robot.tip_link}']
    lines += [f'not of the controller: {name}' for name in find_others(given)]
    lines += [*remarks, *controller.remarks]
    lines += [
        f'Next: colcon build --packages-select {controller.package}, then',
        f'      ros2 launch {controller.package} controllers.launch.py   ({folder}/README.md)',
    ]
    print_lines(lines)
    return 0
