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


class _Reader:
    """Builds the tree of a document, of which no document type and no deep nesting is accepted.

    Drake does not ask that its prefix be declared, so that many files do not.

    Attributes
    ----------
    drake : set of str
        Namespaces that the prefix of Drake stands for.
    """

    def __init__(self, where: str) -> None:
        self.drake: set[str] = set()
        self._where = where
        self._builder = ElementTree.TreeBuilder()
        self._scopes = [{'': '', 'xml': 'http://www.w3.org/XML/1998/namespace'}]
        self._open: list[str] = []

    def read(self, data: bytes, encoding: str | None) -> ElementTree.Element:
        """Return the root element of a document."""
        self._parser = parser = expat.ParserCreate(encoding)
        parser.StartDoctypeDeclHandler = self._refuse_doctype
        parser.EntityDeclHandler = self._refuse_doctype
        parser.StartElementHandler = self._enter
        parser.EndElementHandler = self._leave
        parser.CharacterDataHandler = self._builder.data
        parser.Parse(data, True)
        return self._builder.close()

    def _refuse_doctype(self, *_: Any) -> None:
        raise ModelError(
            f'{self._where}expected a URDF without document type declaration, got DOCTYPE '
            '(entities are never expanded)'
        )

    def _enter(self, tag: str, attributes: dict[str, str]) -> None:
        if len(self._open) >= DEEPEST_ELEMENT:
            raise ModelError(
                f'{self._where}expected elements nested at most {DEEPEST_ELEMENT} deep, got more'
            )
        scope = self._scopes[-1]
        declared = {
            name.partition(':')[2]: value
            for name, value in attributes.items()
            if name == 'xmlns' or name.startswith('xmlns:')
        }
        if 'drake' in declared:
            self.drake.add(declared['drake'])
        self._scopes.append({**scope, **declared} if declared else scope)
        kept = {
            # An attribute without prefix is in no namespace.
            self._resolve(name) if ':' in name else name: value
            for name, value in attributes.items()
            if name != 'xmlns' and not name.startswith('xmlns:')
        }
        self._open.append(self._resolve(tag))
        self._builder.start(self._open[-1], kept)

    def _leave(self, _: str) -> None:
        self._scopes.pop()
        self._builder.end(self._open.pop())

    def _resolve(self, name: str) -> str:
        prefix, _, local = name.rpartition(':')
        namespace = self._scopes[-1].get(prefix, 'drake' if prefix == 'drake' else None)
        if namespace is None:
            line, column = self._parser.CurrentLineNumber, self._parser.CurrentColumnNumber
            raise ValueError(f'unbound prefix: line {line}, column {column}')
        return f'{{{namespace}}}{local}' if namespace else local


def _parse_xml(data: bytes, encoding: str | None, source: str) -> ElementTree.Element:
    """Return the root element of a document without a document type declaration."""
    where = f'{source}: ' if source else ''
    reader = _Reader(where)
    try:
        root = reader.read(data, encoding)
    except (expat.ExpatError, LookupError, ValueError) as error:
        if isinstance(error, ModelError):
            raise
        hint = XACRO_HINT if b'xacro' in data else ''
        raise ModelError(f'{where}malformed XML: {error}{hint}') from error
    if any('xacro' in str(element.tag).lower() for element in root.iter()):
        raise ModelError(f'{where}expected a URDF, got xacro elements{XACRO_HINT}')
    _shorten_tags(root, reader.drake or {'drake'})
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
