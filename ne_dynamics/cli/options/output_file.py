"""Whether what an option names can be written, before anything long begins."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from ne_dynamics.errors import TrajectoryError
from ne_dynamics.motion import STANDARD

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
