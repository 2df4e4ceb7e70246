"""An install space for the launch files, whatever the package is installed as."""

import os

import pytest
from install_space import ROOT, add_executable, add_package

EXECUTABLES = {
    'computed_torque': 'ne_dynamics.executables:computed_torque',
    'annotator': 'ne_dynamics.executables:annotator',
    'simulated_robot': 'ne_dynamics.executables:simulated_robot',
    'ne_dynamics': 'ne_dynamics.cli.main:main',
}
"""As setup.py has them."""


@pytest.fixture
def prefix(tmp_path):
    """Return an install space that points at the checkout."""
    prefix = tmp_path / 'install'
    share = add_package(prefix, 'ne_dynamics')
    for folder in ('launch', 'config'):
        (share / folder).symlink_to(ROOT / folder)
    for name, entry in EXECUTABLES.items():
        module, _, function = entry.partition(':')
        text = f'import sys\nfrom {module} import {function}\nsys.exit({function}())'
        add_executable(prefix, 'ne_dynamics', name, text)
    return prefix


@pytest.fixture
def environment(prefix, tmp_path, monkeypatch):
    """Use the install space, and return the environment that does."""
    prefixes = [str(prefix), os.environ.get('AMENT_PREFIX_PATH', '')]
    monkeypatch.setenv('AMENT_PREFIX_PATH', os.pathsep.join(filter(None, prefixes)))
    paths = [str(ROOT), os.environ.get('PYTHONPATH', '')]
    monkeypatch.setenv('PYTHONPATH', os.pathsep.join(filter(None, paths)))
    monkeypatch.setenv('ROS_AUTOMATIC_DISCOVERY_RANGE', 'LOCALHOST')
    monkeypatch.setenv('ROS_LOG_DIR', str(tmp_path / 'log'))
    return dict(os.environ)
