"""A report as one HTML file, whatever it is about."""

import re

import numpy as np
import pytest

pytest.importorskip('matplotlib', reason='matplotlib is missing')
pytest.importorskip('jinja2', reason='Jinja2 is missing')

from page_reading import PageReader, assert_stands_alone

from ne_dynamics.report_page.chart import (
    MOST_POINTS,
    PALETTE,
    colour,
    draw_svg,
    label_axes,
    make_panels,
    thin_line,
)
from ne_dynamics.report_page.page import (
    LONGEST_CAPTION,
    Column,
    Figure,
    Figures,
    Item,
    Items,
    LegendEntry,
    Page,
    Paragraph,
    Section,
    Table,
    Tone,
    shorten,
)
from ne_dynamics.report_page.page_html import render_page

HOSTILE = {
    'script': '<script>alert(1)</script>',
    'quotes': '"\' onmouseover="alert(1)" x=\'`',
    'closing': '</title></style></svg></td></p><img src=http://example.org/x.png>',
    'template': '{{ 7 * 7 }}{% raw %}{# #}',
    'entity': '&lt;b&gt;&amp;&#60;',
    'long': 'n' * 300,
}
UNPRINTABLE = {
    'bidi': ('\u202etnioj\u2066', '\\u202etnioj\\u2066'),
    'line end': ('a\nerror: b', 'a\\nerror: b'),
    'escape': ('\x1b]0;owned\x07', '\\x1b]0;owned\\x07'),
    'surrogate': ('a\ud800', 'a\\ud800'),
}


def draw():
    """Return a drawing with a line that is clipped, and dots."""
    figure, (axes,) = make_panels([1.0])
    axes.plot([0.0, 1.0, 2.0], [0.0, 2.0, 1.0], color=colour('model'))
    axes.plot([0.0, 1.0], [0.5, 0.5], linestyle='none', marker='o', color=colour('given'))
    axes.set_xlim(0.0, 1.5)
    label_axes(axes, 'time [s]', 'effort [N m]')
    return draw_svg(figure)


def make_page(name):
    """Return a page with a name in every place."""
    svg = draw()
    figures = Figures(
        (Figure(name, svg, f'of {name}'), Figure(name, svg, f'of {name}')),
        (LegendEntry('model', name), LegendEntry('given', name, 'dot')),
    )
    table = Table(name, (Column(name), Column(name, True)), ((name, name), (name, '1')))
    items = Items((Item(name, name, Tone.WARNING), Item('', name)))
    blocks = (Paragraph(name, Tone.ERROR), items, table, figures)
    return Page(name, name, Paragraph(name, Tone.GOOD), (Section(name, blocks),), name)


@pytest.mark.parametrize('name', HOSTILE.values(), ids=HOSTILE)
def test_names_are_text_wherever_they_stand(name):
    page = PageReader(render_page(make_page(name)))
    assert_stands_alone(page)
    assert 'img' not in page.tags
    assert page.headings == [name]
    assert page.verdict == name
    assert page.tables == {name: [[name, name], [name, name], [name, '1']]}
    assert f'{name}: {name}' in page.items
    assert page.labels == [f'{shorten(name, LONGEST_CAPTION)}: of {name}'] * 2


@pytest.mark.parametrize(('name', 'shown'), UNPRINTABLE.values(), ids=UNPRINTABLE)
def test_what_does_not_print_is_an_escape(name, shown):
    text = render_page(make_page(name))
    text.encode('utf-8')
    assert PageReader(text).headings == [shown]
    assert name not in text


def test_drawings_follow_the_colours_of_the_page():
    text = render_page(make_page('name'))
    (style,) = re.findall(r'<style>\n:root.*?</style>', text, re.DOTALL)
    drawings = ''.join(re.findall(r'<svg.*?</svg>', text, re.DOTALL))
    assert drawings.count('<svg') == 2
    for key, (light, dark) in PALETTE.items():
        assert light not in drawings
        assert f'--{key}: {light};' in style
        assert f'--{key}: {dark};' in style
    for key in ('model', 'given', 'grid', 'ink'):
        assert f'var(--{key})' in drawings
    assert not re.search(r'#[0-9a-f]{6}', drawings.replace('#000000', ''))


def test_drawings_hold_text_and_nothing_from_outside():
    page = PageReader(f'<p>{draw().replace("<svg", "<svg aria-label=x", 1)}</p>')
    assert {'time [s]', 'effort [N m]'} <= set(page.drawings[0])
    assert page.references
    assert all(reference.startswith('#') for reference in page.references)
    assert 'metadata' not in page.tags


def test_a_thinned_line_keeps_its_peaks_and_gaps():
    x = np.arange(100_000.0)
    y = np.sin(x / 5000.0)
    y[61_803] = 9.0
    y[50_000] = np.nan
    few, values = thin_line(x, y)
    assert few.size <= 1.5 * MOST_POINTS
    assert np.nanmax(values) == 9.0
    assert np.isnan(values).sum() == 1
    assert (np.diff(few) > 0.0).all()
