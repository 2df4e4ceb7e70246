"""The folder of a commissioning run: what is done, with what result, and what comes next.

``progress.yaml`` is written anew, whole, after every step. A run that ended anywhere goes on with
the first step that is not in it, as long as the model is the same.
"""

from __future__ import annotations

import contextlib
import copy
import errno
import hashlib
import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from ne_dynamics.commission.thresholds import STEPS
from ne_dynamics.errors import InputError
from ne_dynamics.model.yaml_text import parse_yaml
from ne_dynamics.prepared_file import write_whole

PROGRESS = 'progress.yaml'

VERSION = 1

EARLIER = 'earlier.'
"""Before the name of what an earlier pass of a step has written."""

RUNNING, STOPPED, COMPLETE = 'running', 'stopped', 'complete'


def holds_run(path: Path, subject: Mapping[str, Any]) -> bool:
    """Return whether a folder has a run of a subject."""
    try:
        found = dict(parse_yaml((path / PROGRESS).read_bytes(), str(path))['subject'])
    except (OSError, KeyError, TypeError, ValueError):
        return False
    return all(found.get(key) == value for key, value in subject.items())


class CommissionFolder:
    """The folder of a commissioning run: which steps are done, with results.

    Parameters
    ----------
    path : Path
        Created if it does not exist.
    subject : mapping
        Identifies the run; a run of another subject cannot continue here.

    Attributes
    ----------
    path : Path
    subject : dict
    results : dict of str to dict
        Results of the completed steps by name, in their order.
    causes : list of mapping
        Findings, as data for JSON, that explain why the run has stopped.

    Raises
    ------
    InputError
        When it cannot be written, has no room, contains a run of another subject, or its content
        cannot be read.
    """

    def __init__(self, path: Path, subject: Mapping[str, Any]) -> None:
        self.path = path
        self.subject = dict(subject)
        self._state, self._reason, self._next = RUNNING, '', ''
        self.results: dict[str, _Result] = {}
        self.causes: list[Mapping[str, Any]] = []
        try:
            path.mkdir(parents=True, exist_ok=True)
            trial = path / f'.room.{os.getpid()}'
            try:
                trial.write_bytes(bytes(2**16))
            finally:
                trial.unlink(missing_ok=True)
            free = shutil.disk_usage(path).free
        except OSError as error:
            raise _unwritable(path, error) from error
        if free < STEPS.free_space:
            raise InputError(
                f'{path}: expected {STEPS.free_space // 2**20} MiB of room for logs, got '
                f'{free // 2**20} MiB'
            )
        if (path / PROGRESS).exists():
            self._read(path / PROGRESS)

    def _read(self, file: Path) -> None:
        try:
            document = parse_yaml(file.read_bytes(), str(file))
            version, subject = document['version'], dict(document['subject'])
            results = {
                str(name): _Result(f'{file}: {name}', item)
                for name, item in document['steps'].items()
            }
        except (OSError, KeyError, TypeError, AttributeError, ValueError) as error:
            raise InputError(
                f'{file}: expected the progress of a run, got: {error}; take it away to begin anew'
            ) from error
        if version != VERSION:
            raise InputError(f'{file}: version: expected {VERSION}, got {version}')
        for key, value in self.subject.items():
            if subject.get(key) != value:
                raise InputError(
                    f'{file}: {key}: expected {value!r} as asked for, got {subject.get(key)!r}: '
                    'this run was of something else; name another folder'
                )
        self.results = results

    def check_row(self, row: Mapping[str, Sequence[str]], made: Sequence[str]) -> None:
        """Raise an error if completed steps have a gap, or files needed to continue are missing.

        The row has the steps in their order, each with the files that it writes and others need.
        Those in `made` are for the user, and no step needs them: what an earlier pass of a step
        has written is renamed.

        Raises
        ------
        InputError
            With the steps to remove from the progress, or the files that are in the way of a new
            run.
        """
        progress = self.path / PROGRESS
        there = [name for names in row.values() for name in names if self.file(name).exists()]
        if there and not progress.exists():
            raise InputError(
                f'{self.path}: expected a new folder or that of a run, got one without {PROGRESS} '
                f'in which {", ".join(there)} would be overwritten; name another one'
            )
        unknown = [step for step in self.results if step not in row]
        if unknown:
            raise InputError(f'{progress}: steps: expected {", ".join(row)}, got {unknown[0]!r}')
        steps = list(row)
        first = next((step for step in steps if step not in self.results), None)
        after = [] if first is None else steps[steps.index(first) :]
        kept = [step for step in after if step in self.results]
        if kept:
            raise InputError(
                f'{progress}: {first!r} is not done, and {", ".join(map(repr, kept))} after it: '
                f'expected none of them; take them out too, and they are done again'
            )
        for step in self.results:
            for name in row[step]:
                if name not in made and not self.file(name).exists():
                    raise InputError(
                        f'{self.file(name)}: is gone, and was written in {step!r}: bring it back, '
                        f'or take {step!r} and the steps after it out of {progress}'
                    )
        for step in after:
            for name in row[step]:
                if name in made and self.file(name).exists():
                    self.file(name).replace(self.file(EARLIER + name))

    def forget(self, step: str) -> None:
        """Mark a step as not done."""
        self.results.pop(step, None)

    def file(self, name: str) -> Path:
        """Return the path of a file in the folder."""
        return self.path / name

    def is_done(self, step: str) -> bool:
        """Return whether a step is completed."""
        return step in self.results

    def finish(self, step: str, result: Mapping[str, Any]) -> None:
        """Save the result of a step, which completes it."""
        self.results[step] = _Result(f'{self.path / PROGRESS}: {step}', result)
        self._save()

    def close(self, state: str, reason: str = '', next_step: str = '') -> None:
        """Record how the run ended, and the step with which it would continue."""
        self._state, self._reason, self._next = state, reason, next_step
        if state != STOPPED:
            self.causes = []
        self._save()

    def _save(self) -> None:
        document = {
            'version': VERSION,
            'state': self._state,
            'reason': self._reason,
            'next_step': self._next,
            # Copies: the same lists are in the results, to which YAML would refer.
            'causes': copy.deepcopy(self.causes),
            'subject': self.subject,
            'steps': {name: dict(result) for name, result in self.results.items()},
        }
        text = yaml.safe_dump(document, sort_keys=False, allow_unicode=True)
        write_whole(self.path / PROGRESS, text)


class _Result(dict[str, Any]):
    """What a step has found; what is missing was taken away by hand, or is of another version."""

    def __init__(self, place: str, result: Any) -> None:
        super().__init__(result)
        self._place = place

    def __missing__(self, key: str) -> Any:
        raise InputError(
            f'{self._place}: expected {key!r}, got {", ".join(map(repr, self)) or "nothing"}; '
            'take the step, and those after it, out of the file to do them again'
        )


@contextlib.contextmanager
def only_run(path: Path) -> Iterator[None]:
    """Let no other run work in a folder meanwhile, where locks are known; made where missing."""
    try:
        import fcntl
    except ImportError:  # not on Windows
        yield
        return
    try:
        path.mkdir(parents=True, exist_ok=True)
        holder = os.open(path, os.O_RDONLY)
    except OSError as error:
        raise _unwritable(path, error) from error
    try:
        try:
            fcntl.flock(holder, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            # Other errors are of file systems that know no locks.
            if error.errno in (errno.EWOULDBLOCK, errno.EACCES):
                raise InputError(
                    f'{path}: expected no other run in it, got one that is at work'
                ) from error
        yield
    finally:
        os.close(holder)


def _unwritable(path: Path, error: OSError) -> InputError:
    return InputError(
        f'{path}: expected a folder that can be written, got: {error.strerror or error}'
    )


def fingerprint(text: str) -> str:
    """Return what tells one text from another."""
    return hashlib.sha256(text.encode('utf-8')).hexdigest()[:16]
