"""Loading times, memory and sweeps, each measured in a process of its own."""

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

_LOAD_PROBE = Path(__file__).with_name('load_probe.py')
_SWEEP_PROBE = Path(__file__).with_name('sweep_probe.py')


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


@dataclass(frozen=True)
class Sweep:
    """What each robot costs that a process uses and drops.

    Attributes
    ----------
    resident : float
        Growth of the resident memory [B]; below zero when memory was given back.
    maps : float
        Growth of the number of memory maps.
    seconds : float
        To build it, compile all its methods and call them [s].
    """

    resident: float
    maps: float
    seconds: float


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
        """Load a robot once.

        Parameters
        ----------
        task : mapping
            See :mod:`benchmark.load_probe`.
        cache : str
            Name of the cache folder for compiled code; one that is new is empty.

        Raises
        ------
        BackendError
            When the process fails; the message ends with the last line that it wrote.
        """
        begin = time.perf_counter()
        outcome = self._run(_LOAD_PROBE, task, cache)
        process = time.perf_counter() - begin
        return Start(outcome['steps'], process, outcome['peak'])

    def sweep(self, task: Mapping[str, Any], cache: str) -> Sweep:
        """Use many robots in one process.

        Parameters
        ----------
        task : mapping
            See :mod:`benchmark.sweep_probe`.
        cache : str
            Name of the cache folder for compiled code; one that is new is empty.

        Raises
        ------
        BackendError
            When the process fails; the message ends with the last line that it wrote.
        """
        return Sweep(**self._run(_SWEEP_PROBE, task, cache))

    def _run(self, probe: Path, task: Mapping[str, Any], cache: str) -> Any:
        """Run a probe; return the JSON on the last line of its output."""
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
        command = [sys.executable, '-c', probe.read_text(encoding='utf-8'), json.dumps(task)]
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
        if finished.returncode != 0:
            last = (finished.stderr.strip().splitlines() or ['no message'])[-1]
            raise BackendError(f'a process that runs {probe.stem} on {dict(task)} failed: {last}')
        return json.loads(finished.stdout.splitlines()[-1])


def _import_folder() -> str:
    """Return the folder from which this process imported the package."""
    return str(Path(ne_dynamics.__file__).resolve().parents[1])
