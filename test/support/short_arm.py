"""The first three joints of the shipped arm as a file: what a test of the command line needs."""

from __future__ import annotations

import tempfile
from functools import cache
from pathlib import Path

from ne_dynamics.shipped import shipped_file

JOINTS = 3

_FOLDER = tempfile.TemporaryDirectory(prefix='ne_dynamics_short_arm_')  # gone with the process


@cache
def short_arm() -> Path:
    """Return the URDF of `joint_1` to `joint_3`, that ends with `forearm`; comments are kept."""
    text = shipped_file('six_axis_arm.urdf').read_text(encoding='utf-8')
    path = Path(_FOLDER.name) / 'short_arm.urdf'
    end = text.index(f'  <joint name="joint_{JOINTS + 1}"')
    path.write_text(text[:end] + '</robot>\n', encoding='utf-8')
    return path
