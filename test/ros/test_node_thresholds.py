"""Periods, sizes and patience of the nodes: just within nothing happens, just beyond it does."""

from __future__ import annotations

import io
import pickle
import time
from dataclasses import dataclass
from types import SimpleNamespace

import numpy as np
import pytest

pytest.importorskip('rclpy', reason='needs ROS 2 for Python: pip install "ne_dynamics[ros]"')

from rclpy.action import ActionServer
from rclpy.serialization import serialize_message
from sensor_msgs.msg import JointState

from ne_dynamics.errors import ModelError
from ne_dynamics.motion.waypoints import resting_state
from ne_dynamics.ros.annotator.goal_proxy import GoalProxy, _ProxiedGoal
from ne_dynamics.ros.annotator.held_efforts import HeldEfforts
from ne_dynamics.ros.annotator.present import _Source
from ne_dynamics.ros.clock_timer import ClockTimer
from ne_dynamics.ros.command_repeater import CommandRepeater
from ne_dynamics.ros.configured_arm import ConfiguredArm
from ne_dynamics.ros.control_clock import ControlClock
from ne_dynamics.ros.joint_trajectory import JointTrajectoryTopic
from ne_dynamics.ros.messages.conversion import JointStateReader, MessageError
from ne_dynamics.ros.messages.serialized_trajectory import read_trajectory
from ne_dynamics.ros.running import worker_process
from ne_dynamics.ros.running.patient_server import PatientServer
from ne_dynamics.ros.sensor_topics import SensorTopics
from ne_dynamics.ros.settings.configuration import make_tuning
from ne_dynamics.ros.settings.controlled_arm import controlled_arm
from ne_dynamics.ros.settings.parameters import PARAMETERS
from ne_dynamics.ros.settings.robot_source import load_robot, require_short
from ne_dynamics.ros.trajectory_planning import PlanRequest
from ne_dynamics.ros.watching.diagnostics import Statistics
from ne_dynamics.ros.watching.other_commanders import OtherCommanders
from ne_dynamics.ros.watching.reporter import Reporter, shorten
from ne_dynamics.ros.watching.weight_watch import WeightWatch
from ne_dynamics.shipped import shipped_file

READER = JointStateReader('a')


class Timer:
    """A timer of rclpy that stands, with so much left [ns]."""

    timer_period_ns = 10**9
    left = 0

    def is_canceled(self) -> bool:
        """Return that it runs."""
        return False

    def time_until_next_call(self) -> int:
        """Return what is left."""
        return self.left

    cancel = reset = lambda self: None


def is_sent_again(age: float) -> bool:
    """Return whether a command of an age, in periods, is sent again."""
    sent, watch = [], Timer()
    repeater = CommandRepeater(
        lambda: sent.append(None), ClockTimer([Timer()]), ClockTimer([watch])
    )
    repeater.configure(100.0)
    watch.left = watch.timer_period_ns - round(age * 1e7)
    repeater.tick()
    return bool(sent)


def is_planned_beside(size: float) -> bool:
    """Return whether a message of so many bytes is planned by the worker."""
    begun = []
    topic = SimpleNamespace(
        _controller=SimpleNamespace(fault=None),
        _reporter=SimpleNamespace(statistics=Statistics()),
        _is_commanding=lambda: True,
        _drop_trajectory=None,
        planning=SimpleNamespace(begin=begun.append),
    )
    JointTrajectoryTopic.on_message(topic, bytes(round(size)))
    return not begun[0].is_small


def has_jumped(speed: float) -> bool:
    """Return whether a joint that goes at so many times its velocity limit has."""
    settings = PARAMETERS.changed({'model_file': str(shipped_file('six_axis_arm.urdf'))})
    arm = controlled_arm(settings, load_robot(settings))
    tuning, _ = make_tuning(settings, arm)
    return bool((speed * arm.robot.limits('velocity_limit') > tuning.states.velocities).all())


def is_of_another_clock(seconds: float) -> bool:
    """Return whether stamps that are so far apart are of two clocks."""
    clock = ControlClock(lambda: 0)
    clock.restart_at(10**18)
    return clock.restart_at(10**18 + round(seconds * 1e9)) == 0.0


def start_is_named(wait: float) -> bool:
    """Return whether a start that is so far ahead is named."""
    said = []
    topic = SimpleNamespace(
        _controller=SimpleNamespace(time=5.0),
        _reporter=SimpleNamespace(say=lambda *arguments: said.append(arguments)),
    )
    JointTrajectoryTopic.remark(topic, SimpleNamespace(has_effort=False), 5.0 + wait)
    return bool(said)


def is_no_present(age: float) -> bool:
    """Return whether what was heard so long ago is not the present."""
    source = _Source(JointState)
    source.note(b'')
    source._messages[-1] = source._messages[-1]._replace(came=time.monotonic() - age)
    return not source.is_present()


def moves_for_the_annotator(speed: float) -> bool:
    """Return whether an arm of a speed does not rest."""
    source = _Source(JointState)
    state = JointState(name=['a'], position=[0.0], velocity=[speed])
    source.note(bytes(serialize_message(state)))
    return source.read_rest(READER) is None


def moves_for_a_tare(speed: float) -> bool:
    """Return whether an arm of a speed is not tared."""
    desired = resting_state(np.zeros(1))
    controller = SimpleNamespace(
        motion=SimpleNamespace(present_state=lambda: desired), velocity=np.array([speed])
    )
    robot = SimpleNamespace(joint_names=('a',))
    context = SimpleNamespace(controller=controller, arm=SimpleNamespace(robot=robot))
    return bool(SensorTopics(context)._find_moving())


def is_too_old_to_tell_of_the_weight(age: float) -> bool:
    """Return whether nothing is said by a state of so long ago."""
    watch = WeightWatch.__new__(WeightWatch)
    watch._reader = READER
    watch._controller = SimpleNamespace(motion=SimpleNamespace(present_state=lambda: None))
    message = JointState(name=['a'], position=[0.0], effort=[1.0])
    watch.note(message, 0.0, np.zeros(1), None, time.perf_counter() - age)
    return watch._find_state() is None


def proxied(**times: float) -> SimpleNamespace:
    """Return what ends the goals of a controller that has such a goal, and how they ended."""
    now, ended = time.monotonic(), []
    goal = _ProxiedGoal(SimpleNamespace(canceled=None), now, is_asked=True)
    for name, age in times.items():
        setattr(goal, name, now - age)
    return SimpleNamespace(
        _goals=[goal],
        _action='/controller',
        _type=SimpleNamespace(Result=dict),
        _held=SimpleNamespace(look=lambda: None, is_waiting=False),
        _finish=lambda *_: ended.append('canceled'),
        _abort=lambda *_: ended.append('aborted'),
        _take_for_granted=lambda *_: ended.append('taken for granted'),
        ended=ended,
    )


def is_ended(**times: float) -> bool:
    """Return whether a goal is not waited for any longer."""
    proxy = proxied(**times)
    GoalProxy._on_watch(proxy)
    return bool(proxy.ended)


def is_held_without_efforts(age: float) -> bool:
    """Return whether an arm is left that has not come to rest for so long."""
    said = []
    held = HeldEfforts.__new__(HeldEfforts)
    held._action, held._since = '/controller', time.monotonic() - age
    held._node = SimpleNamespace(arm=object())
    held._present = SimpleNamespace(find_reference=lambda since: None)
    held._reporter = SimpleNamespace(say=lambda *arguments: said.append(arguments))
    held.look()
    return bool(said)


@pytest.mark.parametrize(
    ('value', 'happens'),
    [
        pytest.param(0.5, is_sent_again, id='fresh_share'),
        pytest.param(4096, is_planned_beside, id='small_message'),
        pytest.param(2.0, has_jumped, id='jump_margin'),
        pytest.param(1e7, is_of_another_clock, id='longest_clock_step'),
        pytest.param(10.0, start_is_named, id='far_start'),
        pytest.param(0.5, is_no_present, id='present_age'),
        pytest.param(0.01, moves_for_the_annotator, id='rest_velocity, annotator'),
        pytest.param(0.01, moves_for_a_tare, id='rest_velocity, tare'),
        pytest.param(2.0, lambda age: is_ended(asked_at=age), id='answer_time'),
        pytest.param(2.0, lambda age: is_ended(overtaken_at=age), id='answer_time, overtaken'),
        pytest.param(5.0, lambda age: is_ended(canceled_at=age), id='longest_stop, goal'),
        pytest.param(5.0, is_held_without_efforts, id='longest_stop, hold'),
        pytest.param(1.0, is_too_old_to_tell_of_the_weight, id='state_age'),
    ],
)
def test_it_happens_beyond_the_threshold_and_not_before(value: float, happens) -> None:
    """3 % below nothing is said or done, 3 % above it is."""
    assert not happens(0.97 * value)
    assert happens(1.03 * value)


def test_a_rate_is_not_slower_than_once_an_hour() -> None:
    """Timers count nanoseconds."""
    timer = Timer()
    CommandRepeater(lambda: None, ClockTimer([timer]), ClockTimer([Timer()])).configure(1e-6)
    assert timer.timer_period_ns == 3600 * 10**9


def test_what_is_too_long_is_not_read() -> None:
    """Trajectories, descriptions, lines of the log."""
    with pytest.raises(MessageError, match='at most 67108864 bytes'):
        read_trajectory(bytes(2**26 + 1))
    require_short('x' * 2**21)
    with pytest.raises(ModelError, match='at most 2097152 characters'):
        require_short('x' * (2**21 + 1))
    assert shorten('x' * 1000) == 'x' * 1000
    assert shorten('x' * 1001) == f'{"x" * 500} ... {"x" * 500}'


def test_the_same_is_said_every_five_seconds(monkeypatch) -> None:
    """Once in that time."""
    said, now = [], [100.0]
    reporter = Reporter(SimpleNamespace(warning=said.append))
    monkeypatch.setattr(time, 'monotonic', lambda: now[0])
    for now[0] in (100.0, 104.9, 105.1):
        reporter.say('key', 'text')
    assert len(said) == 2


def test_publishers_are_known_after_a_second(monkeypatch) -> None:
    """Since the own one is there."""
    slept = []
    node = SimpleNamespace(get_fully_qualified_name=lambda: '/node')
    others = OtherCommanders(node, SimpleNamespace(topic_name='/commands'))
    monkeypatch.setattr(time, 'sleep', slept.append)
    others.wait_for_discovery()
    assert slept == [pytest.approx(1.0, abs=0.2)]


@dataclass(frozen=True)
class Planner:
    """What plans, later by a lead."""

    lead: float = 0.0


def test_what_is_planned_beside_takes_over_30_ms_later_and_150_ns_a_byte() -> None:
    """Planning takes less."""
    request = PlanRequest(lambda: (len, Planner(), ()), len, len, is_small=False, size=1_000_000)
    assert request.work_beside()[1].lead == pytest.approx(0.03 + 0.15)


def test_eight_orders_of_names_are_remembered() -> None:
    """One a publisher; of more the oldest are looked up anew."""
    reader = JointStateReader('ab')
    for count in range(9):
        names = ['a', 'b', *'xyz'[: count % 3], *map(str, range(count))]
        reader.read(JointState(name=names, position=[0.0] * len(names)))
    assert len(reader._matches) == 8


def test_a_worker_keeps_eight_models() -> None:
    """The one that was used longest ago goes."""
    for count in range(10):
        worker_process._Unpickler(io.BytesIO()).persistent_load(pickle.dumps(count))
    assert list(worker_process._models.values()) == list(range(2, 10))
    worker_process._models.clear()


def test_diagnostics_come_once_a_second(bench) -> None:
    """By real time."""
    bench.start()
    assert 10**9 in [timer.timer_period_ns for timer in bench.node.timers]


def test_the_last_command_has_half_a_second_to_arrive() -> None:
    """Then the process ends."""
    asked = []
    publisher = SimpleNamespace(wait_for_all_acked=asked.append)
    ConfiguredArm.wait_for_farewell(
        SimpleNamespace(connections=SimpleNamespace(command_publisher=publisher))
    )
    assert asked[0].nanoseconds == 500_000_000


def test_results_of_goals_are_kept_for_ten_seconds(monkeypatch) -> None:
    """For those who ask later."""
    asked = {}
    monkeypatch.setattr(ActionServer, '__init__', lambda *_, **options: asked.update(options))
    PatientServer(None, None, 'name')
    assert asked['result_timeout'] == 10
