"""Entry point of the command ``ne_dynamics``.

Every subcommand is a module of this package that offers ``add_parser(subparsers)`` and
``run(args) -> int``. Only the module that was asked for is imported, so that the command answers
at once whatever the others need.
"""

from __future__ import annotations

import argparse
import importlib
import os
import sys
from collections.abc import Sequence
from types import ModuleType

from ne_dynamics import __version__
from ne_dynamics.errors import NeDynamicsError
from ne_dynamics.printable import print_lines

COMMANDS = {
    'annotate': 'fill a trajectory with efforts, as feed-forward for other controllers',
    'bench': 'say how speed is measured beside other libraries',
    'check': 'list what is wrong or doubtful in a robot description',
    'commission': 'a guided run: from a given model to an arm that follows its motions',
    'demo': 'follow a trajectory in simulation, one control law after the other, and compare',
    'equations': 'print the equations of motion of a robot as generated source',
    'evaluate': 'compare the efforts in a log with those of a model, joint by joint',
    'excite': 'plan the motion that tells most about inertias and friction',
    'gains': 'compute gains from the model, its uncertainty and the timing of the loop',
    'identify': 'fit inertias and friction of a model to a log, and write its URDF anew',
    'ik': 'find joint positions that bring a link to a pose',
    'reproduce': 'compute anew what the source documents report',
    'whatis': 'find what a driver reports, and how late, and write its profile for the node',
}
"""Subcommands and the line that ``--help`` prints for each."""

EXIT_ERROR = 1
EXIT_INTERRUPTED = 130
EXIT_BROKEN_PIPE = 141


def build_parser(command: str | None = None) -> argparse.ArgumentParser:
    """Return the parser of the command line.

    Parameters
    ----------
    command : str, optional
        Subcommand whose module is imported and adds its arguments; the others only show up in
        the help.
    """
    parser = argparse.ArgumentParser(
        prog='ne_dynamics',
        description='Newton-Euler robot dynamics and computed-torque control.',
        epilog='`ne_dynamics COMMAND --help` shows what a command takes.',
    )
    parser.add_argument('--version', action='version', version=f'ne_dynamics {__version__}')
    subparsers = parser.add_subparsers(dest='command', metavar='COMMAND', required=True)
    for name, summary in COMMANDS.items():
        if name == command:
            _module(name).add_parser(subparsers)
        else:
            subparsers.add_parser(name, help=summary)
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line.

    Parameters
    ----------
    arguments : sequence of str, optional
        Default: those of the process.

    Returns
    -------
    int
        Exit code: what the subcommand returned; 1 after an error, whose message is on stderr;
        130 when interrupted; 141 when the reader of the output went away. Arguments that cannot
        be parsed exit with 2 on the spot.
    """
    arguments = sys.argv[1:] if arguments is None else list(arguments)
    command = arguments[0] if arguments and arguments[0] in COMMANDS else None
    try:
        parsed = build_parser(command).parse_args(arguments)
        code = int(_module(parsed.command).run(parsed))
        sys.stdout.flush()
    except BrokenPipeError:
        # Python flushes stdout once more at exit: give it somewhere to go.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return EXIT_BROKEN_PIPE
    except KeyboardInterrupt:
        return EXIT_INTERRUPTED
    except NeDynamicsError as error:
        return _fail(command, str(error))
    except OSError as error:
        if error.filename is None:
            raise
        return _fail(command, f'{error.filename}: {error.strerror}')
    return code


def _module(command: str) -> ModuleType:
    return importlib.import_module(f'ne_dynamics.cli.{command}')


def _fail(command: str | None, message: str) -> int:
    # A line end in a name does not begin a line of ours.
    first, *others = message.split('\n')
    lines = [f'ne_dynamics {command}: error: {first}', *(f'  {line}' for line in others)]
    print_lines(lines, sys.stderr)
    return EXIT_ERROR


if __name__ == '__main__':
    sys.exit(main())
