"""The model that options name, and the packages that a subcommand needs."""

from __future__ import annotations

import argparse
from pathlib import Path

from ne_dynamics.errors import InputError, require_extras
from ne_dynamics.model.model_source import ModelSource
from ne_dynamics.model.urdf.xacro_file import is_xacro

LOG_SUFFIXES = ('.csv', '.db3', '.mcap')


def read_model(args: argparse.Namespace) -> ModelSource:
    """Return the model of the shared options `model_file` and `lock`."""
    if Path(args.model).suffix in LOG_SUFFIXES:
        raise InputError(
            f'{args.model}: expected the model first, a URDF, xacro or DH file, got a log'
        )
    locked, arguments = dict(getattr(args, 'lock', ())), dict(args.xacro_arg)
    return ModelSource(args.model, args.base, args.tip, locked, args.extras or '', arguments)


def require_packages(args: argparse.Namespace, **extras: bool) -> None:
    """Refuse a subcommand of which a package is missing, before any work; all of them are named.

    Of each extra it is given whether the options need what it brings.
    """
    wanted = [extra for extra, is_needed in extras.items() if is_needed]
    wanted += ['xacro'] * (args.model is not None and is_xacro(args.model))
    require_extras(args.command, wanted)
