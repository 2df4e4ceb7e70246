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
    """Where the links are, and how they move."""

    @property
    def link_names(self) -> tuple[str, ...]:
        """Names of all links, in the order of :meth:`link_poses`."""
        return tuple(link.name for link in self._structure.links)

    def link_poses(self, q: ArrayLike, *, out: FloatArray | None = None) -> FloatArray:
        """Return the poses of all links in the base link's frame.

        Parameters
        ----------
        q : array-like, shape (n,) or (N, n)
        out : array, shape (links, 4, 4) or (N, links, 4, 4), optional
            For the result.

        Returns
        -------
        array, shape (links, 4, 4) or (N, links, 4, 4)
            Homogeneous matrices, translations in metres, in the order of :attr:`link_names`.
        """
        return self._answer('link_poses', (q,), out)

    def link_velocities(
        self, q: ArrayLike, qd: ArrayLike, *, out: FloatArray | None = None
    ) -> FloatArray:
        """Return the velocities of all links, each in its own axes; the base is at rest.

        Parameters
        ----------
        q, qd : array-like, shape (n,) or (N, n)
        out : array, shape (links, 6) or (N, links, 6), optional
            For the result.

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
        """Return the spatial accelerations of all links, each in its own axes, without gravity.

        Parameters
        ----------
        q, qd, qdd : array-like, shape (n,) or (N, n)
        out : array, shape (links, 6) or (N, links, 6), optional
            For the result.

        Returns
        -------
        array, shape (links, 6) or (N, links, 6)
            Linear [m/s^2], then angular [rad/s^2]: the time derivative of the numbers of
            :meth:`link_velocities`. The origin of a link accelerates by the linear part + w x v,
            with its angular velocity w and the velocity v of its origin.
        """
        return self._answer('link_accelerations', (q, qd, qdd), out)

    def forward_kinematics(
        self, q: ArrayLike, link: str | None = None, *, out: FloatArray | None = None
    ) -> FloatArray:
        """Return the pose of the tip, or of a named link, in the base link's frame.

        Parameters
        ----------
        q : array-like, shape (n,) or (N, n)
        link : str, optional
        out : array, shape (4, 4) or (N, 4, 4), optional
            For the result.

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
        link : str, optional
        axes : str
            'base': velocities in the base link's axes. 'tip': in the axes of the tip (or link).
            'world': in the base link's axes, and of that point which moves with the tip (or link)
            and is at the base link's origin. They are Pinocchio's LOCAL_WORLD_ALIGNED, LOCAL and
            WORLD where the base link is at the world's origin.
        out : array, shape (6, n) or (N, 6, n), optional
            For the result.

        Returns
        -------
        array, shape (6, n) or (N, 6, n)
            Rows 0-2: velocity of the frame's origin; rows 3-5: angular velocity. With
            ``axes='tip'``, ``jacobian.T @ wrench`` are the efforts of a wrench as
            :meth:`inverse_dynamics` takes it.
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
        link, axes : str
            As for :meth:`jacobian`. In 'tip' axes it is the derivative of the numbers, so the
            axes' own rotation counts.
        out : array, shape (6, n) or (N, 6, n), optional
            For the result.

        Returns
        -------
        array, shape (6, n) or (N, 6, n)
            ``jacobian @ qdd + jacobian_rate @ qd`` is the derivative of the twist.
        """
        row = _choose_axes('jacobian_rate', axes)
        return self._answer('jacobian_rate', (q, qd), out, link=link, row=row)


def _choose_axes(method: str, axes: str) -> Function:
    """Return the row of the table that answers in these axes."""
    if not isinstance(axes, str) or axes not in _AXES:
        raise InputError(f"axes: expected 'base', 'tip' or 'world', got {axes!r}")
    return FUNCTIONS[method + _AXES[axes]]
