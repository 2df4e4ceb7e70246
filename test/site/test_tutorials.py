"""The tutorials are run line by line."""

import contextlib
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
LIMIT = 300.0


def blocks(name, kind):
    """Return the blocks of a tutorial of a kind."""
    text = (ROOT / f'doc/tutorial_{name}.md').read_text(encoding='utf-8')
    found = re.findall(rf'```{kind}\n(.*?)```', text, flags=re.DOTALL)
    assert found
    return found


def test_the_tutorial_of_python(monkeypatch, capsys):
    monkeypatch.chdir(ROOT)
    text = (ROOT / 'doc/tutorial_python.md').read_text(encoding='utf-8')
    names = {}
    pairs = re.findall(r'```(python|text)\n(.*?)```', text, flags=re.DOTALL)
    for place, (kind, block) in enumerate(pairs):
        if kind == 'python':
            exec(compile(block, 'tutorial_python.md', 'exec'), names)
            shown = pairs[place + 1][1] if pairs[place + 1 : place + 2] else ''
            assert capsys.readouterr().out == shown


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Return a folder that looks like a clone, with the commands on the path."""
    for name in ('config', 'examples'):
        (tmp_path / name).symlink_to(ROOT / name)
    programs = tmp_path / 'bin'
    programs.mkdir()
    for name, run in (('python', ''), ('ne_dynamics', '-m ne_dynamics.cli.main ')):
        script = programs / name
        script.write_text(f'#!/bin/sh\nexec {sys.executable} {run}"$@"\n')
        script.chmod(0o755)
    monkeypatch.setenv('PATH', f'{programs}{os.pathsep}{os.environ["PATH"]}')
    monkeypatch.setenv(
        'PYTHONPATH', os.pathsep.join(filter(None, [str(ROOT), os.environ.get('PYTHONPATH')]))
    )
    return tmp_path


@pytest.mark.long
def test_the_tutorial_of_a_log(folder):
    pytest.importorskip('matplotlib', reason='matplotlib is not installed')
    for block in blocks('log', 'bash'):
        ended = subprocess.run(
            ['bash', '-euc', block],
            cwd=folder,
            capture_output=True,
            text=True,
            timeout=LIMIT,
            check=False,
        )
        assert ended.returncode == 0, ended.stderr
        assert 'none for validation' not in ended.stdout
    rows = re.findall(r'^ +joint_\d +\S+ +\S+ +(\S+)', ended.stdout, flags=re.MULTILINE)
    assert len(rows) == 6
    assert all(0.01 < float(row) < 0.05 for row in rows)


@pytest.mark.skipif(shutil.which('ros2') is None, reason='the command ros2 is missing')
def test_the_tutorial_of_ros2(folder, monkeypatch):
    install_space = pytest.importorskip('install_space')
    prefix = folder / 'install'
    share = install_space.add_package(prefix, 'ne_dynamics')
    for name in ('launch', 'config'):
        shutil.copytree(ROOT / name, share / name)
    for name in ('computed_torque', 'simulated_robot', 'annotator'):
        text = f'import sys\nfrom ne_dynamics.executables import {name}\nsys.exit({name}())'
        install_space.add_executable(prefix, 'ne_dynamics', name, text)
    paths = [str(prefix), os.environ.get('AMENT_PREFIX_PATH', '')]
    monkeypatch.setenv('AMENT_PREFIX_PATH', os.pathsep.join(filter(None, paths)))
    monkeypatch.setenv('ROS_AUTOMATIC_DISCOVERY_RANGE', 'LOCALHOST')
    monkeypatch.setenv('ROS_LOG_DIR', str(folder / 'log'))
    first, *others = blocks('ros2', 'bash')
    launch = subprocess.Popen(['bash', '-c', f'exec {first}'], cwd=folder, start_new_session=True)
    try:
        for block in others:
            lines = [block] if 'pub' in block else block.strip().splitlines()
            for line in lines:
                _succeed(line, folder, launch)
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(launch.pid, signal.SIGINT)
        launch.wait(60)


def _succeed(line, folder, launch):
    """Run a line until it succeeds: what it asks for may not be known yet."""
    deadline = time.monotonic() + LIMIT
    while True:
        with contextlib.suppress(subprocess.TimeoutExpired):
            ended = subprocess.run(
                ['bash', '-c', line],
                cwd=folder,
                capture_output=True,
                text=True,
                timeout=60,
                check=False,
            )
            if ended.returncode == 0 and 'not available' not in ended.stdout:
                return
        assert launch.poll() is None, 'the launch has ended'
        assert time.monotonic() < deadline, line
