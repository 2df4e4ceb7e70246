"""Numbers among the arguments of a subcommand."""

from __future__ import annotations

import argparse
import math


def number(text: str) -> float:
    """Return a finite number."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise argparse.ArgumentTypeError(f'expected a finite number, got {text!r}')
    return value


def positive(text: str) -> float:
    """Return a finite number > 0."""
    value = number(text)
    if not value > 0.0:
        raise argparse.ArgumentTypeError(f'expected a number > 0, got {text}')
    return value


def natural(text: str) -> int:
    """Return a whole number that is not negative; for argparse."""
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f'expected a whole number >= 0, got {text!r}')
    return int(text)
