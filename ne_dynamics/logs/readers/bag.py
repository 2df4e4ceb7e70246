"""ROS 2 bags: opened by the library `rosbags`, which is asked for when a bag is."""

from __future__ import annotations

import contextlib
import errno
import importlib
import os
import tempfile
import threading
import weakref
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from ne_dynamics.errors import InputError, optional_dependency

BAG_SUFFIXES = ('.db3', '.mcap')
JOINT_STATE = 'sensor_msgs/msg/JointState'


def is_bag(path: str | os.PathLike[str]) -> bool:
    """Tell whether a path is taken for a bag: a folder, or a file of one."""
    place = Path(path)
    return place.is_dir() or place.suffix in BAG_SUFFIXES


def find_folder(path: Path) -> Path:
    """Return the folder of a bag, of which a path is the folder or a file."""
    return path if path.is_dir() else path.parent


def open_reader(stack: ExitStack, path: Path) -> Any:
    """Return the reader of a bag; it is closed with a stack.

    Parameters
    ----------
    stack : ExitStack
    path : Path
        Folder of the bag, or a file of it.

    Raises
    ------
    InputError
        When it is none.
    MissingDependencyError
        When the library `rosbags` is missing.
    """
    highlevel, typesys = _import_rosbags('highlevel'), _import_rosbags('typesys')
    folder = find_folder(path)
    try:
        types = typesys.get_typestore(typesys.Stores.ROS2_JAZZY)
        return stack.enter_context(highlevel.AnyReader([folder], default_typestore=types))
    except Exception as error:
        if isinstance(error, OSError) and error.errno == errno.ENOSPC:
            raise InputError(
                f'{folder}: no room to unpack the bag in {tempfile.gettempdir()}: set TMPDIR to a '
                'folder that has it'
            ) from error
        raise InputError(f'{folder}: expected a ROS 2 bag: {error}') from error


def open_joint_states(stack: ExitStack, path: Path, topic: str | None) -> tuple[Any, list[Any]]:
    """Return the reader of a bag, and the connections of the one topic of JointState.

    Parameters
    ----------
    stack : ExitStack
        With which it is closed.
    path : Path
        Folder of the bag, or a file of it.
    topic : str or None
        Default: its only one of JointState.

    Raises
    ------
    InputError
        When it is no bag, or the topic is not told.
    MissingDependencyError
        When the library `rosbags` is missing.
    """
    reader = open_reader(stack, path)
    return reader, choose_joint_states(reader.connections, topic, find_folder(path))


class JointStateBag:
    """Joint states of a bag that stays open from one part of it to the next.

    To open a bag takes a time that grows with its length: messages in SQLite are counted, indices
    of MCAP are read, and compressed files are unpacked into the folder for temporary files. It is
    closed when this is forgotten, and at the end of the process. A copy by pickle opens it anew.

    Parameters
    ----------
    path : Path
        Folder of the bag, or a file of it.
    topic : str or None
        Default: its only one of JointState.
    """

    def __init__(self, path: Path, topic: str | None) -> None:
        self._path, self._topic = path, topic
        self._lock = threading.Lock()
        self._found: tuple[Any, list[Any]] | None = None
        self._close: Any = None

    def __reduce__(self) -> tuple[type[JointStateBag], tuple[Path, str | None]]:
        return JointStateBag, (self._path, self._topic)

    @contextlib.contextmanager
    def lend(self) -> Iterator[tuple[Any, list[Any]]]:
        """Yield the reader and the connections of the topic, to one thread at a time.

        Raises
        ------
        InputError
            As from :func:`open_joint_states`; when a message cannot be read meanwhile.
        MissingDependencyError
            When the library `rosbags` is missing.
        """
        with self._lock:
            if self._found is None:
                with ExitStack() as stack:
                    self._found = open_joint_states(stack, self._path, self._topic)
                    self._close = weakref.finalize(self, stack.pop_all().close)
            try:
                yield self._found
            except Exception as error:
                self._forget()
                folder = find_folder(self._path)
                raise InputError(f'{folder}: a message cannot be read: {error}') from error

    def close(self) -> None:
        """Close the bag; it is opened anew when it is asked for."""
        with self._lock:
            self._forget()

    def _forget(self) -> None:
        if self._close is not None:
            self._close()
        self._found = self._close = None


def choose_joint_states(connections: Iterable[Any], topic: str | None, folder: Path) -> list[Any]:
    """Return the connections of one topic of JointState: the named one, or the only one.

    Raises
    ------
    InputError
        When there is no such topic, or several and none is named.
    """
    found = [item for item in connections if item.msgtype == JOINT_STATE]
    topics = sorted({item.topic for item in found})
    if topic is None and len(topics) == 1:
        topic = topics[0]
    if topic not in topics:
        raise InputError(
            f'{folder}: topic: expected {"one of " if topic else "one to be named of "}'
            f'{", ".join(topics) or "(the bag has none of JointState)"}, got {topic or "none"}'
        )
    return [item for item in found if item.topic == topic]


def _import_rosbags(module: str) -> Any:
    with optional_dependency('reading a bag needs rosbags', 'bag'):
        return importlib.import_module(f'rosbags.{module}')
