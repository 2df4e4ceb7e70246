"""Exponential and hyperbolic tangent as LLVM text on lanes, without a library.

Both take the argument as ``n ln 2 + r`` with ``|r| <= ln(2) / 2`` (Cody and Waite), and the
exponential less one of r as its Taylor series to the 13th power, whose rest is below rounding.
They are right for every number: infinities, NaN, and results that are denormal.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

from ne_dynamics.codegen.llvm.lanes import LaneWriter

# ln 2 in two parts, the first of 32 bits, so that its product with n is exact.
_LN_2 = (0.693147180369123816490, 1.90821492927058770002e-10)
_LOG2_E = 1.4426950408889634074
# Adding this leaves the nearest integer in the low bits of the mantissa.
_ROUNDER = 6755399441055744.0
_BIAS = 1023
_MANTISSA = 52
_SIGN = -(2**63)

_LEAST_EXPONENT, _LARGEST_EXPONENT = -746.0, 710.0
"""Beyond these the exponential is zero and infinite."""

_LARGEST_TANGENT = 22.0
"""From here on the hyperbolic tangent is 1 to the last place."""

_SERIES = tuple(1.0 / math.factorial(power) for power in range(2, 14))
"""Of ``(e^r - 1 - r) / r^2``, from the constant on."""


class _ExponentialWriter(LaneWriter):
    """Writes what exponential and hyperbolic tangent have in common."""

    def bound(self, name: str, value: str, comparison: str, limit: float) -> str:
        """Put a limit in the place of what is beyond it; NaN stays."""
        self.lines += [
            f'%{name}c = fcmp {comparison} {self.kind} {value}, {self.number(limit)}',
            f'%{name} = select <{self.lanes} x i1> %{name}c, '
            f'{self.kind} {self.number(limit)}, {self.kind} {value}',
        ]
        return f'%{name}'

    def power_of_two(self, name: str, shifted: str) -> str:
        """Compute 2^n from n + the rounder."""
        # The shift drops all bits of the rounder.
        self.lines += [
            f'%{name}b = bitcast {self.kind} {shifted} to {self.integer}',
            f'%{name}e = add {self.integer} %{name}b, {self.whole(_BIAS)}',
            f'%{name}s = shl {self.integer} %{name}e, {self.whole(_MANTISSA)}',
            f'%{name} = bitcast {self.integer} %{name}s to {self.kind}',
        ]
        return f'%{name}'

    def reduce(self, argument: str) -> tuple[str, str]:
        """Compute n and ``e^r - 1``."""
        rounder = self.number(_ROUNDER)
        scaled = self.apply('scaled', 'fmul', argument, self.number(_LOG2_E))
        shifted = self.apply('shifted', 'fadd', scaled, rounder)
        count = self.apply('count', 'fsub', shifted, rounder)
        self.lines.append(f'%back = fneg {self.kind} {count}')
        rest = argument
        for index, part in enumerate(_LN_2):
            rest = self.add_product(f'r{index}', '%back', self.number(part), rest)
        square = self.apply('square', 'fmul', rest, rest)
        # Even and odd powers side by side.
        even = self._sum_series('even', _SERIES[0::2], square)
        odd = self._sum_series('odd', _SERIES[1::2], square)
        series = self.add_product('series', rest, odd, even)
        return count, self.add_product('less', square, series, rest)

    def _sum_series(self, name: str, coefficients: Sequence[float], x: str) -> str:
        value = self.number(coefficients[-1])
        for index, coefficient in enumerate(reversed(coefficients[:-1])):
            value = self.add_product(f'{name}{index}', value, x, self.number(coefficient))
        return value


def write_exp(lanes: int) -> str:
    """Return the text of a function that computes the exponential of ``lanes`` numbers."""
    write = _ExponentialWriter(lanes)
    low = write.bound('low', '%x', 'olt', _LEAST_EXPONENT)
    argument = write.bound('argument', low, 'ogt', _LARGEST_EXPONENT)
    count, less = write.reduce(argument)
    value = write.apply('value', 'fadd', less, write.number(1.0))
    # In two halves, each of which is a normal number; the last product rounds to a denormal one.
    rounder = write.number(_ROUNDER)
    shifted = write.add_product('shifted_half', count, write.number(0.5), rounder)
    half = write.apply('half', 'fsub', shifted, rounder)
    other = write.apply('other', 'fsub', count, half)
    shifted_other = write.apply('shifted_other', 'fadd', other, rounder)
    first = write.power_of_two('first', shifted)
    second = write.power_of_two('second', shifted_other)
    result = write.apply('product', 'fmul', value, first)
    return write.text('exp', write.kind, write.apply('result', 'fmul', result, second))


def write_tanh(lanes: int) -> str:
    """Return the text of a function that computes the hyperbolic tangent of ``lanes`` numbers.

    It is ``-m / (2 + m)`` with ``m = e^(-2 |x|) - 1``, with the sign of x.
    """
    write = _ExponentialWriter(lanes)
    write.lines += [
        f'%xbits = bitcast {write.kind} %x to {write.integer}',
        f'%sign = and {write.integer} %xbits, {write.whole(_SIGN)}',
        f'%sizebits = xor {write.integer} %xbits, %sign',
        f'%size = bitcast {write.integer} %sizebits to {write.kind}',
    ]
    size = write.bound('bounded', '%size', 'ogt', _LARGEST_TANGENT)
    argument = write.apply('argument', 'fmul', size, write.number(-2.0))
    count, less = write.reduce(argument)
    shifted = write.apply('again', 'fadd', count, write.number(_ROUNDER))
    scale = write.power_of_two('scale', shifted)
    rest = write.apply('scale_less', 'fsub', scale, write.number(1.0))
    minus = write.add_product('minus', scale, less, rest)
    divisor = write.apply('divisor', 'fadd', minus, write.number(2.0))
    quotient = write.apply('quotient', 'fdiv', minus, divisor)
    # The quotient is negative, or zero of either sign.
    write.lines += [
        f'%qbits = bitcast {write.kind} {quotient} to {write.integer}',
        f'%plain = and {write.integer} %qbits, {write.whole(2**63 - 1)}',
        f'%signed = or {write.integer} %plain, %sign',
        f'%result = bitcast {write.integer} %signed to {write.kind}',
    ]
    return write.text('tanh', write.kind, '%result')


WRITERS: Mapping[str, Callable[[int], str]] = {'exp': write_exp, 'tanh': write_tanh}
"""What writes each function, by its name."""
