"""How the joints of a MuJoCo model follow from the coordinates of a robot."""

from __future__ import annotations

import numpy as np

from ne_dynamics.errors import ModelError, optional_dependency
from ne_dynamics.model.rigid_body import FloatArray
from ne_dynamics.model.robot import Robot

with optional_dependency('the simulated robot needs MuJoCo', 'sim'):
    import mujoco


class JointMap:
    """Where MuJoCo keeps the joint of each body, and what it has for a coordinate.

    A joint has one degree of freedom, so `qpos`, `qvel` and the joint's index run in step.

    Parameters
    ----------
    robot : Robot
    model : mujoco.MjModel
        With a joint for each body, named as the body's.
    leaders : list of int
        Of :func:`find_leaders`.

    Attributes
    ----------
    addresses : array of int, shape (n,)
        Of the joints that carry the coordinates.
    multipliers, offsets : array, shape (n,)
        Such a joint is at multiplier * coordinate + offset.
    """

    def __init__(self, robot: Robot, model: mujoco.MjModel, leaders: list[int]) -> None:
        self._n = robot.n
        self._size = model.nv
        self._addresses = np.array(
            [
                mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_JOINT, body.joint_name)
                for body in robot.bodies
            ],
            dtype=np.intp,
        )
        self._coordinates = np.array([body.coordinate for body in robot.bodies], np.intp)
        self._multipliers = np.array([body.multiplier for body in robot.bodies])
        self._offsets = np.array([body.offset for body in robot.bodies])
        self.addresses = self._addresses[leaders]
        self.multipliers = self._multipliers[leaders]
        self.offsets = self._offsets[leaders]

    def place(self, joints: FloatArray, position: FloatArray) -> None:
        """Write into `joints`, shape (nq,), where all joints are in a position, shape (n,)."""
        joints[self._addresses] = self._multipliers * position[self._coordinates] + self._offsets

    def expand(self) -> FloatArray:
        """Return the velocities of MuJoCo's joints by those of the coordinates, shape (nv, n)."""
        expand = np.zeros((self._size, self._n))
        expand[self._addresses, self._coordinates] = self._multipliers
        return expand


def find_leaders(robot: Robot) -> list[int]:
    """Return for each coordinate the body whose joint carries it (not a mimic if possible)."""
    leaders = []
    for index, joint in enumerate(robot.joints):
        moved = [
            number
            for number, body in enumerate(robot.bodies)
            if body.coordinate == index and body.multiplier != 0.0
        ]
        if not moved:
            raise ModelError(f'joint {joint.name!r}: expected a body that it moves, got none')
        own = [number for number in moved if robot.bodies[number].joint_name == joint.name]
        leaders.append((own or moved)[0])
    return leaders
