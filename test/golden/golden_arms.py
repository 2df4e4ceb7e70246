"""The arms of the recordings."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from example_robots import example_robots_folder

from ne_dynamics import Robot, load_model
from ne_dynamics.shipped import shipped_file

FOLDER = Path(__file__).parent


@dataclass(frozen=True)
class GoldenArm:
    """An arm, as the node reads it.

    Attributes
    ----------
    name : str
    base, tip : str
        Links; empty: the model's.
    locked : dict
        Joints that do not move, and where they stand [rad or m].
    """

    name: str
    folder: str
    file: str
    base: str = ''
    tip: str = ''
    locked: tuple[tuple[str, float], ...] = ()

    @property
    def path(self) -> str:
        """File of the model; skips the test where it is not installed."""
        if self.folder == 'example-robot-data':
            return str(example_robots_folder() / self.file)
        return str(shipped_file(self.file) if self.folder == 'shipped' else FOLDER / self.file)

    @cached_property
    def robot(self) -> Robot:
        """The model."""
        locked = dict(self.locked) if self.locked else None
        return load_model(self.path, self.base or None, self.tip or None, locked)

    @property
    def joint_names(self) -> tuple[str, ...]:
        """In the order of the model."""
        return self.robot.joint_names

    @property
    def parameters(self) -> dict[str, Any]:
        """Return the parameters by which the node reads it."""
        values: dict[str, Any] = {
            'model_file': self.path,
            'base_link': self.base,
            'tip_link': self.tip,
        }
        if self.locked:
            values['locked_joints.names'] = [name for name, _ in self.locked]
            values['locked_joints.positions'] = [place for _, place in self.locked]
        return values


SHIPPED = GoldenArm('shipped', 'shipped', 'six_axis_arm.urdf', tip='tcp')
PUMA = GoldenArm('puma560', 'shipped', 'puma560_modified_dh.yaml')
SCARA = GoldenArm('scara', 'golden', 'scara_dh.yaml')
PANDA = GoldenArm(
    'panda',
    'example-robot-data',
    'panda_description/urdf/panda.urdf',
    tip='panda_hand_tcp',
    locked=(('panda_finger_joint1', 0.03), ('panda_finger_joint2', 0.03)),
)
UR5 = GoldenArm(
    'ur5',
    'example-robot-data',
    'ur_description/urdf/ur5_robot.urdf',
    base='base_link',
    tip='tool0',
)

ARMS = {arm.name: arm for arm in (SHIPPED, PUMA, SCARA, PANDA, UR5)}
