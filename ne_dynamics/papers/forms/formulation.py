"""What every published form has in common: its signature, and the check of a request."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np

from ne_dynamics.algorithms.scalars.scalar import Vector
from ne_dynamics.errors import InputError, ModelError
from ne_dynamics.papers.forms.arm import Arm
from ne_dynamics.papers.forms.bookkeeping import Bookkeeping, bookkeeping
from ne_dynamics.papers.forms.coverage import Covers
from ne_dynamics.papers.forms.generic_scalars import Scalar, Scalars


@dataclass(frozen=True, eq=False)
class Request:
    """An arm and a motion, whose efforts are asked for; checked.

    Attributes
    ----------
    arm, q, qd, qdd, gravity, wrench, base_motion
        As for :meth:`Formulation.inverse_dynamics`.
    """

    arm: Arm
    q: Scalars
    qd: Scalars
    qdd: Scalars
    gravity: Scalars
    wrench: Scalars | None = None
    base_motion: Scalars | None = None

    @cached_property
    def bookkeeping(self) -> Bookkeeping:
        """The bookkeeping of the motion's scalars."""
        return bookkeeping(*self.q, *self.qd, *self.qdd)

    def find_tip_load(self) -> tuple[Vector | None, Vector]:
        """Return f_{n+1} and n_{n+1} in frame n, where there is a wrench: None, [] otherwise."""
        if self.wrench is None:
            return None, []
        self.bookkeeping.term('wrench')
        return self.arm.tip_load(self.wrench)

    def add_friction(self, efforts: Scalars) -> list[Scalar]:
        """Return the efforts plus b_i qd_i (000 equation 2.39), entered as a term of its own."""
        self.bookkeeping.term('friction')
        return [
            effort + link.viscous_friction * rate if link.viscous_friction != 0.0 else effort
            for link, effort, rate in zip(self.arm.links, efforts, self.qd, strict=True)
        ]


@dataclass(frozen=True)
class Formulation:
    """One published form of the inverse dynamics.

    A module that holds a form makes one of these and gives it the equations to compute with; a
    form needs no signature, documentation of arguments or check of its own.

    Attributes
    ----------
    name : str
    document : str
        Number of the source document and what it is.
    equations : str
        The document's equation numbers.
    covers : Covers
    compute_efforts : callable
        ``compute_efforts(request)``: the document's equations, from a :class:`Request` that has
        been checked to n scalars.
    """

    name: str
    document: str
    equations: str
    covers: Covers
    compute_efforts: Callable[..., list[Scalar]]

    def inverse_dynamics(
        self,
        arm: Arm,
        q: Scalars,
        qd: Scalars,
        qdd: Scalars,
        *,
        gravity: Scalars,
        wrench: Scalars | None = None,
        base_motion: Scalars | None = None,
        **options: bool | str,
    ) -> list[Scalar]:
        """Return the joint efforts that a motion takes.

        Parameters
        ----------
        arm : Arm
            In the Denavit-Hartenberg frames of :attr:`covers`.
        q, qd, qdd : sequence of n scalars
            Joint position [rad or m], velocity and acceleration.
        gravity : sequence of 3 scalars
            Acceleration of gravity in the base link's axes [m/s^2].
        wrench : sequence of 6 scalars, optional
            Force [N], then moment [N m], which the last link exerts on the environment, at the
            tip frame's origin and in its axes: f_{n+1}, n_{n+1} of 001.
        base_motion : sequence of 9 scalars, optional
            Angular velocity [rad/s], angular acceleration [rad/s^2] and linear acceleration
            [m/s^2] (without gravity) of the base link's frame, in its axes.
        **options : bool or str
            Choices that one form alone offers, see its module.

        Returns
        -------
        list of n scalars
            Efforts [N m or N], positive along the joint's positive direction.

        Raises
        ------
        ModelError
            When the arm has something that the form does not cover, see :attr:`covers`.
        InputError
            When an argument is of the wrong length or not finite.
        """
        request = Request(arm, q, qd, qdd, gravity, wrench, base_motion)
        self._check(request)
        return self.compute_efforts(request, **options)

    def _check(self, request: Request) -> None:
        """Refuse what the form does not cover, and arguments of a wrong length or not finite."""
        name, n = self.name, request.arm.n
        missing = self.covers.missing(request.arm)
        if missing:
            raise ModelError(f'{name}: {"; ".join(missing)}')
        counts = {'q': n, 'qd': n, 'qdd': n, 'gravity': 3, 'wrench': 6, 'base_motion': 9}
        for key, count in counts.items():
            values = getattr(request, key)
            if values is None:
                continue
            if len(values) != count:
                raise InputError(f'{name}: {key}: expected {count} numbers, got {len(values)}')
            for index, value in enumerate(values):
                if not _is_finite(value):
                    raise InputError(
                        f'{name}: {key}: expected finite numbers, got {value} at index {index}'
                    )


def _is_finite(value: Scalar) -> bool:
    if isinstance(value, (float, int)):
        return math.isfinite(value)
    if isinstance(value, (np.ndarray, np.generic)):
        return bool(np.isfinite(value).all())
    return True  # symbols and counting scalars


InverseDynamicsFunction: TypeAlias = Callable[..., list[Scalar]]
"""With the arguments of :meth:`Formulation.inverse_dynamics`."""
