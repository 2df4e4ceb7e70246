"""Commands on a disk that is full: one line with the path, exit code 1, nothing half written.

``/dev/full`` is a full disk for standard output. For files the process gets a limit of their
size, which the system refuses to exceed as it refuses to fill a disk.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from ne_dynamics.cli.main import main
from ne_dynamics.shipped import shipped_file

ROOT = Path(__file__).resolve().parents[2]
ARM = str(shipped_file('six_axis_arm.urdf'))
PUMA = str(shipped_file('puma560_standard_dh.yaml'))
FULL = Path('/dev/full')
LIMITED = (
    'import resource, sys; resource.setrlimit(resource.RLIMIT_FSIZE, (1500, 1500)); '
    'from ne_dynamics.cli.main import main; sys.exit(main(sys.argv[1:]))'
)
"""A file may have 1500 bytes."""

POINTS = [
    {'positions': [0.1 * second] * 6, 'velocities': [0.0] * 6, 'time_from_start': {'sec': second}}
    for second in (0, 2, 4, 6)
]
NAMES = [f'joint_{index}' for index in range(1, 7)]
TRAJECTORY = yaml.safe_dump({'joint_names': NAMES, 'points': POINTS})

PRINTING = {
    'equations': ['equations', ARM],
    'check --json': ['check', ARM, '--json'],
    'annotate': ['annotate', '--model', ARM, '-', '-'],
    'ik --json': ['ik', '--model', ARM, '--position', '0.4', '0', '0.5', '--json'],
    'reproduce forms': ['reproduce', 'forms', '--model', PUMA, '--json'],
    'help': ['equations', '--help'],
}


def run(*words, is_buffered=True, **keywords):
    """Run the interpreter of the tests."""
    environment = {**os.environ, 'OPENBLAS_NUM_THREADS': '1'}
    environment.pop('PYTHONUNBUFFERED', None)
    if not is_buffered:
        environment['PYTHONUNBUFFERED'] = '1'
    return subprocess.run(
        [sys.executable, *map(str, words)],
        stderr=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        env=environment,
        timeout=300,
        check=False,
        **keywords,
    )


@pytest.mark.kept(2)
@pytest.mark.parametrize(
    ('name', 'is_buffered'),
    [*((name, True) for name in PRINTING), ('equations', False), ('check --json', False)],
)
def test_standard_output_that_is_full_is_one_line(name, is_buffered):
    """Longer than the buffer or not, and without one, as with PYTHONUNBUFFERED in containers."""
    if not FULL.exists():
        pytest.skip('no /dev/full, a disk that is full')
    words = '-m', 'ne_dynamics.cli.main', *PRINTING[name]
    with FULL.open('w') as output:
        result = run(*words, is_buffered=is_buffered, stdout=output, input=TRAJECTORY)
    line = 'error: standard output (/dev/full): No space left on device\n'
    assert (result.stderr, result.returncode) == (f'ne_dynamics {words[2]}: {line}', 1)


def run_limited(*arguments):
    """Run a command that may write files of 1500 bytes."""
    pytest.importorskip('resource', reason='this system has no limits of files')
    return run('-c', LIMITED, *arguments, stdout=subprocess.PIPE)


@pytest.mark.kept(1)
@pytest.mark.parametrize(
    ('is_there', 'language'),
    [(False, 'c'), (True, 'python')],
    ids=['new folder', 'earlier export'],
)
def test_an_export_is_whole_or_as_it_was(is_there, language, tmp_path, capsys):
    folder = tmp_path / 'arm'
    if is_there:
        assert main(['equations', PUMA, '--all', '-o', str(folder)]) == 0
        capsys.readouterr()
    before = read_files(tmp_path)
    result = run_limited('equations', PUMA, '--all', '-o', folder, '--language', language)
    assert result.stderr == f'ne_dynamics equations: error: {folder}: File too large\n'
    assert (result.returncode, result.stdout) == (1, '')
    assert read_files(tmp_path) == before


def read_files(folder):
    """Return what is below a folder: None for folders, what is in files."""
    return {
        str(path.relative_to(folder)): path.read_bytes() if path.is_file() else None
        for path in folder.rglob('*')
    }


def test_a_trajectory_is_whole_or_as_it_was(tmp_path):
    source, target = tmp_path / 'in.yaml', tmp_path / 'out.yaml'
    source.write_text(TRAJECTORY)
    target.write_text('old')
    result = run_limited('annotate', '--model', ARM, source, target)
    assert result.stderr == (
        f'ne_dynamics annotate: error: {target}: cannot be written: File too large\n'
    )
    assert result.returncode == 1
    assert set(read_files(tmp_path)) == {'in.yaml', 'out.yaml'}
    assert target.read_text() == 'old'


def test_an_error_that_has_nothing_to_do_with_files_is_not_hidden(monkeypatch):
    def fail(_):
        raise OSError(5, 'Input/output error')

    monkeypatch.setattr('ne_dynamics.cli.equations.run', fail)
    with pytest.raises(OSError, match='Input/output'):
        main(['equations', PUMA])
