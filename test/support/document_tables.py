"""Numbers in the tables of documents, against those that were found anew."""

import re
from pathlib import Path

DOC = Path(__file__).resolve().parents[2] / 'doc'

CLOSE = 0.01
"""Part of a figure by which a run may differ from another: now and then a last digit does."""


def row(text, beginning):
    """Return the numbers of the row of a table that begins so, as they are written."""
    (line,) = (line for line in text.splitlines() if line.startswith(f'| {beginning} |'))
    return numbers(line.partition(f'| {beginning} |')[2])


def numbers(text):
    """Return the numbers of a text as they are written."""
    return re.findall(r'(?<![\w.])\d+(?:\.\d+)?', text)


def compare(found, written):
    """Fail where numbers differ by more than their last digit and a little."""
    for number, text in zip(found, written, strict=True):
        digit = 10.0 ** -len(text.partition('.')[2])
        assert abs(number - float(text)) <= max(0.51 * digit, CLOSE * float(text)), (number, text)


def compare_errors(page, beginning, errors):
    """Compare RMS errors [mrad] with a row of a page; errors [rad] are of shape (N, n)."""
    text = (DOC / page).read_text(encoding='utf-8')
    compare(1e3 * (errors**2).mean(axis=0) ** 0.5, row(text, beginning))
