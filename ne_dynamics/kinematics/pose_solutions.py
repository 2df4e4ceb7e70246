"""Joint positions for a pose, and how near they come to it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ne_dynamics.dynamics import Dynamics
from ne_dynamics.kinematics.inverse import inverse_kinematics, inverse_kinematics_branches
from ne_dynamics.kinematics.pose import compute_pose_errors
from ne_dynamics.model.robot import FloatArray, Robot


@dataclass(frozen=True, eq=False)
class PoseSolutions:
    """Joint positions at which a link has a pose.

    Attributes
    ----------
    robot : Robot
    link : str
    target_pose : array, shape (4, 4)
        Homogeneous matrix in the frame of the base link [m].
    positions : array, shape (k, n)
        [rad or m]
    errors : array, shape (2, k)
        How far the link is from the pose [m], [rad].
    """

    robot: Robot
    link: str
    target_pose: FloatArray
    positions: FloatArray
    errors: FloatArray

    @classmethod
    def find(
        cls,
        dynamics: Dynamics,
        target_pose: FloatArray,
        start: ArrayLike | None = None,
        *,
        link: str | None = None,
        finds_all: bool = False,
    ) -> PoseSolutions:
        """Search for one solution, as :func:`inverse_kinematics` does, or for all of them."""
        if finds_all:
            found = inverse_kinematics_branches(dynamics, target_pose, link=link)
        else:
            found = inverse_kinematics(dynamics, target_pose, start, link=link)[None]
        errors = compute_pose_errors(dynamics.forward_kinematics(found, link), target_pose)
        sizes = np.linalg.norm(errors.reshape(-1, 2, 3), axis=2).T
        return cls(dynamics.robot, link or dynamics.robot.tip.name, target_pose, found, sizes)

    def as_json(self) -> dict[str, Any]:
        """Return the solutions as data for JSON."""
        return {
            'link': self.link,
            'target_pose': self.target_pose,
            'joints': self.robot.joint_names,
            'positions': self.positions,
            'position_errors': self.errors[0],
            'orientation_errors': self.errors[1],
        }

    def lines(self) -> list[str]:
        """Return a table: a row a joint, a column a solution, degrees beside a single one."""
        joints, count = self.robot.joints, len(self.positions)
        width = max(len(joint.name) for joint in joints)
        lines = [f'  {count} positions, one a column'] * (count > 1)
        for joint, row in zip(joints, self.positions.T, strict=True):
            numbers = '  '.join(f'{value + 0.0:10.6f}' for value in row)
            line = f'  {joint.name:{width}}  {numbers}  {joint.type.position_unit}'
            if count == 1 and not joint.type.is_prismatic:
                line += f'  {math.degrees(row[0]):9.3f} deg'
            lines.append(line)
        shift, angle = self.errors.max(axis=1)
        return [*lines, f'  met within {shift:.1e} m and {angle:.1e} rad by {self.link}']
