"""Whose joints a log has, and which of a model's they are."""

from __future__ import annotations

import difflib
import math
import shlex
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

import numpy as np

from ne_dynamics.errors import InputError
from ne_dynamics.logs.arrays import release_pages
from ne_dynamics.logs.log import Log
from ne_dynamics.logs.parts import cut, join, look
from ne_dynamics.logs.thresholds import LOGS
from ne_dynamics.model.robot import Robot


def match_names(
    robot: Robot, recorded: Sequence[str], renames: Collection[tuple[str, str]], source: str
) -> dict[str, str]:
    """Return under what name the log has each of the model's joints that it has.

    Parameters
    ----------
    robot : Robot
    recorded : sequence of str
        Joints of the log.
    renames : collection of (str, str)
        Name in the log, and in the model. One ``*`` in both stands for the same text.
    source : str
        For messages.

    Raises
    ------
    InputError
        When a name to be changed is not in the log, or two get the same name.
    """
    names = {name: name for name in recorded}
    for old, new in renames:
        chosen = [name for name in recorded if rename(old, new, name) is not None]
        if not chosen:
            raise InputError(
                f'{source}: rename {old}={new}: expected a joint of the log, which has '
                f'{", ".join(recorded) or "none"}'
            )
        for name in chosen:
            names[name] = rename(old, new, name) or name
    found: dict[str, str] = {}
    for name, meant in names.items():
        if meant in found:
            raise InputError(
                f'{source}: rename: expected each joint once, got {meant!r} for {found[meant]!r} '
                f'and {name!r}'
            )
        found[meant] = name
    unknown = [new for old, new in renames if '*' not in new and new not in robot.joint_names]
    if unknown:
        raise InputError(
            f'{source}: rename: expected a joint of the model, which has '
            f'{", ".join(robot.joint_names)}, got {", ".join(unknown)}'
        )
    return {meant: name for meant, name in found.items() if meant in robot.joint_names}


def find_unrecorded(
    robot: Robot, recorded: Sequence[str], matched: Mapping[str, str]
) -> dict[str, float]:
    """Return joints that the log lacks and that may be locked: nothing recorded moves beyond them.

    Each has the position nearest to zero that it can have [rad or m]. None when one of them may
    be meant by another name of the log, or when the log has few of the model's joints: then it is
    the names that do not fit. The matched ones are those that :func:`match_names` returned.
    """
    missing = [name for name in robot.joint_names if name not in matched]
    others = [name for name in recorded if name not in matched.values()]
    if len(matched) < min(LOGS.matched_joints, 0.5 * robot.n) or any(
        difflib.get_close_matches(name, others, 1, LOGS.name_similarity) for name in missing
    ):
        return {}
    return {
        joint.name: min(max(0.0, joint.lower), joint.upper)
        for joint in robot.joints
        if joint.name in missing and not _moves_beyond(robot, joint.name, set(matched))
    }


def find_still(robot: Robot, *logs: Log) -> dict[str, float]:
    """Return joints that never move, nor anything beyond them, and where they are [rad or m].

    None when no joint moves, or when a joint is more than a turn beyond its limits: positions in
    another unit tell of no joint where it is.
    """
    lows, highs = [], []
    for part in (part.log for log in logs for part in cut(log)):
        lows.append(part.position.min(axis=0))
        highs.append(part.position.max(axis=0))
        release_pages()
    lowest, highest = np.min(lows, axis=0), np.max(highs, axis=0)
    middle = np.median([np.median(join(look(log)).position, axis=0) for log in logs], axis=0)
    lower, upper = robot.limits('lower') - 2.0 * math.pi, robot.limits('upper') + 2.0 * math.pi
    moving = {
        name
        for name, size in zip(robot.joint_names, highest - lowest, strict=True)
        if size > LOGS.still_range
    }
    if not moving or (lowest < lower).any() or (highest > upper).any():
        return {}
    return {
        name: float(place)
        for name, place in zip(robot.joint_names, middle, strict=True)
        if name not in moving and not _moves_beyond(robot, name, moving)
    }


def name_misfit(robot: Robot, recorded: Sequence[str], matched: Mapping[str, str]) -> str:
    """Return a sentence on the names of model and log, and how to make them fit."""
    missing = [name for name in robot.joint_names if name not in matched]
    others = [name for name in recorded if name not in matched.values()]
    text = (
        f'the log has the joints {", ".join(recorded) or "(none)"}; of the model it lacks '
        f'{", ".join(missing) or "none"}'
    )
    proposals = _propose(missing, others)
    return text + (
        f': {" ".join(f"--rename {shlex.quote(item)}" for item in proposals)}' if proposals else ''
    )


def with_joints(log: Log, names: Sequence[str]) -> Log:
    """Return a log with some of its joints, in the order of the names."""
    if log.joint_names == tuple(names):
        return log
    chosen = [log.joint_names.index(name) for name in names]
    return replace(
        log,
        joint_names=tuple(names),
        position=log.position[:, chosen],
        effort=log.effort[:, chosen],
        velocity=None if log.velocity is None else log.velocity[:, chosen],
    )


def rename(old: str, new: str, name: str) -> str | None:
    """Return what `old` = `new`, with one * in both or none, makes of a name; None: nothing."""
    if '*' not in old:
        return new if name == old else None
    head, _, tail = old.partition('*')
    if len(name) < len(head) + len(tail) or not (name.startswith(head) and name.endswith(tail)):
        return None
    return new.replace('*', name[len(head) : len(name) - len(tail)])


def _moves_beyond(robot: Robot, name: str, moving: set[str]) -> bool:
    """Tell whether a joint of `moving` is beyond another joint."""
    index = robot.joint_names.index(name)
    carried: set[int] = set()
    for place, body in enumerate(robot.bodies):
        if body.coordinate == index or body.parent in carried:
            carried.add(place)
            if body.coordinate != index and robot.joint_names[body.coordinate] in moving:
                return True
    return False


def _common_ending(one: str, other: str) -> str:
    length = 0
    while length < min(len(one), len(other)) and one[-1 - length] == other[-1 - length]:
        length += 1
    return one[len(one) - length :]


def _propose(missing: Sequence[str], others: Sequence[str]) -> list[str]:
    """Return renames that look right: one ending for all, or name by name."""
    if not missing or not others:
        return []
    for other in others:
        for wanted in missing:
            ending = _common_ending(other, wanted)
            if not ending:
                continue
            old, new = other.removesuffix(ending), wanted.removesuffix(ending)
            fitting = [
                name
                for name in others
                if name.startswith(old) and new + name[len(old) :] in missing
            ]
            if len(fitting) > 1:
                return [f'{old}*={new}*']
    pairs = []
    for wanted in missing:
        near = difflib.get_close_matches(wanted, others, 1, LOGS.name_similarity)
        if near:
            pairs.append(f'{near[0]}={wanted}')
    return pairs
