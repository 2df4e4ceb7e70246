"""joint_trajectory_controller itself before a controller that `ne_dynamics controller` wrote.

Stepped from Python by virtual time, as :mod:`real_jtc` steps JTC alone, and where that can: with
`NE_DYNAMICS_JTC`. What the package of an arm needs beside it is compiled for each test.
"""

from __future__ import annotations

import ctypes
import os
import re
import subprocess
from multiprocessing.managers import BaseManager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from real_jtc import FOLDER, NANO

CHAIN = Path(__file__).parents[1] / 'real_jtc' / 'chain'


def compile_chain(package: Path, build: Path) -> Path:
    """Return the library of a package's controller behind JTC.

    Parameters
    ----------
    package : Path
        Folder that `ne_dynamics controller` wrote.
    build : Path
        Folder for CMake.
    """
    out = Path(FOLDER).parent
    cache = (out / 'build' / 'CMakeCache.txt').read_text(encoding='utf-8')
    (sources,) = re.findall('^SOURCES:[A-Z]+=(.+)$', cache, re.MULTILINE)
    given = f'-DSOURCES={sources}', f'-DOUT={out}', f'-DCONTROLLER={package}'
    for words in (['-S', CHAIN, '-B', build, *given], ['--build', build]):
        result = subprocess.run(['cmake', *words], capture_output=True, text=True, check=False)
        assert result.returncode == 0, result.stdout + result.stderr
    return build / 'librig_chain.so'


class Cycle(NamedTuple):
    """What a cycle came to.

    `command` has shape (n,), `reference` (3, n): position, velocity and acceleration that JTC
    wrote; `is_ok` is whether neither controller returned an error.
    """

    command: np.ndarray
    reference: np.ndarray
    is_ok: bool


class RealChain:
    """Both controllers, activated on an arm that is at rest; in the process of the library.

    Parameters
    ----------
    library : Path
        From :func:`compile_chain`.
    name : str
        Of the package.
    parameters : Path
        Its file `controllers.yaml`, or another.
    urdf : str
        Text of the description.
    rate : int
        Of the updates [Hz].
    start : float
        Time of the activation [s].
    position, effort : array-like, shape (n,)
        Where the arm is, and what holds it.
    """

    def __init__(
        self,
        library: Path,
        name: str,
        parameters: Path,
        urdf: str,
        rate: int,
        start: float,
        position: Any,
        effort: Any,
    ) -> None:
        self._library = ctypes.CDLL(str(library), mode=os.RTLD_GLOBAL | os.RTLD_NOW)
        self._library.chain_new.restype = ctypes.c_void_p
        self._library.chain_init()
        texts = urdf.encode(), str(parameters).encode()
        handle = self._library.chain_new(*texts, rate, name.encode())
        assert handle, 'a controller did not initialise'
        self._handle = ctypes.c_void_p(handle)
        self._last, self._n = round(start * NANO), len(position)
        still = np.zeros(self._n)
        code = self._library.chain_start(
            self._handle, ctypes.c_int64(self._last), *map(_pointer, (position, still, effort))
        )
        assert code == 0, f'a controller did not {("configure", "activate")[code - 1]}'

    def receive(self, data: bytes, now: float) -> bool:
        """Take a JointTrajectory as it is serialized; return whether it is accepted."""
        time, size = ctypes.c_int64(round(now * NANO)), ctypes.c_size_t(len(data))
        return bool(self._library.chain_send(self._handle, time, data, size))

    def update(self, now: float, position: Any, velocity: Any, effort: Any) -> Cycle:
        """Let a cycle pass."""
        time = round(now * NANO)
        command, reference = np.empty(self._n), np.empty((3, self._n))
        code = self._library.chain_update(
            self._handle,
            ctypes.c_int64(time),
            ctypes.c_int64(time - self._last),
            *map(_pointer, (position, velocity, effort, command, reference)),
        )
        self._last = time
        return Cycle(command, reference, code == 0)

    def stop(self) -> np.ndarray:
        """Deactivate both, as the controller manager does after an error; return the command."""
        command = np.empty(self._n)
        self._library.chain_stop(self._handle, _pointer(command))
        return command

    def close(self) -> None:
        """Destroy both."""
        self._library.chain_delete(self._handle)


def _pointer(values: Any) -> Any:
    array = np.asarray(values, dtype=float)
    assert array.flags.c_contiguous
    return array.ctypes.data_as(ctypes.POINTER(ctypes.c_double))


class ChainProcess(BaseManager):
    """A process that holds the library; makes chains in it, or stands for them."""


ChainProcess.register('RealChain', RealChain)
