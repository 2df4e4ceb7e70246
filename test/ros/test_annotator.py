"""The node `annotator` over DDS: the topics ~/annotate and ~/annotated."""

from __future__ import annotations

import threading

import numpy as np
import pytest

from ne_dynamics import Dynamics, load_urdf
from ne_dynamics.errors import TrajectoryError
from ne_dynamics.model.rigid_body import Inertia
from ne_dynamics.ros.thresholds import NODE
from ne_dynamics.shipped import shipped_file
from ne_dynamics.simulation.demo.node_messages import trajectory_message

NAMES = ('joint_6', 'joint_1', 'joint_2', 'joint_3', 'joint_4', 'joint_5')
"""Not in the order of the model."""


@pytest.fixture(scope='module')
def dynamics() -> Dynamics:
    robot = load_urdf(shipped_file('six_axis_arm.urdf'), tip_link='tcp')
    return Dynamics(robot, backend='python')


@pytest.fixture
def make_site():
    pytest.importorskip('rclpy', reason='needs ROS 2 for Python: pip install "ne_dynamics[ros]"')
    from annotator_bench import AnnotatorBench

    sites = []

    def make(**parameters):
        sites.append(AnnotatorBench(effort_tolerance=[0.5], **parameters))
        sites[-1].record_drops()
        return sites[-1]

    yield make
    for site in sites:
        site.close()


@pytest.fixture
def site(make_site):
    """Return a site with the usual parameters."""
    return make_site()


def show(site, position, velocity=0.0) -> None:
    """Let the node know where the arm is."""
    from sensor_msgs.msg import JointState

    publisher = site.probe.create_publisher(JointState, '/joint_states', 10)
    site.spin(publisher.get_subscription_count)
    state = JointState(name=list(site.joint_names), velocity=[velocity] * 6)
    state.position = [float(value) for value in position]
    source = site.node._present._sources['joint_states']
    source.clear()
    publisher.publish(state)
    site.spin(source.is_present)


def set_all(site, **values):
    """Set parameters of the annotator, all or none; return the result."""
    from ne_dynamics.simulation.demo.node_messages import parameter_of

    return site.node.set_parameters_atomically(
        [parameter_of(name.replace('__', '.'), value) for name, value in values.items()]
    )


def trajectory(positions, times, stamp=(0, 0)):
    rest = [0.0] * 6
    rows = [(time, position, rest, rest) for time, position in zip(times, positions, strict=True)]
    message = trajectory_message(NAMES, rows)
    message.header.stamp.sec, message.header.stamp.nanosec = stamp
    message.header.frame_id = 'base_link'
    return message


def efforts_of(message):
    order = [message.joint_names.index(f'joint_{i + 1}') for i in range(6)]
    positions = np.array([point.positions for point in message.points])[:, order]
    efforts = np.array([point.effort for point in message.points])[:, order]
    stamps = [point.time_from_start for point in message.points]
    return positions, efforts, [stamp.sec * 10**9 + stamp.nanosec for stamp in stamps]


BAD = [
    ('no points', lambda m: m.points.clear(), 'points', 'expected at least one'),
    ('short', lambda m: m.points[1].positions.pop(), 'points', 'expected 6 values'),
    ('unknown', lambda m: m.joint_names.__setitem__(0, 'elbow'), 'joint_names', 'unknown'),
    ('moves', lambda m: m.points[1].velocities.__setitem__(0, 1.0), 'points', 'rest'),
    ('between', lambda m: m.points[0].velocities.__setitem__(3, 50.0), 'points', 'position of'),
]


def test_a_trajectory_comes_back_with_efforts(site, dynamics) -> None:
    asked = trajectory([np.zeros(6), np.full(6, 0.5)], [0.0, 2.0], stamp=(12, 34))
    answer = site.ask(asked)
    assert answer.header == asked.header
    assert tuple(answer.joint_names) == NAMES
    assert len(answer.points) > 4
    positions, efforts, times = efforts_of(answer)
    assert (times[0], times[-1]) == (0, 2 * 10**9)
    np.testing.assert_allclose(positions[[0, -1]], [[0.0] * 6, [0.5] * 6], atol=1e-12)
    np.testing.assert_allclose(efforts[-1], dynamics.gravity_torque(positions[-1]), atol=1e-9)
    assert site.drops == []


def test_the_start_is_where_the_arm_rests(site, monkeypatch) -> None:
    """A later first point begins where the arm is measured; not where it moves, or was once."""
    here = np.linspace(0.1, 0.6, 6)
    asked = trajectory([np.zeros(6)], [1.0])
    show(site, here)
    positions, _, times = efforts_of(site.ask(asked))
    assert times[0] == 0
    np.testing.assert_allclose(positions[0], here)
    show(site, here, 0.2)
    assert efforts_of(site.ask(asked))[2] == [10**9]
    show(site, here)
    monkeypatch.setitem(vars(NODE), 'present_age', 0.0)
    assert efforts_of(site.ask(asked))[2] == [10**9]


def test_parameters_count_for_the_next_trajectory(site, dynamics) -> None:
    """Terms, payload and tolerance may change between two trajectories; the model too."""
    assert set_all(site, effort_tolerance=[0.05]).successful
    asked = trajectory([np.zeros(6), np.full(6, 0.5)], [0.0, 2.0])
    dense = site.ask(asked)
    load = {'payload__mass': 2.0, 'payload__com': [0.0, 0.0, 0.1]}
    assert set_all(site, effort_tolerance=[5.0], terms__inertia=False, **load).successful
    coarse = site.ask(asked)
    assert len(coarse.points) < len(dense.points)
    positions, efforts, _ = efforts_of(coarse)
    robot = dynamics.robot.with_payload(Inertia(2.0, np.array([0.0, 0.0, 0.1]), np.zeros((3, 3))))
    carrying = Dynamics(robot, backend='python').gravity_torque(positions[-1])
    np.testing.assert_allclose(efforts[-1], carrying, atol=1e-9)
    assert set_all(site, gravity=[0.0, 0.0, 0.0]).successful
    np.testing.assert_allclose(efforts_of(site.ask(asked))[1][-1], 0.0, atol=1e-9)


def test_wrong_parameters_are_refused(site) -> None:
    """Nothing changes, and the reason names the parameter."""
    before = site.node.arm
    for values, match in (
        ({'effort_tolerance': [0.1, 0.2]}, 'effort_tolerance: expected 1 or 6'),
        ({'effort_tolerance': [0.0]}, 'effort_tolerance'),
        ({'payload__mass': -1.0}, 'payload.mass'),
        ({'tip_link': 'nowhere'}, 'nowhere'),
        ({'controller': 'another'}, 'at the start only'),
        ({'tolerance': 1.0}, 'effort_tolerance'),
    ):
        result = set_all(site, **values)
        assert not result.successful, values
        assert match in result.reason
        assert site.node.arm is before


def test_a_result_has_20000_points_at_the_most(site, monkeypatch) -> None:
    """With six joints that is a message of 4 MB."""
    allowed = []

    def annotate(*given, max_points, **named):
        allowed.append(max_points)
        raise TrajectoryError('too many')

    monkeypatch.setattr('ne_dynamics.ros.annotator.annotation.annotate', annotate)
    assert site.ask(trajectory([np.zeros(6)], [0.0])) is None
    assert allowed == [20_000]


def test_the_tilt_of_the_base_counts(make_site, dynamics) -> None:
    from sensor_msgs.msg import Imu

    site = make_site(imu__enabled=True, imu__source='orientation')
    publisher = site.probe.create_publisher(Imu, '/imu', 10)
    site.spin(lambda: publisher.get_subscription_count() == 1)
    reading = Imu()
    reading.header.frame_id = site.node.arm.arm.robot.base_link
    half = 0.5 * np.radians(30.0)
    reading.orientation.x, reading.orientation.w = float(np.sin(half)), float(np.cos(half))
    reading.linear_acceleration.z = 9.80665
    present = site.node._present
    publisher.publish(reading)
    site.spin(lambda: present.base_motion.any())
    _, efforts, _ = efforts_of(site.ask(trajectory([np.full(6, 0.3)], [0.0])))
    q, zeros = np.full(6, 0.3), np.zeros(6)
    tilted = dynamics.inverse_dynamics(q, zeros, zeros, None, present.base_motion)
    np.testing.assert_allclose(efforts[-1], tilted, atol=1e-6)
    assert np.abs(tilted - dynamics.gravity_torque(q)).max() > 1.0


def test_the_model_comes_by_topic(make_site) -> None:
    """Before it trajectories are dropped; another description takes its place."""
    from std_msgs.msg import String

    from ne_dynamics.ros.latched import LATCHED

    site = make_site(model_file=None)
    assert site.ask(trajectory([np.zeros(6)], [0.0])) is None
    assert 'no model' in site.drops[-1][2]
    publisher = site.probe.create_publisher(String, '/robot_description', LATCHED)
    text = shipped_file('six_axis_arm.urdf').read_text(encoding='utf-8')
    publisher.publish(String(data=text))
    site.spin(lambda: site.node.arm is not None)
    first = site.node.arm
    assert site.ask(trajectory([np.zeros(6)], [0.0])) is not None
    publisher.publish(String(data='<robot/>'))
    site.spin(lambda: site.drops[-1][0] == 'robot_description')
    assert site.node.arm is first
    publisher.publish(String(data=text.replace('six_axis_arm', 'another_arm')))
    site.spin(lambda: site.node.arm is not first)
    assert site.ask(trajectory([np.zeros(6)], [0.0])) is not None


def test_too_fast_goes_out_as_it_is_or_retimed(site) -> None:
    asked = trajectory([np.zeros(6), np.full(6, 1.0)], [0.0, 0.2])
    limits = site.node.arm.arm.robot.limits('effort_limit')
    _, efforts, times = efforts_of(site.ask(asked))
    assert times[-1] == 2 * 10**8
    assert (np.abs(efforts) > limits).any()
    assert set_all(site, retime=True).successful
    _, efforts, times = efforts_of(site.ask(asked))
    assert times[-1] > 4 * 10**8
    assert (np.abs(efforts) <= limits).all()


def test_bad_trajectories_are_dropped_by_field(site) -> None:
    """In the node's thread, with field and reason; the next good one is answered."""
    for what, spoil, field, match in BAD:
        message = trajectory([np.zeros(6), np.full(6, 0.5)], [0.0, 2.0])
        spoil(message)
        assert site.ask(message) is None, what
        topic, named, reason, thread = site.drops[-1]
        assert (topic, named) == ('annotate', field)
        assert match in reason
        assert thread is threading.current_thread()
        assert site.ask(trajectory([np.zeros(6)], [0.0])) is not None


def test_one_trajectory_waits_and_the_newest_does(site) -> None:
    """While one is worked on the newest waits, those it replaces are dropped with a word."""
    free = threading.Event()
    background = site.node._background
    background.submit(lambda work: None, free.wait)
    for count in range(4):
        site.publisher.publish(trajectory([np.full(6, 0.1 * count)], [0.0]))
        site.spin(lambda: len(site.drops) == count)  # noqa: B023
    assert [drop[:2] for drop in site.drops] == [('annotate', 'data')] * 3
    assert site.answers == []
    free.set()
    site.spin(lambda: len(site.answers) == 1)
    assert site.answers[0].points[0].positions[0] == pytest.approx(0.3)


def test_the_executor_is_not_held_up_by_the_work(site) -> None:
    """While a long trajectory is worked on, the node's own thread goes on in between."""
    times = np.arange(400.0)
    positions = 0.5 * np.sin(np.outer(times, np.linspace(0.3, 1.0, 6)))
    turns = 0

    def turn() -> None:
        nonlocal turns
        turns += 1

    set_all(site, effort_tolerance=[2.0])
    site.node.create_timer(0.002, turn)
    site.publisher.publish(trajectory(positions, times))
    site.spin(lambda: site.node._pool._work_queue.qsize() or turns > 3)
    turns = 0
    site.spin(lambda: site.answers)
    assert turns > 10
    assert len(site.answers[0].points) > 1000
