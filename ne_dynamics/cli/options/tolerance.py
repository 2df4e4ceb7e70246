"""The option ``--tolerance`` of the subcommands that build equations."""

from __future__ import annotations

import argparse


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
        help='drop numbers that change no joint effort by more than this part of it; 1e-7 for '
        f'files that write 1.5707963 for a quarter turn, 0 for nothing{meaning}',
    )


def _tolerance(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0.0 <= value < 1e-2:
        raise argparse.ArgumentTypeError(f'expected 0 <= tolerance < 0.01, got {text!r}')
    return value
