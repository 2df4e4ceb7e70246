"""A robot as the two texts that are written of it, and as they are read again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ne_dynamics.identification.writing.model_files import write_model
from ne_dynamics.identification.writing.write_back import encode_urdf, write_urdf
from ne_dynamics.model.extras_text import write_extras
from ne_dynamics.model.model_source import ModelSource
from ne_dynamics.model.robot import Robot
from ne_dynamics.model.urdf.tree import load_urdf
from ne_dynamics.model.yaml_text import parse_yaml


@dataclass(frozen=True)
class WrittenModel:
    """What is written of a robot.

    Attributes
    ----------
    text : str
        The URDF.
    extras_text : str
        YAML of what a URDF has no place for; '' where there is nothing.
    base_link : str
    tip_link : str or None
        As the robot was loaded.
    encoding : str
        Of the URDF.
    """

    text: str
    extras_text: str
    base_link: str
    tip_link: str | None
    encoding: str

    def write(self, urdf: Path) -> Path | None:
        """Write both files, or leave both as they were.

        Returns
        -------
        Path or None
            The file of extras, beside the URDF.

        Raises
        ------
        ModelError
            When a file cannot be written, or the text not in this encoding.
        """
        return write_model(urdf, encode_urdf(self.text, self.encoding), self.extras_text)

    def load(self, locked_joints: Mapping[str, float] | None = None) -> Robot:
        """Return the robot that both texts are, with joints locked at positions [rad or m]."""
        extras: Mapping[str, Any] = {}
        if self.extras_text:
            extras = parse_yaml(self.extras_text.encode('utf-8'), 'the extras that are written')
        return load_urdf(
            self.text, self.base_link, self.tip_link, locked_joints=locked_joints, extras=extras
        )


def make_written_model(source: ModelSource, robot: Robot) -> WrittenModel:
    """Return what is to be written of a robot with other inertias, friction and rotors.

    It was loaded from the URDF `source`, with its extras if there were any.

    Raises
    ------
    ModelError
        When what would be written does not come back as the robot.
    """
    urdf = write_urdf(source.text, robot)
    extras = write_extras(urdf, robot, source.read_extras())
    return WrittenModel(urdf, extras, robot.base_link, robot.tip_link, source.encoding)
