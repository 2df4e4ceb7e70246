"""``ne_dynamics controller MODEL -o FOLDER``: a controller of ros2_control for one arm."""

from __future__ import annotations

import argparse
from typing import Any

from ne_dynamics.cli.options.package import begin_package, declare_package, write_package
from ne_dynamics.errors import InputError

ENDING = '_controller'

add_parser = declare_package(
    'controller',
    ENDING,
    "Write a ROS 2 package with a chainable controller for ros2_control: the arm's equations of "
    'motion as C, computed torque, feed-forward with PD and gravity compensation in C++ around '
    'them, parameters, and a launch file with joint_trajectory_controller in front. At run time '
    'it needs nothing of ne_dynamics.',
    """
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
    from ne_dynamics.bring_up import (
        ArmController,
        find_joints_without_effort,
        find_others,
        render_controller,
    )
    from ne_dynamics.ros import PARAMETERS

    folder, model, robot = begin_package(args, ENDING)
    values = _read_values(args)
    remarks = [f'not of the controller: {name}' for name in find_others(values)]
    for kind in ('command_interface', 'state_interface') if model.is_urdf else ():
        names = find_joints_without_effort(model.text, robot.joint_names, kind)
        if names:
            remarks.append(f'no {kind} effort in <ros2_control>: {", ".join(names)}')
            if kind == 'state_interface':
                values.setdefault('state_effort', 'ignore')
    name, settings = folder.absolute().name, PARAMETERS.changed(values)
    controller = ArmController.from_settings(name, robot, settings, args.rate, args.sensor or '')
    remarks += controller.remarks
    write_package(folder, render_controller(controller), robot, remarks, 'controllers.launch.py')
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
