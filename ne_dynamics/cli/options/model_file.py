"""The model of the subcommands that take a log: a URDF, a DH file, or what xacro makes."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path

from ne_dynamics.cli.options.extras import add_extras, get_extras
from ne_dynamics.identification.write_back import read_text
from ne_dynamics.model import extras, xacro_file
from ne_dynamics.model.description_file import looks_like_xml
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
        args, chosen = self._args, self._choose_extras()
        model = self.text if self._is_xacro else args.model
        return load_model(model, args.base, args.tip, locked_joints, chosen)

    def read_extras(self) -> extras.ModelExtras | None:
        """Return the extras that the robot is loaded with; None when there are none."""
        if not looks_like_xml(self.text):
            return None
        return extras.read_extras(self._choose_extras(), self._args.model)

    def find_own_extras(self) -> Path | None:
        """Return the file of extras beside the model; None when there is none, or no URDF."""
        if not looks_like_xml(self.text):
            return None
        if not self._is_xacro:
            return extras.find_extras(self._args.model)
        # NAME.extras.yaml for NAME.urdf.xacro
        stem = self._args.model.removesuffix(xacro_file.SUFFIX).removesuffix('.urdf')
        beside = Path(stem + extras.SUFFIX)
        return beside if beside.is_file() else None

    def _choose_extras(self) -> extras.Extras:
        """Return the extras that are asked for; None: what is beside a URDF."""
        chosen = get_extras(self._args)
        if chosen is None and self._is_xacro:
            return self.find_own_extras() or extras.NO_EXTRAS
        return chosen


def _argument(text: str) -> tuple[str, str]:
    name, separator, value = text.partition(':=')
    if not name or not separator:
        raise argparse.ArgumentTypeError(f'expected NAME:=VALUE, got {text!r}')
    return name, value
