"""``ne_dynamics whatis --model MODEL LOG``: what a driver reports, and how late."""

from __future__ import annotations

import argparse

from ne_dynamics.cli.options import files
from ne_dynamics.cli.options.declaration import declare, take
from ne_dynamics.cli.options.model import read_model, require_packages
from ne_dynamics.driver import describe_driver
from ne_dynamics.driver.collecting import MessageCollector
from ne_dynamics.driver.listening import listen
from ne_dynamics.driver.reading import write_csv
from ne_dynamics.driver.robot_recording import RobotRecording, list_command_joints
from ne_dynamics.dynamics import Dynamics
from ne_dynamics.errors import InputError
from ne_dynamics.logs.readers.bag import is_bag
from ne_dynamics.logs.recorded_joints import LogRequest
from ne_dynamics.prepared_file import STANDARD, write_text
from ne_dynamics.simulation.demo.ros_process import terminated_in_order

ENDING = '_driver.params.yaml'
WRITTEN = 'parameter file of the node to write; - for standard output'

add_parser = declare(
    'whatis',
    'Find for each joint whether a driver reports torques or currents, with or without gravity '
    'and friction, with which sign, scale and offset; the source of its velocities; steps, rate '
    'and gaps; and the delay of commands. Each result is known, likely, or cannot be told, with '
    'what would tell. Sends no commands.',
    f"""
@model_file
[LOG] > log
    CSV with a header (time, <joint>.position, optionally .velocity, .effort, .command; or t, q1,
    dq1, tau1; UR's RTDE; PlotJuggler; `ros2 topic echo --csv`), or ROS 2 bag
--live
    listen to topics instead of reading a log
--seconds S : positive = 20
    how long to listen
--topic TOPIC
    topic of the joint states (default: the only one of a bag; live: joint_states)
--command-topic TOPIC
    topic of the commands (default: the only array of a bag; live: none)
--command-joints JOINT...
    order of a command array (default: that of the model)
@gravity
@columns
{files.declare_output('FILE', ENDING, WRITTEN, 'str')}
--save-log FILE.csv
    save what was read or heard
@json
""",
)


def run(args: argparse.Namespace) -> int:
    """Describe a driver, print it and write its profile; return 0.

    That no profile would make the node right for the driver is an error once all is printed.
    """
    if args.live == (args.log is not None):
        raise InputError(
            f'expected a LOG or --live, got {"both" if args.live else "neither"} of them'
        )
    if args.live and args.columns is not None:
        raise InputError('--columns: expected none with --live')
    require_packages(args, ros=args.live, bag=args.log is not None and is_bag(args.log))
    files.settle_output(args, ENDING)
    outputs = [('-o', args.output), ('--save-log', args.save_log)]
    files.check_files(args, outputs, LOG=args.log)
    model, request = read_model(args), LogRequest(**take(LogRequest, args))
    recorded: str | MessageCollector = args.log
    topic, joints = args.command_topic, args.command_joints or ()
    if args.live:
        order = list_command_joints(model.load(), request, joints)
        recorded = listen(order, args.seconds, args.topic, topic, files.say)
    # A bag may be unpacked into temporary files: whatever ends this removes them.
    with terminated_in_order():
        found = RobotRecording.read(model, recorded, request, files.say, topic, joints)
    # What was heard is not lost if it cannot be described.
    if args.save_log is not None:
        write_csv(args.save_log, found.recording)
    dynamics = Dynamics(found.robot, args.gravity, backend='python')
    description = describe_driver(dynamics, found.recording)
    obstacles = description.obstacles()
    lines = [*found.notes, *description.text().split('\n')]
    if args.output is not None and not obstacles:
        write_text(args.output, description.profile())
        lines += ['', f'wrote {args.output}'] * (args.output != STANDARD)
    document = {'model': args.model, 'notes': found.notes, **description.as_json()}
    files.print_result(args, document, lines)
    if args.output is not None and obstacles:
        head = f'{args.output}: not written: no parameter of the node makes this right:'
        raise InputError('\n'.join([head, *obstacles]))
    return 0
