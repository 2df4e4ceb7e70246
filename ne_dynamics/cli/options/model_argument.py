"""Which argument of a subcommand is the model: it stands first, or after ``--model``."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence


def settle_model(
    parser: argparse.ArgumentParser,
    others: Sequence[str],
    variable: str,
    is_optional: bool,
    args: argparse.Namespace,
) -> None:
    """Find out which argument is the model: with `--model`, the first is one of the others.

    So it is with the variable of the environment, '' for none, where one is left over. The others
    are those without an option behind the model, in their order. A model is optional for a
    subcommand that does without, or says itself that there is none.
    """
    is_over = bool(others) and getattr(args, others[-1]) is None
    if is_over and None not in (args.first, os.environ.get(variable)):
        args.model = args.model or os.environ[variable]
    if args.model is None:
        args.model = args.first or os.environ.get(variable)
        if args.model is None and not is_optional:
            before = f' before {others[0].upper()}' if others else ''
            given = getattr(args, others[0]) if others else None
            got = f'{given[0]!r} alone' if given else 'neither'
            parser.error(f'expected MODEL{before} or --model MODEL, got {got}')
    elif args.first is not None:
        _shift(parser, args, others)


def _shift(
    parser: argparse.ArgumentParser, args: argparse.Namespace, others: Sequence[str]
) -> None:
    """Give the first argument to the others: it is none of theirs that is missing."""
    value = args.first
    for name in others:
        held = getattr(args, name)
        if isinstance(held, list):
            held.insert(0, value)
            return
        setattr(args, name, value)
        value = held
        if value is None:
            return
    parser.error(f'expected either MODEL or --model MODEL, got both: {value!r}')
