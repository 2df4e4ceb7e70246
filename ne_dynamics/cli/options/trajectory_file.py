"""The trajectory that an option or argument names."""

from __future__ import annotations

import sys
from pathlib import Path

from ne_dynamics.cli.options.output_file import STANDARD
from ne_dynamics.errors import TrajectoryError
from ne_dynamics.motion import TrajectoryFile, parse_trajectory


def read_trajectory(path: str) -> TrajectoryFile:
    """Read a trajectory of a file, or of standard input for `-`; errors name point and field."""
    source = 'standard input' if path == STANDARD else path
    try:
        text = sys.stdin.buffer.read() if path == STANDARD else Path(path).read_bytes()
        return parse_trajectory(text)
    except TrajectoryError as error:
        raise TrajectoryError(f'{source}: {error}') from error
    except (OSError, ValueError) as error:
        reason = getattr(error, 'strerror', None) or str(error)
        raise TrajectoryError(f'{source}: cannot be read: {reason}') from error
