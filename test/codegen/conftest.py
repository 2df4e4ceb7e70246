"""Fixtures of the tests of generated code: a private cache, and what needs the compiler."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
for folder in (HERE, HERE.parent / 'oracles'):  # the modules beside the tests
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))

HAS_COMPILER = importlib.util.find_spec('llvmlite') is not None


@pytest.fixture(scope='session')
def session_cache(tmp_path_factory):
    """Folder in which the machine code of this session is kept."""
    return tmp_path_factory.mktemp('cache') / 'machine_code'


@pytest.fixture(autouse=True)
def private_cache(session_cache, monkeypatch):
    """Keep every test away from the user's own cache."""
    monkeypatch.setenv('NE_DYNAMICS_CACHE', str(session_cache))


@pytest.fixture
def compiler():
    """Skip a test that needs the compiler when there is none."""
    if not HAS_COMPILER:
        pytest.skip('llvmlite (the compiler of the package numba) is not installed')
