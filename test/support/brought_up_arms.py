"""Arms for which bring-up packages are written, built and launched."""

from __future__ import annotations

from pathlib import Path

from example_robots import example_robots_folder

ARMS = {
    'shipped': ('', ['--tip-link', 'tcp']),
    'UR5': ('ur_description/urdf/ur5_robot.urdf', ['--tip-link', 'tool0']),
    'Panda': (
        'panda_description/urdf/panda.urdf',
        ['--tip-link', 'panda_hand_tcp', '--lock', 'panda_finger_joint1=0.03'],
    ),
    'TIAGo': (
        'tiago_description/robots/tiago.urdf',
        ['--base-link', 'torso_lift_link', '--tip-link', 'arm_tool_link'],
    ),
}
"""File below example-robot-data, '' for the shipped arm, and options."""


def find_arm(name: str) -> tuple[Path, list[str]]:
    """Return the model of an arm, and its options."""
    file, options = ARMS[name]
    shipped = Path(__file__).resolve().parents[2] / 'config/six_axis_arm.urdf'
    return (example_robots_folder() / file if file else shipped), options
