"""The node tells what hangs on the flange, and offers it: `~/estimate_payload`."""

from __future__ import annotations

from array import array
from contextlib import contextmanager

import numpy as np
import pytest

from ne_dynamics import Dynamics, load_urdf
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

STEP = 0.02
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


def carrying(bench, mass=MASS, com=COM, gravity=(0.0, 0.0, -9.80665)):
    robot = load_urdf(bench.model_file, tip_link='tcp')
    loaded = robot.with_payload(Inertia(mass, np.array(com), np.zeros((3, 3))))
    return Dynamics(loaded, gravity=gravity, backend='python')


def send(bench, q, *, effort=None, before=None, **fields):
    count = len(bench.commands)
    if before is not None:
        before(q)
    if effort is not None:
        fields['effort'] = array('d', effort)
    bench.joint_states.publish(bench.joint_state(q, dt=STEP, **fields))
    bench.spin(lambda: len(bench.commands) > count, 'a command')


def hold(bench, poses, effort_of=None, **options):
    """Hold poses, one after the other, with the efforts that a function gives."""
    for q in poses:
        effort = None if effort_of is None else effort_of(q)
        for _ in range(round(HELD / STEP)):
            send(bench, q, effort=effort, **options)


def test_the_load_is_offered_and_not_adopted(bench, offers) -> None:
    """Mass and centre of mass come in the message and on the topic; parameters stay."""
    bench.start(tip_link='tcp')
    hold(bench, POSES, carrying(bench).gravity_torque)
    response = bench.trigger('estimate_payload')
    assert response.success, response.message
    assert 'by measured efforts' in response.message
    assert 'payload.mass: 2.0' in response.message
    bench.spin(lambda: offers, 'the offer')
    (offer,) = offers
    assert offer.header.frame_id == 'tcp'
    assert offer.inertia.m == pytest.approx(MASS, abs=0.01)
    com = offer.inertia.com
    np.testing.assert_allclose([com.x, com.y, com.z], COM, atol=0.003)
    assert bench.get('payload.mass') == [0.0]


@pytest.mark.long
def test_the_load_by_the_wrist_sensor(bench, offers) -> None:
    """Its readings contain the tool of the model, which is no part of the load; efforts lie."""
    gravity = (3.0, -2.0, -9.1)
    bench.start(
        tip_link='tcp', wrench__enabled=True, wrench__sensor_link=SENSOR, gravity=list(gravity)
    )
    robot = load_urdf(bench.model_file, tip_link='tcp')
    loaded = robot.with_payload(Inertia(MASS, COM, np.zeros((3, 3))))

    def read(q):
        bench.send_wrench(SENSOR, reading(loaded, q, gravity))

    send(bench, POSES[0])
    hold(bench, POSES, lambda q: np.full(6, 7.0), before=read)
    response = bench.trigger('estimate_payload')
    assert response.success, response.message
    assert 'by the wrist sensor' in response.message
    bench.spin(lambda: offers, 'the offer')
    assert offers[0].inertia.m == pytest.approx(MASS, abs=1e-3)
    com = offers[0].inertia.com
    np.testing.assert_allclose([com.x, com.y, com.z], COM, atol=1e-3)


def reading(robot, q, gravity):
    from ne_dynamics.control.sensors.wrench import inertia_beyond, static_wrench

    beyond = inertia_beyond(robot, SENSOR)
    pose = Dynamics(robot, backend='python').forward_kinematics(q, SENSOR)
    return -static_wrench(beyond, pose[:3, :3], gravity)


def test_refusals_name_the_reason(bench) -> None:
    """Without states, with one pose, with efforts that mean nothing, inactive: no estimate."""
    bench.start(tip_link='tcp')
    message = bench.trigger('estimate_payload').message
    assert 'no joint states were answered yet, or fewer than the 25 a second' in message
    hold(bench, POSES[:1], carrying(bench).gravity_torque)
    response = bench.trigger('estimate_payload')
    assert not response.success
    assert 'not estimated: the poses do not determine' in response.message
    bench.hear('estimate_payload: not estimated')
    bench.set(mode='gravity_compensation', state_effort='ignore')
    bench.change_state('deactivate')
    assert 'the node is not active' in bench.trigger('estimate_payload').message
    bench.change_state('activate')
    hold(bench, POSES[:1])
    message = bench.trigger('estimate_payload').message
    assert 'no efforts to estimate the load from' in message
    assert 'mode gravity_compensation' in message


@contextmanager
def work_held_up(bench):
    """Call the service, and hold its work up inside the block; yield the answer to come."""
    client = bench.probe.create_client(Trigger, 'computed_torque/estimate_payload')
    bench.spin(client.service_is_ready, 'the service')
    with held_up(AT_LEISURE):
        future = client.call_async(Trigger.Request())
        bench.spin(lambda: bench.node._payload_estimator._reply is not None, 'the work')
        yield future
    bench.spin(future.done, 'the answer')


def test_letting_go_of_the_arm_ends_the_work(bench) -> None:
    """When the node is cleaned up the service answers that nothing was estimated."""
    bench.start(tip_link='tcp')
    hold(bench, POSES, carrying(bench).gravity_torque)
    with work_held_up(bench) as future:
        assert bench.change_state('deactivate')
        assert bench.change_state('cleanup')
    assert 'let go of the arm' in future.result().message
    assert not future.result().success
