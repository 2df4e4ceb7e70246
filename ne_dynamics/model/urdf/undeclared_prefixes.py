"""XML whose prefixes are not declared."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from xml.parsers import expat


def build_tree(data: bytes, encoding: str | None) -> ElementTree.Element:
    """Return the root element; a name with a prefix is in a namespace that the prefix names.

    Drake does not ask that its prefix be declared, so that many files do not.
    """
    builder = ElementTree.TreeBuilder()

    def name(written: str) -> str:
        prefix, colon, local = written.rpartition(':')
        return f'{{{prefix}}}{local}' if colon else local

    def start(tag: str, attributes: dict[str, str]) -> None:
        kept = {name(key): text for key, text in attributes.items() if key != 'xmlns'}
        builder.start(name(tag), kept)

    parser = expat.ParserCreate(encoding)
    parser.StartElementHandler = start
    parser.EndElementHandler = lambda tag: builder.end(name(tag))
    parser.CharacterDataHandler = builder.data
    parser.Parse(data, True)
    return builder.close()
