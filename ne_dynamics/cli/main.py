# PYTHON_ARGCOMPLETE_OK
"""Entry point of the command ``ne_dynamics``.

Every subcommand is a module of this package that offers ``add_parser(subparsers)``, which takes
what ``ArgumentParser.add_subparsers`` returned, and ``run(args) -> int``. Only the module that was
asked for is imported, so that the command answers at once whatever the others need.
"""

from __future__ import annotations

import argparse
import contextlib
import errno
import importlib
import os
import stat
import sys
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import TextIO

from ne_dynamics import __version__
from ne_dynamics.cli.options.parser import CommandParser, complete_help, read_commands
from ne_dynamics.errors import EXIT_ERROR, EXIT_INTERRUPTED, NeDynamicsError
from ne_dynamics.printable import print_lines

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

EXIT_BROKEN_PIPE = 141
"""128 and the number of SIGPIPE."""

_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


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

    What the subcommand returned; 1 after an error, whose message is on stderr; 130 when
    interrupted; 141 when the reader of the output went away. Arguments that cannot be parsed exit
    with 2 on the spot.
    """
    if '_ARGCOMPLETE' in os.environ:
        _offer_completions('' if arguments is None else arguments[0])
    arguments = sys.argv[1:] if arguments is None else list(arguments)
    command = arguments[0] if arguments and arguments[0] in COMMANDS else None

    def run() -> int:
        shows_all = any(word.startswith('--help-') for word in arguments)
        parsed = build_parser(command, shows_all).parse_args(arguments)
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


def run_with_exit_code(program: str, run: Callable[[], int]) -> int:
    """Run a program; return what it returns, or the exit code of an error as :func:`main` does."""
    try:
        try:
            return _run(program, run)
        finally:
            _flush_output()
    except BrokenPipeError:
        _drop_output()
        return EXIT_BROKEN_PIPE
    except KeyboardInterrupt:
        return EXIT_INTERRUPTED
    except OSError as error:
        return _fail(program, _explain_nameless(error))


def _run(program: str, run: Callable[[], int]) -> int:
    """Run a program; errors of standard output are the caller's."""
    try:
        return run()
    except NeDynamicsError as error:
        return _fail(program, str(error))
    except OSError as error:
        if error.filename is None:
            raise
        return _fail(program, f'{error.filename}: {error.strerror}')


def _explain_nameless(error: OSError) -> str:
    """Return the message for an error that names no file: who writes to one names it.

    It is raised again where it is not about a disk that is full, nor standard output at fault.
    """
    is_full = error.errno in _FULL
    is_output = is_full and _can_be_full()  # a text that is not buffered is lost by now
    try:
        _flush_output()  # what could not be written may still be there
    except OSError as again:
        error, is_output = again, True
    if is_output:
        target = ''
        with contextlib.suppress(OSError, ValueError):
            target = os.readlink(f'/proc/self/fd/{sys.stdout.fileno()}')
        _drop_output()
        where = f' ({target})' if target.startswith('/') else ''
        return f'standard output{where}: {error.strerror}'
    if not is_full:
        raise error
    return f'cannot write a file: {error.strerror}'


def _can_be_full() -> bool:
    """Return whether standard output is a file or a device, which can be full."""
    try:
        mode = os.fstat(sys.stdout.fileno()).st_mode
        return stat.S_ISREG(mode) or (stat.S_ISCHR(mode) and not sys.stdout.isatty())
    except (AttributeError, OSError, ValueError):  # closed, or a text in memory
        return False


def _flush_output() -> None:
    # Where standard output is closed Python has none.
    stream: TextIO | None = sys.stdout
    if stream is not None:
        stream.flush()


def _drop_output() -> None:
    """Give what standard output still holds somewhere to go: Python flushes it at exit."""
    with contextlib.suppress(OSError, ValueError):  # no file: a text in memory
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _module(command: str) -> ModuleType:
    return importlib.import_module(f'ne_dynamics.cli.{command}')


def _fail(program: str, message: str) -> int:
    # A line end in a name does not begin a line of ours.
    first, *others = message.split('\n')
    lines = [f'{program}: error: {first}', *(f'  {line}' for line in others)]
    print_lines(lines, sys.stderr)
    return EXIT_ERROR


if __name__ == '__main__':
    sys.exit(main())
