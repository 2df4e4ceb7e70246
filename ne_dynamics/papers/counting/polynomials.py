"""Polynomials in the number of joints, exact: operation counts as formulas."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from ne_dynamics.errors import InputError

Rational = int | Fraction


@dataclass(frozen=True)
class Polynomial:
    """A polynomial in n with rational coefficients.

    Attributes
    ----------
    coefficients : tuple of int or Fraction
        Of 1, n, n^2 ...; without zeros at the end.
    """

    coefficients: tuple[Rational, ...]

    def __post_init__(self) -> None:
        kept = list(self.coefficients)
        while kept and kept[-1] == 0:
            kept.pop()
        object.__setattr__(self, 'coefficients', tuple(kept))

    def __call__(self, n: int) -> Fraction:
        """Return the value at n."""
        return sum(
            (Fraction(value) * n**power for power, value in enumerate(self.coefficients)),
            Fraction(0),
        )

    def __add__(self, other: Polynomial) -> Polynomial:
        """Return the sum."""
        size = max(len(self.coefficients), len(other.coefficients))
        return Polynomial(tuple(self._at(i) + other._at(i) for i in range(size)))

    def __sub__(self, other: Polynomial) -> Polynomial:
        """Return the difference."""
        return self + Polynomial(tuple(-value for value in other.coefficients))

    def scaled(self, factor: Rational) -> Polynomial:
        """Return the polynomial times a number."""
        return Polynomial(tuple(factor * value for value in self.coefficients))

    def _at(self, power: int) -> Rational:
        return self.coefficients[power] if power < len(self.coefficients) else 0

    def __str__(self) -> str:
        """Return the formula, highest power first, e.g. ``81/6 n^3 + 5n``."""
        text = ''
        for power in reversed(range(len(self.coefficients))):
            value = Fraction(self.coefficients[power])
            if value == 0:
                continue
            size = abs(value)
            letter = ('', 'n')[power] if power < 2 else f'n^{power}'
            gap = ' ' if size.denominator != 1 and letter else ''
            term = letter if size == 1 and letter else f'{size}{gap}{letter}'
            sign = '-' if value < 0 else '+'
            text += f' {sign} {term}' if text else f'-{term}' if value < 0 else term
        return text or '0'


def polynomial(*coefficients: Rational) -> Polynomial:
    """Return a polynomial from its coefficients, highest power first, as formulas are written."""
    return Polynomial(tuple(reversed(coefficients)))


def fit(values: Mapping[int, int]) -> Polynomial:
    """Return the polynomial of lowest degree that meets all values exactly.

    Parameters
    ----------
    values : mapping of int to int
        Values at successive n; at least one more than a degree takes, so that the fit is checked.

    Raises
    ------
    InputError
        When no polynomial of a degree that the values could prove meets them.
    """
    points = sorted(values)
    for degree in range(len(points) - 1):
        candidate = _interpolated({n: values[n] for n in points[: degree + 1]})
        if all(candidate(n) == values[n] for n in points):
            return candidate
    raise InputError(
        f'counts at n = {points[0]}..{points[-1]}: expected a polynomial of degree '
        f'{len(points) - 2} or less, got {[values[n] for n in points]}'
    )


def _interpolated(values: Mapping[int, int]) -> Polynomial:
    """Return Lagrange's interpolation."""
    total = Polynomial(())
    for n, value in values.items():
        basis: list[Fraction] = [Fraction(value)]
        for other in values:
            if other != n:
                scale = Fraction(1, n - other)
                shifted = [Fraction(0), *basis]
                basis = [
                    scale * (high - other * low)
                    for high, low in zip(shifted, [*basis, Fraction(0)], strict=True)
                ]
        total = total + Polynomial(tuple(basis))
    return total
