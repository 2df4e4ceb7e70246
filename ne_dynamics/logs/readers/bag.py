"""ROS 2 bags: opened by the library `rosbags`, which is asked for when a bag is."""

from __future__ import annotations

import contextlib
import errno
import importlib
import os
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np

from ne_dynamics.errors import InputError, optional_dependency
from ne_dynamics.logs.readers.joint_state_cdr import JOINT_STATE, generate_rows
from ne_dynamics.logs.usable_samples import describe_dropped
from ne_dynamics.model.rigid_body import FloatArray

BAG_SUFFIXES = ('.db3', '.mcap')


def is_bag(path: str | os.PathLike[str]) -> bool:
    """Tell whether a path is taken for a bag: a folder, or a file of one."""
    place = Path(path)
    return place.is_dir() or place.suffix in BAG_SUFFIXES


def find_folder(path: Path) -> Path:
    """Return the folder of a bag, of which a path is the folder or a file."""
    return path if path.is_dir() else path.parent


def open_reader(stack: ExitStack, path: Path) -> Any:
    """Return the reader of a bag, by its folder or a file of it; it is closed with a stack.

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


@contextlib.contextmanager
def open_joint_states(path: Path, topic: str | None) -> Iterator[tuple[Any, list[Any]]]:
    """Open a bag, and give its reader and the connections of a topic, or its only, of JointState.

    Raises
    ------
    InputError
        When it is no bag, the topic is not told, or a message cannot be read meanwhile.
    MissingDependencyError
        When the library `rosbags` is missing.
    """
    with ExitStack() as stack:
        reader = open_reader(stack, path)
        connections = choose_joint_states(reader.connections, topic, find_folder(path))
        try:
            yield reader, connections
        except InputError:
            raise
        except Exception as error:
            raise InputError(f'{find_folder(path)}: a message cannot be read: {error}') from error


def read_bag_tables(
    path: Path, joints: tuple[str, ...], topic: str | None
) -> Iterator[tuple[FloatArray, dict[str, int]]]:
    """Yield tables of what messages say of joints, in the order of reception.

    Whether there are stamps and velocities is told by the first messages that have the n joints.

    Yields
    ------
    table : array, shape (N, 1 + 2 n) or (N, 1 + 3 n)
        Stamp or, where headers have none, time of reception [s]; positions [rad or m], efforts
        [N m or N], velocities [rad/s or m/s].
    dropped : dict of str to int
        Messages by reason.

    Raises
    ------
    InputError
        As from :func:`open_joint_states`; when no message can be used.
    """
    is_stamped, width = None, 2 * len(joints)
    dropped: Counter[str] = Counter()
    with open_joint_states(path, topic) as (reader, connections):
        for rows in generate_rows(reader, connections, joints):
            usable = rows.reasons == 0
            dropped.update(rows.count_dropped(~usable))
            if not usable.any():
                continue
            if is_stamped is None:
                is_stamped = bool(rows.stamps[usable].any())
                width += len(joints) * bool(np.isfinite(rows.values[:, width:]).any())
            stamps = rows.stamps if is_stamped else 1e-9 * rows.received
            table = np.column_stack([stamps, rows.values[:, :width]])
            yield table if usable.all() else table[usable], dict(dropped)
            dropped.clear()
        if is_stamped is None:
            raise InputError(
                f'{find_folder(path)}: {connections[0].topic}: expected messages with the joints '
                f'{", ".join(joints)}, got none that can be used{describe_dropped(dropped)}'
            )
    if dropped:
        yield np.zeros((0, 1 + width)), dict(dropped)


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
