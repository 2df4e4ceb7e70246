"""What an ament install space is made of, as far as `ros2 launch` looks."""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def add_package(prefix, name):
    """Make an empty ROS package in a prefix; return its folder of shared files."""
    marker = prefix / 'share/ament_index/resource_index/packages' / name
    marker.parent.mkdir(parents=True, exist_ok=True)
    marker.touch()
    share = prefix / 'share' / name
    share.mkdir()
    return share


def add_executable(prefix, package, name, text):
    """Put a Python program where `ros2 launch` looks for executables of a package."""
    folder = prefix / 'lib' / package
    folder.mkdir(parents=True, exist_ok=True)
    script = folder / name
    script.write_text(f'#!{sys.executable}\n{text}\n')
    script.chmod(0o755)
