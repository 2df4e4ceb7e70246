"""Numbers, and options of one line, that several subcommands take."""

from __future__ import annotations

import argparse
import contextlib
import math
import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, TypeVar

from ne_dynamics.dynamics import STANDARD_GRAVITY
from ne_dynamics.model.extras import Extras, choose_extras

if TYPE_CHECKING:
    from ne_dynamics.logs.work import Work

Number = TypeVar('Number', int, float)

MOST_JOBS = 256

NEGATIVE_NUMBER = re.compile(r'-(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?$')


def number(text: str) -> float:
    """Return a finite number."""
    return _read(text, float, 'a finite number')


def positive(text: str) -> float:
    """Return a finite number > 0."""
    return _read(text, float, 'a number > 0', math.nextafter(0.0, 1.0))


def not_negative(text: str) -> float:
    """Return a finite number >= 0."""
    return _read(text, float, 'a number >= 0', 0.0)


def _read(
    text: str, read: Callable[[str], Number], expected: str, least: float = -math.inf
) -> Number:
    try:
        value = read(text)
        is_good = math.isfinite(value) and value >= least
    except (ValueError, OverflowError):
        is_good = False
    if not is_good:
        raise argparse.ArgumentTypeError(f'expected {expected}, got {text!r}')
    return value


def named_number(text: str) -> tuple[str, float]:
    """Return a joint and its finite number, of JOINT=NUMBER."""
    name, _, value = text.rpartition('=')
    try:
        result = name, number(value)
    except argparse.ArgumentTypeError:
        name = ''
    if not name:
        raise argparse.ArgumentTypeError(f'expected JOINT=NUMBER, got {text!r}')
    return result


def count(text: str) -> int:
    """Return a whole number >= 1; for argparse."""
    return _read(text, int, 'a whole number >= 1', 1)


def natural(text: str) -> int:
    """Return a whole number that is not negative; for argparse."""
    return _read(text, int, 'a whole number >= 0', 0)


def accept_exponents(parser: argparse.ArgumentParser) -> None:
    """Let a parser take -1e-3 for a number.

    By itself argparse takes it for an unknown option, unlike -0.001; JSON writes small numbers so.
    """
    parser._negative_number_matcher = NEGATIVE_NUMBER


def add_extras(parser: argparse.ArgumentParser) -> None:
    """Add the option to a parser; :func:`get_extras` returns what was chosen."""
    parser.add_argument(
        '--extras',
        metavar='FILE',
        default='',
        help='YAML file with friction, rotor inertias and gear ratios; `none` for no file '
        '(default: NAME.extras.yaml beside NAME.urdf, if it exists)',
    )


def get_extras(args: argparse.Namespace) -> Extras:
    """Return what :func:`~ne_dynamics.model.files.load_model` takes as `extras`."""
    return choose_extras(args.extras)


def add_gravity(parser: argparse._ActionsContainer) -> None:
    """Add the option `--gravity` to a parser."""
    parser.add_argument(
        '--gravity',
        nargs=3,
        type=number,
        metavar=('X', 'Y', 'Z'),
        default=STANDARD_GRAVITY,
        help='acceleration of free fall in the axes of the base link [m/s^2] (default: 0 0 '
        '-9.80665)',
    )


def add_tolerance(parser: argparse.ArgumentParser, meaning: str) -> None:
    """Add the option to a parser; without it the value is None.

    Parameters
    ----------
    parser : argparse.ArgumentParser
    meaning : str
        What the subcommand does with it, for the help.
    """
    parser.add_argument(
        '--tolerance',
        metavar='PART',
        type=_tolerance,
        help='drop numbers that change no joint effort by more than this part of it: 1e-7 for '
        f'files that write 1.5707963 for a quarter turn, 0 for none{meaning}',
    )


def _tolerance(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0.0 <= value < 1e-2:
        raise argparse.ArgumentTypeError(f'expected 0 <= tolerance < 0.01, got {text!r}')
    return value


def add_work(parser: argparse.ArgumentParser) -> None:
    """Add the options to a parser."""
    group = parser.add_mutually_exclusive_group()
    group.add_argument(
        '--jobs',
        type=_jobs,
        default=1,
        metavar='N',
        help='number of processes for long logs (default: 1)',
    )
    group.add_argument(
        '--scheduler',
        metavar='ADDRESS',
        help='address of a Dask scheduler, tcp://HOST:PORT, instead of --jobs; its workers need '
        'the same version of this package (extra `cluster`)',
    )


def _jobs(text: str) -> int:
    if not text.isdecimal() or not 1 <= int(text) <= MOST_JOBS:
        raise argparse.ArgumentTypeError(
            f'expected a number of processes from 1 to {MOST_JOBS}, got {text!r}'
        )
    return int(text)


@contextlib.contextmanager
def open_work(args: argparse.Namespace) -> Iterator[Work]:
    """Yield how the work on logs is done.

    Raises
    ------
    NeDynamicsError
        When the scheduler does not answer, or its workers do not fit.
    """
    from ne_dynamics.logs.executors import open_executor
    from ne_dynamics.logs.work import Work
    from ne_dynamics.progress_bar import show_items

    with open_executor(args.jobs, args.scheduler) as executor:
        yield Work(executor, None if args.json else show_items)
