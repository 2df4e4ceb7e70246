"""Numbers as JSON can hold them: it knows neither NaN nor infinity."""

from __future__ import annotations

import math


def finite_or_none(value: float) -> float | None:
    """Return a number as a plain float; None where it is NaN or infinite.

    Parameters
    ----------
    value : float
        Of Python or NumPy.

    Returns
    -------
    float or None
    """
    return float(value) if math.isfinite(value) else None
