"""By how much gains may be smaller before gravity pulls the arm away, in the worst pose.

At rest, an error e is answered by the efforts W Kp e, and gravity pushes with -G e: G is the slope
of gravity by the positions, less what the law compensates. With gains divided by B the arm falls
from the least B on at which

    W Kp / B + G

is singular, and 1 / B is the magnitude of the most negative eigenvalue of (W Kp)^-1 G. It is where
the locus of the open loop, W Kp G^-1 at 0 Hz, ends on the negative axis.

G is linear in the masses: the sum over the bodies of (s_b - c) G_b, c 1 where the law compensates,
the payload one of them, with its mass for s_b and c 0. So the worst masses are at the ends of
their ranges, each by the sign of e^T G_b e for the error e that grows.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ne_dynamics.dynamics import Dynamics
from ne_dynamics.gains.kind import corner_modes
from ne_dynamics.gains.loop import Modes
from ne_dynamics.gains.plants import compute_part_slopes, draw_poses, plants_in, pose_range
from ne_dynamics.gains.request import GainMode, GainRequest
from ne_dynamics.gains.thresholds import GAIN_SEARCH
from ne_dynamics.model.rigid_body import FloatArray


@dataclass(frozen=True, eq=False)
class GravitySlopes:
    """How gravity goes on from N poses, and what the law weighs accelerations by there.

    Attributes
    ----------
    poses : array, shape (N, n)
        [rad or m]
    parts : array, shape (N, b + 1, n, n)
        Slope of the model's gravity by the positions, body by body, and, last, of that of a
        payload of a kilogram [N m/rad, ...].
    weights : array, shape (N, n, n), or None
        W: the model's mass matrix in computed torque, which compensates gravity where the arm is;
        None for the identity, and gravity that is compensated where the arm is to be.
    """

    poses: FloatArray
    parts: FloatArray
    weights: FloatArray | None


def _find_most_negative(
    slope: FloatArray,
    kp: FloatArray,
    weights: FloatArray | None,
    stiffness: FloatArray | None,
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the magnitude of the most negative eigenvalue, (N,), and its errors, (N, n).

    Those of the motors, and those beyond the gears.
    """
    n = slope.shape[1]
    is_carried = np.ones(len(slope), dtype=bool)
    behind: FloatArray = np.broadcast_to(np.eye(n), slope.shape)
    if stiffness is not None:
        # Motors off by e move the joints by (K + G)^-1 K e, and feel G of that.
        springs = np.diag(stiffness)
        is_carried = np.linalg.eigvalsh(springs + slope)[:, 0] > 0.0
        safe = np.where(is_carried[:, np.newaxis, np.newaxis], slope, 0.0)
        held = np.broadcast_to(springs, slope.shape)
        behind = np.asarray(np.linalg.solve(springs + safe, held), dtype=np.float64)
        slope = np.asarray(safe @ behind, dtype=np.float64)
    if weights is None:
        root = 1.0 / np.sqrt(kp)
        values, vectors = np.linalg.eigh(root[:, np.newaxis] * slope * root)
        least, error = values[:, 0], root * vectors[:, :, 0]
    else:
        inner = np.linalg.solve(weights * kp, slope)
        found, shapes = np.linalg.eig(inner)
        is_real = np.abs(found.imag) <= GAIN_SEARCH.real_share * np.abs(found)
        values = np.where(is_real, found.real, np.inf)
        index = values.argmin(axis=1)
        rows = np.arange(len(slope))
        least, error = values[rows, index], shapes[rows, :, index].real
    part = np.where(is_carried, np.maximum(-least, 0.0), np.inf)
    return part, error, np.einsum('kij,kj->ki', behind, error)


class Falls:
    """Poses in which the arm falls first: those that were found, and a search for more.

    Parameters
    ----------
    dynamics : Dynamics
    request : GainRequest
    is_compensated : bool
        Whether the law is computed torque: it weighs with the model's mass matrix, and compensates
        gravity where the arm is.

    Raises
    ------
    InputError
        When gears have a stiffness that cannot be used.
    """

    def __init__(self, dynamics: Dynamics, request: GainRequest, *, is_compensated: bool) -> None:
        joints = dynamics.robot.joints
        self._dynamics = dynamics
        self._request = request
        self._is_compensated = is_compensated
        self._stiffness = request.joint_stiffness(joints)
        self._lower, self._upper = np.array([pose_range(joint) for joint in joints]).T
        self._starts = self._slopes_in(draw_poses(joints, GAIN_SEARCH.random_poses, request.seed))
        self._found: GravitySlopes | None = None
        self._modes: Modes | None = None

    @property
    def poses(self) -> FloatArray:
        """The poses that were found, shape (k, n) [rad or m]."""
        return self._starts.poses[:0] if self._found is None else self._found.poses

    def modes(self, mode: GainMode) -> Modes:
        """Return the modes of the lightest and the heaviest arm in the poses that were found."""
        if self._modes is None:
            plants = plants_in(self._dynamics, self._request, self.poses, 1.0)
            self._modes = corner_modes(mode, plants, self._request)
        return self._modes

    def _slopes_in(self, poses: FloatArray) -> GravitySlopes:
        dynamics = self._dynamics
        return GravitySlopes(
            poses,
            compute_part_slopes(dynamics, self._request, poses),
            np.asarray(dynamics.mass_matrix(poses)) if self._is_compensated else None,
        )

    def _soften(self, slopes: GravitySlopes, kp: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the part of the gains at which the arm falls in each pose, and how it falls.

        The part 1 / B, shape (N,), is with the worst masses: 0 where the arm never falls, infinite
        where gears are too soft to carry it at all. The error of the motors, which grows, has the
        shape (N, n) and any length.
        """
        count, bodies = slopes.parts.shape[:2]
        light, heavy = self._request.part_factors(bodies - 1)
        known = np.zeros(bodies)
        known[:-1] = 0.0 if slopes.weights is None else 1.0
        worst: FloatArray = np.zeros(count)
        errors: FloatArray = np.zeros((count, len(kp)))
        # From the lightest and the heaviest arm: what is found is no better than either.
        for start in (light, heavy):
            factors: FloatArray = np.tile(start, (count, 1))
            for _ in range(GAIN_SEARCH.mass_rounds):
                slope = np.einsum('kb,kbij->kij', factors - known, slopes.parts)
                part, motors, error = _find_most_negative(
                    slope, kp, slopes.weights, self._stiffness
                )
                errors = np.where((part > worst)[:, np.newaxis], motors, errors)
                worst = np.maximum(worst, part)
                pushes = np.einsum('ki,kbij,kj->kb', error, slopes.parts, error)
                factors = np.where(pushes > 0.0, light, heavy)
        return worst, errors

    def reduction(self, kp: FloatArray) -> float:
        """Return the factor by which gains may be smaller in the poses that were found."""
        return (
            np.inf
            if self._found is None
            else _invert(float(self._soften(self._found, kp)[0].max()))
        )

    def share(self, kp: FloatArray) -> FloatArray:
        """Return which part of what holds the arm each joint has where it falls first, (n,)."""
        if self._found is None:
            return np.zeros_like(kp)
        part, error = self._soften(self._found, kp)
        work = kp * error[int(part.argmax())] ** 2
        return np.asarray(work / max(float(work.sum()), np.finfo(np.float64).tiny))

    def search(self, kp: FloatArray) -> float:
        """Return the factor by which gains may be smaller in any pose, and remember the worst.

        The worst of random poses are improved by what is drawn around them, nearer and nearer.
        """
        rng = np.random.default_rng(self._request.seed)
        found, _ = self._soften(self._starts, kp)
        order = np.argsort(-found)[: GAIN_SEARCH.improved_poses]
        poses, parts = self._starts.poses[order], found[order]
        columns = np.arange(len(poses))
        for width in np.geomspace(
            GAIN_SEARCH.first_width, GAIN_SEARCH.last_width, GAIN_SEARCH.improvements
        ):
            moves = (
                width
                * (self._upper - self._lower)
                * rng.normal(size=(GAIN_SEARCH.drawn_around, *poses.shape))
            )
            tried = np.clip(poses + moves, self._lower, self._upper)
            slopes = self._slopes_in(tried.reshape(-1, poses.shape[1]))
            found = self._soften(slopes, kp)[0].reshape(GAIN_SEARCH.drawn_around, -1)
            best = found.argmax(axis=0)
            is_worse = found[best, columns] > parts
            poses = np.where(is_worse[:, np.newaxis], tried[best, columns], poses)
            parts = np.where(is_worse, found[best, columns], parts)
        worst = int(parts.argmax())
        if parts[worst] > 0.0:
            self._found = self._slopes_in(np.concatenate((self.poses, poses[[worst]])))
            self._modes = None
        return min(_invert(float(parts[worst])), self.reduction(kp))


def _invert(part: float) -> float:
    return np.inf if part <= 0.0 else GAIN_SEARCH.search_miss / part
