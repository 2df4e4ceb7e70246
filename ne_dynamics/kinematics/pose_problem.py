"""A pose that a link of a robot is to take, as numbers to search with."""

from __future__ import annotations

import math

import numpy as np

from ne_dynamics.dynamics import Dynamics
from ne_dynamics.errors import InputError, ModelError
from ne_dynamics.kinematics.pose import compute_pose_errors
from ne_dynamics.model.robot import BASE, FloatArray, Link, Robot

TOLERANCE = 1e-9
"""A pose is met within this angle [rad] and this part of the arm's length."""

RANK_TOLERANCE = 1e-4
"""Singular values below this part of the largest do not count: a pose met within the tolerance
leaves a singular position open by the square root of it."""

FULL_TURN = 2.0 * math.pi


class PoseProblem:
    """A pose that a link is to take, within the limits of the joints on the way to it.

    Positions inside are scaled: joints that turn in rad, joints that slide in lengths of the arm.
    So are errors: translations in lengths of the arm, rotations in rad.

    Parameters
    ----------
    dynamics : Dynamics
    target : array, shape (4, 4)
        Base link to link.
    link : str, optional
        Default: the tip.

    Attributes
    ----------
    link : Link
    joint_names : tuple of str
    movers : array of int, shape (m,)
        Coordinates that move the link.
    length : float
        Of the arm [m].
    lower, upper : array, shape (n,)
        Limits [rad or m].
    scale : array, shape (n,)
        Position [rad or m] = scale * scaled position.
    is_turning : array of bool, shape (n,)
        Joints that turn; the others slide.

    Raises
    ------
    InputError
        When the link is unknown, there is none, or no joint moves it.
    """

    def __init__(self, dynamics: Dynamics, target: FloatArray, link: str | None) -> None:
        robot = dynamics.robot
        try:
            self.link = robot.tip if link is None else robot.link(link)
        except ModelError as error:
            raise InputError(f'link: {error}') from error
        bodies = _bodies_on_the_way(robot, self.link)
        self.movers = np.unique([robot.bodies[body].coordinate for body in bodies]).astype(int)
        if self.movers.size == 0:
            raise InputError(
                f'link: expected one that joints move, got {self.link.name!r}, which is fixed to '
                f'the base link {robot.base_link!r}'
            )
        self.target = target
        self.lower, self.upper = robot.limits('lower'), robot.limits('upper')
        self.length = _measure_length(robot, bodies, self.link)
        self.is_turning = np.array([not joint.type.is_prismatic for joint in robot.joints])
        self.scale = np.where(self.is_turning, 1.0, self.length)
        self._is_periodic = _find_periodic(robot)
        self.joint_names = dynamics.joint_names
        self._dynamics = dynamics
        self._name = link  # None asks for the function of the tip, which may be compiled already

    def compute_errors(self, positions: FloatArray) -> FloatArray:
        """Return the scaled errors at positions of shape (N, n), shape (N, 6), in link axes."""
        errors = compute_pose_errors(
            self._dynamics.forward_kinematics(positions, self._name), self.target
        )
        errors[:, :3] /= self.length
        return errors

    def compute_jacobians(self, positions: FloatArray) -> FloatArray:
        """Return the scaled Jacobians of what moves the link, in link axes, shape (N, 6, m)."""
        jacobians = self._dynamics.jacobian(positions, self._name, 'tip')[:, :, self.movers]
        jacobians = jacobians * self.scale[self.movers]
        jacobians[:, :3] /= self.length
        return np.asarray(jacobians)

    def are_met(self, errors: FloatArray) -> np.ndarray:
        """Return which errors of shape (N, 6) are none, shape (N,) of bool."""
        return np.asarray(
            (np.linalg.norm(errors[:, :3], axis=1) <= TOLERANCE)
            & (np.linalg.norm(errors[:, 3:], axis=1) <= TOLERANCE)
        )

    def clip(self, positions: FloatArray) -> FloatArray:
        """Return the positions within the limits that are nearest, shape (n,) or (N, n)."""
        return np.clip(positions, self.lower, self.upper)

    def find_middle(self, otherwise: FloatArray) -> FloatArray:
        """Return the middle of the limits of each joint on the way, shape (n,) [rad or m].

        Parameters
        ----------
        otherwise : array, shape (n,)
            For joints that are not on the way, or have no limits.
        """
        middle = otherwise.copy()
        for joint in self.movers:
            if np.isfinite([self.lower[joint], self.upper[joint]]).all():
                middle[joint] = 0.5 * self.lower[joint] + 0.5 * self.upper[joint]
        return middle

    def draw_starts(self, rng: np.random.Generator, middle: FloatArray, count: int) -> FloatArray:
        """Return random positions within the limits, shape (count, n) [rad or m].

        Joints that turn: within half a turn of `middle`. Joints that slide: within four lengths
        of the arm. Joints that do not move the link: at `middle`.
        """
        reach = np.where(self._is_periodic, math.pi, 4.0 * self.scale)
        lower = np.maximum(self.lower, middle - reach)
        upper = np.minimum(self.upper, middle + reach)
        starts = np.tile(middle, (count, 1))
        parts = rng.random((count, self.movers.size))
        starts[:, self.movers] = lower[self.movers] + parts * (upper - lower)[self.movers]
        return self.clip(starts)

    def draw_nearby(
        self, rng: np.random.Generator, position: FloatArray, width: float, count: int
    ) -> FloatArray:
        """Return random positions within the limits, at most a scaled `width` from one.

        Shape (count, n) [rad or m]; joints that do not move the link stay.
        """
        starts = np.tile(position, (count, 1))
        shifts = rng.uniform(-width, width, (count, self.movers.size))
        starts[:, self.movers] += shifts * self.scale[self.movers]
        return self.clip(starts)

    def wrap(self, positions: FloatArray, reference: FloatArray) -> FloatArray:
        """Return positions whose joints are turned by full turns to be next to a reference.

        Only as far as the limits permit, and only joints for which a full turn changes nothing.
        """
        wrapped = positions.copy()
        for joint in self.movers[self._is_periodic[self.movers]]:
            column = positions[:, joint]
            turns = np.round((reference[joint] - column) / FULL_TURN)
            fewest = np.ceil((self.lower[joint] - column) / FULL_TURN)
            most = np.floor((self.upper[joint] - column) / FULL_TURN)
            wrapped[:, joint] = column + FULL_TURN * np.clip(turns, fewest, most)
        return self.clip(wrapped)

    def measure_distances(self, positions: FloatArray, reference: FloatArray) -> FloatArray:
        """Return how far positions are from a reference, scaled, shape (N,)."""
        return np.asarray(np.linalg.norm((positions - reference) / self.scale, axis=1))

    def count_ranks(self, positions: FloatArray) -> np.ndarray:
        """Return the ranks of the Jacobians, shape (N,) of int."""
        values = np.linalg.svd(self.compute_jacobians(positions), compute_uv=False)
        return np.asarray((values > RANK_TOLERANCE * values[:, :1]).sum(axis=1))


def _bodies_on_the_way(robot: Robot, link: Link) -> list[int]:
    bodies, body = [], link.body
    while body != BASE:
        bodies.append(body)
        body = robot.bodies[body].parent
    return bodies


def _measure_length(robot: Robot, bodies: list[int], link: Link) -> float:
    """Return the length of the stretched arm, its sliding joints at 0 [m]."""
    steps = [robot.bodies[body].pose_in_parent.translation for body in bodies]
    length = float(sum(np.linalg.norm(step) for step in [*steps, link.pose_in_body.translation]))
    return length if length > 0.0 else 1.0


def _find_periodic(robot: Robot) -> np.ndarray:
    """Return which coordinates may turn by a full turn without a change, shape (n,) of bool."""
    periodic = np.ones(robot.n, dtype=bool)
    for body in robot.bodies:
        whole = float(body.multiplier).is_integer()
        periodic[body.coordinate] &= whole and not body.joint_type.is_prismatic
    return periodic
