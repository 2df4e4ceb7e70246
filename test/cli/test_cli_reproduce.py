"""``ne_dynamics reproduce``."""

import json
import re
from dataclasses import replace

import pytest

from ne_dynamics.cli.main import main
from ne_dynamics.papers.forms import FORMULATIONS
from ne_dynamics.papers.studies import puma
from ne_dynamics.papers.studies.document import END, begin
from ne_dynamics.shipped import shipped_file


def test_equivalence_prints_a_table_and_writes_it(tmp_path, capsys):
    path = tmp_path / 'document.md'
    path.write_text(f'before\n{begin("equivalence")}{END}after\n')
    assert main(['reproduce', 'equivalence', '--arms', '3', '--document', str(path)]) == 0
    assert 'sasaki_symbolic' in capsys.readouterr().out
    text = path.read_text()
    assert text.startswith('before\n')
    assert text.endswith('after\n')
    assert '| natural\\_orthogonal\\_complement |' in text


@pytest.mark.kept(1)
@pytest.mark.parametrize(
    ('arguments', 'picture'),
    [
        (('six-link', '--path', 'joint', '--duration', '.5'), 'six-link.png'),
        (('six-link', '--duration', '2'), 'six-link.png'),
        (('puma', '--duration', '.05'), 'puma.png'),
    ],
)
def test_simulations_draw_and_print_json(tmp_path, capsys, monkeypatch, arguments, picture):
    pytest.importorskip('matplotlib', reason='matplotlib is missing')
    # The durations that the document shows are those of another test.
    monkeypatch.setattr(puma, 'DURATIONS', (0.1,))
    assert main(['reproduce', *arguments, '--json', '--output', str(tmp_path / 'new')]) == 0
    data = json.loads(capsys.readouterr().out)
    assert data['duration'] == float(arguments[-1])
    assert data['pictures'] == [str(tmp_path / 'new' / picture)]
    assert (tmp_path / 'new' / picture).read_bytes().startswith(b'\x89PNG')


def test_forms_of_a_model_print_tables(capsys):
    model = str(shipped_file('puma560_standard_dh.yaml'))
    assert main(['reproduce', 'forms', '--model', model]) == 0
    text = capsys.readouterr().out
    for what in ('luh_walker_paul', 'of these: rotors', 'those of the file', 'By strobing'):
        assert what in text


@pytest.mark.kept(1)
@pytest.mark.parametrize('study', ['equivalence', 'forms'])
def test_forms_that_disagree_end_with_an_error(study, tmp_path, capsys, monkeypatch):
    """The tables are printed, one line names the form, the exit code is 1, nothing is written."""
    form = FORMULATIONS['craig']
    wrong = replace(form, compute_efforts=lambda r: [1.5 * x for x in form.compute_efforts(r)])
    monkeypatch.setitem(FORMULATIONS, 'craig', wrong)
    arguments = ['--model', str(shipped_file('puma560_standard_dh.yaml'))]
    path = tmp_path / 'document.md'
    if study == 'equivalence':
        path.write_text(f'{begin("equivalence")}{END}')
        arguments = ['--arms', '2', '--document', str(path)]
    before = path.read_text() if path.exists() else None
    for more in ([], ['--json']):
        assert main(['reproduce', study, *arguments, *more]) == 1
        printed = capsys.readouterr()
        assert 'craig' in printed.out
        assert 'luh_walker_paul' in printed.out
        (line,) = printed.err.splitlines()
        assert re.fullmatch(
            f'ne_dynamics reproduce {study}: error: craig: expected a disagreement of at most '
            '1e-09, got [45]e-01',
            line,
        )
    assert before == (path.read_text() if path.exists() else None)


@pytest.mark.parametrize(
    ('arguments', 'message'),
    [
        (('--model', 'no_such_file.urdf'), 'no_such_file.urdf'),
        (('--model', 'six_axis_arm.urdf', '--q', '1', '2'), 'q: expected 6 numbers'),
        (('--model', 'six_axis_arm.urdf', '--tip', 'nowhere'), 'nowhere'),
    ],
)
def test_forms_refuse_what_they_cannot_read(arguments, message, refused):
    arguments = [
        str(shipped_file(text)) if text == 'six_axis_arm.urdf' else text for text in arguments
    ]
    refused(message, 'reproduce', 'forms', *arguments)


SIX_LINK = begin('six-link')


def test_a_document_keeps_its_line_ends_and_what_stands_around(tmp_path):
    path = tmp_path / 'document.md'
    line_end = '\r\n'
    text = f'before\n{SIX_LINK}stale text\n{END}after\n'.replace('\n', line_end)
    path.write_bytes(text.encode())
    arguments = ['six-link', '--duration', '.5', '--document', str(path)]
    arguments += ['--output', str(tmp_path)]
    assert main(['reproduce', *arguments]) == 0
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
def test_a_document_that_would_lose_something_is_refused(tmp_path, capsys, case):
    data, match = HOSTILE[case]
    path = tmp_path / 'document.md'
    path.write_bytes(data)
    assert main(['reproduce', 'six-link', '--document', str(path)]) == 1
    assert re.search(match, capsys.readouterr().err)
    assert path.read_bytes() == data
