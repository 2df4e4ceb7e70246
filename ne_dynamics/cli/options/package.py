"""The folder of a generated ROS package, and what it is made for."""

from __future__ import annotations

import argparse
import re
from dataclasses import replace
from pathlib import Path

from ne_dynamics.cli.options import files
from ne_dynamics.cli.options.model import read_model, require_packages
from ne_dynamics.errors import InputError
from ne_dynamics.model.chains import require_tip
from ne_dynamics.model.model_source import ModelSource
from ne_dynamics.model.robot import Robot
from ne_dynamics.prepared_file import check_output, get_stem

MEANING = 'new folder, whose name is that of the package'


def begin_package(args: argparse.Namespace, ending: str) -> tuple[Path, ModelSource, Robot]:
    """Return the new folder, by default named after the model, the model, and its robot.

    Nothing is begun when a package is missing, the folder cannot be made or holds something
    already, or the model cannot be loaded or has no one tip.
    """
    require_packages(args, report=True)
    # In letters of a package's name.
    name = re.sub('[^a-z0-9]+', '_', get_stem(args.model).lower()).strip('_')
    stem = name if name[:1].isalpha() else f'arm_{name}'.strip('_')
    files.settle_output(args, ending, source=stem, is_always=True)
    folder: Path = args.output
    check_output(folder, is_folder=True)
    if folder.exists() and any(folder.iterdir()):
        raise InputError(f'-o: expected a new or empty folder, got {str(folder)!r}')
    model = read_model(args)
    robot = model.load()
    return folder, model, replace(robot, tip_link=require_tip(robot, args.tip))
