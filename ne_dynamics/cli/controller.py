"""``ne_dynamics controller MODEL -o FOLDER``: a controller of ros2_control for one arm."""

from __future__ import annotations

import argparse

from ne_dynamics.cli.options.declaration import declare
from ne_dynamics.cli.options.files import declare_output
from ne_dynamics.cli.options.package import MEANING, begin_package
from ne_dynamics.errors import InputError
from ne_dynamics.printable import print_lines

ENDING = '_controller'

add_parser = declare(
    'controller',
    "Write a ROS 2 package with a chainable controller for ros2_control: the arm's equations of "
    'motion as C, computed torque, feed-forward with PD and gravity compensation in C++ around '
    'them, parameters, and a launch file with joint_trajectory_controller in front. At run time '
    'it needs nothing of ne_dynamics.',
    f"""
@model_file
@lock
{declare_output('FOLDER', ENDING, MEANING)}
--rate HZ : natural = 500
    update rate of the controller manager, for which the gains are checked
--params FILE : path
    parameter file of the node computed_torque, such as `ne_dynamics gains --write node` writes
    it: gains, limits, terms and payload are taken over
--sensor NAME
    name of a wrist sensor in <ros2_control>, with the state interfaces NAME/force.x to
    NAME/torque.z; the model is cut at its link
--sensor-link LINK
    last link on the arm's side of the sensor (default: the tip)
--gravity X Y Z : float
    acceleration of free fall in base axes [m/s^2] (default: 0 0 -9.80665)
""",
)


def run(args: argparse.Namespace) -> int:
    """Write the package; return 0. What goes wrong is raised, and nothing is written then."""
    from ne_dynamics.bring_up import ArmController, render_controller, write_package
    from ne_dynamics.ros import read_parameters

    folder, model, robot = begin_package(args, ENDING)
    if args.sensor_link and not args.sensor:
        raise InputError('--sensor-link: expected --sensor beside it')
    values = {} if args.params is None else read_parameters(args.params, '/computed_torque')
    if values.get('wrench.enabled') and not args.sensor:
        raise InputError(f'--sensor: expected the name of the wrist sensor of {args.params}')
    given = {'wrench.sensor_link': args.sensor_link, 'gravity': args.gravity}
    values |= {name: value for name, value in given.items() if value}
    name = folder.absolute().name
    controller = ArmController.of_model(name, model, robot, values, args.rate, args.sensor or '')
    texts, remarks = render_controller(controller), controller.remarks
    print_lines(write_package(folder, texts, robot, remarks, 'controllers.launch.py'))
    return 0
