"""Names for what the forms compute with.

A generic scalar is a ``float``, a NumPy array (one entry a sample), a symbol that traces or a
scalar that counts, see :mod:`ne_dynamics.algorithms.scalars.elementary`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from ne_dynamics.algorithms.scalars.scalar import Scalar

__all__ = ['ConstantMaker', 'Matrix', 'Scalar', 'Scalars']

Scalars: TypeAlias = Sequence[Scalar]

Matrix: TypeAlias = list[list[Scalar]]
"""Rows."""

ConstantMaker: TypeAlias = Callable[[Any], Scalar]
"""The ``number`` of :class:`~ne_dynamics.papers.forms.bookkeeping.Bookkeeping`."""
