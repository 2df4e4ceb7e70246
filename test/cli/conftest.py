"""Commands called in the process of the tests."""

import json
import subprocess
import sys

import pytest

from ne_dynamics.cli.annotate import MODEL_VARIABLE
from ne_dynamics.cli.main import main
from ne_dynamics.shipped import shipped_file

ARM = '--model', str(shipped_file('six_axis_arm.urdf'))


@pytest.fixture
def call(capsys):
    """Return a function that runs a command: its exit code, and what it printed, out and err."""

    def run(*words):
        try:
            code = main([*map(str, words)])
        except SystemExit as end:
            code = end.code
        return (code, *capsys.readouterr())

    return run


@pytest.fixture
def ask(call):
    """Return a function that runs a command, which prints JSON, and returns that."""

    def run(*words):
        code, out, err = call(*words, '--json')
        assert code == 0, err
        return json.loads(out)

    return run


@pytest.fixture
def refused(call):
    """Return a function that runs a command, which says in one line why it does nothing."""

    def run(message, command, *words, lines=1):
        code, out, err = call(command, *words)
        assert code == 1
        assert err.startswith(f'ne_dynamics {command}: error: ')
        assert message in err
        assert err.count('\n') == lines
        return out

    return run


@pytest.fixture
def annotate(tmp_path, monkeypatch):
    """Return a function that annotates a text and returns exit code and output file."""
    monkeypatch.delenv(MODEL_VARIABLE, raising=False)

    def run(text, *options, model=ARM):
        source, target = tmp_path / 'in.yaml', tmp_path / 'out.yaml'
        source.write_text(text)
        return main(['annotate', *model, *options, str(source), str(target)]), target

    return run


@pytest.fixture
def run_demo(closed_loop, tmp_path):
    """Return a function that runs the command as a process of its own, and says how it ended."""

    def run(*arguments):
        words = [sys.executable, '-m', 'ne_dynamics.cli.main', 'demo', *map(str, arguments)]
        return subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, timeout=1800.0)

    return run


@pytest.fixture
def closed_loop():
    """Skip where a closed loop cannot run."""
    pytest.importorskip('rclpy', reason='needs ROS 2 for Python')
    pytest.importorskip('mujoco', reason='MuJoCo is not installed')
    pytest.importorskip('matplotlib', reason='matplotlib is not installed')
