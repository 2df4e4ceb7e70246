"""The topics ~/annotate and ~/annotated, over DDS."""

from __future__ import annotations

import threading
import time

import numpy as np
import pytest
from held_worker import held_up

from ne_dynamics import Dynamics, load_urdf
from ne_dynamics.dynamics.compensation import Terms
from ne_dynamics.motion.waypoints import DesiredState, resting_state
from ne_dynamics.ros.running.private_domain import private_domain
from ne_dynamics.shipped import shipped_file

DOMAIN = private_domain()
PATIENCE = 120.0
NAMES = ('joint_6', 'joint_1', 'joint_2', 'joint_3', 'joint_4', 'joint_5')
"""Not in the order of the model."""


@pytest.fixture(scope='module')
def dynamics() -> Dynamics:
    """Return the dynamics of the shipped arm."""
    robot = load_urdf(shipped_file('six_axis_arm.urdf'), tip_link='tcp')
    return Dynamics(robot, backend='python')


class Site:
    """A node with an annotator, and everything around it."""

    def __init__(self) -> None:
        from rclpy.context import Context
        from rclpy.executors import SingleThreadedExecutor
        from rclpy.node import Node
        from trajectory_msgs.msg import JointTrajectory

        from ne_dynamics.ros.annotator import Annotator
        from ne_dynamics.ros.watching.reporter import Reporter

        self.context = Context()
        self.context.init(domain_id=DOMAIN)
        self.executor = SingleThreadedExecutor(context=self.context)
        self.drops = drops = []
        self.heard = 0

        class Drops(Reporter):
            def drop(self, topic, field, reason):
                drops.append((topic, field, reason, threading.current_thread()))

        def hear() -> None:
            self.heard += 1

        self.arm = Node('arm', context=self.context)
        self.probe = Node('probe', context=self.context)
        self.executor.add_node(self.arm)
        self.executor.add_node(self.probe)
        self.annotator = Annotator(self.arm, Drops(self.arm.get_logger()), hear)
        self.answers = []
        self.publisher = self.probe.create_publisher(JointTrajectory, '/arm/annotate', 10)
        self.subscription = self.probe.create_subscription(
            JointTrajectory, '/arm/annotated', self.answers.append, 10
        )

    def configure(self, dynamics, tolerance=0.5, start=None, **tuning) -> None:
        """Begin to listen, and wait until both sides know of each other."""
        from ne_dynamics.ros.annotator import AnnotationTuning

        self.annotator.configure(
            dynamics, AnnotationTuning(np.array([tolerance]), **tuning), lambda: start
        )
        self.spin(lambda: self.is_connected(1))

    def is_connected(self, count: int) -> bool:
        """Tell whether so many annotators are known on both topics."""
        return (
            self.publisher.get_subscription_count() == count
            and self.probe.count_publishers('/arm/annotated') == count
        )

    def spin(self, until) -> None:
        """Serve everybody until something is so."""
        deadline = time.monotonic() + PATIENCE
        while not until():
            assert time.monotonic() < deadline, f'waited in vain; dropped: {self.drops}'
            self.executor.spin_once(0.02)

    def ask(self, message):
        """Return the answer to a message; None when it was dropped."""
        before = len(self.answers), len(self.drops)
        self.publisher.publish(message)
        self.spin(lambda: (len(self.answers), len(self.drops)) != before)
        return self.answers[-1] if len(self.answers) > before[0] else None

    def close(self) -> None:
        """End."""
        self.annotator.release()
        self.executor.shutdown()
        self.arm.destroy_node()
        self.probe.destroy_node()
        self.context.shutdown()


@pytest.fixture
def site():
    """Return a site where nothing listens yet."""
    pytest.importorskip('rclpy', reason='needs ROS 2 for Python: pip install "ne_dynamics[ros]"')
    site = Site()
    yield site
    site.close()


def trajectory(positions, times, names=NAMES, stamp=(0, 0)):
    """Return a message through positions, at rest in each."""
    from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

    message = JointTrajectory(joint_names=list(names))
    message.header.stamp.sec, message.header.stamp.nanosec = stamp
    message.header.frame_id = 'base_link'
    for position, time_from_start in zip(positions, times, strict=True):
        point = JointTrajectoryPoint()
        point.positions = [float(value) for value in position]
        point.velocities = point.accelerations = [0.0] * len(point.positions)
        nanoseconds = round(time_from_start * 1e9)
        point.time_from_start.sec, point.time_from_start.nanosec = divmod(nanoseconds, 10**9)
        message.points.append(point)
    return message


def efforts_of(message):
    """Return positions and efforts of a message in the order of the model, and its times."""
    order = [message.joint_names.index(f'joint_{i + 1}') for i in range(6)]
    positions = np.array([point.positions for point in message.points])[:, order]
    efforts = np.array([point.effort for point in message.points])[:, order]
    stamps = [point.time_from_start for point in message.points]
    return positions, efforts, [stamp.sec * 10**9 + stamp.nanosec for stamp in stamps]


def test_a_trajectory_comes_back_with_efforts(site, dynamics) -> None:
    """Header and names come back, more points than there were, each with its effort."""
    site.configure(dynamics)
    asked = trajectory([np.zeros(6), np.full(6, 0.5)], [0.0, 2.0], stamp=(12, 34))
    answer = site.ask(asked)
    assert answer.header == asked.header
    assert tuple(answer.joint_names) == NAMES
    assert len(answer.points) > 4
    positions, efforts, times = efforts_of(answer)
    assert times[0] == 0
    assert times[-1] == 2 * 10**9
    for index in (0, -1):
        np.testing.assert_allclose(positions[index], 0.5 * (index == -1) * np.ones(6), atol=1e-12)
    np.testing.assert_allclose(efforts[-1], dynamics.gravity_torque(positions[-1]), atol=1e-9)
    assert site.heard == 1
    assert site.drops == []


def test_the_start_is_where_the_arm_is(site, dynamics) -> None:
    """A trajectory that begins later starts from the state that the node knows."""
    here = resting_state(np.linspace(0.1, 0.6, 6))
    site.configure(dynamics, start=here)
    answer = site.ask(trajectory([np.zeros(6)], [1.0]))
    positions, _, times = efforts_of(answer)
    assert times[0] == 0
    np.testing.assert_allclose(positions[0], here.position)


def test_another_tuning_counts_for_the_next_trajectory(site, dynamics) -> None:
    """Terms, payload, base and tolerance may change between two trajectories."""
    from ne_dynamics.ros.annotator import AnnotationTuning

    site.configure(dynamics, tolerance=0.05)
    asked = trajectory([np.zeros(6), np.full(6, 0.5)], [0.0, 2.0])
    dense = site.ask(asked)
    payload = np.array([2.0, 0, 0, 0.1, 0.02, 0, 0.02, 0, 0, 0.01])
    site.annotator.adopt(AnnotationTuning(np.array([5.0]), Terms(inertia=False), payload=payload))
    coarse = site.ask(asked)
    assert len(coarse.points) < len(dense.points)
    positions, efforts, _ = efforts_of(coarse)
    zeros = np.zeros(6)
    np.testing.assert_allclose(
        efforts[-1],
        dynamics.inverse_dynamics(positions[-1], zeros, zeros, None, None, payload),
        atol=1e-9,
    )


BAD = [
    ('no points', lambda m: m.points.clear(), 'points', 'expected at least one'),
    ('NaN', lambda m: m.points[1].positions.__setitem__(0, np.nan), 'points', 'finite'),
    ('short', lambda m: m.points[1].positions.pop(), 'points', 'expected 6 values'),
    ('same time', lambda m: m.points.append(m.points[1]), 'points', 'time_from_start'),
    ('unknown', lambda m: m.joint_names.__setitem__(0, 'elbow'), 'joint_names', 'unknown'),
    ('moves', lambda m: m.points[1].velocities.__setitem__(0, 1.0), 'points', 'rest'),
    ('limits', lambda m: m.points[1].positions.__setitem__(3, 9.0), 'points', 'expected -2.8'),
    ('between', lambda m: m.points[0].velocities.__setitem__(3, 50.0), 'points', 'position of'),
]


@pytest.mark.parametrize(('what', 'spoil', 'field', 'match'), BAD, ids=[bad[0] for bad in BAD])
def test_bad_trajectories_are_dropped_by_field(site, dynamics, what, spoil, field, match) -> None:
    """A trajectory that cannot be used is dropped, in the node's thread, with field and reason."""
    site.configure(dynamics)
    message = trajectory([np.zeros(6), np.full(6, 0.5)], [0.0, 2.0])
    spoil(message)
    assert site.ask(message) is None
    topic, named, reason, thread = site.drops[-1]
    assert (topic, named) == ('annotate', field)
    assert match in reason
    assert thread is threading.current_thread()
    assert site.ask(trajectory([np.zeros(6)], [0.0])) is not None


def test_a_failure_of_the_work_is_reported(site, dynamics) -> None:
    """An error that nobody thought of is reported, and the next trajectory is annotated."""
    site.configure(dynamics, terms='nobody thought of it')
    assert site.ask(trajectory([np.zeros(6)], [0.0])) is None
    assert 'AttributeError' in site.drops[-1][2]
    site.configure(dynamics)
    assert site.ask(trajectory([np.zeros(6)], [0.0])) is not None


def test_one_trajectory_waits_and_the_newest_does(site, dynamics) -> None:
    """While one is worked on the newest waits, those it replaces are dropped with a word."""
    from ne_dynamics.ros.running.worker_process import AT_LEISURE

    site.configure(dynamics)
    with held_up(AT_LEISURE):
        for count in range(4):
            site.publisher.publish(trajectory([np.full(6, 0.1 * count)], [0.0]))
            site.spin(lambda: site.heard == count + 1)  # noqa: B023
        assert [drop[:2] for drop in site.drops] == [('annotate', 'data')] * 2
        assert site.answers == []
    site.spin(lambda: len(site.answers) == 2)
    first = [answer.points[0].positions[0] for answer in site.answers]
    assert first == pytest.approx([0.0, 0.3])


def test_release_gives_up_what_is_worked_on(site, dynamics) -> None:
    """After release nothing is listened to, and nothing is sent."""
    from ne_dynamics.ros.running.worker_process import AT_LEISURE

    site.configure(dynamics)
    with held_up(AT_LEISURE):
        site.publisher.publish(trajectory([np.zeros(6)], [0.0]))
        site.spin(lambda: site.heard == 1)
        site.annotator.release()
        site.spin(lambda: site.is_connected(0))
    site.configure(dynamics)
    assert site.ask(trajectory([np.full(6, 0.1)], [0.0])).points[0].positions[0] == 0.1
    assert len(site.answers) == 1
    assert site.drops == []


def test_a_process_that_dies_is_replaced(site, dynamics) -> None:
    """Whoever kills the process that annotates: what it was asked for is done by another one."""
    from ne_dynamics.ros.running.worker_process import AT_LEISURE

    site.configure(dynamics)
    with held_up(AT_LEISURE):
        site.publisher.publish(trajectory([np.zeros(6)], [0.0]))
        site.spin(lambda: site.heard == 1)
        AT_LEISURE.stop()
        site.spin(lambda: site.answers)
    assert site.drops == []


def test_the_executor_is_not_held_up_by_the_work(site, dynamics) -> None:
    """While a long trajectory is worked on, the node's own thread goes on in between."""
    site.configure(dynamics, tolerance=2.0)
    times = np.arange(400.0)
    positions = 0.5 * np.sin(np.outer(times, np.linspace(0.3, 1.0, 6)))
    message = trajectory(positions, times)
    turns = 0

    def turn() -> None:
        nonlocal turns
        turns += 1

    site.arm.create_timer(0.002, turn)
    site.publisher.publish(message)
    site.spin(lambda: site.heard == 1)
    turns = 0
    site.spin(lambda: site.answers)
    assert turns > 10
    assert len(site.answers[0].points) > 1000


def test_a_moving_start_is_taken_over(site, dynamics) -> None:
    """The first point carries velocity and acceleration of the state that the node knows."""
    moving = DesiredState(np.zeros(6), np.full(6, 0.2), np.full(6, -0.1))
    site.configure(dynamics, start=moving)
    answer = site.ask(trajectory([np.full(6, 0.3)], [1.0]))
    assert list(answer.points[0].velocities) == [0.2] * 6
    assert list(answer.points[0].accelerations) == [-0.1] * 6
