"""The ROS executables where something that they need is missing."""

from pathlib import Path

import pytest
from fresh_python import run_script

from ne_dynamics import executables

ROOT = Path(__file__).resolve().parents[1]
WITHOUT = """
import sys
sys.modules[sys.argv[1]] = None
from ne_dynamics import executables
sys.exit(getattr(executables, sys.argv[2])())
"""


@pytest.mark.parametrize(
    ('missing', 'name', 'expected'),
    [
        ('mujoco', 'simulated_robot', 'needs MuJoCo: pip install "ne_dynamics[sim]"'),
        ('rclpy', 'simulated_robot', 'pip install "ne_dynamics[ros]"'),
        ('rclpy', 'computed_torque', 'pip install "ne_dynamics[ros]"'),
    ],
)
def test_a_missing_package_is_one_line(missing, name, expected):
    if missing == 'mujoco':
        pytest.importorskip('rclpy', reason='rclpy is missing')
    result = run_script(WITHOUT, missing, name, folder=ROOT)
    assert result.returncode == 1
    (line,) = result.stderr.splitlines()
    assert line.startswith(f'{name}: ')
    assert expected in line


def test_an_interrupt_before_anything_runs_is_no_traceback(monkeypatch):
    def interrupted(name):
        raise KeyboardInterrupt

    monkeypatch.setattr(executables.importlib, 'import_module', interrupted)
    assert executables.computed_torque() == 130
