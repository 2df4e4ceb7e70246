"""``ne_dynamics bench``: says where the measurements are; they are not installed."""

from __future__ import annotations

import argparse
from typing import Any

from ne_dynamics.errors import InputError

WHERE = (
    'the measurements are not installed: run `make bench`, or `python -m benchmark` with the same '
    'options, in a checkout of ne_dynamics'
)


def add_parser(subparsers: Any) -> None:
    """Add the subcommand, which takes whatever it took before."""
    # No option begins with this: all that is given is an argument.
    parser = subparsers.add_parser(
        'bench', add_help=False, prefix_chars='\0', usage='ne_dynamics bench', description=WHERE
    )
    parser.add_argument('arguments', nargs='*', help=argparse.SUPPRESS)
    parser.set_defaults(parser=parser)


def run(args: argparse.Namespace) -> int:
    """Say where the measurements are, as an error unless help is asked for."""
    if not {'-h', '--help'}.intersection(args.arguments):
        raise InputError(WHERE)
    args.parser.print_help()
    args.parser.exit()
    return 0
