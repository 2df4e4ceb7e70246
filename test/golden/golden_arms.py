"""The arms of the recordings."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path
from typing import Any

from example_robots import example_robots_folder

from ne_dynamics import Robot, load_model
from ne_dynamics.shipped import shipped_file


@dataclass(frozen=True)
class GoldenArm:
    """An arm, as the node reads it.

    Attributes
    ----------
    name : str
    find : callable
        Returns the file of the model; skips the test where it is not installed.
    base, tip : str
        Links; empty: the model's.
    locked : dict
        Joints that do not move, and where they stand [rad or m].
    """

    name: str
    find: Callable[[], Path]
    base: str = ''
    tip: str = ''
    locked: dict[str, float] = field(default_factory=dict)

    @cached_property
    def robot(self) -> Robot:
        """The model."""
        return load_model(self.find(), self.base or None, self.tip or None, self.locked or None)

    @property
    def joint_names(self) -> tuple[str, ...]:
        """In the order of the model."""
        return self.robot.joint_names

    @property
    def parameters(self) -> dict[str, Any]:
        """Return the parameters by which the node reads it."""
        values = {'model_file': str(self.find()), 'base_link': self.base, 'tip_link': self.tip}
        if not self.locked:
            return values
        names, positions = list(self.locked), list(self.locked.values())
        return values | {'locked_joints.names': names, 'locked_joints.positions': positions}


def _example(file: str) -> Callable[[], Path]:
    return lambda: example_robots_folder() / file


SHIPPED = GoldenArm('shipped', partial(shipped_file, 'six_axis_arm.urdf'), tip='tcp')
PUMA = GoldenArm('puma560', partial(shipped_file, 'puma560_modified_dh.yaml'))
SCARA = GoldenArm('scara', lambda: Path(__file__).with_name('scara_dh.yaml'))
PANDA = GoldenArm(
    'panda',
    _example('panda_description/urdf/panda.urdf'),
    tip='panda_hand_tcp',
    locked={'panda_finger_joint1': 0.03, 'panda_finger_joint2': 0.03},
)
UR5 = GoldenArm(
    'ur5', _example('ur_description/urdf/ur5_robot.urdf'), base='base_link', tip='tool0'
)
ARMS = {arm.name: arm for arm in (SHIPPED, PUMA, SCARA, PANDA, UR5)}
