"""Loading times and memory, each measured in a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import ne_dynamics
from ne_dynamics.errors import BackendError

PATIENCE = 300.0
"""Seconds after which a process that does not finish is given up."""

_PROBE = Path(__file__).with_name('load_probe.py')


@dataclass(frozen=True)
class Start:
    """What one process took.

    Attributes
    ----------
    steps : mapping
        Seconds of 'import numpy', 'import library', 'read model', 'first result'.
    process : float
        From asking for the process to its end [s].
    peak : int
        Most memory resident [B].
    """

    steps: Mapping[str, float]
    process: float
    peak: int

    @property
    def load(self) -> float:
        """From the call that reads the model to the first result [s]."""
        return self.steps['read model'] + self.steps['first result']

    @property
    def loading(self) -> float:
        """The same, with the import of the library before it [s]; NumPy was there already."""
        return self.steps['import library'] + self.load


class FreshProcesses:
    """Starts processes that find bytecode of everything they import, and a cache of their own.

    Use it as a context manager: both live in a temporary folder.
    """

    def __enter__(self) -> FreshProcesses:
        self._folder = tempfile.TemporaryDirectory(prefix='ne_dynamics_bench_')
        return self

    def __exit__(self, *_: object) -> None:
        self._folder.cleanup()

    def start(self, task: Mapping[str, Any], cache: str) -> Start:
        """Run the probe once.

        Parameters
        ----------
        task : mapping
            See :mod:`ne_dynamics.bench.load_probe`.
        cache : str
            Name of the cache folder for compiled code; one that is new is empty.

        Raises
        ------
        BackendError
            When the process fails; the message ends with the last line that it wrote.
        """
        folder = Path(self._folder.name)
        environment = {
            **os.environ,
            'NE_DYNAMICS_CACHE': str(folder / cache),
            # As installed packages are: compiled to bytecode before their first real start.
            'PYTHONPYCACHEPREFIX': str(folder / 'bytecode'),
            'PYTHONPATH': os.pathsep.join(
                filter(None, [_import_folder(), os.environ.get('PYTHONPATH', '')])
            ),
        }
        environment.pop('PYTHONDONTWRITEBYTECODE', None)
        command = [sys.executable, '-c', _PROBE.read_text(encoding='utf-8'), json.dumps(task)]
        begin = time.perf_counter()
        finished = subprocess.run(
            command,
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
        )
        process = time.perf_counter() - begin
        if finished.returncode != 0:
            last = (finished.stderr.strip().splitlines() or ['no message'])[-1]
            raise BackendError(f'a process that loads {dict(task)} failed: {last}')
        outcome = json.loads(finished.stdout.splitlines()[-1])
        return Start(outcome['steps'], process, outcome['peak'])


def _import_folder() -> str:
    """Return the folder from which this process imported the package."""
    return str(Path(ne_dynamics.__file__).resolve().parents[1])
