"""The node takes the files of drivers as it takes any parameter file."""

from __future__ import annotations

import pytest

pytest.importorskip('rclpy', reason='needs ROS 2 for Python')

from rclpy.context import Context

from ne_dynamics.ros.node import ComputedTorqueNode
from ne_dynamics.ros.running.private_domain import private_domain
from ne_dynamics.ros.settings.drivers import DRIVERS, driver_file
from ne_dynamics.shipped import shipped_file

SIMULATED = {'gazebo', 'mujoco'}


def parameters(tmp_path, driver, own=''):
    files = [str(shipped_file(driver_file(driver)))]
    if own:
        (tmp_path / 'own.yaml').write_text(own, encoding='utf-8')
        files.append(str(tmp_path / 'own.yaml'))
    arguments = [word for file in files for word in ('--params-file', file)]
    context = Context()
    context.init(args=['--ros-args', *arguments], domain_id=private_domain())
    node = ComputedTorqueNode(context=context, namespace='/arm')
    try:
        names = ['state_effort', 'state_timeout', 'terms.gravity', 'terms.friction']
        return {name: node.get_parameter(name).value for name in (*names, 'use_sim_time')}
    finally:
        node.destroy_node()
        context.try_shutdown()


@pytest.mark.parametrize('driver', DRIVERS)
def test_the_node_takes_the_file(tmp_path, driver) -> None:
    """What the file says is what the node has, in a namespace, too."""
    found = parameters(tmp_path, driver)
    assert found['terms.gravity'] == (driver not in ('franka', 'ur_direct_torque'))
    assert found['use_sim_time'] == (driver in SIMULATED)
    assert found['state_effort'] in ('torque', 'ignore')


def test_a_file_of_the_user_comes_after_it(tmp_path) -> None:
    """The last file wins where both have a parameter; the rest of the driver's stays."""
    own = '/**/computed_torque:\n  ros__parameters:\n    state_effort: torque\n'
    found = parameters(tmp_path, 'ur_direct_torque', own)
    assert found['state_effort'] == 'torque'
    assert not found['terms.gravity']
    assert not found['terms.friction']
