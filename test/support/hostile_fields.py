"""Hostile values for any field of any ROS message, chosen by the field's own type."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any

from builtin_interfaces.msg import Duration, Time
from rosidl_parser.definition import AbstractNestedType, Array, BasicType, NamespacedType

NAN, INF = math.nan, math.inf
LARGEST = 1.7976931348623157e308
NUMBERS = (
    *(NAN, INF, -INF, LARGEST, -LARGEST, 1e308, -1e300, 1e200, -1e155, 1e154),
    *(1e100, -1e39, 1e20, -1e16, 1e12, -1e9, 1e6, -1e4, 1e3),
    *(5e-324, -5e-324, 2.2250738585072014e-308, -1e-310, 1e-200, 1e-100, -1e-30, 1e-17),
    *(0.0, -0.0, 1.0, -1.0, math.pi, -math.tau, 1e6 * math.tau),
)
WORDS = (
    *('', ' ', '/', 'joint_1 ', ' joint_1', 'JOINT_1', 'joint_1\n', 'joint_7', 'joint_', 'world'),
    *('gelenk_ä', 'gelenk_a\u0308', '関節_1', '🦾', '\u202e1_tnioj', '\ufeffjoint_1', '\ufffd'),
    *('%s%n%d', '{}', '{0.__class__}', "'", '"', '\\', '\x1b[31m', '\t\r\n', '../..', 'nan', '0'),
    *('a' * 300, 'ü' * 5_000, 'a: b: c: ' * 50),
)
BITS = {f'{sign}int{bits}': (sign, bits) for sign in ('', 'u') for bits in (8, 16, 32, 64)}
SECONDS = (0, 1, -1, 5, 10**6, 2**31 - 1, -(2**31))
NANOSECONDS = (0, 1, 5, 999_999_999, 10**9, 2**32 - 1)


class HostileFields:
    """Puts hostile values into messages.

    Parameters
    ----------
    rng : random.Random
    words : sequence of str
        Names that are in use, to be put where they do not belong.
    spoil_time : callable, optional
        Puts a hostile time into a stamp.
    """

    def __init__(
        self,
        rng: random.Random,
        words: Sequence[str] = (),
        spoil_time: Callable[[Time], None] | None = None,
    ) -> None:
        self._rng, self._words = rng, words
        self._spoil_time = spoil_time or self._spoil_duration

    def number(self) -> float:
        """Return any number at all."""
        rng = self._rng
        roll = rng.random()
        if roll < 0.7:
            return rng.choice(NUMBERS if roll < 0.5 else NUMBERS[:3])
        return rng.choice((-1.0, 1.0)) * rng.uniform(1, 10) * 10.0 ** rng.randint(-320, 307)

    def word(self) -> str:
        """Return any text at all."""
        rng = self._rng
        roll = rng.random()
        if roll < 0.2 and self._words:
            return rng.choice(self._words)
        if roll < 0.8:
            return rng.choice(WORDS)
        if roll < 0.99:
            return ''.join(chr(rng.randint(1, 0x2FFF)) for _ in range(rng.randint(0, 40)))
        return 'z' * 100_000

    def spoil(self, message: Any) -> str:
        """Put something hostile into one field of a message; return which it was."""
        rng, kind = self._rng, type(message)
        if kind is Time:
            self._spoil_time(message)
            return ''
        if kind is Duration:
            self._spoil_duration(message)
            return ''
        fields = dict(zip(message.get_fields_and_field_types(), kind.SLOT_TYPES, strict=True))
        if len(fields) > 1 and rng.random() < 0.3 and all(map(_is_double, fields.values())):
            number = self.number()
            for name in fields:
                setattr(message, name, number)
            return ''
        name = rng.choice(list(fields))
        field = fields[name]
        if isinstance(field, NamespacedType):
            return f'{name} {self.spoil(getattr(message, name))}'.rstrip()
        if isinstance(field, AbstractNestedType):
            items = list(getattr(message, name))
            setattr(message, name, self._spoil_field(items, field))
        else:
            setattr(message, name, self._value(field))
        return name

    def spoil_list(self, items: list[Any], make: Callable[[], Any]) -> list[Any]:
        """Return a list that is shorter, longer, in another order, or has hostile items.

        Parameters
        ----------
        items : list
        make : callable
            Returns a hostile item.
        """
        rng, items = self._rng, list(items)
        roll = rng.random()
        if roll < 0.1:
            return []
        if roll < 0.2:
            return items[: rng.randint(0, max(len(items) - 1, 0))]
        if roll < 0.4 or not items:
            return items + [make() for _ in range(rng.choice((1, 2, 50)))]
        if roll < 0.5:
            items.insert(0, rng.choice(items))
        elif roll < 0.6:
            rng.shuffle(items)
        elif roll < 0.7:
            items = [make() for _ in items]
        else:
            items[self._place(items)] = make()
        return items

    def _place(self, items: Sequence[Any]) -> int:
        """Return a place in a list, its ends more often than what is between."""
        return self._rng.choice((0, len(items) - 1, self._rng.randrange(len(items))))

    def _spoil_field(self, items: list[Any], field: Any) -> list[Any]:
        if isinstance(field, Array):
            items[self._place(items)] = self._value(field.value_type)
            return items
        if items and isinstance(field.value_type, NamespacedType) and self._rng.random() < 0.6:
            self.spoil(items[self._place(items)])
            return items
        return self.spoil_list(items, lambda: self._value(field.value_type))

    def _value(self, field: Any) -> Any:
        """Return a hostile value of a type of field."""
        rng = self._rng
        if isinstance(field, NamespacedType):
            message = getattr(import_module('.'.join(field.namespaces)), field.name)()
            self.spoil(message)
            return message
        if not isinstance(field, BasicType):
            return self.word()
        if field.typename in BITS:
            sign, bits = BITS[field.typename]
            low, high = (0, 2**bits - 1) if sign else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
            return rng.choice((low, high, 0, 1, rng.randint(low, high)))
        if field.typename == 'boolean':
            return rng.random() < 0.5
        return rng.randbytes(1) if field.typename == 'octet' else self.number()

    def _spoil_duration(self, duration: Any) -> None:
        duration.sec = self._rng.choice(SECONDS)
        duration.nanosec = self._rng.choice(NANOSECONDS)


def _is_double(field: Any) -> bool:
    return isinstance(field, BasicType) and field.typename == 'double'
