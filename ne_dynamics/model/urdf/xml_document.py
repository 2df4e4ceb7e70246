"""The XML of a URDF: untrusted text that is parsed without expanding anything."""

from __future__ import annotations

import os
import xml.etree.ElementTree as ElementTree
from typing import Any
from xml.parsers import expat

from ne_dynamics.errors import ModelError
from ne_dynamics.model.description_file import looks_like_xml, read_file
from ne_dynamics.model.urdf.rotor_elements import DRAKE
from ne_dynamics.model.urdf.xml_values import XACRO_HINT

DEEPEST_ELEMENT = 64
"""Deepest nesting of XML elements that is read; a URDF needs six."""


def read_root(path_or_xml: str | os.PathLike[str] | bytes) -> tuple[ElementTree.Element, str]:
    """Return the root element of a URDF, of which only the XML was checked, and its file's name.

    Raises
    ------
    ModelError
        When the file cannot be read, or is no URDF.
    """
    data, encoding, source = _read(path_or_xml)
    return _parse_xml(data, encoding, source), source


def _read(path_or_xml: str | os.PathLike[str] | bytes) -> tuple[bytes, str | None, str]:
    """Return the document, its encoding when it is known already, and where it came from."""
    if isinstance(path_or_xml, bytes):
        return path_or_xml, None, ''
    if isinstance(path_or_xml, str):
        if looks_like_xml(path_or_xml):
            try:
                # A declared encoding is void once the text is decoded.
                return path_or_xml.lstrip('\ufeff \t\r\n').encode('utf-8'), 'utf-8', ''
            except UnicodeEncodeError as error:
                raise ModelError(f'the XML holds characters that are not text: {error}') from error
        if not path_or_xml.strip():
            raise ModelError('expected a file name or the XML of a URDF, got an empty text')
        if '\n' in path_or_xml:
            raise ModelError(
                'expected a file name or the XML of a URDF, got a text that starts with '
                f'{path_or_xml.strip()[:40]!r}'
            )
    elif not isinstance(path_or_xml, os.PathLike):
        raise ModelError(
            f'expected a file name, a path or the XML of a URDF, got {type(path_or_xml).__name__}'
        )
    return read_file(path_or_xml), None, os.fspath(path_or_xml)


class _Guard:
    """Watches a document while it is parsed: no document type, no deep nesting.

    Attributes
    ----------
    prefixes : dict of str to set of str
        What they stand for; the guard knows nothing of namespaces and sees them as written.
    used : set of str
        Prefixes of elements and attributes.
    """

    def __init__(self, where: str) -> None:
        self.prefixes: dict[str, set[str]] = {}
        self.used: set[str] = set()
        self._where = where
        self._depth = 0

    def watch(self, data: bytes, encoding: str | None) -> None:
        parser = expat.ParserCreate(encoding)
        parser.StartDoctypeDeclHandler = self._refuse_doctype
        parser.EntityDeclHandler = self._refuse_doctype
        parser.StartElementHandler = self._enter
        parser.EndElementHandler = self._leave
        parser.Parse(data, True)

    def _refuse_doctype(self, *_: Any) -> None:
        raise ModelError(
            f'{self._where}expected a URDF without document type declaration, got DOCTYPE '
            '(entities are never expanded)'
        )

    def _enter(self, tag: str, attributes: dict[str, str]) -> None:
        self._depth += 1
        for name, value in attributes.items():
            kind, _, prefix = name.rpartition(':')
            if kind == 'xmlns':
                self.prefixes.setdefault(prefix, set()).add(value)
            elif kind != 'xml':
                self.used.add(kind)
        self.used.add(tag.rpartition(':')[0])
        if self._depth > DEEPEST_ELEMENT:
            raise ModelError(
                f'{self._where}expected elements nested at most {DEEPEST_ELEMENT} deep, got more'
            )

    def _leave(self, *_: Any) -> None:
        self._depth -= 1


def _parse_xml(data: bytes, encoding: str | None, source: str) -> ElementTree.Element:
    """Return the root element of a document without a document type declaration."""
    where = f'{source}: ' if source else ''
    guard = _Guard(where)
    try:
        guard.watch(data, encoding)
        if guard.used - set(guard.prefixes) - {''} == {'drake'}:
            # Few files have these.
            from ne_dynamics.model.urdf.undeclared_prefixes import build_tree

            root = build_tree(data, encoding)
        else:
            root = ElementTree.fromstring(data, ElementTree.XMLParser(encoding=encoding))
    except (expat.ExpatError, ElementTree.ParseError, LookupError, ValueError) as error:
        if isinstance(error, ModelError):
            raise
        hint = XACRO_HINT if b'xacro' in data else ''
        raise ModelError(f'{where}malformed XML: {error}{hint}') from error
    if any('xacro' in str(element.tag).lower() for element in root.iter()):
        raise ModelError(f'{where}expected a URDF, got xacro elements{XACRO_HINT}')
    _shorten_tags(root, guard.prefixes.get('drake', {'drake'}))
    if root.tag != 'robot':
        raise ModelError(f'{where}expected the root element <robot>, got <{root.tag}>')
    return root


def _shorten_tags(root: ElementTree.Element, drake: set[str]) -> None:
    """Take the root's namespace out of tags, and write Drake's namespaces as one prefix."""
    for element in root.iter():
        namespace, _, tag = str(element.tag).rpartition('}')
        if namespace and namespace[1:] in drake:
            element.tag = DRAKE + tag
    namespace, _, _ = root.tag.rpartition('}')
    if namespace:
        for element in root.iter():
            element.tag = str(element.tag).removeprefix(namespace + '}')
