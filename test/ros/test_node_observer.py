"""The observer at the node: what it reports, and what a contact leads to."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip('rclpy', reason='needs ROS 2 for Python: pip install "ne_dynamics[ros]"')

from sensor_msgs.msg import JointState
from std_msgs.msg import Bool

from ne_dynamics.control.guards.limits import GUARD_LIMITS
from ne_dynamics.ros.latched import LATCHED

Q = np.array([0.3, -1.0, 1.2, 0.4, -0.5, 0.2])
PERIOD = 0.02
ORDER = ['joint_3', 'joint_1', 'joint_2', 'joint_6', 'joint_5', 'joint_4']


def stand(bench, states: int) -> np.ndarray:
    """Report an arm that stands at Q for some states; return the last command."""
    for _ in range(states):
        command = bench.answer(bench.joint_state(Q, dt=PERIOD))
    return command


@pytest.fixture
def pushed(bench):
    """Return what starts the node, whose arm stands, and sends it away: something holds it."""
    bench.torques, bench.contacts = [], []
    listen = bench.probe.create_subscription
    listen(JointState, 'computed_torque/external_torque', bench.torques.append, 100)
    listen(Bool, 'computed_torque/contact', lambda said: bench.contacts.append(said.data), LATCHED)

    def push(**parameters):
        bench.start(observer__mode='estimate', **parameters)
        publisher = bench.node.configured.connections.external_torque_publisher
        bench.spin(lambda: publisher.get_subscription_count() > 0)
        stand(bench, round(GUARD_LIMITS.contact_learning / PERIOD) + 2)
        bench.send_trajectory(bench.trajectory((2.0, Q + np.array([0, 0, 0.6, 0, 0, 0]))))
        stand(bench, 40)
        bench.spin(lambda: bench.contacts[:2] == [False, True], 'the contact')
        return bench

    return push


def test_efforts_from_outside_are_reported_by_name(pushed) -> None:
    bench = pushed(joints=ORDER)

    def newest() -> float:
        stamp = bench.torques[-1].header.stamp
        return stamp.sec + 1e-9 * stamp.nanosec

    bench.spin(lambda: newest() > bench.time - 1e-6, 'the torque')
    message = bench.torques[-1]
    assert message.name == ORDER
    assert len(message.effort) == 6
    assert not message.position
    # The arm stands: what the command has beyond gravity's effort comes back from outside.
    order = [bench.joint_names.index(name) for name in ORDER]
    beyond = bench.commands[-2] - bench.dynamics.gravity_torque(Q)[order]
    np.testing.assert_allclose(message.effort, -beyond, rtol=0.1, atol=0.05)
    assert abs(message.effort[0]) > 5.0


@pytest.mark.kept(1)
@pytest.mark.parametrize('reaction', ['hold', 'none', 'float'])
def test_a_push_ends_the_motion(pushed, reaction) -> None:
    """A contact is told of, once; with a reaction the motion is over, and the log says so."""
    bench = pushed(contact__reaction=reaction)
    controller = bench.node.configured.controller
    assert controller.machine.is_floating == (reaction == 'float')
    moves = controller.motion.present_state().velocity.any()
    assert moves == (reaction == 'none')
    if reaction == 'none':
        return
    bench.hear('a contact has ended the motion')
    command = stand(bench, 30)
    # Nothing is wanted any more that the arm does not do.
    np.testing.assert_allclose(command, bench.dynamics.gravity_torque(Q), atol=1e-6)
    bench.spin(lambda: bench.contacts[-1] is False, 'the end of the contact')
    if reaction == 'float':
        assert bench.trigger('hold').success
        stand(bench, 1)
        assert not controller.machine.is_floating
