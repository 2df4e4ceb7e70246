"""Sums over samples, which those of parts of a log add up to."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields
from typing import Any, ClassVar, TypeVar

import numpy as np

_Sums = TypeVar('_Sums', bound='Sums')


class Sums:
    """Base of dataclasses whose fields are sums or, where :attr:`LARGEST` names them, maxima."""

    LARGEST: ClassVar[tuple[str, ...]] = ()

    @classmethod
    def merge(cls: type[_Sums], parts: Iterable[_Sums]) -> _Sums:
        """Return what the parts come to, at least one, in their order."""
        several = list(parts)
        merged: dict[str, Any] = {}
        for field in fields(cls):  # type: ignore[arg-type]
            values = [getattr(part, field.name) for part in several]
            if field.name in cls.LARGEST:
                merged[field.name] = np.max(values, axis=0)
            else:
                merged[field.name] = sum(values)
        return cls(**merged)
