"""The robots of example-robot-data that the comparisons use, as chains and as whole trees."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from ne_dynamics import load_urdf
from ne_dynamics.shipped import shipped_file


@dataclass(frozen=True)
class ExampleRobot:
    """One robot as loaded from its file.

    Attributes
    ----------
    name : str
    file : str
        Path below the ``robots`` folder of example-robot-data.
    n : int
        Coordinates it must have.
    base_link, tip_link : str or None
        Chain; the whole tree without them.
    locked : tuple of (str, float)
        Joints locked and where [rad or m].
    wrench_link : str or None
        Where the wrench acts on a whole tree.
    """

    name: str
    file: str
    n: int
    base_link: str | None = None
    tip_link: str | None = None
    locked: tuple[tuple[str, float], ...] = ()
    wrench_link: str | None = None

    @property
    def path(self):
        """File of the robot; skips the test when it is not installed."""
        return example_robots_folder() / self.file

    def load(self):
        """Return the robot; skips the test when it is not installed."""
        return load_urdf(self.path, self.base_link, self.tip_link, dict(self.locked) or None)

    @property
    def as_loaded(self):
        """Keywords of the loader and of the oracle."""
        return {
            'base_link': self.base_link,
            'tip_link': self.tip_link,
            'locked': self.locked,
            'wrench_link': self.wrench_link,
        }


def _chain(name, file, n, tip_link, base_link=None, **locked):
    return ExampleRobot(name, file, n, base_link, tip_link, tuple(locked.items()))


def _tree(name, file, n, wrench_link):
    return ExampleRobot(name, file, n, wrench_link=wrench_link)


UR = 'ur_description/urdf'
PANDA = 'panda_description/urdf/panda.urdf'
TIAGO = 'tiago_description/robots'
BAXTER = 'baxter_description/urdf/baxter.urdf'

EXAMPLE_ROBOTS = (
    _chain('UR3', f'{UR}/ur3_robot.urdf', 6, 'tool0'),
    _chain('UR5', f'{UR}/ur5_robot.urdf', 6, 'tool0', 'base_link'),
    _chain('UR10', f'{UR}/ur10_robot.urdf', 6, 'ee_link', 'base_link'),
    _chain(
        'UR5 from its shoulder on',
        f'{UR}/ur5_robot.urdf',
        5,
        'wrist_3_link',
        'shoulder_link',
        shoulder_pan_joint=0.7,
    ),
    _chain('Panda, fingers locked', PANDA, 7, 'panda_hand_tcp', panda_finger_joint1=0.03),
    _tree('Panda with fingers (mimic)', PANDA, 8, 'panda_rightfinger'),
    _chain(
        'Kinova j2s6s200 (continuous)',
        'kinova_description/robots/kinova.urdf',
        6,
        'j2s6s200_end_effector',
    ),
    _chain('xArm7', 'xarm_description/urdf/xarm7.urdf', 7, 'link_eef'),
    _tree('Z1', 'z1_description/urdf/z1.urdf', 7, 'gripperMover'),
    _tree('SO-101', 'so_arm_description/urdf/so101.urdf', 6, 'gripper_frame_link'),
    _chain(
        'TIAGo (prismatic torso), head and wheels locked',
        f'{TIAGO}/tiago.urdf',
        8,
        'hand_grasping_frame',
        **{'head_1_joint': 0.4, 'head_2_joint': -0.3, 'hand_thumb_abd_joint': 0.5},
    ),
    _tree(
        'TIAGo without hand (tree, wheels continuous)',
        f'{TIAGO}/tiago_no_hand.urdf',
        12,
        'arm_7_link',
    ),
    _tree('Baxter (tree, mimic)', BAXTER, 17, 'left_gripper'),
    _chain(
        'Baxter, left arm from its mount',
        BAXTER,
        7,
        'left_gripper',
        'left_arm_mount',
        **{'right_s1': 0.8, 'l_gripper_l_finger_joint': 0.01},
    ),
    _tree(
        'Allegro hand (tree)',
        'allegro_hand_description/urdf/allegro_right_hand.urdf',
        16,
        'link_15.0_tip',
    ),
    _tree(
        'TALOS left arm',
        'talos_data/robots/talos_left_arm.urdf',
        7,
        'gripper_left_fingertip_1_link',
    ),
    _tree(
        'TIAGo Pro (tree, mimic)',
        'tiago_pro_description/robots/tiago_pro.urdf',
        23,
        'gripper_left_fingertip_left_link',
    ),
)


EXAMPLES = {robot.name: robot for robot in EXAMPLE_ROBOTS}


def load_arm(name):
    """Return the shipped arm, or the example robot of that name, as a chain."""
    if name == 'six_axis_arm':
        return load_urdf(shipped_file('six_axis_arm.urdf'), tip_link='tcp')
    return EXAMPLES[name].load()


def example_robots_folder():
    """Return the folder of example-robot-data; skip the test when it is not installed."""
    for prefix in (*sys.path, sys.prefix, '/opt/ros', '/opt/openrobots'):
        for share in ('cmeel.prefix/share', 'share'):
            folder = Path(prefix) / share / 'example-robot-data' / 'robots'
            if folder.is_dir():
                return folder
    return pytest.skip('needs example-robot-data (pip install example-robot-data)')
