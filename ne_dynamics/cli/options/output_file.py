"""Files that options name: whether they can be written, before anything long begins; text."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from ne_dynamics.errors import TrajectoryError
from ne_dynamics.prepared_file import write_whole

STANDARD = '-'
"""In place of a file name: standard input or output."""

PICTURES = ('.pdf', '.png', '.svg')


def check_output(path: str) -> None:
    """Refuse a file that cannot be written, before anything long begins.

    Raises
    ------
    TrajectoryError
    """
    if path == STANDARD:
        return
    try:
        target = Path(path)
        if target.is_dir():
            reason = 'it is a folder'
        elif target.exists():
            reason = '' if os.access(target, os.W_OK) else 'no permission'
        elif not target.parent.is_dir():
            reason = f'there is no folder {str(target.parent)!r}'
        else:
            reason = '' if os.access(target.parent, os.W_OK | os.X_OK) else 'no permission'
    except (OSError, ValueError) as error:
        reason = getattr(error, 'strerror', None) or str(error)
    if reason:
        raise TrajectoryError(f'{path}: cannot be written: {reason}')


def check_apart(
    outputs: Sequence[tuple[str, str | None]], inputs: Mapping[str, str | None]
) -> None:
    """Refuse an output that would replace what is read, or another output.

    Parameters
    ----------
    outputs : sequence of (str, str or None)
        Option and file; None and `-` are no file.
    inputs : mapping of str to (str or None)
        What is read, by what it is called; of a folder all files count.

    Raises
    ------
    TrajectoryError
        Naming both.
    """
    read = {
        name: Path(path).resolve() for name, path in inputs.items() if path and path != STANDARD
    }
    seen: dict[Path, str] = {}
    for option, path in outputs:
        if not path or path == STANDARD:
            continue
        target = Path(path).resolve()
        for name, source in read.items():
            if target == source or (source in target.parents and target.exists()):
                raise TrajectoryError(
                    f'{option}: expected another file than {name}, which is read, got {path}'
                )
        # A pipe or a device takes more than one.
        if target in seen and not (target.exists() and not target.is_file()):
            raise TrajectoryError(
                f'{option}: expected another file than that of {seen[target]}, got {path}'
            )
        seen[target] = option


def check_picture(path: Path) -> None:
    """Refuse the file of a picture that cannot be written, or is of no known kind.

    Raises
    ------
    TrajectoryError
    """
    if path.suffix.lower() not in PICTURES:
        raise TrajectoryError(
            f'{path}: cannot be written: expected a name that ends with {", ".join(PICTURES)}'
        )
    check_output(str(path))


def check_folder(path: Path) -> None:
    """Refuse a folder that cannot be made or written into.

    Raises
    ------
    TrajectoryError
    """
    try:
        place = path.absolute()
        while not place.exists() and place != place.parent:
            place = place.parent
        reason = '' if os.access(place, os.W_OK | os.X_OK) else 'no permission'
        if not place.is_dir():
            reason = f'{str(place)!r} is no folder'
    except (OSError, ValueError) as error:
        reason = getattr(error, 'strerror', None) or str(error)
    if reason:
        raise TrajectoryError(f'{path}: cannot be written: {reason}')


def write_text(path: str, text: str) -> None:
    """Write a file at once, or not at all.

    Parameters
    ----------
    path : str
        File name, or '-' for standard output.
    text : str

    Raises
    ------
    TrajectoryError
        When it cannot be written; what was there before is then still there.
    """
    if path == STANDARD:
        buffer = getattr(sys.stdout, 'buffer', None)
        if buffer is None:
            sys.stdout.write(text)  # a text in memory
            return
        # In UTF-8, whatever the terminal speaks: so it is read, and so are files.
        sys.stdout.flush()
        buffer.write(text.encode('utf-8'))
        return
    try:
        write_whole(Path(path), text)
    except (OSError, ValueError) as error:
        reason = getattr(error, 'strerror', None) or str(error)
        raise TrajectoryError(f'{path}: cannot be written: {reason}') from error
