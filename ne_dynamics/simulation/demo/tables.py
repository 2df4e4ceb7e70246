"""What a demo prints: figures and names."""

from __future__ import annotations


def figure(value: float) -> str:
    """Return a number with three significant digits, never in powers of ten."""
    if value >= 100.0:
        return f'{value:.0f}'
    return f'{value:.1f}' if value >= 10.0 else f'{value:.2f}' if value >= 1.0 else f'{value:.3f}'


def milli(value: float) -> str:
    """Return thousandths of a value, as :func:`figure` writes them."""
    return figure(1e3 * value)


def shortened(name: str, longest: int = 16) -> str:
    """Return a name, its end left out when it is too long for a column."""
    return name if len(name) <= longest else f'{name[: longest - 2]}..'
