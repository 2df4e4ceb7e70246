"""The file of a report: a place that can be written, and a file that appears at once."""

from __future__ import annotations

import tempfile
from pathlib import Path

from ne_dynamics.errors import InputError
from ne_dynamics.prepared_file import write_whole

SUFFIXES = ('.html', '.htm')


def require_page_place(path: Path) -> None:
    """Refuse a name under which no report can be written, before the work for it is done.

    Parameters
    ----------
    path : Path

    Raises
    ------
    InputError
        When the name does not end in .html or .htm, is that of a folder, or nothing can be written
        where it is.
    """
    if path.suffix.lower() not in SUFFIXES:
        raise InputError(
            f'{path}: the report: expected a name that ends in {" or ".join(SUFFIXES)}, got '
            f'{path.suffix or "none of them"}; a browser prints the page as PDF'
        )
    if path.is_dir():
        raise InputError(f'{path}: the report: expected the name of a file, got a folder')
    try:
        with tempfile.TemporaryFile(dir=path.parent):
            pass
    except OSError as error:
        raise InputError(
            f'{path}: the report cannot be written there: {error.strerror or error}'
        ) from error


def write_page(path: Path, text: str) -> None:
    """Write a report; what was there before stays until the new one is complete.

    Parameters
    ----------
    path : Path
    text : str
        What :func:`~ne_dynamics.report_page.page_html.render_page` returned.

    Raises
    ------
    InputError
        When it cannot be written.
    """
    try:
        write_whole(path, text)
    except OSError as error:
        raise InputError(
            f'{path}: the report cannot be written: {error.strerror or error}'
        ) from error
