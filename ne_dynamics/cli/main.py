# PYTHON_ARGCOMPLETE_OK
"""Entry point of the command ``ne_dynamics``.

Every subcommand is a module of this package that offers ``add_parser(subparsers)``, which takes
what ``ArgumentParser.add_subparsers`` returned, and ``run(args) -> int``. Only the module that was
asked for is imported, so that the command answers at once whatever the others need.
"""

from __future__ import annotations

import argparse
import importlib
import os
import sys
from collections.abc import Sequence
from types import ModuleType

from ne_dynamics import __version__
from ne_dynamics.cli.options.parser import CommandParser, complete_help, name_option, read_commands
from ne_dynamics.program import run_with_exit_code

COMMANDS = read_commands("""
annotate: add efforts to a trajectory, as feed-forward for other controllers
    annotate arm.urdf plan.yaml plan_with_efforts.yaml
    annotate arm.urdf plan.yaml slower.yaml --retime --effort-share 0.8
    * --start --retime --payload-mass --without --json
bench: show how speed is compared with other libraries
check: list errors and doubtful values in a robot description
    check arm.urdf
    check arm.urdf --tip-link tool0 --json
commission: guided run from a URDF to an arm that follows its motions
    commission --simulated --yes -o simulated_run
    commission --model arm.urdf --tip-link tool0 -o run
controller: write a ros2_control controller for an arm: generated C, chainable, real time
    controller arm.urdf --tip-link tool0 -o my_arm_controller
    controller arm.urdf --tip-link tool0 --rate 1000 --params gains.params.yaml -o fast_controller
    * -o --rate --params --sensor
demo: compare control laws on a simulated arm
    demo
    demo --scenario tool-load --output pictures
equations: print the equations of motion of a robot as generated source
    equations arm.urdf --function gravity_torque --language c
    equations arm.urdf --all --language c -o arm_dynamics
evaluate: compare the efforts of a log with those of a model
    evaluate arm.urdf log.csv
    evaluate arm.urdf bag_folder --tip-link tool0 --report page.html
    * --repair --rename --plot --report --json
excite: plan the most informative motion for inertias and friction
    excite arm.urdf -o motion.yaml
    excite arm.urdf --tip-link tool0 --duration 20 --effort-share 0.6 -o short.yaml
    * --start --duration --effort-share --velocity-share --keep-out -o --json
gains: compute gains from model, uncertainty and timing of the loop
    gains arm.urdf --rate 500 --delay 0.004 --encoder-bits 17
    gains arm.urdf --write node gains.params.yaml --prove 20
    * --rate --delay --encoder-bits --uncertainty --payload --mode --write --prove --plot -o --json
identify: fit inertias and friction to a log, and write the URDF
    identify arm.urdf log.csv -o identified.urdf --report page.html
    identify arm.urdf log.csv --payload --without empty.csv
    * -o --report --repair --payload --drive-gains --without --rename --force --json
ik: inverse kinematics: joint positions for a pose of a link
    ik arm.urdf --tip-link tool0 --position 0.5 0 0.4
    ik arm.urdf --tip-link tool0 --position 0.5 0 0.4 --rpy 3.14159 0 0 --all
reproduce: reproduce the results of the publications behind this package
    reproduce counts
    reproduce forms arm.urdf
setup: write a ROS 2 package that brings up an arm, from its URDF
    setup arm.urdf --tip-link tool0
    setup arm.urdf --tip-link tool0 -o my_arm_bringup --lock finger_joint=0.02
whatis: find what a driver reports, and write it as parameters of the node
    whatis arm.urdf log.csv -o driver.params.yaml
    whatis arm.urdf --live --seconds 30
""")
"""Subcommands, as `--help` shows them."""


def build_parser(command: str | None = None, shows_all: bool = False) -> argparse.ArgumentParser:
    """Return the parser of the command line.

    The module of the command is imported and adds its arguments; the others only show up in the
    help. That of the command is short, or shows all.
    """
    parser = CommandParser(
        prog='ne_dynamics',
        description='Newton-Euler robot dynamics and computed-torque control.',
        epilog='`ne_dynamics COMMAND --help` shows the options of a command.',
    )
    parser.add_argument('--version', action='version', version=f'ne_dynamics {__version__}')
    subparsers = parser.add_subparsers(dest='command', metavar='COMMAND', required=True)
    for name, described in COMMANDS.items():
        if name == command:
            _module(name).add_parser(subparsers)
            if described.examples:
                complete_help(subparsers.choices[name], described, shows_all)
        else:
            subparsers.add_parser(name, help=described.summary)
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line, by default with the arguments of the process; return the exit code.

    As :func:`~ne_dynamics.program.run_with_exit_code` does; arguments that cannot be parsed exit
    with 2 on the spot.
    """
    if '_ARGCOMPLETE' in os.environ:
        _offer_completions('' if arguments is None else arguments[0])
    arguments = sys.argv[1:] if arguments is None else list(arguments)
    command = arguments[0] if arguments and arguments[0] in COMMANDS else None

    def run() -> int:
        shows_all = any(word.startswith('--help-') for word in arguments)
        parsed = build_parser(command, shows_all).parse_args(arguments)
        with name_option(parsed):
            return int(_module(parsed.command).run(parsed))

    return run_with_exit_code(f'ne_dynamics {command}', run)


def _offer_completions(given: str) -> None:
    """Tell a shell how its line may go on, and end: argcomplete has called for that.

    The given command is that which a program of its own stands for; '' for none.
    """
    import argcomplete

    if given:
        program, _, rest = os.environ.get('COMP_LINE', '').partition(' ')
        os.environ['COMP_LINE'] = f'{program} {given} {rest}'
        os.environ['COMP_POINT'] = str(int(os.environ['COMP_POINT']) + len(given) + 1)
    words = os.environ.get('COMP_LINE', '').split()
    command = words[1] if len(words) > 1 and words[1] in COMMANDS else None
    argcomplete.autocomplete(build_parser(command), print_suppressed=True)


def _module(command: str) -> ModuleType:
    return importlib.import_module(f'ne_dynamics.cli.{command}')


if __name__ == '__main__':
    sys.exit(main())
