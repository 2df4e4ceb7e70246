"""A figure of matplotlib as a file that is there whole or not at all."""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING

from ne_dynamics.prepared_file import write_whole_bytes

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def write_picture(figure: Figure, path: Path, dpi: float | None = None) -> None:
    """Write a figure in the format that the name of the file ends with.

    Parameters
    ----------
    figure : Figure
    path : Path
        In a folder that is there.
    dpi : float, optional
        Dots per inch; default: those of the figure.

    Raises
    ------
    OSError
        When it cannot be written; it names the file.
    """
    picture = io.BytesIO()
    figure.savefig(
        picture, format=path.suffix.lstrip('.').lower(), dpi='figure' if dpi is None else dpi
    )
    write_whole_bytes(path, picture.getvalue())
