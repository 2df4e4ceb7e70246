"""The model of the subcommands that take a log: a URDF, a DH file, or what xacro makes."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path

from ne_dynamics.cli.options.extras import add_extras, get_extras
from ne_dynamics.identification.write_back import read_text
from ne_dynamics.model import extras, xacro_file
from ne_dynamics.model.files import load_model
from ne_dynamics.model.robot import Robot


def add_model_file(parser: argparse.ArgumentParser) -> None:
    """Add the options to a parser; :class:`ModelFile` reads what they name."""
    parser.add_argument(
        '--model',
        required=True,
        metavar='MODEL',
        help='URDF, xacro file (NAME.xacro), or DH file (YAML)',
    )
    parser.add_argument(
        '--xacro-arg',
        action='append',
        type=_argument,
        default=[],
        metavar='NAME:=VALUE',
        help='argument of the xacro file; may be repeated',
    )
    parser.add_argument(
        '--base-link',
        '--base',
        dest='base',
        metavar='LINK',
        help='first link of the chain (URDF; default: the root)',
    )
    parser.add_argument(
        '--tip-link',
        '--tip',
        dest='tip',
        metavar='LINK',
        help='last link of the chain (URDF; default: the whole tree); joints that are not on '
        'the way to it are locked',
    )
    add_extras(parser)


class ModelFile:
    """The file that the options name, with xacro's work done.

    Parameters
    ----------
    args : argparse.Namespace

    Attributes
    ----------
    text, encoding : str
        Of the description, as it is in the file or as xacro printed it.

    Raises
    ------
    NeDynamicsError
        When the file cannot be read or processed.
    """

    def __init__(self, args: argparse.Namespace) -> None:
        self._args = args
        self._is_xacro = xacro_file.is_xacro(args.model)
        if self._is_xacro:
            arguments = dict(args.xacro_arg)
            self.text = xacro_file.process_xacro(args.model, arguments)
            self.encoding = 'utf-8'
        else:
            self.text, self.encoding = read_text(args.model)

    def load(self, locked_joints: Mapping[str, float] | None = None) -> Robot:
        """Return the robot, with joints locked where they are given [rad or m]."""
        args, chosen = self._args, get_extras(self._args)
        if not self._is_xacro:
            return load_model(args.model, args.base, args.tip, locked_joints, chosen)
        if chosen is None:
            chosen = self._find_extras()
        return load_model(self.text, args.base, args.tip, locked_joints, chosen)

    def _find_extras(self) -> Path | None:
        """Return the file of extras beside a xacro file: NAME.extras.yaml for NAME.urdf.xacro."""
        stem = self._args.model.removesuffix(xacro_file.SUFFIX).removesuffix('.urdf')
        beside = Path(stem + extras.SUFFIX)
        return beside if beside.is_file() else None


def _argument(text: str) -> tuple[str, str]:
    name, separator, value = text.partition(':=')
    if not name or not separator:
        raise argparse.ArgumentTypeError(f'expected NAME:=VALUE, got {text!r}')
    return name, value
