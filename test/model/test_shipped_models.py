"""The robots in config/ are what their comments say."""

from pathlib import Path

import numpy as np
import pytest

from ne_dynamics.dynamics import Dynamics
from ne_dynamics.model.checks import check_robot
from ne_dynamics.model.files import load_model
from ne_dynamics.model.rigid_body import Inertia

CONFIG = Path(__file__).resolve().parents[2] / 'config'


@pytest.mark.parametrize('path', sorted(CONFIG.glob('*.urdf')) + sorted(CONFIG.glob('*_dh.yaml')))
def test_no_shipped_model_has_an_error(path):
    findings = check_robot(load_model(path))
    assert [finding for finding in findings if finding.severity == 'error'] == []


def test_six_axis_arm_is_what_the_demonstration_needs():
    """The arm has limits, a sensor with a tool beyond it, and carries 3 kg with margin."""
    robot = load_model(CONFIG / 'six_axis_arm.urdf', base_link='base_link', tip_link='tcp')
    assert robot.joint_names == tuple(f'joint_{i}' for i in range(1, 7))
    assert check_robot(robot) == ()
    assert [robot.link(name).parent for name in ('ft_sensor', 'tool', 'tcp')] == [
        'flange',
        'ft_sensor',
        'tool',
    ]
    assert robot.link('tool').inertia.mass == 1.2
    assert abs(robot.link('tool').inertia.center_of_mass[:2]).min() > 0.005
    for key in ('lower', 'upper', 'velocity_limit', 'effort_limit'):
        assert np.isfinite(robot.limits(key)).all()
    assert robot.cut_beyond('ft_sensor').bodies[-1].inertia.mass == pytest.approx(1.3)
    heavy = robot.with_payload(Inertia(3.0, np.zeros(3), np.zeros((3, 3))))
    poses = np.random.default_rng(6).uniform(-3, 3, (200, 6))
    worst = np.abs(Dynamics(heavy, backend='python').gravity_torque(poses)).max(axis=0)
    assert (worst < 0.7 * robot.limits('effort_limit')).all()
