"""The folder of a commissioning run: what is done, with what result, and what comes next.

``progress.yaml`` is written anew, whole, after every step. A run that ended anywhere goes on with
the first step that is not in it, as long as the model is the same.
"""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from ne_dynamics import prepared_file
from ne_dynamics.errors import InputError
from ne_dynamics.model.yaml_text import parse_yaml

PROGRESS = 'progress.yaml'
ROOM = 100 * 2**20
"""Free space that a run needs [bytes]: its logs, and some to spare."""

VERSION = 1

RUNNING, STOPPED, COMPLETE = 'running', 'stopped', 'complete'


class CommissionFolder:
    """See the module's docstring.

    Parameters
    ----------
    path : Path
        Made where it is missing.
    subject : mapping
        What the run is of; a run of another subject cannot go on here.

    Attributes
    ----------
    path : Path
    results : dict of str to dict
        Of the steps that are done, by name, in their order.

    Raises
    ------
    InputError
        When it cannot be written, has no room, holds a run of something else, or what it holds
        cannot be read.
    """

    def __init__(self, path: Path, subject: Mapping[str, Any]) -> None:
        self.path = path
        self._subject = dict(subject)
        self._state, self._reason, self._next = RUNNING, '', ''
        self.results: dict[str, _Result] = {}
        try:
            path.mkdir(parents=True, exist_ok=True)
            trial = path / f'.room.{os.getpid()}'
            try:
                trial.write_bytes(bytes(2**16))
            finally:
                trial.unlink(missing_ok=True)
            free = shutil.disk_usage(path).free
        except OSError as error:
            raise InputError(
                f'{path}: expected a folder that can be written, got: {error.strerror or error}'
            ) from error
        if free < ROOM:
            raise InputError(
                f'{path}: expected {ROOM // 2**20} MiB of room for logs, got {free // 2**20} MiB'
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
        for key, value in self._subject.items():
            if subject.get(key) != value:
                raise InputError(
                    f'{file}: {key}: expected {value!r} as asked for, got {subject.get(key)!r}: '
                    'this run was of something else; name another folder'
                )
        self.results = results

    def file(self, name: str) -> Path:
        """Return the path of a file in the folder."""
        return self.path / name

    def is_done(self, step: str) -> bool:
        """Return whether a step has its result."""
        return step in self.results

    def finish(self, step: str, result: Mapping[str, Any]) -> None:
        """Keep the result of a step."""
        self.results[step] = _Result(f'{self.path / PROGRESS}: {step}', result)
        self._save()

    def close(self, state: str, reason: str = '', next_step: str = '') -> None:
        """Note how the run has ended, and with what it would go on."""
        self._state, self._reason, self._next = state, reason, next_step
        self._save()

    def _save(self) -> None:
        document = {
            'version': VERSION,
            'state': self._state,
            'reason': self._reason,
            'next_step': self._next,
            'subject': self._subject,
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


def write_whole(file: Path, text: str) -> None:
    """Write a file, so that it is either as before or all there.

    Raises
    ------
    InputError
        When it cannot be written.
    """
    try:
        prepared_file.write_whole(file, text)
    except OSError as error:
        raise InputError(f'{file}: cannot be written: {error.strerror or error}') from error


def fingerprint(text: str) -> str:
    """Return what tells one text from another."""
    return hashlib.sha256(text.encode('utf-8')).hexdigest()[:16]
