"""Joints whose gears give, and have play."""

import numpy as np
import pytest
from small_arm import URDF

import ne_dynamics as ned

pytest.importorskip('mujoco', reason='MuJoCo is not installed')

from ne_dynamics.simulation import ElasticArm


@pytest.mark.parametrize('gap', [0.0, 0.01])
def test_a_motor_turns_by_the_play_and_the_spring_while_friction_holds_its_link(gap):
    """From one side to the other, pushed by less than the friction."""
    robot = ned.load_urdf(URDF)
    for key, value in {'rotor_inertia': 0.3, 'gear_ratio': 1.0, 'coulomb_friction': 8.0}.items():
        robot = robot.with_joint_values(key, np.full(3, value))
    start = np.array([0.2, -np.pi / 2, 0.0])
    arm = ElasticArm(robot, np.full(3, 12.0), start, damping_ratio=0.5, gap=gap)
    ends = []
    for push in (2.0, -2.0):
        for _ in range(500):
            arm.step([push, 0.0, 0.0])
        ends.append(arm.position[0])
        assert super(ElasticArm, arm).position[0] == pytest.approx(start[0], abs=1e-3)
    turned = gap + 4.0 / arm.stiffness[0]
    assert ends[0] - ends[1] == pytest.approx(turned, rel=0.03)
