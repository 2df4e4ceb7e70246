"""Files that options name: names by default, whether they can be written, reading, writing."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from ne_dynamics.json_numbers import as_json
from ne_dynamics.prepared_file import (
    STANDARD,
    check_outputs,
    generate_names,
    get_stem,
    is_free,
)
from ne_dynamics.printable import print_lines


def say(lines: Iterable[str]) -> None:
    """Print lines on standard error."""
    print_lines(lines, sys.stderr)


def declare_output(value: str, ending: str, meaning: str, reader: str = 'path') -> str:
    """Return the row of the option for what is written, FILE or FOLDER.

    Where nobody names it :func:`settle_output` does: after the model, with the ending.
    """
    return (
        f'-o, --output [{value}] : {reader}\n'
        f'    {meaning} (without a name: MODEL{ending}, with a number where that is there)'
    )


def settle_output(
    args: argparse.Namespace,
    ending: str,
    *beside: str,
    source: str | None = None,
    is_always: bool = False,
) -> None:
    """Give the output a name in this folder, where it is asked for without one, or always.

    It is that of the source, by default the model, up to its first dot, and the ending; with a
    number where it, or one with an ending of what is written beside it, is taken. It is said.
    """
    if args.output is True or (is_always and args.output is None):
        first = Path(get_stem(source or args.model) + ending)
        args.output = next(name for name in generate_names(first) if is_free(name, *beside))
        say([f'output: {args.output}' + f' ({first} is there)' * (args.output != first)])


def print_result(
    args: argparse.Namespace, document: Mapping[str, Any], lines: Iterable[str]
) -> None:
    """Print what a command found: with `--json` for programs, without it for people.

    The document as :func:`~ne_dynamics.json_numbers.as_json` has it. On standard error, where
    standard output is the file that it writes.
    """
    out = sys.stderr if getattr(args, 'output', None) == STANDARD else None
    if args.json:
        print(json.dumps(as_json(document), indent=2, allow_nan=False), file=out)
    else:
        print_lines(lines, out)


def check_files(
    args: argparse.Namespace, outputs: Sequence[tuple[str, Any]], **inputs: str | None
) -> None:
    """Refuse outputs as `check_outputs` does: model and extras are read, and the inputs."""
    check_outputs(outputs, {'--model': args.model, '--extras': args.extras, **inputs})
