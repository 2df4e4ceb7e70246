"""What an ament install space is made of, as far as `ros2 launch` looks."""

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


def add_stand_ins(prefix, programs, stand_in, folder):
    """Put a script in the place of programs, a list for each package.

    It gets the program's name and a folder before the arguments.
    """
    for package, names in programs.items():
        add_package(prefix, package)
        for name in names:
            text = f'import os, sys\nos.execv({sys.executable!r}, [{sys.executable!r}, '
            text += f'{str(stand_in)!r}, {name!r}, {str(folder)!r}, *sys.argv[1:]])'
            add_executable(prefix, package, name, text)
