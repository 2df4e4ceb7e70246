"""``ne_dynamics setup MODEL -o FOLDER``: a ROS 2 package that brings up one arm."""

from __future__ import annotations

import argparse

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
from ne_dynamics.errors import ModelError
from ne_dynamics.model.description_file import looks_like_xml
from ne_dynamics.printable import print_lines

ENDING = '_bringup'


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the subcommand to a parser."""
    parser = subparsers.add_parser(
        'setup',
        description='Write a ROS 2 package for an arm: parameters, controllers of ros2_control '
        'and MoveIt, launch files for simulation and robot, and layouts for RViz, '
        'PlotJuggler and Foxglove, with the joints, limits and links of the URDF. '
        'Build it with colcon, and edit its files as needed.',
    )
    add_model_file(parser)
    add_lock(parser)
    add_package_folder(parser, ENDING)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Write the package; return 0.

    Raises
    ------
    NeDynamicsError
        When the model cannot be loaded or has no one tip, or the folder holds something already;
        nothing is written then.
    """
    from ne_dynamics.bring_up import BroughtUpArm, render_package

    require_packages(args, report=True)
    folder = choose_folder(args, ENDING)
    model = ModelFile(args)
    if not looks_like_xml(model.text):
        raise ModelError(f'{args.model}: expected a URDF, got a DH file')
    robot = model.load()
    tip_link = require_tip(robot, args.tip)
    arm = BroughtUpArm(folder.absolute().name, robot, model.text, tip_link, dict(args.lock))
    texts = render_package(arm)
    extras = model.find_own_extras()
    if extras is not None:
        texts['urdf/arm.extras.yaml'] = extras.read_text(encoding='utf-8')
    write_package(folder, texts)
    missing = arm.find_joints_without_effort()
    lines = [f'{folder}: {len(texts)} files for {robot.n} joints, tip {tip_link}']
    if missing:
        lines.append(f'no command interface effort in <ros2_control>: {", ".join(missing)}')
    if arm.effort_limits is None:
        lines.append('a joint has no effort limit: set effort_limits before the first trial')
    lines += [
        f'Next: colcon build --packages-select {arm.package}, then',
        f'      ros2 launch {arm.package} simulation.launch.py   ({folder}/README.md)',
    ]
    print_lines(lines)
    return 0
