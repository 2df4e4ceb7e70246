"""A model as its file has it: the text, and the robot that is loaded from it."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from pathlib import Path

from ne_dynamics.model import extras
from ne_dynamics.model.description_file import looks_like_xml, read_text
from ne_dynamics.model.files import load_model
from ne_dynamics.model.robot import Robot
from ne_dynamics.model.urdf import xacro_file


class ModelSource:
    """A URDF, a DH file, or a xacro file whose URDF is made when it is first asked for.

    Parameters
    ----------
    file : str
        A name that ends in ``.xacro`` is that of a xacro file.
    base_link, tip_link : str, optional
        As for :func:`~ne_dynamics.model.files.load_model`.
    locked_joints : mapping of str to float, optional
        Joints that are locked in any case [rad or m].
    chosen_extras : str
        File of extras, 'none' for none; '' for the one beside the model, if there is one.
    xacro_arguments : mapping of str to str, optional
    """

    def __init__(
        self,
        file: str,
        base_link: str | None = None,
        tip_link: str | None = None,
        locked_joints: Mapping[str, float] | None = None,
        chosen_extras: str = '',
        xacro_arguments: Mapping[str, str] | None = None,
    ) -> None:
        self.file, self.tip_link = file, tip_link
        self._chain = base_link, tip_link
        self._locked = dict(locked_joints or {})
        self._chosen = chosen_extras
        self._arguments = dict(xacro_arguments or {})
        self._is_xacro = xacro_file.is_xacro(file)

    @property
    def text(self) -> str:
        """The description, as it is in the file or as xacro printed it."""
        return self._text_and_encoding[0]

    @property
    def encoding(self) -> str:
        """Encoding of the file; UTF-8 for what xacro printed."""
        return self._text_and_encoding[1]

    @property
    def is_urdf(self) -> bool:
        """Whether it is a URDF, and no DH file."""
        return looks_like_xml(self.text)

    @cached_property
    def _text_and_encoding(self) -> tuple[str, str]:
        if self._is_xacro:
            return xacro_file.process_xacro(self.file, self._arguments), 'utf-8'
        return read_text(self.file)

    def load(self, locked_joints: Mapping[str, float] | None = None) -> Robot:
        """Return the robot, with more joints locked where they are given [rad or m]."""
        model, chosen = self.text if self._is_xacro else self.file, self._choose_extras()
        return load_model(
            model, *self._chain, {**self._locked, **(locked_joints or {})} or None, chosen
        )

    def read_extras(self) -> extras.ModelExtras | None:
        """Return the extras that the robot is loaded with; None when there are none."""
        return self._extras

    @cached_property
    def _extras(self) -> extras.ModelExtras | None:
        return extras.read_extras(self._choose_extras(), self.file) if self.is_urdf else None

    def find_own_extras(self) -> Path | None:
        """Return the file of extras beside the model; None when there is none, or no URDF."""
        if not self.is_urdf:
            return None
        if not self._is_xacro:
            return extras.find_extras(self.file)
        # NAME.extras.yaml for NAME.urdf.xacro
        stem = self.file.removesuffix(xacro_file.SUFFIX).removesuffix('.urdf')
        beside = Path(stem + extras.SUFFIX)
        return beside if beside.is_file() else None

    def _choose_extras(self) -> extras.Extras:
        """Return the extras that are asked for; None: what is beside a URDF."""
        chosen = extras.choose_extras(self._chosen)
        if chosen is None and self._is_xacro:
            return self.find_own_extras() or extras.NO_EXTRAS
        return chosen
