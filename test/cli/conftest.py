"""Commands called in the process of the tests."""

from __future__ import annotations

import pytest

from ne_dynamics.cli.main import main


@pytest.fixture
def call_demo(tmp_path, monkeypatch, capsys):
    """Return a function that calls the command in this process: exit code, and its errors."""
    monkeypatch.chdir(tmp_path)

    def call(*arguments):
        try:
            code = main(['demo', *map(str, arguments)])
        except SystemExit as end:
            code = end.code
        return code, capsys.readouterr().err

    return call
