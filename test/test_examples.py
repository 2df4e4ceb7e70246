"""The scripts in examples/ are short and run; the launch file there runs in test/launch."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

import ne_dynamics as ned

ROOT = Path(__file__).resolve().parents[1]
EXAMPLES = sorted((ROOT / 'examples').glob('*.py'))


def run(name, *arguments, cwd):
    """Return what an example prints."""
    program = 'import sys, runpy; sys.path.insert(0, sys.argv.pop(1)); del sys.argv[0]; '
    program += 'runpy.run_path(sys.argv[0], run_name="__main__")'
    command = [sys.executable, '-c', program, ROOT, ROOT / 'examples' / name, *arguments]
    result = subprocess.run(
        command, cwd=cwd, capture_output=True, text=True, timeout=120, check=False
    )
    assert result.returncode == 0, result.stderr
    return result.stdout


@pytest.mark.parametrize('path', EXAMPLES, ids=lambda path: path.name)
def test_they_are_short(path):
    lines = path.read_text(encoding='utf-8').splitlines()
    assert len(lines) <= 40
    assert lines[0].startswith('"""')


def test_the_library(tmp_path):
    text = run('library.py', cwd=tmp_path)
    before, after = map(float, re.search(r'energy +(\S+) J, .* (\S+) J', text).groups())
    assert after < before
    assert len(re.search(r'largest effort +\[(.*)\]', text)[1].split()) == 6


def test_a_log_becomes_a_model(tmp_path):
    text = run('log_to_model.py', tmp_path, cwd=tmp_path)
    errors = re.findall(r'motion +(\S+) -> (\S+) N m', text)
    assert len(errors) == 6
    assert all(float(after) < 0.1 < 1.0 < float(before) for before, after in errors)
    models = ROOT / 'config/six_axis_arm.urdf', tmp_path / 'identified.urdf'
    given, identified = (
        sum(
            link.inertia.mass
            for link in ned.load_urdf(path, tip_link='tcp').links
            if link.body > 0
        )
        for path in models
    )
    assert identified == pytest.approx(1.2 * given, rel=0.05)


@pytest.mark.parametrize('name', ['dynamics_of_your_arm', 'what_a_log_says'])
def test_a_notebook_runs(name, monkeypatch, capsys):
    matplotlib = pytest.importorskip('matplotlib', reason='matplotlib is not installed')
    matplotlib.use('Agg')
    pyplot = pytest.importorskip('matplotlib.pyplot')
    monkeypatch.setattr(pyplot, 'show', pyplot.close)
    notebook = json.loads((ROOT / f'examples/{name}.ipynb').read_text(encoding='utf-8'))
    names = {}
    for cell in notebook['cells']:
        if cell['cell_type'] == 'code':
            assert cell['outputs'] == []
            exec(compile(''.join(cell['source']), name, 'exec'), names)
    assert capsys.readouterr().out
