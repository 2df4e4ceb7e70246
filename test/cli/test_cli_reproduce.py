"""``ne_dynamics reproduce``."""

import re
from dataclasses import replace

import pytest

from ne_dynamics.papers.forms import FORMULATIONS
from ne_dynamics.papers.studies import puma
from ne_dynamics.papers.studies.document import END, begin
from ne_dynamics.shipped import shipped_file

ARM, PUMA = shipped_file('six_axis_arm.urdf'), shipped_file('puma560_standard_dh.yaml')


def test_equivalence_prints_a_table_and_writes_it(tmp_path, call):
    path = tmp_path / 'document.md'
    path.write_text(f'before\n{begin("equivalence")}{END}after\n')
    code, out, _ = call('reproduce', 'equivalence', '--arms', '3', '--document', path)
    assert code == 0
    assert 'sasaki_symbolic' in out
    text = path.read_text()
    assert text.startswith('before\n')
    assert text.endswith('after\n')
    assert '| natural\\_orthogonal\\_complement |' in text


@pytest.mark.kept(1)
@pytest.mark.parametrize(
    'line',
    [
        'six-link --path joint --duration .5',
        'six-link --duration 2',
        'puma --duration .05',
        'concurrency --joints 2',
    ],
)
def test_studies_draw_and_print_json(tmp_path, ask, monkeypatch, line):
    pytest.importorskip('matplotlib', reason='matplotlib is missing')
    # The durations that the document shows are those of another test.
    monkeypatch.setattr(puma, 'DURATIONS', (0.1,))
    words = line.split()
    picture = tmp_path / 'new' / f'{words[0]}.png'
    data = ask('reproduce', *words, '--output', picture.parent)
    assert data['duration' if 'duration' in line else 'n'] == float(words[-1])
    assert data['pictures'] == [str(picture)]
    assert picture.read_bytes().startswith(b'\x89PNG')


def test_forms_of_a_model_print_tables(call):
    code, text, _ = call('reproduce', 'forms', PUMA)
    assert code == 0
    for what in ('luh_walker_paul', 'of these: rotors', 'those of the file', 'By strobing'):
        assert what in text


@pytest.mark.kept(1)
@pytest.mark.parametrize('study', ['equivalence', 'forms'])
def test_forms_that_disagree_end_with_an_error(study, tmp_path, call, monkeypatch):
    """The tables are printed, one line names the form, the exit code is 1, nothing is written."""
    form = FORMULATIONS['craig']
    wrong = replace(form, compute_efforts=lambda r: [1.5 * x for x in form.compute_efforts(r)])
    monkeypatch.setitem(FORMULATIONS, 'craig', wrong)
    path, before = tmp_path / 'document.md', f'{begin("equivalence")}{END}'
    path.write_text(before)
    words = ['--arms', '2', '--document', path] if study == 'equivalence' else [PUMA]
    for more in ([], ['--json']):
        code, out, err = call('reproduce', study, *words, *more)
        assert code == 1
        assert 'craig' in out
        assert 'luh_walker_paul' in out
        (line,) = err.splitlines()
        assert re.fullmatch(
            f'ne_dynamics reproduce {study}: error: craig: expected a disagreement of at most '
            '1e-09, got [45]e-01',
            line,
        )
    assert path.read_text() == before


@pytest.mark.parametrize(
    ('words', 'message'),
    [
        (['no_such_file.urdf'], 'no_such_file.urdf'),
        ([ARM, '--q', '1', '2'], 'q: expected 6 numbers'),
        ([ARM, '--tip', 'nowhere'], 'nowhere'),
    ],
)
def test_forms_refuse_what_they_cannot_read(words, message, refused):
    refused(message, 'reproduce', 'forms', *words)


SIX_LINK = begin('six-link')


def test_a_document_keeps_its_line_ends_and_what_stands_around(tmp_path, call):
    path, line_end = tmp_path / 'document.md', '\r\n'
    text = f'before\n{SIX_LINK}stale text\n{END}after\n'.replace('\n', line_end)
    path.write_bytes(text.encode())
    words = ['six-link', '--duration', '.5', '--document', path, '--output', tmp_path]
    assert call('reproduce', *words)[0] == 0
    written = path.read_bytes().decode()
    assert written.startswith(f'before{line_end}{SIX_LINK.rstrip()}{line_end}')
    assert written.endswith(f'{END.rstrip()}{line_end}after{line_end}')
    assert 'stale text' not in written
    assert written.count('\n') == written.count(line_end)


HOSTILE = {
    'no markers': (b'nothing\n', 'expected the markers'),
    'no UTF-8': (b'\xff\xfe\nx\n', 'document.md: expected a text in UTF-8'),
    'no end': (SIX_LINK.encode(), 'each a line of its own; they are not both there'),
    'indented': (f' {SIX_LINK} {END}'.encode(), 'each a line of its own'),
    'the end of another study': (
        f'{SIX_LINK}prose\n{begin("puma")}old\n{END}'.encode(),
        'got .*reproduce puma.* before it',
    ),
}


@pytest.mark.parametrize('case', HOSTILE)
def test_a_document_that_would_lose_something_is_refused(tmp_path, call, case):
    data, match = HOSTILE[case]
    path = tmp_path / 'document.md'
    path.write_bytes(data)
    code, _, err = call('reproduce', 'six-link', '--document', path)
    assert code == 1
    assert re.search(match, err)
    assert path.read_bytes() == data
