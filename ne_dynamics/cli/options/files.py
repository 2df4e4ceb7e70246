"""Files that options name: names by default, whether they can be written, reading, writing."""

from __future__ import annotations

import argparse
import itertools
import json
import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from ne_dynamics.errors import TrajectoryError
from ne_dynamics.json_numbers import as_json
from ne_dynamics.motion import TrajectoryFile, parse_trajectory
from ne_dynamics.prepared_file import find_obstacle, write_whole
from ne_dynamics.printable import print_lines

STANDARD = '-'
"""In place of a file name: standard input or output."""

PICTURES = ('.pdf', '.png', '.svg')


def say(lines: Iterable[str]) -> None:
    """Print lines on standard error."""
    print_lines(lines, sys.stderr)


def call(path: str | Path, direction: str) -> str:
    """Return what a file is called, `-` by its direction: input or output."""
    return f'standard {direction}' if str(path) == STANDARD else str(path)


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
    if args.output is not True and not (is_always and args.output is None):
        return
    first = Path(get_stem(source or args.model) + ending)

    def is_free(path: Path) -> bool:
        stem = path.name.removesuffix(''.join(path.suffixes))
        names = [str(path), *(stem + one for one in beside)]
        return not any(map(os.path.lexists, names))

    args.output = next(filter(is_free, generate_names(first)))
    say([f'output: {args.output}' + f' ({first} is there)' * (args.output != first)])


def get_stem(file: str) -> str:
    """Return the name of a file up to its first dot."""
    return Path(file).name.partition('.')[0] or 'arm'


def generate_names(path: Path) -> Iterator[Path]:
    """Yield a name, and then the same with numbers: arm.urdf, arm_2.urdf, ..."""
    yield path
    stem, dot, endings = path.name.partition('.')
    for number in itertools.count(2):
        yield path.with_name(f'{stem}_{number}{dot}{endings}')


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


def check_output(path: str | Path, *, is_folder: bool = False) -> None:
    """Refuse a file, or a folder, that cannot be written, before anything long begins."""
    reason = '' if str(path) == STANDARD else find_obstacle(Path(path), is_folder=is_folder)
    if reason:
        raise TrajectoryError(f'{path}: cannot be written: {reason}')


def check_files(
    args: argparse.Namespace, outputs: Sequence[tuple[str, Any]], **inputs: str | None
) -> None:
    """Refuse a file that cannot be written, or would replace what is read, or another output.

    Outputs are pairs of option and file, None and `-` for no file. Model and extras are read, and
    the inputs, by their options or arguments; of a folder all files count.
    """
    inputs = {'--model': args.model, '--extras': args.extras, **inputs}
    read = {
        name: Path(path).resolve() for name, path in inputs.items() if path and path != STANDARD
    }
    chosen = [(option, path) for option, path in outputs if path not in (None, STANDARD)]
    for _, path in chosen:
        check_output(path)
    seen: dict[Path, str] = {}
    for option, path in chosen:
        target = Path(path).resolve()
        for name, source in read.items():
            if target == source or (source in target.parents and target.exists()):
                raise TrajectoryError(
                    f'{option}: expected another file than {name}, which is read, got {path}'
                )
        # A pipe or a device takes more than one.
        if target in seen and not (target.exists() and not target.is_file()):
            raise TrajectoryError(
                f'{option}: expected another file than that of {seen[target]}, got {path}'
            )
        seen[target] = option


def check_picture(path: Path) -> None:
    """Refuse the file of a picture that cannot be written, or is of no known kind."""
    if path.suffix.lower() not in PICTURES:
        raise TrajectoryError(
            f'{path}: cannot be written: expected a name that ends with {", ".join(PICTURES)}'
        )
    check_output(path)


def write_text(path: str | Path, text: str) -> None:
    """Write a file, or standard output for `-`, at once; what was there stays if that fails."""
    if str(path) == STANDARD:
        buffer = getattr(sys.stdout, 'buffer', None)
        if buffer is None:
            sys.stdout.write(text)  # a text in memory
            return
        # In UTF-8, whatever the terminal speaks: so it is read, and so are files.
        sys.stdout.flush()
        buffer.write(text.encode('utf-8'))
        return
    write_whole(Path(path), text)


def read_trajectory(path: str) -> TrajectoryFile:
    """Read a trajectory of a file, or of standard input for `-`; errors name point and field."""
    source = call(path, 'input')
    try:
        text = sys.stdin.buffer.read() if path == STANDARD else Path(path).read_bytes()
        return parse_trajectory(text)
    except TrajectoryError as error:
        raise TrajectoryError(f'{source}: {error}') from error
    except (OSError, ValueError) as error:
        reason = getattr(error, 'strerror', None) or str(error)
        raise TrajectoryError(f'{source}: cannot be read: {reason}') from error
