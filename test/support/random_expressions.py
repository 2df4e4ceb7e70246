"""Random expressions as data, and three ways of evaluating them: directly, bounded, traced.

An expression is a number, an input ``('input', group, position)``, or a tuple of an operation
and its operands. Trees share subtrees on purpose, and hold the patterns a tracer folds.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass

import numpy as np

from ne_dynamics.algorithms.scalars import elementary
from ne_dynamics.codegen.program import trace

GROUPS = (('q', 3), ('qd', 2))
"""Inputs of every random program."""

CONSTANTS = (0.0, -0.0, 1.0, -1.0, 2.0, -2.0, 0.5, 3.0, -0.25, 1e-3, 1e3, 0.1, -0.7)

EPSILON = float(np.finfo(float).eps)


def random_expressions(seed, count, depth=6):
    """Return `count` expressions that share subtrees."""
    rng = np.random.default_rng(seed)
    pool = [('input', group, k) for group, (_, size) in enumerate(GROUPS) for k in range(size)]
    return [_grow(rng, pool, depth) for _ in range(count)]


def _grow(rng, pool, depth):
    if depth == 0 or rng.random() < 0.1:
        if rng.random() < 0.3:
            return _constant(rng)
        return pool[rng.integers(len(pool))]
    if rng.random() < 0.15:
        return pool[rng.integers(len(pool))]

    def grow():
        return _grow(rng, pool, depth - 1)

    operation = rng.choice(list(_PATTERNS), p=_WEIGHTS)
    expression = _PATTERNS[operation](rng, grow)
    pool.append(expression)
    return expression


def _constant(rng):
    if rng.random() < 0.7:
        return float(CONSTANTS[rng.integers(len(CONSTANTS))])
    return float(rng.normal())


def _self_difference(rng, grow):
    part = grow()
    return ('sub', part, part)


def _scaled_sum(rng, grow):
    part = grow()
    return (
        ('add', 'sub')[rng.integers(2)],
        ('mul', _constant(rng), part),
        ('mul', part, _constant(rng)),
    )


def _scaled_product(rng, grow):
    return ('mul', ('mul', _constant(rng), grow()), ('mul', _constant(rng), grow()))


def _safe_quotient(rng, grow):
    # Denominators stay away from zero: 2 + sin(...), or a constant.
    if rng.random() < 0.4:
        return ('div', grow(), float(rng.choice([1.0, -1.0, 2.0, -0.3, 7.0])))
    return ('div', grow(), ('add', 2.0, (('sin', 'cos')[rng.integers(2)], grow())))


def _own_quotient(rng, grow):
    part = ('add', ('sin', grow()), 2.0)
    return ('div', part, part if rng.random() < 0.5 else ('neg', part))


def _bounded_function(rng, grow):
    # The argument is a sine's, so that it stays where sines are accurate.
    return (('sin', 'cos')[rng.integers(2)], ('mul', _constant(rng), ('sin', grow())))


def _decay(rng, grow):
    part = grow()
    return ('exp', ('neg', ('mul', part, part)))


def _root(rng, grow):
    part = grow()
    return ('sqrt', ('add', 1.0, ('mul', part, part)))


_PATTERNS = {
    'add': lambda rng, grow: ('add', grow(), grow()),
    'sub': lambda rng, grow: ('sub', grow(), grow()),
    'mul': lambda rng, grow: ('mul', grow(), grow()),
    'neg': lambda rng, grow: ('neg', grow()),
    'sin': lambda rng, grow: ('sin', grow()),
    'cos': lambda rng, grow: ('cos', grow()),
    'sign': lambda rng, grow: ('sign', grow()),
    'quotient': _safe_quotient,
    'own quotient': _own_quotient,
    'constant product': lambda rng, grow: (
        'mul',
        ('mul', _constant(rng), _constant(rng)),
        grow(),
    ),
    'self difference': _self_difference,
    'scaled sum': _scaled_sum,
    'scaled product': _scaled_product,
    'bounded function': _bounded_function,
    'tanh': lambda rng, grow: ('tanh', grow()),
    'abs': lambda rng, grow: ('abs', grow()),
    'decay': _decay,
    'root': _root,
}
_WEIGHTS = np.array(
    [4, 4, 5, 2, 2, 2, 0.5, 1, 0.3, 1, 0.5, 1.5, 1.5, 1, 0.5, 0.5, 0.5, 0.5], dtype=float
)
_WEIGHTS /= _WEIGHTS.sum()


def evaluate(expression, inputs):
    """Evaluate over generic scalars; `inputs` holds a sequence of scalars for each group."""
    return _evaluate(expression, inputs, {})


def _evaluate(expression, inputs, known):
    if isinstance(expression, float):
        return expression
    if id(expression) in known:
        return known[id(expression)]
    operation, *parts = expression
    if operation == 'input':
        value = inputs[parts[0]][parts[1]]
    else:
        value = _OPERATIONS[operation](*[_evaluate(part, inputs, known) for part in parts])
    known[id(expression)] = value
    return value


def _function(name):
    """Return a function of any scalar: of those here by their method, else the package's."""

    def compute(x):
        return getattr(x, name)() if isinstance(x, Rounded) else getattr(elementary, name)(x)

    return compute


_OPERATIONS = {
    'add': lambda a, b: a + b,
    'sub': lambda a, b: a - b,
    'mul': lambda a, b: a * b,
    'div': lambda a, b: a / b,
    'neg': lambda a: -a,
    'sin': _function('sin'),
    'cos': _function('cos'),
    'sign': _function('sign'),
    'tanh': _function('tanh'),
    'abs': _function('absolute'),
    'exp': _function('exp'),
    'sqrt': _function('sqrt'),
}


@dataclass(frozen=True)
class Rounded:
    """A float with a bound of what rounding may have done to it, in units of the last place of 1.

    Whatever a tracer folds or reorders without changing the mathematics stays within a small
    multiple of the bound. It is infinite where no such statement holds: behind a sign whose
    argument is zero but for rounding, or an angle that is too uncertain.
    """

    value: float
    bound: float

    @staticmethod
    def of(x):
        """Return a number as the input of a calculation."""
        return x if isinstance(x, Rounded) else Rounded(float(x), abs(float(x)))

    def __add__(self, other):
        other = Rounded.of(other)
        value = self.value + other.value
        return Rounded(value, self.bound + other.bound + abs(value))

    __radd__ = __add__

    def __neg__(self):
        return Rounded(-self.value, self.bound)

    def __sub__(self, other):
        return self + (-Rounded.of(other))

    def __rsub__(self, other):
        return Rounded.of(other) - self

    def __mul__(self, other):
        other = Rounded.of(other)
        value = self.value * other.value
        return Rounded(
            value,
            _times(self.bound, abs(other.value))
            + _times(other.bound, abs(self.value))
            + _times(self.bound, other.bound) * EPSILON
            + abs(value),
        )

    __rmul__ = __mul__

    def __truediv__(self, other):
        other = Rounded.of(other)
        value = self.value / other.value
        if other.bound * EPSILON > 1e-3 * abs(other.value):
            return Rounded(value, np.inf)
        return Rounded(
            value,
            2.0 * (self.bound + _times(other.bound, abs(value))) / abs(other.value) + abs(value),
        )

    def __rtruediv__(self, other):
        return Rounded.of(other) / self

    def _function(self, value):
        # Beyond 1e6 rad a library's own reduction of the angle is at work.
        certain = self.bound * EPSILON < 1e-3 and abs(self.value) < 1e6
        return Rounded(value, self.bound + 1.0 if certain else np.inf)

    def sin(self):
        """Return the sine."""
        return self._function(float(np.sin(self.value)))

    def cos(self):
        """Return the cosine."""
        return self._function(float(np.cos(self.value)))

    def sign(self):
        """Return -1, 0 or 1; uncertain when the argument could be zero but for rounding."""
        exact = self.bound == 0.0  # a constant zero
        certain = exact or abs(self.value) > 1e3 * EPSILON * self.bound
        return Rounded(float(np.sign(self.value)), 0.0 if certain else np.inf)

    def tanh(self):
        """Return the hyperbolic tangent, whose slope is at most 1."""
        return Rounded(float(np.tanh(self.value)), self.bound + 4.0)

    def absolute(self):
        """Return the magnitude."""
        return Rounded(abs(self.value), self.bound)

    def exp(self):
        """Return the exponential of what is not positive, where its slope is at most 1."""
        return Rounded(float(np.exp(self.value)), self.bound + 2.0)

    def sqrt(self):
        """Return the root of what is at least 1, where its slope is at most a half."""
        value = float(np.sqrt(self.value))
        return Rounded(value, self.bound + value)


def _times(a, b):
    return 0.0 if a == 0.0 or b == 0.0 else a * b


def reference(expressions, rows):
    """Return values and bounds, each of shape (N, count), of expressions at N samples.

    Parameters
    ----------
    expressions : list
    rows : list of array, shape (N, count)
        One for each group.
    """
    values, bounds = [], []
    for sample in range(len(rows[0])):
        inputs = [[Rounded.of(x) for x in group[sample]] for group in rows]
        results = [Rounded.of(evaluate(expression, inputs)) for expression in expressions]
        values.append([result.value for result in results])
        bounds.append([result.bound for result in results])
    return np.array(values), np.array(bounds)


def traced(expressions):
    """Return the expressions as one program."""
    return trace(
        'expressions',
        GROUPS,
        (len(expressions),),
        functools.partial(_trace, expressions),
    )


def _trace(expressions, *inputs):
    return [evaluate(expression, inputs) for expression in expressions]


def random_rows(seed, count):
    """Return inputs of a program, a list of arrays of shape (count, size)."""
    rng = np.random.default_rng([seed, count])
    rows = [rng.uniform(-2.0, 2.0, (count, size)) for _, size in GROUPS]
    rows[0][0] = 0.0  # a sample in which much is exactly zero
    return rows
