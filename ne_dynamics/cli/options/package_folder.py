"""The folder of a generated ROS package: its option, its name, and how it is written."""

from __future__ import annotations

import argparse
import re
from collections.abc import Mapping
from pathlib import Path

from ne_dynamics.cli.options.output_file import (
    add_output,
    check_folder,
    choose_name,
    get_stem,
    write_text,
)
from ne_dynamics.errors import InputError


def add_package_folder(parser: argparse.ArgumentParser, ending: str) -> None:
    """Add the option of a new folder, named after the model with an ending by default."""
    add_output(
        parser,
        ending,
        'new folder, whose name is that of the package',
        type=Path,
        metavar='FOLDER',
        default=True,
    )


def choose_folder(args: argparse.Namespace, ending: str) -> Path:
    """Return the folder that the options name, or one named after the model.

    Raises
    ------
    InputError
        When it holds something already, or cannot be made.
    """
    if args.output is True:
        args.output = choose_name(_make_name(args.model), ending)
    folder: Path = args.output
    check_folder(folder)
    if folder.exists() and any(folder.iterdir()):
        raise InputError(f'-o: expected a new or empty folder, got {str(folder)!r}')
    return folder


def write_package(folder: Path, texts: Mapping[str, str]) -> None:
    """Write texts by their paths in a folder."""
    for path, text in texts.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        write_text(str(folder / path), text)


def _make_name(model: str) -> str:
    """Return the name of a model in letters of a package's name."""
    letters = re.sub('[^a-z0-9]+', '_', get_stem(model).lower()).strip('_')
    return letters if letters[:1].isalpha() else f'arm_{letters}'.strip('_')
