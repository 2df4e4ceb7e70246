"""Write a URDF and the extras beside it: both, or neither.

No file system replaces two files at once. So while the URDF is replaced, a file stands in the
place of the extras that every reader refuses: whatever ends the process in between, nobody reads
a URDF with the extras of another. What was there before is kept until both are in place.
"""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import yaml

from ne_dynamics.errors import ModelError
from ne_dynamics.model.description_file import looks_like_xml, read_text
from ne_dynamics.model.extras import SUFFIX
from ne_dynamics.model.extras_document import UNFINISHED
from ne_dynamics.prepared_file import prepared_file

BEFORE = '.before'
"""End of the name under which a file is kept while it is replaced."""

EMPTY = 'joints: {}\n'
"""Takes the place of extras that the new URDF does not need."""


def extras_path(urdf: Path) -> Path:
    """Return the name of the extras beside a URDF."""
    return urdf.with_name(urdf.stem + SUFFIX)


def require_own_extras(output: Path, model: Path, extras: Path | None) -> None:
    """Refuse to replace what is no URDF, or a URDF whose extras are read with the model too.

    Raises
    ------
    ModelError
        When the output is another file, or both have the same file of extras, which was found
        beside the model, but are not the same file.
    """
    is_named = output.suffix in ('.urdf', '.xml') or not output.is_file()
    if not (is_named or looks_like_xml(read_text(output)[0])):
        raise ModelError(
            f'{output}: -o: expected a new file or a URDF to replace, got another file'
        )
    if extras is None or is_same_file(output, model):
        return
    if is_same_file(extras_path(output), extras):
        raise ModelError(
            f'{output}: expected a name whose extras are not those of {model}, got '
            f'{extras.name} for both'
        )


def write_model(urdf: Path, urdf_data: bytes, extras_text: str) -> Path | None:
    """Write a URDF and the extras beside it, or leave both as they were.

    Parameters
    ----------
    urdf : Path
    urdf_data : bytes
    extras_text : str
        YAML; '' for none: extras that are there already are emptied, because they are not those
        of the new URDF.

    Returns
    -------
    Path or None
        The file of extras; None where there is none.

    Raises
    ------
    ModelError
        When a file cannot be written; both are then as they were.
    """
    extras = extras_path(urdf)
    had_extras = extras.exists() or extras.is_symlink()
    try:
        with contextlib.ExitStack() as temporary:
            new_urdf = temporary.enter_context(prepared_file(urdf, 'urdf', urdf_data))
            if not extras_text and not had_extras:
                new_urdf.replace(urdf)
                return None
            content = (extras_text or EMPTY).encode('utf-8')
            new_extras = temporary.enter_context(prepared_file(urdf, 'extras', content))
            _replace_both(urdf, new_urdf, extras, new_extras)
            return extras
    except OSError as error:
        raise ModelError(
            f'{urdf}: cannot write it and {extras.name} beside it: {error.strerror or error}; '
            'both are as they were'
        ) from error


def _replace_both(urdf: Path, new_urdf: Path, extras: Path, new_extras: Path) -> None:
    with (
        prepared_file(urdf, 'mark', _mark(urdf).encode('utf-8')) as mark,
        contextlib.ExitStack() as kept,
    ):
        urdf_before = kept.enter_context(_kept(urdf))
        extras_before = kept.enter_context(_kept(extras))
        try:
            mark.replace(extras)
            _sync(extras.parent)
            new_urdf.replace(urdf)
            _sync(extras.parent)
            new_extras.replace(extras)
        except BaseException:
            # The mark stands in the place of the extras until the URDF is back.
            _restore(urdf, urdf_before)
            _restore(extras, extras_before)
            raise


def _mark(urdf: Path) -> str:
    """Return what stands in the place of the extras meanwhile."""
    reason = (
        f'{urdf.name} may be the old one or the new one: write both again; what they were is in '
        f'the files that end in {BEFORE}'
    )
    return str(yaml.safe_dump({UNFINISHED: reason, 'joints': {}}, allow_unicode=True))


@contextlib.contextmanager
def _kept(path: Path) -> Iterator[Path | None]:
    """Copy a file beside itself for the time of the context; None when there is none."""
    if not (path.exists() or path.is_symlink()):
        yield None
        return
    before = path.with_name(path.name + BEFORE)
    if before.exists() or before.is_symlink():
        raise ModelError(
            f'{before}: expected no such file, which is what an interrupted writing leaves: '
            'look at it, and take it away'
        )
    try:
        shutil.copy2(path, before, follow_symlinks=False)
        yield before
    finally:
        before.unlink(missing_ok=True)


def _restore(path: Path, before: Path | None) -> None:
    if before is None:
        path.unlink(missing_ok=True)
    else:
        before.replace(path)


def _sync(folder: Path) -> None:
    """Have the names of a folder on the disk, in this order."""
    # Some file systems do not know of it: then the order is theirs.
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def is_same_file(left: Path, right: Path) -> bool:
    """Return whether two names are those of one file, which need not be there."""
    try:
        return left.samefile(right)
    except OSError:
        return left.absolute() == right.absolute()
