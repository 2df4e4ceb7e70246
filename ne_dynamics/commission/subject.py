"""The model that a run begins with, as node and library read it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ne_dynamics.errors import ModelError
from ne_dynamics.identification.writing.written_model import make_written_model
from ne_dynamics.model.description_file import read_text
from ne_dynamics.model.files import load_model
from ne_dynamics.model.model_source import ModelSource
from ne_dynamics.model.robot import Robot


@dataclass(frozen=True, eq=False)
class CommissionedArm:
    """The arm to commission: a URDF, and the chain in it.

    Attributes
    ----------
    source : ModelSource
        With the absolute path, and the extras beside the URDF.
    robot : Robot
    base_link, tip_link : str
        '' for the default.
    texts : str
        Content of the URDF, and of its extras. Both stay as they were read, whatever becomes of
        the files during a run.
    """

    source: ModelSource
    robot: Robot
    base_link: str
    tip_link: str
    texts: str

    @classmethod
    def read(cls, file: str, base_link: str | None, tip_link: str | None) -> CommissionedArm:
        """Read an arm from a URDF; no other file will do, since the result is written to it."""
        source = ModelSource(str(Path(file).resolve()), base_link, tip_link)
        if not source.is_urdf:
            raise ModelError(f'{file}: expected a URDF to write the result back to, got no XML')
        source.read_extras()
        beside = source.find_own_extras()
        texts = source.text + ('' if beside is None else read_text(beside)[0])
        return cls(source, source.load(), base_link or '', tip_link or '', texts)

    @property
    def file(self) -> str:
        """Absolute path of the URDF."""
        return self.source.file

    def parameters(self, file: Path | None = None) -> Mapping[str, Any]:
        """Return the node's parameters for this model, or for the same arm in another file."""
        return {
            'model_file': self.file if file is None else str(file.resolve()),
            'base_link': self.base_link,
            'tip_link': self.tip_link,
        }

    def write(self, file: Path, robot: Robot) -> Robot:
        """Write a URDF with the numbers of a robot, and return the robot as read from it."""
        make_written_model(self.source, robot).write(file)
        return self.load(file)

    def load(self, file: Path) -> Robot:
        """Return the robot of the same chain in another file."""
        return load_model(str(file), self.base_link or None, self.tip_link or None)
