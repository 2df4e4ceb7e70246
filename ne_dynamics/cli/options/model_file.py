"""The model of a subcommand: a URDF, a DH file, or what xacro makes."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path

from ne_dynamics.errors import InputError, require_extras
from ne_dynamics.identification.writing.write_back import read_text
from ne_dynamics.model import extras
from ne_dynamics.model.chains import list_chains, list_ends
from ne_dynamics.model.description_file import looks_like_xml
from ne_dynamics.model.files import load_model
from ne_dynamics.model.robot import Robot
from ne_dynamics.model.urdf import xacro_file

LOG_SUFFIXES = ('.csv', '.db3', '.mcap')


def require_packages(args: argparse.Namespace, **extras: bool) -> None:
    """Refuse a subcommand of which a package is missing, before any work; all of them are named.

    Of each extra it is given whether the options need what it brings.
    """
    is_xacro = args.model is not None and xacro_file.is_xacro(args.model)
    wanted = [extra for extra, is_needed in extras.items() if is_needed]
    require_extras(args.command, [*wanted, *['xacro'] * is_xacro])


def require_tip(robot: Robot, tip_link: str | None) -> str:
    """Return the tip link: the given one, or the only end; the error names the likely first."""
    ends = list_ends(robot)
    tip_link = tip_link or (ends[0] if len(ends) == 1 else '')
    if not tip_link:
        tips = ', '.join(chain.tip_link for chain in list_chains(robot))
        raise InputError(f'--tip-link: expected one of {tips}, got none')
    return tip_link


class ModelFile:
    """The file that the options name, with xacro's work done where it is asked for."""

    def __init__(self, args: argparse.Namespace) -> None:
        if Path(args.model).suffix in LOG_SUFFIXES:
            raise InputError(
                f'{args.model}: expected the model first, a URDF, xacro or DH file, got a log'
            )
        self._args = args
        self._is_xacro = xacro_file.is_xacro(args.model)

    @property
    def text(self) -> str:
        """The description, as it is in the file or as xacro printed it."""
        return self._text_and_encoding[0]

    @property
    def encoding(self) -> str:
        """Encoding of the file; UTF-8 for what xacro printed."""
        return self._text_and_encoding[1]

    @cached_property
    def _text_and_encoding(self) -> tuple[str, str]:
        if self._is_xacro:
            arguments = dict(self._args.xacro_arg)
            return xacro_file.process_xacro(self._args.model, arguments), 'utf-8'
        return read_text(self._args.model)

    def load(self, locked_joints: Mapping[str, float] | None = None) -> Robot:
        """Return the robot, with joints locked where they are given [rad or m]."""
        args, chosen = self._args, self._choose_extras()
        model = self.text if self._is_xacro else args.model
        locked = {**dict(getattr(args, 'lock', ())), **(locked_joints or {})} or None
        return load_model(model, args.base, args.tip, locked, chosen)

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
        chosen = extras.choose_extras(self._args.extras or '')
        if chosen is None and self._is_xacro:
            return self.find_own_extras() or extras.NO_EXTRAS
        return chosen
