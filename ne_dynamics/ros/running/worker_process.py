"""Work beside the control path, in a process of its own.

A thread would not do: what it computes, and what it holds the interpreter for, is time in which
no joint state is answered. The process is started when it is first asked for something, goes on
while this one lives, and ends with it. What it is asked for is a function with arguments, as of
:class:`concurrent.futures.Executor`, one after the other; all of them are copied when they are
handed over, so that who asks may go on at once. Imports no ROS.
"""

from __future__ import annotations

import io
import os
import pickle
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from multiprocessing.connection import Connection
from queue import SimpleQueue
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import ne_dynamics
from ne_dynamics.dynamics import Dynamics
from ne_dynamics.errors import BackendError
from ne_dynamics.ros.thresholds import NODE


class WorkerLostError(BackendError):
    """The process that was to do the work has ended, or could not be started."""


class _Job(NamedTuple):
    data: memoryview
    future: Future[Any]


class WorkerProcess:
    """A process that does one work after the other, none longer than `longest_work` [s].

    `name` is for messages.
    """

    def __init__(self, name: str, longest_work: float = NODE.worker_longest_work) -> None:
        self._name = name
        self._longest_work = longest_work
        self._change = threading.Condition()
        self._forget()

    def _forget(self) -> None:
        """Have no process, nor a thread that speaks to it."""
        self._owner = os.getpid()
        self._jobs: SimpleQueue[_Job] = SimpleQueue()
        self._left = 0
        self._thread: threading.Thread | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._connection: Connection | None = None

    @property
    def pid(self) -> int | None:
        """Number of the process; None while there is none."""
        return None if self._process is None else self._process.pid

    def submit(self, function: Callable[..., Any], /, *arguments: Any) -> Future[Any]:
        """Have a function called with copies of the arguments; all of it can be pickled.

        The future has the result, or what the function raises; a WorkerLostError when the process
        ends before. One that is cancelled in time is not begun.
        """
        job = _Job(_pickled((function, arguments)), Future())
        if self._owner != os.getpid():
            # After a fork both are the other one's.
            self._change = threading.Condition()
            self._forget()
        with self._change:
            self._left += 1
            if self._thread is None:
                thread = threading.Thread(target=self._work, name=self._name, daemon=True)
                thread.start()
                self._thread = thread
        self._jobs.put(job)
        return job.future

    def wait(self, timeout: float | None = None) -> bool:
        """Wait until nothing is left to be done; return whether that is so."""
        with self._change:
            return self._change.wait_for(lambda: not self._left, timeout)

    def stop(self) -> None:
        """End the process, whatever it does; the next work starts another one."""
        process = self._process
        if process is not None:
            with suppress(OSError):
                process.kill()

    # ---- in the thread

    def _work(self) -> None:
        """Hand over one job after the other.

        The thread stays: to start one, whoever submits would have to wait until it runs.
        """
        while True:
            self._do(self._jobs.get())
            with self._change:
                self._left -= 1
                self._change.notify_all()

    def _do(self, job: _Job) -> None:
        if not job.future.set_running_or_notify_cancel():
            return
        try:
            succeeded, result = pickle.loads(self._ask(job.data))
        except Exception as error:
            # Whatever it was: those that come after it are done by another process.
            self._end()
            succeeded = False
            result = WorkerLostError(
                f'{self._name}: the process for it has ended ({str(error) or repr(error)}); '
                'another one is started for the next request: send it again'
            )
        if succeeded:
            job.future.set_result(result)
        else:
            job.future.set_exception(result)

    def _ask(self, data: memoryview) -> bytes:
        """Return the answer to a job; one that finds the process dead gets another one, once."""
        try:
            return self._exchange(data)
        except (EOFError, ConnectionError):
            self._end()
            return self._exchange(data)

    def _exchange(self, data: memoryview) -> bytes:
        connection = self._connection or self._start()
        connection.send_bytes(data)
        if not connection.poll(self._longest_work):
            raise OSError(f'no answer in {self._longest_work:g} s')
        return connection.recv_bytes()

    def _start(self) -> Connection:
        ours, theirs = socket.socketpair()
        # Who does not read is given up as who does not answer.
        seconds, rest = divmod(self._longest_work, 1.0)
        timeout = struct.pack('ll', int(seconds), round(1e6 * rest))
        ours.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, timeout)
        ours.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, timeout)
        # The same package, and nothing of the working directory.
        root = os.path.dirname(next(iter(ne_dynamics.__path__)))
        path = [root, *(entry for entry in sys.path if entry and entry != root)]
        code = (
            f'import sys; sys.path[:] = {path!r}; from {__name__} import serve; '
            f'serve({theirs.fileno()}, {os.getpid()})'
        )
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, '-c', code],
                env={**os.environ, 'OPENBLAS_NUM_THREADS': '1'},
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                # A signal to the group of this process is not for it.
                start_new_session=True,
            )
        self._connection = Connection(ours.detach())
        if not self._connection.poll(NODE.worker_longest_work):
            raise OSError(f'not started in {NODE.worker_longest_work:g} s')
        self._connection.recv_bytes()
        return self._connection

    def _end(self) -> None:
        connection, self._connection = self._connection, None
        process, self._process = self._process, None
        if connection is not None:
            connection.close()
        if process is not None:
            process.kill()
            process.wait()


PLANNING = WorkerProcess('planning')
"""Plans motions for the nodes of this process."""

AT_LEISURE = WorkerProcess('work at leisure', 600.0)
"""Does for them what may take long."""


# ---- what is known on both sides: dynamics are made once of the same description


_descriptions: WeakKeyDictionary[Dynamics, bytes] = WeakKeyDictionary()
_models: dict[bytes, Dynamics] = {}


class _Pickler(pickle.Pickler):
    def persistent_id(self, obj: Any) -> bytes | None:
        """Return the description of dynamics, by which they are known."""
        if not isinstance(obj, Dynamics):
            return None
        description = _descriptions.get(obj)
        if description is None:
            description = _descriptions[obj] = pickle.dumps(obj)
        return description


class _Unpickler(pickle.Unpickler):
    def persistent_load(self, pid: bytes) -> Dynamics:
        """Return dynamics by their description."""
        model = _models.pop(pid, None)
        if model is None:
            model = pickle.loads(pid)
        # The last that was used is the last to go.
        _models[pid] = model
        while len(_models) > NODE.worker_models_kept:
            del _models[next(iter(_models))]
        return model


def _pickled(value: Any) -> memoryview:
    buffer = io.BytesIO()
    _Pickler(buffer, pickle.HIGHEST_PROTOCOL).dump(value)
    return buffer.getbuffer()


# ---- the process


def _answer(data: bytes) -> bytes:
    try:
        function, arguments = _Unpickler(io.BytesIO(data)).load()
        answer = True, function(*arguments)
    except Exception as error:
        answer = False, error
    try:
        return pickle.dumps(answer, pickle.HIGHEST_PROTOCOL)
    except Exception as error:
        return pickle.dumps((False, BackendError(f'no answer can be sent: {error!r}')))


def serve(descriptor: int, node: int) -> None:
    """Answer by a socket until its other end is closed, or the process of the node has ended."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with, args=(node,), daemon=True).start()
    connection = Connection(descriptor)
    with suppress(EOFError, OSError):
        connection.send_bytes(b'')
        # Started at once, then second to others, whatever priority the node was given.
        with suppress(OSError, AttributeError):
            os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))
        with suppress(OSError):
            os.nice(10)
        while True:
            connection.send_bytes(_answer(connection.recv_bytes()))


def _end_with(node: int) -> None:
    """End this process when another one has ended, in the middle of its work too."""
    while os.getppid() == node:
        time.sleep(0.5)
    os._exit(0)
