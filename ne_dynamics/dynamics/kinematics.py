"""Poses of links, Jacobians and their rates."""

from __future__ import annotations

from numpy.typing import ArrayLike

from ne_dynamics.codegen.functions import FUNCTIONS, Function
from ne_dynamics.dynamics.calls import CheckedCalls
from ne_dynamics.errors import InputError
from ne_dynamics.model.robot import FloatArray

_AXES = {'base': '', 'tip': '_in_tip_axes', 'world': '_at_base_origin'}
"""What the axes of a Jacobian add to the name of its row."""


class KinematicsMethods(CheckedCalls):
    """Poses, velocities and accelerations of links; Jacobians and their rates."""

    @property
    def link_names(self) -> tuple[str, ...]:
        """Names of all links, in the order of :meth:`link_poses`."""
        return tuple(link.name for link in self._structure.links)

    def link_poses(self, q: ArrayLike, *, out: FloatArray | None = None) -> FloatArray:
        """Return the poses of all links in the base link's frame.

        Parameters
        ----------
        q : array-like, shape (n,) or (N, n)
            Joint positions [rad or m].
        out : array, shape (links, 4, 4) or (N, links, 4, 4), optional
            Array for the result.

        Returns
        -------
        array, shape (links, 4, 4) or (N, links, 4, 4)
            Homogeneous matrices, translations in metres, in the order of :attr:`link_names`.
        """
        return self._answer('link_poses', (q,), out)

    def link_velocities(
        self, q: ArrayLike, qd: ArrayLike, *, out: FloatArray | None = None
    ) -> FloatArray:
        """Return the velocities of all links relative to the base, each in the link's own axes.

        Parameters
        ----------
        q, qd : array-like, shape (n,) or (N, n)
            Joint positions [rad or m] and velocities [rad/s or m/s].
        out : array, shape (links, 6) or (N, links, 6), optional
            Array for the result.

        Returns
        -------
        array, shape (links, 6) or (N, links, 6)
            Velocity of the origin of the link's frame [m/s], then angular velocity [rad/s], in
            the order of :attr:`link_names`.
        """
        return self._answer('link_velocities', (q, qd), out)

    def link_accelerations(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        qdd: ArrayLike,
        *,
        out: FloatArray | None = None,
    ) -> FloatArray:
        """Return the spatial accelerations of all links, without gravity, in the link's own axes.

        Parameters
        ----------
        q, qd, qdd : array-like, shape (n,) or (N, n)
            Joint positions [rad or m], velocities and accelerations [rad/s^2 or m/s^2].
        out : array, shape (links, 6) or (N, links, 6), optional
            Array for the result.

        Returns
        -------
        array, shape (links, 6) or (N, links, 6)
            Linear [m/s^2], then angular [rad/s^2]: the time derivatives of the components of
            :meth:`link_velocities`. The classical acceleration of the link's origin is the linear
            part plus w x v, with the link's angular velocity w and the velocity v of its origin.
        """
        return self._answer('link_accelerations', (q, qd, qdd), out)

    def forward_kinematics(
        self, q: ArrayLike, link: str | None = None, *, out: FloatArray | None = None
    ) -> FloatArray:
        """Return the pose of the tip, or of a named link, in the base link's frame.

        Parameters
        ----------
        q : array-like, shape (n,) or (N, n)
            Joint positions [rad or m].
        link : str, optional
            Name of a link; default: the tip.
        out : array, shape (4, 4) or (N, 4, 4), optional
            Array for the result.

        Returns
        -------
        array, shape (4, 4) or (N, 4, 4)
            Homogeneous matrix, translation in metres.
        """
        return self._answer('forward_kinematics', (q,), out, link=link)

    def jacobian(
        self,
        q: ArrayLike,
        link: str | None = None,
        axes: str = 'base',
        *,
        out: FloatArray | None = None,
    ) -> FloatArray:
        """Return the geometric Jacobian of the tip, or of a named link.

        Parameters
        ----------
        q : array-like, shape (n,) or (N, n)
            Joint positions [rad or m].
        link : str, optional
            Name of a link; default: the tip.
        axes : str
            'base': velocity of the link's origin, in base axes (Pinocchio's LOCAL_WORLD_ALIGNED).
            'tip': the same in the link's own axes (LOCAL). 'world': spatial velocity, of the point
            of the link that is at the base link's origin, in base axes (WORLD, if the base link
            is at the world's origin).
        out : array, shape (6, n) or (N, 6, n), optional
            Array for the result.

        Returns
        -------
        array, shape (6, n) or (N, 6, n)
            Rows 0-2: linear velocity; rows 3-5: angular velocity. With ``axes='tip'``,
            ``jacobian.T @ wrench`` is the effort of a `wrench` of :meth:`inverse_dynamics`.
        """
        row = _choose_axes('jacobian', axes)
        return self._answer('jacobian', (q,), out, link=link, row=row)

    def jacobian_rate(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        link: str | None = None,
        axes: str = 'base',
        *,
        out: FloatArray | None = None,
    ) -> FloatArray:
        """Return the time derivative of :meth:`jacobian` at the velocities qd.

        Parameters
        ----------
        q, qd : array-like, shape (n,) or (N, n)
            Joint positions [rad or m] and velocities [rad/s or m/s].
        link, axes : str
            As for :meth:`jacobian`. With 'tip' it is the derivative of the components, which
            includes the rotation of the axes.
        out : array, shape (6, n) or (N, 6, n), optional
            Array for the result.

        Returns
        -------
        array, shape (6, n) or (N, 6, n)
            ``jacobian @ qdd + jacobian_rate @ qd`` is the time derivative of ``jacobian @ qd``.
        """
        row = _choose_axes('jacobian_rate', axes)
        return self._answer('jacobian_rate', (q, qd), out, link=link, row=row)


def _choose_axes(method: str, axes: str) -> Function:
    """Return the row of the table that answers in these axes."""
    if not isinstance(axes, str) or axes not in _AXES:
        raise InputError(f"axes: expected 'base', 'tip' or 'world', got {axes!r}")
    return FUNCTIONS[method + _AXES[axes]]
