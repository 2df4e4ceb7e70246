"""A report page as a browser reads it: tables, sections, drawings, and what it would fetch."""

import shutil
from html.parser import HTMLParser

import pytest

VOID = {'meta', 'br', 'hr', 'img', 'link', 'input'}
BROWSERS = ('chromium', 'chromium-browser', 'google-chrome', 'firefox')


class PageReader(HTMLParser):
    """Reads a page.

    Attributes
    ----------
    headings : list of str
    tables : dict of str to list of list of str
        Rows by caption; the first is the head.
    verdict : str
    items : list of str
        Entries of lists.
    labels : list of str
        Alternative texts of the drawings.
    drawings : list of list of str
        Texts in each drawing.
    references : list of str
        What attributes refer to: src, href, url(...).
    tags : set of str
    names : list of str
        Identifiers of elements.
    handlers : list of str
        Attributes that would run a script.
    """

    def __init__(self, text):
        super().__init__()
        self.headings, self.items, self.labels, self.drawings = [], [], [], []
        self.tables, self.references, self.names, self.handlers = {}, [], [], []
        self.tags, self.verdict = set(), ''
        self._open, self._text, self._rows = [], [], []
        self.feed(text)
        self.close()
        assert not self._open, f'not closed: {self._open}'

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        values = dict(attrs)
        for key, value in attrs:
            if key in ('src', 'href', 'xlink:href', 'data', 'action', 'poster', 'srcset'):
                self.references.append(value)
            if 'url(' in (value or ''):
                self.references.append(value.split('url(')[1].split(')')[0])
            if key.startswith('on'):
                self.handlers.append(key)
        if 'id' in values:
            self.names.append(values['id'])
        if tag == 'svg':
            self.labels.append(values['aria-label'])
            self.drawings.append([])
        if tag not in VOID:
            self._open.append((tag, values))
        if tag in ('h2', 'li', 'th', 'td', 'caption', 'p', 'text'):
            self._text = []
        if tag == 'table':
            self._rows = []
        if tag == 'tr':
            self._rows.append([])

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.handle_endtag(tag)

    def handle_endtag(self, tag):
        opened, values = self._open.pop()
        assert opened == tag, f'{opened} is closed by {tag}'
        text = ''.join(self._text).strip()
        if tag == 'h2':
            self.headings.append(text)
        elif tag == 'li':
            self.items.append(text)
        elif tag in ('th', 'td'):
            self._rows[-1].append(text)
        elif tag == 'caption':
            self._caption = text
        elif tag == 'table':
            self.tables[self._caption] = self._rows
        elif tag == 'text':
            self.drawings[-1].append(text)
        elif values.get('id') == 'verdict':
            self.verdict = text

    def handle_data(self, data):
        self._text.append(data)

    def find_table(self, start):
        """Return the rows below the head of the table whose caption begins so."""
        (rows,) = (rows for caption, rows in self.tables.items() if caption.startswith(start))
        return rows[1:]


def assert_stands_alone(page):
    """Assert that a page fetches nothing, runs nothing, and has each identifier once."""
    inside = ('#', 'data:')
    outside = [reference for reference in page.references if not reference.startswith(inside)]
    assert outside == []
    assert not page.tags & {'script', 'iframe', 'object', 'embed', 'link', 'base', 'form'}
    assert page.handlers == []
    assert len(set(page.names)) == len(page.names)
    wanted = {reference[1:] for reference in page.references if reference.startswith('#')}
    assert wanted <= set(page.names)


def find_browser():
    """Return a browser that renders without a screen; skip where there is none."""
    for name in BROWSERS:
        path = shutil.which(name)
        if path is not None:
            return path
    return pytest.skip(f'no browser is installed: none of {", ".join(BROWSERS)}')
