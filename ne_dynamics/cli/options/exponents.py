"""Negative numbers with an exponent among the arguments of an option."""

from __future__ import annotations

import argparse
import re

NEGATIVE_NUMBER = re.compile(r'-(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?$')


def accept_exponents(parser: argparse.ArgumentParser) -> None:
    """Let a parser take -1e-3 for a number.

    By itself argparse takes it for an unknown option, unlike -0.001; JSON writes small numbers so.
    """
    parser._negative_number_matcher = NEGATIVE_NUMBER
