"""The folder of a generated ROS package: its option, its name, and how it is written."""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from ne_dynamics.cli.options import files
from ne_dynamics.cli.options.declaration import declare
from ne_dynamics.cli.options.model import read_model, require_packages, require_tip
from ne_dynamics.errors import InputError
from ne_dynamics.model.model_source import ModelSource
from ne_dynamics.model.robot import Robot
from ne_dynamics.prepared_file import write_whole
from ne_dynamics.printable import print_lines


def declare_package(
    name: str, ending: str, description: str, rows: str = ''
) -> Callable[[Any], None]:
    """Return `add_parser` of a subcommand that writes a package for a model, with more options."""
    meaning = 'new folder, whose name is that of the package'
    output = files.declare_output('FOLDER', ending, meaning)
    return declare(name, description, f'@model_file\n@lock\n{output}\n{rows}')


def begin_package(args: argparse.Namespace, ending: str) -> tuple[Path, ModelSource, Robot]:
    """Return the new folder, by default named after the model, the model, and its robot.

    Nothing is begun when a package is missing, the folder cannot be made or holds something
    already, or the model cannot be loaded or has no one tip.
    """
    require_packages(args, report=True)
    # In letters of a package's name.
    name = re.sub('[^a-z0-9]+', '_', files.get_stem(args.model).lower()).strip('_')
    stem = name if name[:1].isalpha() else f'arm_{name}'.strip('_')
    files.settle_output(args, ending, source=stem, is_always=True)
    folder: Path = args.output
    files.check_output(folder, is_folder=True)
    if folder.exists() and any(folder.iterdir()):
        raise InputError(f'-o: expected a new or empty folder, got {str(folder)!r}')
    model = read_model(args)
    robot = model.load()
    return folder, model, replace(robot, tip_link=require_tip(robot, args.tip))


def write_package(
    folder: Path, texts: Mapping[str, str], robot: Robot, remarks: Sequence[str], launch: str
) -> None:
    """Write texts by their paths in a folder; say what was written, and which file to launch."""
    for path, text in texts.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        write_whole(folder / path, text)
    name = folder.absolute().name
    print_lines(
        [
            f'{folder}: {len(texts)} files for {robot.n} joints, tip {robot.tip_link}',
            *remarks,
            f'Next: colcon build --packages-select {name}, then',
            f'      ros2 launch {name} {launch}   ({folder}/README.md)',
        ]
    )
