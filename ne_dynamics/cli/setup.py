"""``ne_dynamics setup MODEL -o FOLDER``: a ROS 2 package that brings up one arm."""

from __future__ import annotations

import argparse

from ne_dynamics.cli.options.declaration import declare
from ne_dynamics.cli.options.files import declare_output
from ne_dynamics.cli.options.package import MEANING, begin_package
from ne_dynamics.errors import ModelError
from ne_dynamics.printable import print_lines

ENDING = '_bringup'

add_parser = declare(
    'setup',
    'Write a ROS 2 package for an arm: parameters, controllers of ros2_control and MoveIt, launch '
    'files for simulation and robot, and layouts for RViz, PlotJuggler and Foxglove, with the '
    'joints, limits and links of the URDF. Build it with colcon, and edit its files as needed.',
    f'@model_file\n@lock\n{declare_output("FOLDER", ENDING, MEANING)}',
)


def run(args: argparse.Namespace) -> int:
    """Write the package; return 0. What goes wrong is raised, and nothing is written then."""
    from ne_dynamics.bring_up import BroughtUpArm, render_package, write_package

    folder, model, robot = begin_package(args, ENDING)
    if not model.is_urdf:
        raise ModelError(f'{args.model}: expected a URDF, got a DH file')
    name, tip_link = folder.absolute().name, robot.tip_link or ''
    arm = BroughtUpArm(name, robot, model.text, tip_link, dict(args.lock))
    texts = render_package(arm)
    extras = model.find_own_extras()
    if extras is not None:
        texts['urdf/arm.extras.yaml'] = extras.read_text(encoding='utf-8')
    print_lines(write_package(folder, texts, robot, arm.remarks, 'simulation.launch.py'))
    return 0
