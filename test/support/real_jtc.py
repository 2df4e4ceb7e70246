"""ros2_controllers' own JointTrajectoryController, stepped from Python by virtual time.

Where `NE_DYNAMICS_JTC` names the folder of `librig_jtc.so`: the sources of JTC 4.42.1 (Jazzy) and
of all below it, compiled on the wheels of ROS 2, with the C interface `test/real_jtc/jtc_api.cpp`
(`test/real_jtc/README.md`). It has messages of its own, so it has a process of its own, too:

    with JtcProcess(ctx=get_context('spawn')) as process:
        jtc = process.RealJtc(...)
"""

from __future__ import annotations

import ctypes
import itertools
import os
import tempfile
from functools import cache
from multiprocessing.managers import BaseManager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import yaml

FOLDER = os.environ.get('NE_DYNAMICS_JTC', '')

MISSING = '' if FOLDER else 'needs the compiled JTC: NE_DYNAMICS_JTC, see test/real_jtc/README.md'
"""Why there is none; '' where there is one."""

NANO = 1_000_000_000

_count = itertools.count()


@cache
def load_library() -> ctypes.CDLL:
    """Return the library.

    Raises
    ------
    OSError
        Where it is not in the folder, or cannot be loaded.
    """
    library = ctypes.CDLL(str(Path(FOLDER) / 'librig_jtc.so'), mode=ctypes.RTLD_GLOBAL)
    handle, time, numbers = ctypes.c_void_p, ctypes.c_int64, ctypes.POINTER(ctypes.c_double)
    text = ctypes.c_char_p
    library.rig_new.restype = handle
    for name, types in (
        ('rig_new', [text, text, ctypes.c_uint, text]),
        ('rig_start', [handle, time, numbers, numbers]),
        ('rig_send', [handle, time, text, ctypes.c_size_t]),
        ('rig_update', [handle, time, time, *[numbers] * 4]),
        ('rig_delete', [handle]),
    ):
        getattr(library, name).argtypes = types
    library.rig_init()
    return library


def _pointer(values: np.ndarray) -> Any:
    return values.ctypes.data_as(ctypes.POINTER(ctypes.c_double))


class Cycle(NamedTuple):
    """What a cycle came to; arrays of shape (n,), NaN where there is no such value.

    `desired` and `next` are position, velocity, acceleration and effort, of this cycle and of the
    one after it, shape (4, n); `error` is that of position and velocity, shape (2, n); `command`
    is what was written, a row for each command interface.
    """

    desired: np.ndarray
    next: np.ndarray
    error: np.ndarray
    command: np.ndarray
    is_holding: bool


class RealJtc:
    """The controller, activated on an arm that is at rest; in the process of the library.

    Parameters
    ----------
    names : sequence of str
        Joints.
    position : array-like, shape (n,)
        Where the arm is [rad or m].
    urdf : str
        Text of the description.
    period : float
        One by the controller's update rate [s].
    start : float
        Time of the activation [s].
    **parameters
        Of the controller, beside joints and state interfaces; '__' in a name stands for '.'.
    """

    def __init__(
        self, names: Any, position: Any, urdf: str, period: float, start: float, **parameters: Any
    ) -> None:
        still = np.zeros(len(names))
        given = {'joints': list(names), 'state_interfaces': ['position', 'velocity']}
        given |= {name.replace('__', '.'): value for name, value in parameters.items()}
        self._library = load_library()
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / 'parameters.yaml'
            file.write_text(yaml.safe_dump({'/**': {'ros__parameters': given}}))
            name = f'jtc_{os.getpid()}_{next(_count)}'
            self.handle = self._library.rig_new(
                urdf.encode(), str(file).encode(), round(1.0 / period), name.encode()
            )
        assert self.handle, 'JTC did not initialise'
        self._last = round(start * NANO)
        code = self._library.rig_start(
            self.handle, self._last, _pointer(np.array(position, dtype=float)), _pointer(still)
        )
        assert code == 0, f'JTC did not {("configure", "activate")[code - 1]}'
        self._shape = (len(parameters['command_interfaces']), len(names))

    def receive(self, data: bytes, now: float) -> bool:
        """Take a JointTrajectory as it is serialized; return whether it is accepted."""
        return bool(self._library.rig_send(self.handle, round(now * NANO), data, len(data)))

    def update(self, now: float, position: Any, velocity: Any) -> Cycle:
        """Let a cycle pass."""
        time = round(now * NANO)
        state = [np.array(values, dtype=float) for values in (position, velocity)]
        command, found = np.empty(self._shape), np.empty((10, self._shape[1]))
        flags = self._library.rig_update(
            self.handle,
            time,
            time - self._last,
            *(_pointer(values) for values in (*state, command, found)),
        )
        self._last = time
        return Cycle(found[:4], found[4:8], found[8:], command, bool(flags & 1))

    def close(self) -> None:
        """Destroy the controller."""
        self._library.rig_delete(self.handle)


class JtcProcess(BaseManager):
    """A process that holds the library; makes the controllers in it, or stands for them."""


JtcProcess.register('RealJtc', RealJtc)
