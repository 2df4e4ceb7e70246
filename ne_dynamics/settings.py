"""Settings that are a node's parameters: frozen dataclasses, each field declared where it stands.

A field that :func:`parameter` makes is one parameter: its type is the annotation, its name the way
to it. One that :func:`group` makes is a group of them, another such dataclass::

    @dataclass(frozen=True)
    class WrenchSettings:
        timeout: float = parameter(0.1, 'Age from which ...', unit='s', minimum=0.0)

    @dataclass(frozen=True)
    class NodeSettings:
        wrench: WrenchSettings = group(WrenchSettings)

    PARAMETERS = ParameterTable(NodeSettings)  # has one parameter, `wrench.timeout`

From the table a node declares its parameters and checks every value, and the documentation's table
is made of it. Values go into settings and come out of them as ROS has them: words for members of
an enumeration.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from difflib import get_close_matches
from functools import reduce
from math import inf, isnan
from typing import Any, Generic, TypeVar, get_type_hints, overload

from ne_dynamics.errors import ParameterError

Value = bool | float | str | tuple[float, ...] | tuple[str, ...]
Members = type[enum.Enum]
T = TypeVar('T')
Settings = TypeVar('Settings')

TYPES: dict[object, str] = {
    bool: 'bool',
    float: 'double',
    str: 'string',
    tuple[float, ...]: 'double[]',
    tuple[str, ...]: 'string[]',
}
"""Annotations, and what ROS calls them; an enumeration is a string."""

_INFINITIES = {'inf': inf, '.inf': inf, '+inf': inf, '+.inf': inf, '-inf': -inf, '-.inf': -inf}
"""`ros2 param load` hands an infinite number of a file over as a word."""

SPEC, PREFIX = 'spec', 'prefix'
"""Keys of the metadata of a field."""


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
    path : tuple of str
        Fields that lead to it, from the settings of the node on.
    members : type of enum.Enum, optional
        Of which the settings have a member where the parameter has a word.
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
    changes: Changes = Changes.ANY_TIME
    path: tuple[str, ...] = ()
    members: Members | None = None

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

    def read(self, settings: object) -> Value:
        """Return the value that settings have."""
        value: Any = reduce(getattr, self.path, settings)
        plain: Value = value.value if isinstance(value, enum.Enum) else value
        return plain

    def write(self, settings: Settings, value: Value) -> Settings:
        """Return settings with another value, which :meth:`check` has returned."""
        member = value if self.members is None else self.members(value)
        written: Settings = _replaced(settings, self.path, member)
        return written

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
        if self.type == 'double[]' and isinstance(value, str):
            value = _numbers_of_text(value)
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
        # An `off` without quotes is a truth value in YAML, which some tools take away.
        if isinstance(value, bool) and ('on' if value else 'off') in self.choices:
            return 'on' if value else 'off'
        if not isinstance(value, str):
            raise self._fault(value, 'a string')
        if self.choices and value not in self.choices:
            raise self._fault(value, f'one of {", ".join(self.choices)}')
        return value

    def _number(self, value: Any) -> float:
        if isinstance(value, str):
            value = _INFINITIES.get(value.strip().lower(), value)
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


def _numbers_of_text(text: str) -> Any:
    """Return the list that a text such as `[inf, 1.0]` shows; the text where it shows none."""
    inner = text.strip()
    if not (inner.startswith('[') and inner.endswith(']')):
        return text
    try:
        return [float(word) for word in inner[1:-1].split(',')]
    except ValueError:
        return text


def _listed(value: Any) -> Any:
    try:
        return list(value)
    except TypeError:
        return value


def _replaced(settings: Any, path: Sequence[str], value: object) -> Any:
    name, *rest = path
    inner = _replaced(getattr(settings, name), rest, value) if rest else value
    return replace(settings, **{name: inner})


def parameter(
    default: T,
    description: str,
    *,
    name: str = '',
    unit: str = '',
    minimum: float = -inf,
    maximum: float = inf,
    above_minimum: bool = False,
    allow_infinity: bool = False,
    lengths: tuple[int, ...] = (),
    choices: tuple[str, ...] = (),
    changes: Changes = Changes.ANY_TIME,
) -> T:
    """Return the field of a frozen dataclass that is a parameter; see :class:`ParameterSpec`.

    `name` takes the place of that of the field, below the prefix of its group. The field is
    annotated as `bool`, `float`, `str`, `tuple[float, ...]`, `tuple[str, ...]` or an enumeration,
    whose values are the choices then.
    """
    spec = ParameterSpec(
        name=name,
        type='',
        default='',
        description=description,
        unit=unit,
        minimum=minimum,
        maximum=maximum,
        above_minimum=above_minimum,
        allow_infinity=allow_infinity,
        lengths=lengths,
        choices=choices,
        changes=changes,
    )
    return field(default=default, metadata={SPEC: spec})


def group(kind: Callable[[], T], prefix: str | None = None) -> T:
    """Return the field of a frozen dataclass that is a group of parameters.

    Parameters
    ----------
    kind : type
        Another such dataclass.
    prefix : str, optional
        What the names of its parameters begin with; the name of the field and a dot when omitted.
    """
    return field(default_factory=kind, metadata={PREFIX: prefix})


def _declared(settings: type, prefix: str, path: tuple[str, ...] = ()) -> Iterator[ParameterSpec]:
    """Yield the parameters of a group, without their defaults."""
    annotations = get_type_hints(settings)
    for entry in fields(settings):
        kind, here = annotations[entry.name], (*path, entry.name)
        if kind not in TYPES and not issubclass(kind, enum.Enum):
            given = entry.metadata[PREFIX]
            inner = f'{entry.name}.' if given is None else given
            yield from _declared(kind, prefix + inner, here)
            continue
        given = entry.metadata[SPEC]
        spec: ParameterSpec = replace(given, name=prefix + (given.name or entry.name), path=here)
        if kind in TYPES:
            yield replace(spec, type=TYPES[kind])
        else:
            words = tuple(member.value for member in kind)
            yield replace(spec, type='string', choices=words, members=kind)


class ParameterTable(Sequence[ParameterSpec], Generic[Settings]):
    """The parameters of a node, or of one group, in the order of the documentation.

    Parameters
    ----------
    settings : type
        A frozen dataclass with a default for every field.
    prefix : str
        What the names begin with.
    changes : Changes, optional
        When they may be set, whatever the fields say.

    Attributes
    ----------
    by_name : mapping of str to ParameterSpec
    defaults : dataclass
        Settings as they are when nobody sets anything.
    """

    def __init__(
        self, settings: type[Settings], prefix: str = '', changes: Changes | None = None
    ) -> None:
        self.defaults = settings()
        self._specs = tuple(
            replace(spec, default=spec.read(self.defaults), changes=changes or spec.changes)
            for spec in _declared(settings, prefix)
        )
        self.by_name: Mapping[str, ParameterSpec] = {spec.name: spec for spec in self._specs}

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

    def changed(self, values: Mapping[str, object], settings: Settings | None = None) -> Settings:
        """Return settings with other values, each checked.

        Parameters
        ----------
        values : mapping of str to object
            By name.
        settings : dataclass, optional
            Those to be changed; the defaults when omitted.

        Raises
        ------
        ParameterError
            When there is no such parameter, or it cannot have this value.
        """
        result = self.defaults if settings is None else settings
        for name, value in values.items():
            spec = self.find(name)
            result = spec.write(result, spec.check(value))
        return result

    def checked(self, settings: Settings) -> Settings:
        """Return settings that somebody has put together, every value checked.

        Raises
        ------
        ParameterError
            When one cannot be.
        """
        return self.changed({spec.name: spec.read(settings) for spec in self._specs})

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
