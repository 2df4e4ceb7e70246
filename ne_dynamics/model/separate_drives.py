"""Who computes with one drive a joint refuses robots that have others."""

from __future__ import annotations

from collections.abc import Iterable

from ne_dynamics.errors import ModelError
from ne_dynamics.model.coupled_drive import CoupledDrive


def refuse_coupled_drives(drives: Iterable[CoupledDrive], what: str) -> None:
    """Raise a ModelError, which begins with `what`, where there are drives of several joints."""
    for drive in drives:
        raise ModelError(
            f'{what}: expected drives of one joint each, got coupled drive {drive.name!r}, which '
            f'turns with {drive.formula}'
        )
