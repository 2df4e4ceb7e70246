"""How much a constant of a mechanism matters to each joint's effort.

The derivative of every joint's effort with respect to small changes of geometry and inertia is
computed at seeded random motions, and set against what that joint has to give at them. Only
numbers are computed here, for all motions at once; nothing of it is traced.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ne_dynamics.algorithms.mechanism_body import MOMENT_ENTRIES, MechanismBody
from ne_dynamics.model.robot import BASE, FloatArray

SAMPLES = 16
"""Motions of each kind."""

GRAVITY = (0.0, 0.0, -9.80665)
"""Acceleration of gravity in the base link's axes that the model is usually used with."""


class EffortSensitivity:
    """Efforts of a mechanism at random motions, and their derivatives.

    The motions are of three kinds, because what is negligible in one may be all there is in
    another: without gravity, with gravity as it usually acts, and on a base that is tilted and
    moves. Revolute joints take any position, rates up to 1 rad/s and accelerations up to
    1 rad/s^2; prismatic ones as many metres in one half of the motions, and as many of the
    robot's reaches in the other.

    Parameters
    ----------
    bodies : sequence of MechanismBody
        With each link's own inertial parameters, not regrouped.
    coordinates : int
    reach : float
        How far the robot reaches from its first joints [m].
    base_axes : array, shape (3, 3)
        Axes of the chosen base frame in the base link's.
    """

    # All vectors below are spatial: (angular, linear) about the origin of the chosen base frame,
    # in its axes (Featherstone 2008, 2.2), with one row for each motion.

    def __init__(
        self,
        bodies: Sequence[MechanismBody],
        coordinates: int,
        reach: float,
        base_axes: FloatArray,
    ) -> None:
        self._bodies = bodies
        self._coordinates = coordinates
        # One row of strokes for each kind of motion.
        slides = any(body.is_prismatic for body in bodies)
        strokes = np.repeat([1.0, reach] if slides else [1.0], SAMPLES)
        count = 3 * strokes.size
        self._kinds = count // SAMPLES
        rng = np.random.default_rng(0)
        q, qd, qdd = rng.uniform(-1.0, 1.0, (3, coordinates, count))
        base_rates = rng.uniform(-1.0, 1.0, (count, 6))
        upward = np.tile(-(np.array(GRAVITY) @ base_axes), (count, 1))
        tilted = rng.normal(size=(strokes.size, 3))
        tilted *= np.linalg.norm(GRAVITY) / np.linalg.norm(tilted, axis=1, keepdims=True)
        floating, hanging, standing = np.split(np.arange(count), 3)
        base_rates[floating] = base_rates[standing] = 0.0
        upward[floating], upward[hanging] = 0.0, tilted
        self._rates = {BASE: np.concatenate([base_rates[:, :3], np.zeros((count, 3))], axis=1)}
        self._accelerations = {BASE: np.concatenate([base_rates[:, 3:], upward], axis=1)}
        self._axes = {BASE: np.broadcast_to(np.eye(3), (count, 3, 3))}
        self._origins = {BASE: np.zeros((count, 3))}
        self._pivots: list[FloatArray] = []
        self._twists: list[FloatArray] = []
        for index, body in enumerate(bodies):
            unit = np.tile(strokes, 3) if body.is_prismatic else np.ones(count)
            position = unit if body.is_prismatic else np.full(count, np.pi)
            self._move(
                index,
                body.multiplier * position * q[body.coordinate] + body.offset,
                body.multiplier * unit * qd[body.coordinate],
                body.multiplier * unit * qdd[body.coordinate],
            )
        self._load()

    def _move(
        self, index: int, position: FloatArray, rate: FloatArray, acceleration: FloatArray
    ) -> None:
        """Go outward to a body."""
        body = self._bodies[index]
        axes = self._axes[body.parent] @ body.constant_rotation
        pivot = self._origins[body.parent] + self._axes[body.parent] @ np.array(body.position)
        z = axes[:, :, 2]
        if body.is_prismatic:
            twist = np.concatenate([np.zeros_like(z), z], axis=1)
            origin = pivot + position[:, None] * z
        else:
            twist = np.concatenate([z, _cross(pivot, z)], axis=1)
            origin = pivot
            c, s = np.cos(position), np.sin(position)
            turned = np.zeros_like(axes)
            turned[:, 0, 0], turned[:, 0, 1], turned[:, 1, 0], turned[:, 1, 1] = c, -s, s, c
            turned[:, 2, 2] = 1.0
            axes = axes @ turned
        added = rate[:, None] * twist
        parent_rate = self._rates[body.parent]
        self._axes[index], self._origins[index] = axes, origin
        self._pivots.append(pivot)
        self._twists.append(twist)
        self._rates[index] = parent_rate + added
        self._accelerations[index] = (
            self._accelerations[body.parent]
            + acceleration[:, None] * twist
            + _cross_motion(parent_rate, added)
        )

    def _load(self) -> None:
        """Go inward: composite inertias, velocity products and forces, and the efforts."""
        count = len(self._bodies)
        inertias: list[FloatArray] = []
        products: list[FloatArray] = []
        forces: list[FloatArray] = []
        for index in range(count):
            rate = self._rates[index]
            inertia = self._compute_spatial_inertia(index)
            momentum = _multiply(inertia, rate)
            inertias.append(inertia)
            # B = (v x* I - I v x + (I v) x-bar*) / 2, where (f x-bar*) m = m x* f: half the
            # derivative of the force with respect to the rate (Singh, Russell and Wensing 2022).
            moving = _make_motion_matrix(rate)
            products.append(
                0.5
                * (
                    _make_force_matrix(rate) @ inertia
                    - inertia @ moving
                    + _make_bar_matrix(momentum)
                )
            )
            forces.append(
                _multiply(inertia, self._accelerations[index]) + _cross_force(rate, momentum)
            )
        self._efforts = np.zeros((self._coordinates, forces[0].shape[0]))
        for index in reversed(range(count)):
            body = self._bodies[index]
            effort = np.einsum('sk,sk->s', self._twists[index], forces[index])
            self._efforts[body.coordinate] += body.multiplier * effort
            if body.parent != BASE:
                inertias[body.parent] = inertias[body.parent] + inertias[index]
                products[body.parent] = products[body.parent] + products[index]
                forces[body.parent] = forces[body.parent] + forces[index]
        self._inertias, self._products, self._forces = inertias, products, forces

    def _compute_spatial_inertia(self, index: int) -> FloatArray:
        inertia = self._bodies[index].inertia
        axes, origin = self._axes[index], self._origins[index]
        local = axes @ np.array(inertia.first_moment)
        first = local + inertia.mass * origin
        # J about the base origin: r = origin + v under the integral of r r^T.
        mixed = origin[:, :, None] * local[:, None, :]
        pseudo = axes @ inertia.pseudo_inertia @ np.swapaxes(axes, 1, 2)
        pseudo = pseudo + mixed + np.swapaxes(mixed, 1, 2)
        pseudo = pseudo + inertia.mass * origin[:, :, None] * origin[:, None, :]
        result = np.zeros((origin.shape[0], 6, 6))
        half = np.trace(pseudo, axis1=1, axis2=2)[:, None, None] * np.eye(3)
        result[:, :3, :3] = half - pseudo
        result[:, :3, 3:] = _make_skew(first)
        result[:, 3:, :3] = -result[:, :3, 3:]
        result[:, 3:, 3:] = inertia.mass * np.eye(3)
        return result

    @property
    def scales(self) -> FloatArray:
        """Largest effort of each coordinate in motions of the same kind, shape (n, motions)."""
        kinds = np.abs(self._efforts).reshape(self._coordinates, self._kinds, SAMPLES)
        return np.repeat(kinds.max(axis=2), SAMPLES, axis=1)

    def compute_displacement_effect(
        self, index: int, rotation: Sequence[float], translation: Sequence[float]
    ) -> FloatArray:
        """Return the efforts' derivative when a body and all beyond it are displaced.

        Parameters
        ----------
        index : int
            The body.
        rotation, translation : sequence of 3 float
            Direction of the displacement of its frame in the axes of its parent's frame; the
            rotation is about the frame's own origin at joint position zero.

        Returns
        -------
        array, shape (n, motions)
        """
        # The displacement is a joint of its own before the body's: the derivatives of the
        # recursion with respect to a joint position (Singh, Russell and Wensing 2022), with d for
        # its twist, v and a of the parent:
        #     d' = v x d      d'' = a x d + v x d'
        #     beyond it  S_j . (2 B_j d' + I_j d'')
        #     before it  S_j . (2 B_i d' + I_i d'' + d x* f_i)
        parent = self._bodies[index].parent
        axes = self._axes[parent]
        turned = axes @ np.asarray(rotation, dtype=np.float64)
        moved = axes @ np.asarray(translation, dtype=np.float64)
        twist = np.concatenate([turned, moved + _cross(self._pivots[index], turned)], axis=1)
        first = _cross_motion(self._rates[parent], twist)
        second = _cross_motion(self._accelerations[parent], twist)
        second = second + _cross_motion(self._rates[parent], first)

        def load(carried: int) -> FloatArray:
            return 2.0 * _multiply(self._products[carried], first) + _multiply(
                self._inertias[carried], second
            )

        result = np.zeros_like(self._efforts)
        beyond = {index}
        for other in range(index, len(self._bodies)):
            if other == index or self._bodies[other].parent in beyond:
                beyond.add(other)
                self._add(result, other, load(other))
        self._add_inward(result, parent, load(index) + _cross_force(twist, self._forces[index]))
        return result

    def compute_inertia_effect(
        self, index: int, first: Sequence[float], second: Sequence[float]
    ) -> FloatArray:
        """Return the efforts' derivative when a body's moments change.

        Parameters
        ----------
        index : int
            The body.
        first : sequence of 3 float
            Change of the first moment.
        second : sequence of 6 float
            Change of the second moments xx, yy, zz, xy, xz, yz.

        Returns
        -------
        array, shape (n, motions)
        """
        axes, origin = self._axes[index], self._origins[index]
        rate, acceleration = self._rates[index], self._accelerations[index]
        w, wd = rate[:, :3], acceleration[:, :3]
        # The classical acceleration of the origin: that of the spatial vector, carried from the
        # base origin, and w x v.
        velocity = rate[:, 3:] + _cross(w, origin)
        a = acceleration[:, 3:] + _cross(wd, origin) + _cross(w, velocity)
        # f = A h and n = h x a + vee(A J - (A J)^T), with A = [wd]x + [w]x [w]x.
        matrix = _make_skew(wd) + _make_skew(w) @ _make_skew(w)
        moment = axes @ np.asarray(first, dtype=np.float64)
        pseudo = np.zeros((3, 3))
        for (row, column), value in zip(MOMENT_ENTRIES, second, strict=True):
            pseudo[row, column] = pseudo[column, row] = value
        product = matrix @ (axes @ pseudo @ np.swapaxes(axes, 1, 2))
        force = _multiply(matrix, moment)
        torque = _cross(moment, a)
        for k, (row, column) in enumerate(((2, 1), (0, 2), (1, 0))):
            torque[:, k] += product[:, row, column] - product[:, column, row]
        wrench = np.concatenate([torque + _cross(origin, force), force], axis=1)
        result = np.zeros_like(self._efforts)
        self._add_inward(result, index, wrench)
        return result

    def _add_inward(self, efforts: FloatArray, index: int, force: FloatArray) -> None:
        """Add what a force on a body asks of the body's joint and of those before it."""
        while index != BASE:
            self._add(efforts, index, force)
            index = self._bodies[index].parent

    def _add(self, efforts: FloatArray, index: int, force: FloatArray) -> None:
        body = self._bodies[index]
        effort = np.einsum('sk,sk->s', self._twists[index], force)
        efforts[body.coordinate] += body.multiplier * effort


def _cross(a: FloatArray, b: FloatArray) -> FloatArray:
    """Return a x b of vectors, one each motion; in a tenth of the time of ``np.cross``."""
    result = a[:, _NEXT] * b[:, _AFTER]
    result -= a[:, _AFTER] * b[:, _NEXT]
    return result


_NEXT, _AFTER = [1, 2, 0], [2, 0, 1]


def _multiply(matrices: FloatArray, vectors: FloatArray) -> FloatArray:
    """Return matrix times vector, one each motion."""
    result: FloatArray = (matrices @ vectors[..., None])[..., 0]
    return result


def _cross_motion(v: FloatArray, m: FloatArray) -> FloatArray:
    """Return v x m of motion vectors."""
    w = v[:, :3]
    linear = _cross(w, m[:, 3:]) + _cross(v[:, 3:], m[:, :3])
    return np.concatenate([_cross(w, m[:, :3]), linear], axis=1)


def _cross_force(v: FloatArray, f: FloatArray) -> FloatArray:
    """Return v x* f of a motion and a force vector."""
    w = v[:, :3]
    angular = _cross(w, f[:, :3]) + _cross(v[:, 3:], f[:, 3:])
    return np.concatenate([angular, _cross(w, f[:, 3:])], axis=1)


def _make_skew(vectors: FloatArray) -> FloatArray:
    """Return the matrices of the cross product, shape (motions, 3, 3)."""
    result = np.zeros((vectors.shape[0], 3, 3))
    x, y, z = vectors.T
    result[:, 0, 1], result[:, 0, 2], result[:, 1, 2] = -z, y, -x
    result[:, 1, 0], result[:, 2, 0], result[:, 2, 1] = z, -y, x
    return result


def _make_motion_matrix(v: FloatArray) -> FloatArray:
    """Return the matrices of ``v x``."""
    result = np.zeros((v.shape[0], 6, 6))
    result[:, :3, :3] = result[:, 3:, 3:] = _make_skew(v[:, :3])
    result[:, 3:, :3] = _make_skew(v[:, 3:])
    return result


def _make_force_matrix(v: FloatArray) -> FloatArray:
    """Return the matrices of ``v x*``."""
    return np.asarray(-np.swapaxes(_make_motion_matrix(v), 1, 2))


def _make_bar_matrix(f: FloatArray) -> FloatArray:
    """Return the matrices that take m to ``m x* f``."""
    result = np.zeros((f.shape[0], 6, 6))
    result[:, :3, :3] = -_make_skew(f[:, :3])
    result[:, :3, 3:] = result[:, 3:, :3] = -_make_skew(f[:, 3:])
    return result
