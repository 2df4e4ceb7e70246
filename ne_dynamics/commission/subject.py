"""The model that a run begins with, as node and library read it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ne_dynamics.errors import ModelError
from ne_dynamics.identification.writing.written_model import make_written_model
from ne_dynamics.model.description_file import looks_like_xml, read_text
from ne_dynamics.model.extras import ModelExtras, find_extras, read_extras
from ne_dynamics.model.files import load_model
from ne_dynamics.model.robot import Robot


@dataclass(frozen=True, eq=False)
class CommissionedArm:
    """The arm to commission: a URDF, and the chain in it.

    Attributes
    ----------
    file : str
        Absolute path.
    base_link, tip_link : str
        '' for the default.
    text, encoding : str
        Content of the file, and its encoding.
    robot : Robot
    extras : ModelExtras or None
        From the extras file beside the URDF.
    extras_text : str
        Content of that file; '' without one.
    """

    file: str
    base_link: str
    tip_link: str
    text: str
    encoding: str
    robot: Robot
    extras: ModelExtras | None
    extras_text: str

    @classmethod
    def read(cls, file: str, base_link: str | None, tip_link: str | None) -> CommissionedArm:
        """Read an arm from a URDF; no other file will do, since the result is written to it."""
        path = str(Path(file).resolve())
        text, encoding = read_text(path)
        if not looks_like_xml(text):
            raise ModelError(f'{file}: expected a URDF to write the result back to, got no XML')
        robot = load_model(path, base_link, tip_link)
        beside = find_extras(path)
        return cls(
            path,
            base_link or '',
            tip_link or '',
            text,
            encoding,
            robot,
            read_extras(None, path),
            '' if beside is None else read_text(beside)[0],
        )

    def parameters(self, file: Path | None = None) -> Mapping[str, Any]:
        """Return the node's parameters for this model, or for the same arm in another file."""
        return {
            'model_file': self.file if file is None else str(file.resolve()),
            'base_link': self.base_link,
            'tip_link': self.tip_link,
        }

    def write(self, file: Path, robot: Robot) -> Robot:
        """Write a URDF with the numbers of a robot, and return the robot as read from it."""
        make_written_model(self.text, robot, self.extras, self.encoding).write(file)
        return self.load(file)

    def load(self, file: Path) -> Robot:
        """Return the robot of the same chain in another file."""
        return load_model(str(file), self.base_link or None, self.tip_link or None)
