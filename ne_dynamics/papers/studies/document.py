"""Tables between the markers of a Markdown file."""

from __future__ import annotations

import re

from ne_dynamics.errors import InputError
from ne_dynamics.papers.studies.report import StudyReport

END = '<!-- end of reproduce -->\n'


def begin(name: str) -> str:
    """Return the marker before a study's tables."""
    return (
        f'<!-- reproduce {name}: written by `ne_dynamics reproduce {name} --document FILE` -->\n'
    )


def section(text: str, name: str) -> str:
    """Return what stands between a study's markers.

    Raises
    ------
    InputError
        When the markers are missing.
    """
    match = _pattern(name).search(text)
    if match is None:
        raise InputError(f'document: expected the markers {begin(name)!r} and {END!r}, got none')
    return match.group(1)


def with_report(text: str, report: StudyReport) -> str:
    """Return a text with a study's tables written anew between their markers.

    Raises
    ------
    InputError
        When the markers are missing.
    """
    section(text, report.name)
    written = f'{begin(report.name)}\n{report.markdown()}\n{END}'
    return _pattern(report.name).sub(lambda match: written, text)


def _pattern(name: str) -> re.Pattern[str]:
    return re.compile(f'{re.escape(begin(name))}(.*?){re.escape(END)}', re.DOTALL)
