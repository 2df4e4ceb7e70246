"""The order in which files of tests are handed out, which tests are long, `control_msgs`, JTC."""

from __future__ import annotations

import gc
import os
import signal
from collections.abc import Iterator
from multiprocessing import get_context
from pathlib import Path

import pytest
from build_control_msgs import ControlMessages, find_or_build, importable
from long_sweeps import chosen_part, holds_long_tests, left_out
from real_jtc import MISSING, JtcProcess

from ne_dynamics.ros.running.private_domain import private_domain

# Whatever runs beside these tests, and whatever they start, neither hears the other.
os.environ['ROS_DOMAIN_ID'] = str(private_domain())

# Nothing is drawn by MuJoCo: hundreds of simulated robots need not look for a display.
os.environ.setdefault('MUJOCO_GL', 'disable')

PART = os.environ.get('NE_DYNAMICS_LONG_PART', '')
"""Which part of the long tests is run, `2/3` for the second third; '' for all."""

WAITING = ('faults', 'fuzz', 'ros', 'simulation', 'cli', 'launch', 'ros2_control')
"""Folders whose tests wait for other processes for much of their time: they come first."""

LONGER = ('commission', 'controller', 'golden', 'identification', 'logs')
LONGER += ('test_document_numbers.py', 'test_packaging.py')
"""Folders, and files, that take long: they come next, so that what is short fills the end."""

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # Begun in the background of a shell: what the tests interrupt is to be interrupted.
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark what is long; put what waits before what computes: nobody waits alone at the end."""
    root = config.rootpath / 'test'
    # There are fifty times as many tests as files.
    files = {path: Path(os.path.relpath(path, root)) for path in {item.path for item in items}}
    for case in left_out(items):
        case.add_marker(pytest.mark.long)
    out = [item for item in items if item.get_closest_marker('long') is not None]
    passed_over = {id(case) for case in out} - {id(case) for case in chosen_part(out, PART)}
    items[:] = [item for item in items if id(item) not in passed_over]

    def place(item: pytest.Item) -> int:
        first = files[item.path].parts[0]
        return 0 if first in WAITING else 1 if first in LONGER else 2

    items.sort(key=place)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Read no file of which nothing is asked for: every worker reads all the others."""
    if config.option.markexpr != 'long' or collection_path.suffix != '.py':
        return None
    return not holds_long_tests(collection_path) or None


@pytest.hookimpl(trylast=True)
def pytest_collection_finish() -> None:
    """Take what was found out of what is searched for garbage: it stays to the end.

    These are millions of objects; tests that let nodes go have garbage collected every time.
    """
    gc.collect()
    gc.freeze()


@pytest.fixture(scope='session')
def shared_folder(tmp_path_factory) -> Path:
    """Return a folder that all processes of the session have, each of which has its own below."""
    folder = tmp_path_factory.getbasetemp()
    return folder.parent if 'PYTEST_XDIST_WORKER' in os.environ else folder


@pytest.fixture(scope='session')
def found_messages(tmp_path_factory, request) -> ControlMessages:
    """Return where `control_msgs` is, built when none is installed."""
    cache = getattr(request.config, 'cache', None)
    folder = tmp_path_factory.mktemp('cache') if cache is None else cache.mkdir('control_msgs')
    return find_or_build(Path(folder))


@pytest.fixture(scope='session')
def jtc_process() -> Iterator[JtcProcess]:
    """Return a process that makes joint trajectory controllers of ros2_controllers."""
    if MISSING:
        pytest.skip(MISSING)
    with JtcProcess(ctx=get_context('spawn')) as process:
        yield process


@pytest.fixture
def messages(found_messages: ControlMessages) -> Iterator[ControlMessages]:
    """Make `control_msgs` importable for as long as the test runs, and return where it is."""
    if found_messages.missing:
        pytest.skip(f'no control_msgs, and it cannot be built: {found_messages.missing}')
    with importable(found_messages):
        yield found_messages
