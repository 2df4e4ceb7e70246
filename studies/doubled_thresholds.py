"""Double the thresholds one by one, and tell which of them the tests notice.

python -m studies.doubled_thresholds test/motion test/golden --fields 'Mot.*' --record reads.json

One that no test notices is not needed, or not tested. The tests are collected once. They run once
while it is recorded which file of tests reads which threshold; then each threshold is doubled in a
copy of the process (a fork), where only the files that read it run, the quickest first, until one
test fails. What is read in other processes, or kept when modules are imported, stays as it is: of
such a threshold too it is said that nobody notices it. Those with several values are left out.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import re
import signal
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest


class Reads:
    """Which file of tests reads which threshold, and how long each file takes."""

    def __init__(self) -> None:
        self.reader = ''
        self.files = defaultdict[str, set[str]](set)
        self.seconds = defaultdict[str, float](float)
        self.sets: dict[str, Any] = {}

    def watch(self) -> None:
        """Take note of every set of thresholds that is made, and of what is read of it."""
        make = dataclasses.dataclass

        def watched(cls: type | None = None, /, **options: Any) -> Any:
            if cls is None:
                return lambda given: watched(given, **options)
            made: Any = make(cls, **options)
            if any('reason' in each.metadata for each in dataclasses.fields(made)):
                self._watch(made)
            return made

        dataclasses.dataclass = watched

    def _watch(self, cls: Any) -> None:
        names = frozenset(
            each.name for each in dataclasses.fields(cls) if 'reason' in each.metadata
        )
        read = cls.__getattribute__
        begin = cls.__init__

        def watched_read(self_: Any, name: str) -> Any:
            if self.reader and name in names:
                self.files[f'{cls.__name__}.{name}'].add(self.reader)
            return read(self_, name)

        def watched_begin(self_: Any, *arguments: Any, **named: Any) -> None:
            begin(self_, *arguments, **named)
            self.sets.setdefault(cls.__name__, self_)

        cls.__getattribute__ = watched_read
        cls.__init__ = watched_begin

    def dump(self, path: Path) -> None:
        """Keep what was found."""
        files = {name: sorted(files) for name, files in self.files.items()}
        path.write_text(json.dumps({'files': files, 'seconds': self.seconds}, indent=1))

    def load(self, path: Path) -> None:
        """Take what was kept."""
        kept = json.loads(path.read_text())
        self.files.update({name: set(files) for name, files in kept['files'].items()})
        self.seconds.update(kept['seconds'])


class Doubling:
    """The part of pytest that runs the tests: once as they are, then for each threshold."""

    def __init__(self, reads: Reads, arguments: argparse.Namespace) -> None:
        self.reads = reads
        self.arguments = arguments
        self.failed = ''

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Keep the first test that fails."""
        if report.failed and not self.failed:
            self.failed = report.nodeid

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Record, then double."""
        files = defaultdict[str, list[pytest.Item]](list)
        for item in session.items:
            files[item.nodeid.split('::')[0]].append(item)
        if not self.arguments.record.exists():
            _, status = os.waitpid(fork(lambda: self._record(files)), 0)
            if status:
                self.arguments.record.unlink(missing_ok=True)
                pytest.exit('expected tests that pass, got others: nothing would be noticed')
        self.reads.load(self.arguments.record)
        unseen = []
        for name, default in self._list_thresholds():
            killer = self._double(name, default, files)
            print(f'{name} = {default!r}: {killer or "NOT NOTICED"}', flush=True)
            if not killer:
                unseen.append(name)
        print(f'{len(unseen)} not noticed: {" ".join(unseen)}')
        return True

    def _list_thresholds(self) -> Iterator[tuple[str, float]]:
        for cls, thresholds in sorted(self.reads.sets.items()):
            for each in dataclasses.fields(thresholds):
                name = f'{cls}.{each.name}'
                value = getattr(thresholds, each.name)
                number = isinstance(value, (int, float)) and not isinstance(value, bool)
                if number and re.fullmatch(self.arguments.fields, name):
                    yield name, value

    def _record(self, files: dict[str, list[pytest.Item]]) -> bool:
        for file, items in files.items():
            self.reads.reader = file
            start = time.monotonic()
            self._run(items, lambda: False)
            self.reads.seconds[file] = time.monotonic() - start
        self.reads.dump(self.arguments.record)
        return not self.failed

    def _run(self, items: Sequence[pytest.Item], stop: Callable[[], bool]) -> None:
        for item, following in zip(items, [*items[1:], None], strict=True):
            last = None if stop() else following
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=last)
            if stop():
                return

    def _double(self, name: str, default: float, files: dict[str, list[pytest.Item]]) -> str:
        """Return the first test that fails; '' where none does."""
        cls, field = name.split('.')
        chosen = sorted(self.reads.files[name] & set(files), key=self.reads.seconds.__getitem__)
        read_end, write_end = os.pipe()

        def run() -> bool:
            object.__setattr__(self.reads.sets[cls], field, 2 * default)
            for file in chosen:
                self._run(files[file], lambda: bool(self.failed))
                if self.failed:
                    break
            os.write(write_end, self.failed.encode())
            return not self.failed

        process = fork(run)
        os.close(write_end)
        if not wait(process, self.arguments.seconds):
            os.close(read_end)
            return f'(not done after {self.arguments.seconds:g} s)'
        with os.fdopen(read_end) as answer:
            return answer.read()


def fork(work: Callable[[], bool]) -> int:
    """Do the work in a copy of this process and group of its own, which prints nothing."""
    sys.stdout.flush()
    process = os.fork()
    if process:
        return process
    os.setpgid(0, 0)
    nothing = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, 1)
    os.dup2(nothing, 2)
    code = 2
    try:
        code = not work()
    finally:
        os._exit(code)


def wait(process: int, seconds: float) -> bool:
    """Wait for the process to end; stop it and its children after the time, and return False."""
    end = time.monotonic() + seconds
    done = 0
    while not done and time.monotonic() < end:
        done, _ = os.waitpid(process, os.WNOHANG)
        time.sleep(0.01)
    with suppress(ProcessLookupError):
        os.killpg(process, signal.SIGKILL)
    if not done:
        os.waitpid(process, 0)
    return bool(done)


def main() -> None:
    """Record who reads what, unless that is known; double the thresholds and print who notices."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('tests', nargs='+', help='files or folders of tests')
    parser.add_argument('--fields', default='.*', help='regular expression of CLASS.FIELD')
    parser.add_argument('--record', type=Path, required=True, help='made where it is not there')
    parser.add_argument('--seconds', type=float, default=120.0, help='time limit of a threshold')
    parser.add_argument('--long', action='store_true', help='also the tests marked as long')
    arguments = parser.parse_args()
    reads = Reads()
    reads.watch()
    options = ['-q', '-m', '' if arguments.long else 'not long']
    options += ['-p', 'no:cacheprovider', '-W', 'ignore']
    options += ['-p', 'no:xdist', '-p', 'no:randomly', '-s']
    sys.exit(pytest.main([*options, *arguments.tests], plugins=[Doubling(reads, arguments)]))


if __name__ == '__main__':
    main()
