"""The observer at the node: what it reports, and what a contact leads to."""

from __future__ import annotations

import numpy as np
import pytest
from rclpy.qos import DurabilityPolicy, QoSProfile
from sensor_msgs.msg import JointState
from std_msgs.msg import Bool

from ne_dynamics.control.guards.limits import GUARD_LIMITS
from ne_dynamics.control.guards.state_guard import FaultKind

Q = np.array([0.3, -1.0, 1.2, 0.4, -0.5, 0.2])
PERIOD = 0.02
ORDER = ['joint_3', 'joint_1', 'joint_2', 'joint_6', 'joint_5', 'joint_4']


@pytest.fixture
def observed(bench):
    """Return the bench, which listens to what the observer says."""
    bench.torques, bench.contacts = [], []
    listen = bench.probe.create_subscription
    listen(JointState, 'computed_torque/external_torque', bench.torques.append, 100)
    latched = QoSProfile(depth=10, durability=DurabilityPolicy.TRANSIENT_LOCAL)
    listen(Bool, 'computed_torque/contact', lambda said: bench.contacts.append(said.data), latched)
    return bench


@pytest.mark.parametrize(('source', 'late'), [('measured', 0.0), ('differentiated', 0.5)])
def test_differentiated_velocities_are_late_by_half_a_period(bench, source, late) -> None:
    bench.start(observer__mode='estimate', velocity_source=source)
    tuning = bench.node.configured.controller.tuning
    assert tuning.disturbance.lag_periods == late


def begin(bench, **parameters) -> None:
    bench.start(observer__mode='estimate', **parameters)
    publisher = bench.node.configured.connections.external_torque_publisher
    bench.spin(lambda: publisher.get_subscription_count() > 0)
    stand(bench, round(GUARD_LIMITS.contact_learning / PERIOD) + 2)


def stand(bench, states: int) -> np.ndarray:
    """Report an arm that stands at Q for some states; return the last command."""
    for _ in range(states):
        command = bench.answer(bench.joint_state(Q, dt=PERIOD))
    return command


def stamp_of(message: JointState) -> float:
    return message.header.stamp.sec + 1e-9 * message.header.stamp.nanosec


def push(bench) -> None:
    """Send the arm away while it stands: something holds it."""
    bench.send_trajectory(bench.trajectory((2.0, Q + np.array([0, 0, 0.6, 0, 0, 0]))))
    stand(bench, 40)


def test_efforts_from_outside_are_reported_by_name(observed) -> None:
    begin(observed, joints=ORDER)
    push(observed)
    observed.spin(lambda: stamp_of(observed.torques[-1]) > observed.time - 1e-6, 'the torque')
    message = observed.torques[-1]
    assert message.name == ORDER
    assert len(message.effort) == 6
    assert not message.position
    # The arm stands: what the command has beyond gravity's effort comes back from outside.
    order = [observed.joint_names.index(name) for name in ORDER]
    beyond = observed.commands[-2] - observed.dynamics.gravity_torque(Q)[order]
    np.testing.assert_allclose(message.effort, -beyond, rtol=0.1, atol=0.05)
    assert abs(message.effort[0]) > 5.0


@pytest.mark.kept(1)
@pytest.mark.parametrize('reaction', ['none', 'hold', 'float'])
def test_a_push_ends_the_motion(observed, reaction) -> None:
    """A contact is told of, once; with a reaction the motion is over, and the log says so."""
    begin(observed, contact__reaction=reaction)
    push(observed)
    observed.spin(lambda: observed.contacts[:2] == [False, True], 'the contact')
    controller = observed.node.configured.controller
    assert controller.machine.is_floating == (reaction == 'float')
    moves = controller.motion.present_state().velocity.any()
    assert moves == (reaction == 'none')
    if reaction != 'none':
        observed.hear('a contact has ended the motion')
    command = stand(observed, 30)
    if reaction != 'none':
        # Nothing is wanted any more that the arm does not do.
        np.testing.assert_allclose(command, observed.dynamics.gravity_torque(Q), atol=1e-6)
        observed.spin(lambda: observed.contacts[-1] is False, 'the end of the contact')
    if reaction == 'float':
        assert observed.trigger('hold').success
        stand(observed, 1)
        assert not controller.machine.is_floating


@pytest.mark.kept(1)
@pytest.mark.parametrize('end', ['off', 'deactivate', 'fault'])
def test_a_contact_is_over_when_nobody_looks_any_more(observed, end) -> None:
    """Switched off, inactive or in a fault, nobody is left with a contact that was."""
    begin(observed)
    push(observed)
    observed.spin(lambda: observed.contacts[:2] == [False, True], 'the contact')
    if end == 'off':
        observed.set(observer__mode='off')
        stand(observed, 1)
    elif end == 'deactivate':
        observed.node.trigger_deactivate()
    else:
        observed.node.configured.states._on_fault(
            observed.node.configured.controller.trip(FaultKind.STOPPED, 'a test')
        )
    observed.spin(lambda: observed.contacts[-1] is False, 'the end of the contact')
