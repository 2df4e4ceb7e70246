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


EXAMPLE_ROBOTS = (
    ExampleRobot('UR3', 'ur_description/urdf/ur3_robot.urdf', 6, tip_link='tool0'),
    ExampleRobot(
        'UR5', 'ur_description/urdf/ur5_robot.urdf', 6, base_link='base_link', tip_link='tool0'
    ),
    ExampleRobot(
        'UR10', 'ur_description/urdf/ur10_robot.urdf', 6, base_link='base_link', tip_link='ee_link'
    ),
    ExampleRobot(
        'UR5 from its shoulder on',
        'ur_description/urdf/ur5_robot.urdf',
        5,
        base_link='shoulder_link',
        tip_link='wrist_3_link',
        locked=(('shoulder_pan_joint', 0.7),),
    ),
    ExampleRobot(
        'Panda, fingers locked',
        'panda_description/urdf/panda.urdf',
        7,
        tip_link='panda_hand_tcp',
        locked=(('panda_finger_joint1', 0.03),),
    ),
    ExampleRobot(
        'Panda with fingers (mimic)',
        'panda_description/urdf/panda.urdf',
        8,
        wrench_link='panda_rightfinger',
    ),
    ExampleRobot(
        'Kinova j2s6s200 (continuous)',
        'kinova_description/robots/kinova.urdf',
        6,
        tip_link='j2s6s200_end_effector',
    ),
    ExampleRobot('xArm7', 'xarm_description/urdf/xarm7.urdf', 7, tip_link='link_eef'),
    ExampleRobot('Z1', 'z1_description/urdf/z1.urdf', 7, wrench_link='gripperMover'),
    ExampleRobot(
        'SO-101', 'so_arm_description/urdf/so101.urdf', 6, wrench_link='gripper_frame_link'
    ),
    ExampleRobot(
        'TIAGo (prismatic torso), head and wheels locked',
        'tiago_description/robots/tiago.urdf',
        8,
        tip_link='hand_grasping_frame',
        locked=(('head_1_joint', 0.4), ('head_2_joint', -0.3), ('hand_thumb_abd_joint', 0.5)),
    ),
    ExampleRobot(
        'TIAGo without hand (tree, wheels continuous)',
        'tiago_description/robots/tiago_no_hand.urdf',
        12,
        wrench_link='arm_7_link',
    ),
    ExampleRobot(
        'Baxter (tree, mimic)',
        'baxter_description/urdf/baxter.urdf',
        17,
        wrench_link='left_gripper',
    ),
    ExampleRobot(
        'Baxter, left arm from its mount',
        'baxter_description/urdf/baxter.urdf',
        7,
        base_link='left_arm_mount',
        tip_link='left_gripper',
        locked=(('right_s1', 0.8), ('l_gripper_l_finger_joint', 0.01)),
    ),
    ExampleRobot(
        'Allegro hand (tree)',
        'allegro_hand_description/urdf/allegro_right_hand.urdf',
        16,
        wrench_link='link_15.0_tip',
    ),
    ExampleRobot(
        'TALOS left arm',
        'talos_data/robots/talos_left_arm.urdf',
        7,
        wrench_link='gripper_left_fingertip_1_link',
    ),
    ExampleRobot(
        'TIAGo Pro (tree, mimic)',
        'tiago_pro_description/robots/tiago_pro.urdf',
        23,
        wrench_link='gripper_left_fingertip_left_link',
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
