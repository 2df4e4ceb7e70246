"""Values of XML attributes and texts, with errors that name the element they stand in."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree

import numpy as np

from ne_dynamics.errors import ModelError

XACRO_HINT = '; this looks like xacro: expand it first (xacro FILE > robot.urdf)'

AXIS_TOLERANCE = 1e-3
"""An axis this close to unit length was rounded when it was printed; it is normalised."""

LENGTH_ROUNDING = 1e-6

_NUMBER = re.compile(r'[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?')


def quote(tag: str, name: str | None) -> str:
    """Return how messages call an element: its tag and its quoted name."""
    return f'{tag} {name!r}'


def get_required(element: ElementTree.Element, attribute: str, what: str) -> str:
    """Return an attribute that must be there.

    Raises
    ------
    ModelError
        When it is missing or blank.
    """
    value = element.get(attribute)
    if value is None or not value.strip():
        got = 'none' if value is None else 'an empty one'
        raise ModelError(f'{what}: expected the attribute {attribute!r}, got {got}')
    return value


def read_numbers(text: str, count: int, what: str) -> list[float]:
    """Return the numbers of a text.

    Parameters
    ----------
    text : str
        Decimals, with white space between them.
    count : int
        How many there must be.
    what : str
        Name for the error message.

    Raises
    ------
    ModelError
        When the text is not exactly `count` finite decimals.
    """
    tokens = text.split()
    for token in tokens:
        if not _NUMBER.fullmatch(token) or not np.isfinite(float(token)):
            hint = XACRO_HINT if '${' in text or '$(' in text else ''
            raise ModelError(f'{what}: expected a finite number, got {token!r}{hint}')
    if len(tokens) != count:
        raise ModelError(
            f'{what}: expected {count} number{"s" if count > 1 else ""}, got {text!r}'
        )
    return [float(token) for token in tokens]
