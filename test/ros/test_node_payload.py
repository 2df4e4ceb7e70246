"""The node tells what hangs on the flange, and offers it: `~/estimate_payload`."""

from __future__ import annotations

from array import array

import numpy as np
import pytest

from ne_dynamics import Dynamics, load_urdf
from ne_dynamics.control.sensors.wrench import inertia_beyond, static_wrench
from ne_dynamics.model.rigid_body import Inertia

pytest.importorskip('rclpy', reason='needs ROS 2 for Python: pip install "ne_dynamics[ros]"')

from geometry_msgs.msg import InertiaStamped
from held_worker import held_up
from std_srvs.srv import Trigger

from ne_dynamics.ros.running.worker_process import AT_LEISURE

POSES = np.array(
    [
        [0.0, -1.7, 0.0, 0.0, 1.3, 0.5],
        [-0.5, -1.8, -1.4, 1.5, -0.9, -1.4],
        [0.4, 0.0, -0.1, -1.3, 0.7, 1.4],
        [1.0, 0.5, -1.5, -1.3, 0.6, -0.8],
        [-0.4, 0.1, -0.5, -1.3, 0.7, 0.9],
        [0.0, -0.2, -0.2, -1.4, 1.7, 0.1],
    ]
)
HELD = 1.2
"""Time for which each is held [s]."""

STEP = 0.025
"""Time between the states [s]: there are enough of them in a window."""

MASS, COM = 2.0, np.array([0.05, -0.03, 0.08])
SENSOR = 'ft_sensor'


@pytest.fixture
def offers(bench):
    """Return what comes on the topic."""
    found = []
    bench.probe.create_subscription(
        InertiaStamped, 'computed_torque/estimated_payload', found.append, 10
    )
    return found


def carrying(bench):
    """Return the arm with the load."""
    robot = load_urdf(bench.model_file, tip_link='tcp')
    return robot.with_payload(Inertia(MASS, COM, np.zeros((3, 3))))


def hold(bench, poses, effort_of=None, before=lambda q: None):
    """Hold poses, one after the other, with the efforts that a function gives."""
    for q in poses:
        fields = {} if effort_of is None else {'effort': array('d', effort_of(q))}
        for _ in range(round(HELD / STEP)):
            count = len(bench.commands)
            before(q)
            bench.joint_states.publish(bench.joint_state(q, dt=STEP, **fields))
            bench.spin(lambda count=count: len(bench.commands) > count, 'a command')


def check_offer(bench, offers, said: str, mass_tolerance: float, com_tolerance: float) -> None:
    """Let the load be estimated: it comes in the message and on the topic; parameters stay."""
    response = bench.trigger('estimate_payload')
    assert response.success, response.message
    assert said in response.message
    assert 'payload.mass: 2.0' in response.message
    bench.spin(lambda: offers, 'the offer')
    (offer,) = offers
    assert offer.header.frame_id == 'tcp'
    assert offer.inertia.m == pytest.approx(MASS, abs=mass_tolerance)
    com = offer.inertia.com
    np.testing.assert_allclose([com.x, com.y, com.z], COM, atol=com_tolerance)
    assert bench.get('payload.mass') == [0.0]


def test_the_load_is_offered_and_not_adopted(bench, offers) -> None:
    bench.start(tip_link='tcp')
    hold(bench, POSES, Dynamics(carrying(bench), backend='python').gravity_torque)
    check_offer(bench, offers, 'by measured efforts', 0.01, 0.003)


@pytest.mark.long
def test_the_load_by_the_wrist_sensor(bench, offers) -> None:
    """Its readings contain the tool of the model, which is no part of the load; efforts lie."""
    gravity = (3.0, -2.0, -9.1)
    bench.start(
        tip_link='tcp', wrench__enabled=True, wrench__sensor_link=SENSOR, gravity=list(gravity)
    )
    loaded = carrying(bench)
    beyond, dynamics = inertia_beyond(loaded, SENSOR), Dynamics(loaded, backend='python')

    def read(q):
        pose = dynamics.forward_kinematics(q, SENSOR)
        bench.send_wrench(SENSOR, -static_wrench(beyond, pose[:3, :3], gravity))

    bench.answer(bench.joint_state(POSES[0]))
    hold(bench, POSES, lambda q: np.full(6, 7.0), read)
    check_offer(bench, offers, 'by the wrist sensor', 1e-3, 1e-3)


def test_refusals_name_the_reason(bench) -> None:
    """Without states, with one pose, with efforts that mean nothing, inactive: no estimate."""
    bench.start(tip_link='tcp')

    def refused() -> str:
        response = bench.trigger('estimate_payload')
        assert not response.success
        return response.message

    assert 'no joint states were answered yet, or fewer than the 25 a second' in refused()
    hold(bench, POSES[:1], Dynamics(carrying(bench), backend='python').gravity_torque)
    assert 'not estimated: the poses do not determine' in refused()
    bench.hear('estimate_payload: not estimated')
    bench.set(mode='gravity_compensation', state_effort='ignore')
    bench.change_state('deactivate')
    assert 'the node is not active' in refused()
    bench.change_state('activate')
    hold(bench, POSES[:1])
    message = refused()
    assert 'no efforts to estimate the load from' in message
    assert 'mode gravity_compensation' in message


def test_letting_go_of_the_arm_ends_the_work(bench) -> None:
    """When the node is cleaned up the service answers that nothing was estimated."""
    bench.start(tip_link='tcp')
    hold(bench, POSES[:2], Dynamics(carrying(bench), backend='python').gravity_torque)
    client = bench.probe.create_client(Trigger, 'computed_torque/estimate_payload')
    bench.spin(client.service_is_ready, 'the service')
    with held_up(AT_LEISURE):
        future = client.call_async(Trigger.Request())
        bench.spin(lambda: bench.node._payload_estimator._reply is not None, 'the work')
        assert bench.change_state('deactivate')
        assert bench.change_state('cleanup')
    bench.spin(future.done, 'the answer')
    assert 'let go of the arm' in future.result().message
    assert not future.result().success
