"""The command line of the executables: what cannot be is refused in one line.

Everything that an executable takes comes after `--ros-args` and is read by ROS, whose errors are
exceptions that name places in its sources. Here they become one line that says what was wrong.
"""

from __future__ import annotations

import argparse
import contextlib
import re
import sys
from collections.abc import Iterator, Sequence
from typing import Any

import rclpy
from rclpy.exceptions import ParameterException
from rclpy.signals import SignalHandlerOptions

from ne_dynamics.errors import CommandLineError

ROS_ARGUMENTS, END_OF_ROS_ARGUMENTS = '--ros-args', '--'

EPILOG = """
after --ros-args, as for every ROS node:
  -p NAME:=VALUE, --params-file FILE    parameters: doc/parameters.md for the node,
                                        config/NAME_OF_THE_EXECUTABLE.params.yaml for both
  -r FROM:=TO                           other names of topics; __ns:=NAME, __node:=NAME
  --log-level LEVEL                     debug, info, warn, error or fatal

example:
  {name} --ros-args -p model_file:=arm.urdf
"""

_WRAPPING = re.compile(r'^(?:failed to initialize \w+: )+')
_PLACES = re.compile(r',? at (?:line_num \d+, at )?/\S+:\d+')
_LINE = re.compile(r'at line_num (\d+)')


def check_arguments(name: str, description: str, arguments: Sequence[str] | None = None) -> None:
    """Answer `--help`, and refuse what is not for ROS: nothing else is taken.

    Parameters
    ----------
    name : str
        Of the executable.
    description : str
        One sentence for `--help`.
    arguments : sequence of str, optional
        Without the name of the program; default: those of the process.

    Raises
    ------
    SystemExit
        With exit code 0 after `--help`, with 2 where there is another argument.
    """
    parser = argparse.ArgumentParser(
        prog=name,
        usage=f'{name} [--help] [--ros-args ...]',
        description=description,
        epilog=EPILOG.format(name=name),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    others = _not_for_ros(sys.argv[1:] if arguments is None else arguments)
    unknown = parser.parse_known_args(others)[1]
    if unknown:
        parser.error(
            f'expected nothing but --help and what comes after {ROS_ARGUMENTS}, got '
            f'{" ".join(unknown)!r}'
        )


def _not_for_ros(arguments: Sequence[str]) -> list[str]:
    others, is_for_ros = [], False
    for argument in arguments:
        if is_for_ros:
            is_for_ros = argument != END_OF_ROS_ARGUMENTS
        elif argument == ROS_ARGUMENTS:
            is_for_ros = True
        else:
            others.append(argument)
    return others


def start_rclpy(arguments: Sequence[str] | None = None) -> None:
    """Initialise rclpy with arguments, or those of the process, without handlers of signals.

    Raises
    ------
    CommandLineError
        When rclpy cannot be started: an argument or a parameter file that ROS cannot read, a
        domain that there is not.
    """
    given = None if arguments is None else list(arguments)
    try:
        rclpy.init(args=given, signal_handler_options=SignalHandlerOptions.NO)
    except RuntimeError as error:
        if type(error).__name__ == 'UnknownROSArgsError':
            raise CommandLineError(f'unknown ROS arguments: {error}') from error
        raise CommandLineError(plain_reason(str(error))) from error


@contextlib.contextmanager
def readable_parameters() -> Iterator[Any]:
    """Turn what rclpy says of its own parameters, such as `use_sim_time`, into one line.

    Raises
    ------
    CommandLineError
        When one of them was given a value that it cannot have.
    """
    try:
        yield
    except ParameterException as error:
        raise CommandLineError(plain_reason(str(error))) from error


def plain_reason(text: str) -> str:
    """Return an error of rcl without the places in its sources."""
    line = _LINE.search(text)
    plain = _PLACES.sub('', _WRAPPING.sub('', ' '.join(text.split())))
    return f'{plain}, in line {line[1]}' if line and 'line_num' not in plain else plain
