"""What a parameter is, and tables of them; needs no ROS.

A node declares its parameters from such a table, checks every value by it, and the
documentation's table is made of it.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from math import inf, isnan
from typing import Any, overload

from ne_dynamics.errors import ParameterError

Value = bool | float | str | tuple[float, ...] | tuple[str, ...]


class Changes(str, enum.Enum):
    """When a parameter may be set."""

    ANY_TIME = 'any time'
    UNCONFIGURED = 'while unconfigured'
    START = 'at start'


@dataclass(frozen=True)
class ParameterSpec:
    """One parameter.

    Attributes
    ----------
    name : str
    type : str
        'bool', 'double', 'string', 'double[]' or 'string[]'. Integers are accepted for doubles,
        and one number for a list of one.
    default : bool, float, str or tuple
    description : str
    unit : str
    minimum, maximum : float
        Bounds of every number; inclusive unless `above_minimum`.
    above_minimum : bool
        The minimum itself is not allowed.
    allow_infinity : bool
        Whether an infinite number may be given (it then means "no limit").
    lengths : tuple of int
        Lengths that a list may have; empty: any (what depends on the robot is checked when the
        node is configured).
    choices : tuple of str
        Words that a string may be; empty: any.
    changes : Changes
        When it may be set.
    """

    name: str
    type: str
    default: Value
    description: str
    unit: str = ''
    minimum: float = -inf
    maximum: float = inf
    above_minimum: bool = False
    allow_infinity: bool = False
    lengths: tuple[int, ...] = ()
    choices: tuple[str, ...] = ()
    changes: Changes = Changes.UNCONFIGURED

    @property
    def read_only(self) -> bool:
        """Whether it can be set at the start only."""
        return self.changes is Changes.START

    @property
    def bounds(self) -> str:
        """What is allowed, in words; empty when everything is."""
        parts = []
        if self.choices:
            parts.append(' | '.join(self.choices))
        if self.minimum > -inf:
            parts.append(f'{">" if self.above_minimum else ">="} {self.minimum:g}')
        if self.maximum < inf:
            parts.append(f'<= {self.maximum:g}')
        if self.lengths:
            parts.append(f'length {" or ".join(str(length) for length in self.lengths)}')
        return ', '.join(parts)

    def check(self, value: Any) -> Value:
        """Return the value in the parameter's type.

        Raises
        ------
        ParameterError
            With name, got and expected.
        """
        if self.type == 'bool':
            if not isinstance(value, bool):
                raise self._fault(value, 'true or false')
            return value
        if self.type == 'string':
            return self._word(value)
        if self.type == 'double':
            return self._number(value)
        items = [value] if isinstance(value, (bool, int, float, str)) else value
        try:
            listed = list(items)
        except TypeError:
            raise self._fault(value, f'a list ({self.type})') from None
        if self.lengths and len(listed) not in self.lengths:
            lengths = ' or '.join(str(length) for length in self.lengths)
            raise self._fault(value, f'{lengths} values')
        if self.type == 'string[]':
            words = tuple(self._word(item) for item in listed)
            for word in words:
                if words.count(word) > 1:
                    raise self._fault(value, f'no name twice, like {word!r}')
            return words
        return tuple(self._number(item) for item in listed)

    def _word(self, value: Any) -> str:
        if not isinstance(value, str):
            raise self._fault(value, 'a string')
        if self.choices and value not in self.choices:
            raise self._fault(value, f'one of {", ".join(self.choices)}')
        return value

    def _number(self, value: Any) -> float:
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise self._fault(value, 'a number')
        number = float(value)
        if isnan(number) or (abs(number) == inf and not self.allow_infinity):
            raise self._fault(value, 'a finite number')
        low = number <= self.minimum if self.above_minimum else number < self.minimum
        if (low and self.minimum > -inf) or number > self.maximum:
            raise self._fault(value, self.bounds)
        return number

    def _fault(self, value: Any, expected: str) -> ParameterError:
        got = value if isinstance(value, (bool, int, float, str)) else _listed(value)
        return ParameterError(f'{self.name}: expected {expected}, got {got!r}')


def _listed(value: Any) -> Any:
    try:
        return list(value)
    except TypeError:
        return value


class ParameterTable(Sequence[ParameterSpec]):
    """The parameters of a node, in the order of the documentation.

    Parameters
    ----------
    *specs : ParameterSpec

    Attributes
    ----------
    by_name : mapping of str to ParameterSpec
    """

    def __init__(self, *specs: ParameterSpec) -> None:
        self._specs = specs
        self.by_name: Mapping[str, ParameterSpec] = {spec.name: spec for spec in specs}

    def __len__(self) -> int:
        """Return how many there are."""
        return len(self._specs)

    @overload
    def __getitem__(self, index: int) -> ParameterSpec: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[ParameterSpec]: ...
    def __getitem__(self, index: int | slice) -> ParameterSpec | Sequence[ParameterSpec]:
        """Return parameters by place."""
        return self._specs[index]

    def __iter__(self) -> Iterator[ParameterSpec]:
        """Return them one after the other."""
        return iter(self._specs)

    def default_values(self) -> dict[str, Value]:
        """Return the default of every parameter by name."""
        return {spec.name: spec.default for spec in self._specs}

    def find(self, name: str) -> ParameterSpec:
        """Return the parameter of that name.

        Raises
        ------
        ParameterError
            When there is none; the message names the nearest.
        """
        try:
            return self.by_name[name]
        except KeyError:
            raise ParameterError(f'{name}: no such parameter{self._nearest(name)}') from None

    def find_unknown(self, names: Iterable[str]) -> list[str]:
        """Return a remark for every name that the table lacks."""
        return [
            f'{name}: no such parameter{self._nearest(name)}'
            for name in names
            if name not in self.by_name
        ]

    def _nearest(self, name: str) -> str:
        near = get_close_matches(name, self.by_name, n=1)
        return f'; did you mean {near[0]!r}?' if near else ''
