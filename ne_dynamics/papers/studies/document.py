"""Tables between the markers of a Markdown file."""

from __future__ import annotations

import re
from pathlib import Path

from ne_dynamics.errors import InputError
from ne_dynamics.papers.studies.report import StudyReport

END = '<!-- end of reproduce -->\n'


def begin(name: str) -> str:
    """Return the marker before a study's tables."""
    return (
        f'<!-- reproduce {name}: written by `ne_dynamics reproduce {name} --document FILE` -->\n'
    )


def read_document(path: Path) -> str:
    """Return the text of a document, its line ends as they are.

    Raises
    ------
    InputError
        When it is no text in UTF-8.
    """
    try:
        with path.open(encoding='utf-8', newline='') as file:
            return file.read()
    except UnicodeDecodeError as error:
        raise InputError(f'{path}: expected a text in UTF-8: {error}') from error


def section(text: str, name: str) -> str:
    """Return what stands between a study's markers.

    Raises
    ------
    InputError
        When the markers are missing, or that of another study comes before the end.
    """
    match = _pattern(name).search(text)
    if match is None:
        raise InputError(
            f'document: expected the markers {begin(name).rstrip()!r} and, after it, '
            f'{END.rstrip()!r}, each a line of its own; they are not both there'
        )
    inside = match.group(1)
    other = _BEGIN.search(inside)
    if other is not None:
        raise InputError(
            f'document: expected {END.rstrip()!r} after the marker of {name}, got '
            f'{other.group().rstrip()!r} before it'
        )
    return inside


def with_report(text: str, report: StudyReport) -> str:
    """Return a text with a study's tables written anew between their markers.

    Raises
    ------
    InputError
        When the markers are missing.
    """
    section(text, report.name)
    written = f'{begin(report.name)}\n{report.markdown()}\n{END}'
    if '\r\n' in text:
        written = written.replace('\n', '\r\n')
    return _pattern(report.name).sub(lambda match: written, text)


_BEGIN = re.compile(r'<!-- reproduce .*')


def _pattern(name: str) -> re.Pattern[str]:
    first, last = re.escape(begin(name).rstrip()), re.escape(END.rstrip())
    return re.compile(f'^{first}\\r?\\n(.*?)^{last}(?:\\r?\\n|$)', re.DOTALL | re.MULTILINE)
