"""A URDF from a file that the macro language xacro has to be run on first."""

from __future__ import annotations

import importlib
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ne_dynamics.errors import MissingDependencyError, ModelError

SUFFIX = '.xacro'


def is_xacro(path: str | os.PathLike[str]) -> bool:
    """Tell by its name whether a file has to be run through xacro."""
    return os.fspath(path).endswith(SUFFIX)


def process_xacro(path: str | os.PathLike[str], arguments: Mapping[str, str]) -> str:
    """Return the URDF that a xacro file stands for.

    Parameters
    ----------
    path : path
    arguments : mapping of str to str
        Values of its ``<xacro:arg>``.

    Raises
    ------
    MissingDependencyError
        When the package `xacro` is missing.
    ModelError
        When the file cannot be read, or xacro refuses it.
    """
    xacro = _import_xacro(path)
    if not Path(path).is_file():
        raise ModelError(f'cannot read the model file {os.fspath(path)!r}: no such file')
    try:
        document = xacro.process_file(os.fspath(path), mappings=dict(arguments))
        text: str = document.toprettyxml(indent='  ')
    except Exception as error:  # an expression in the file may raise anything
        reason = ' '.join(str(error).split()) or type(error).__name__
        raise ModelError(
            f'{os.fspath(path)}: expected a file that xacro can process: {reason}'
        ) from error
    return text


def _import_xacro(path: str | os.PathLike[str]) -> Any:
    try:
        return importlib.import_module('xacro')
    except ImportError as error:
        raise MissingDependencyError(
            f'{os.fspath(path)}: a xacro file needs the package xacro: pip install '
            f'"ne_dynamics[xacro]", or give the URDF that `xacro` prints ({error})'
        ) from error
