"""Any numbers and words into the pure core: a refusal that is meant, or finite numbers out."""

from __future__ import annotations

import math
import os
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ne_dynamics import load_model
from ne_dynamics.control.guards.state_guard import (
    Fault,
    FaultKind,
    StateGuard,
    StateLimits,
    StateRefused,
)
from ne_dynamics.control.sensors.imu import BaseImu, ImuSettings, ImuSource, OnImuTimeout
from ne_dynamics.control.sensors.wrench import WristWrench
from ne_dynamics.control.sensors.wrench_settings import Measures, OnTimeout, WrenchSettings
from ne_dynamics.control.stages.limits import EffortLimiter
from ne_dynamics.errors import (
    ImuError,
    InputError,
    ParameterError,
    TrajectoryError,
    WrenchError,
)
from ne_dynamics.model.robot import Joint, JointType
from ne_dynamics.motion.motion import Motion
from ne_dynamics.motion.thresholds import MOTION
from ne_dynamics.motion.waypoints import TrajectoryPoint, Waypoints, resting_state
from ne_dynamics.ros.messages.conversion import JointStateReader, MessageError
from ne_dynamics.ros.settings.parameters import PARAMETERS
from ne_dynamics.settings import ParameterSpec
from ne_dynamics.shipped import shipped_file

EXAMPLES = int(os.environ.get('FUZZ_EXAMPLES', '60'))
fuzz = settings(max_examples=EXAMPLES, deadline=None, derandomize=True, database=None)

LARGEST = 1.7976931348623157e308
edges = st.sampled_from(
    [math.nan, math.inf, -math.inf, LARGEST, -LARGEST, 1e200, -1e154, 5e-324, -0.0, 1e-300, 1e16]
)
modest = st.floats(-10.0, 10.0)
numbers = st.one_of(modest, modest, edges, st.floats())
finite = st.one_of(modest, modest, edges.filter(math.isfinite), st.floats(allow_nan=False)).filter(
    math.isfinite
)
NAMES = ('slide', 'roll', 'bend')
JOINTS = (
    Joint('slide', JointType.PRISMATIC, -0.5, 2.0, velocity_limit=0.5, effort_limit=500.0),
    Joint('roll', JointType.CONTINUOUS),
    Joint('bend', JointType.REVOLUTE, -3.0, 3.0, velocity_limit=2.0, effort_limit=40.0),
)
rows = st.one_of(
    st.just([]), st.lists(numbers, min_size=3, max_size=3), st.lists(numbers, max_size=5)
)
names = st.one_of(
    st.permutations(NAMES), st.lists(st.one_of(st.sampled_from(NAMES), st.text(max_size=5)))
)
seconds = st.one_of(
    st.floats(0.0, 5.0),
    st.sampled_from([0.0, 1e-9, 2e-9, 1e-6, 1.0, 2147483647.0, 2147483651.3, -1.0, -1e9]),
    st.sampled_from([math.nan, math.inf, -math.inf]),
    st.floats(-2147483648.0, 2147483652.0),
)
"""What a duration in a message can hold, and no numbers."""


@st.composite
def trajectories(draw: Any) -> tuple[list[str], list[TrajectoryPoint]]:
    is_sound = draw(st.booleans())
    if not is_sound:
        points = draw(st.lists(st.tuples(seconds, rows, rows, rows, rows), max_size=6))
        return draw(names), [TrajectoryPoint(*point) for point in points]
    times = sorted(set(draw(st.lists(st.one_of(st.floats(0.0, 10.0), seconds), min_size=1))))
    inside = st.tuples(st.floats(-0.5, 2.0), finite, st.floats(-3.0, 3.0)).map(list)
    order = draw(st.integers(0, 2))
    free = st.lists(finite, min_size=3, max_size=3)
    points = []
    for index, time in enumerate(times):
        rest = index == len(times) - 1
        velocities = [0.0] * 3 if rest else draw(free)
        points.append(
            TrajectoryPoint(
                time,
                draw(inside),
                velocities if order > 0 else [],
                draw(free) if order > 1 else [],
            )
        )
    return list(NAMES), points


@given(
    trajectories(),
    st.tuples(modest, modest, modest),
    st.floats(0, 1e9),
    st.floats(-1e10, 1e10),
    st.booleans(),
)
@fuzz
def test_a_trajectory_is_refused_or_finite(sent, start, now, offset, is_stamped) -> None:
    """What is not refused stays within the position limits at its points, finite everywhere."""
    joint_names, points = sent
    try:
        waypoints = Waypoints.from_points(JOINTS, joint_names, points)
    except TrajectoryError:
        return
    assert np.isfinite(waypoints.positions).all()
    assert (np.diff(waypoints.times) > 0.0).all()
    for index in (0, 2):
        values = waypoints.positions[:, index]
        assert (values >= JOINTS[index].lower - MOTION.position_tolerance).all()
        assert (values <= JOINTS[index].upper + MOTION.position_tolerance).all()
    try:
        trajectory = Motion.through(
            waypoints,
            now=now,
            start_state=resting_state(start),
            start_time=now + offset if is_stamped else None,
        )
    except TrajectoryError:
        return
    ends = [trajectory.start_time, trajectory.end_time]
    times = [*np.linspace(*ends, 7).tolist(), now, ends[1] + 1.0, now + 0.002, now - 1.0]
    for time in times:
        state = trajectory.sample(time)
        for array in state:
            assert np.isfinite(array).all(), (time, state)
    final = trajectory.sample(ends[1])
    assert not final.velocity.any()
    np.testing.assert_array_equal(final.position[[0, 2]], waypoints.positions[-1][[0, 2]])


ROBOT = load_model(shipped_file('six_axis_arm.urdf'))
FRAMES = [link.name for link in ROBOT.links] + ['', 'nowhere', 'x' * 1000]
vectors = st.lists(numbers, min_size=3, max_size=3)
stamps = st.one_of(st.floats(0.0, 2.0), st.floats(-1e10, 1e10))
wrench_settings = st.fixed_dictionaries(
    {
        'measures': st.sampled_from([*Measures, 'none']),
        'timeout': st.one_of(st.sampled_from([0.1, math.inf]), numbers),
        'on_timeout': st.sampled_from(list(OnTimeout)),
        'cutoff_frequency': st.one_of(st.sampled_from([0.0, 10.0]), numbers),
        'gain': st.one_of(st.sampled_from([0.0, 0.5, 1.0]), numbers),
        'max_force': st.one_of(st.sampled_from([0.0, 50.0, math.inf]), numbers),
        'max_torque': st.one_of(st.sampled_from([0.0, 5.0, math.inf]), numbers),
    }
)
readings = st.tuples(st.sampled_from(['ft_sensor', 'tcp', *FRAMES]), vectors, vectors, stamps)
wrench_actions = st.lists(
    st.one_of(
        readings.map(lambda reading: ('update', reading)),
        readings.map(lambda reading: ('update', reading)),
        wrench_settings.map(lambda values: ('configure', values)),
        stamps.map(lambda now: ('tare', now)),
        st.just(('reset', None)),
    ),
    max_size=12,
)


@given(wrench_actions, stamps)
@fuzz
def test_a_wrench_is_refused_or_finite(actions, now: float) -> None:
    """After any readings, settings and tares there is no wrench, or a finite, limited one."""
    wrist = WristWrench(ROBOT, 'ft_sensor')
    for action, value in actions:
        try:
            if action == 'update':
                frame, force, torque, stamp = value
                wrist.update(frame, [*force, *torque], stamp)
            elif action == 'configure':
                wrist.configure(WrenchSettings(**value))
            elif action == 'tare':
                assert np.isfinite(wrist.tare(value, [1.0, 2.0, -9.0, 0.1, 0.2, 0.3])).all()
            else:
                wrist.reset()
        except (WrenchError, ParameterError):
            pass
        for time in (now, 0.0):
            found = wrist.at(time)
            assert found is None or np.isfinite(found).all()
            if found is not None:
                chosen = wrist.settings
                for part, most in ((found[:3], chosen.max_force), (found[3:], chosen.max_torque)):
                    allowed = chosen.gain * most if chosen.gain else 0.0
                    assert np.linalg.norm(part) <= allowed * (1 + 1e-9)


imu_settings = st.fixed_dictionaries(
    {
        'source': st.sampled_from([*ImuSource, 'none']),
        'timeout': st.one_of(st.sampled_from([0.5, math.inf]), numbers),
        'on_timeout': st.sampled_from(list(OnImuTimeout)),
        'cutoff_frequency': st.one_of(st.sampled_from([0.0, 10.0]), numbers),
    }
)
imu_readings = st.tuples(
    st.sampled_from(['base_link', 'pedestal', *FRAMES]),
    st.one_of(st.none(), vectors, st.just([0.1, -0.2, 0.3])),
    st.one_of(st.none(), vectors, st.just([0.5, 1.0, 9.6])),
    st.one_of(st.none(), st.lists(numbers, min_size=4, max_size=4), st.just([0.0, 0.6, 0.0, 0.8])),
    stamps,
)
imu_actions = st.lists(
    st.one_of(
        imu_readings.map(lambda reading: ('update', reading)),
        imu_readings.map(lambda reading: ('update', reading)),
        imu_settings.map(lambda values: ('configure', values)),
        st.just(('reset', None)),
    ),
    max_size=12,
)


@given(imu_actions, stamps)
@fuzz
def test_an_imu_is_refused_or_finite(actions, now: float) -> None:
    """After any readings the motion of the base is finite and gravity has kept its strength."""
    imu = BaseImu(ROBOT, (0.0, 0.0, -9.81), ImuSettings(max_acceleration=math.inf))
    for action, value in actions:
        try:
            if action == 'update':
                imu.update(*value)
            elif action == 'configure':
                imu.configure(ImuSettings(max_acceleration=math.inf, **value))
            else:
                imu.reset()
        except (ImuError, ParameterError):
            pass
        for time in (now, 0.0):
            motion = imu.at(time)
            assert motion is None or np.isfinite(motion).all()
            assert np.isfinite(imu.resting_at(time)).all()
            assert np.linalg.norm(imu.gravity_at(time)) == pytest.approx(9.81, rel=1e-9)


messages = st.builds(
    SimpleNamespace,
    name=st.one_of(names, st.permutations([*NAMES, 'other'])),
    position=st.one_of(st.lists(numbers, min_size=3, max_size=4), rows),
    velocity=rows,
    effort=rows,
)


@given(st.lists(messages, max_size=6))
@fuzz
def test_a_joint_state_is_refused_or_read_by_name(sent) -> None:
    """What is read is what the message says under each name, whatever came before it."""
    reader = JointStateReader(NAMES)
    for message in sent:
        try:
            position, velocity = reader.read(message)
        except MessageError:
            continue
        assert sorted(set(message.name) & set(NAMES)) == sorted(NAMES)
        place = [message.name.index(name) for name in NAMES]
        assert position.tolist() == [message.position[index] for index in place]
        assert np.isfinite(position).all()
        if velocity is None:
            assert not message.velocity
        else:
            assert velocity.tolist() == [message.velocity[index] for index in place]
        effort = reader.read_effort(message)
        assert effort is None or np.isfinite(effort).all()


plain = st.one_of(numbers, st.integers(), st.booleans(), st.text(max_size=8), st.none())
anything = st.one_of(
    plain, st.lists(plain, max_size=7), st.binary(max_size=3), st.lists(numbers, max_size=7)
)


@pytest.mark.kept(12)
@pytest.mark.parametrize('spec', PARAMETERS, ids=lambda spec: spec.name)
@given(st.data())
@settings(max_examples=EXAMPLES // 4, deadline=None, derandomize=True, database=None)
def test_a_parameter_is_refused_or_of_its_kind(spec: ParameterSpec, data) -> None:
    """Any value is refused by name, or comes out in the parameter's type and bounds, for good."""
    value = data.draw(anything)
    try:
        checked = spec.check(value)
    except ParameterError as error:
        assert spec.name in str(error)  # noqa: PT017
        return
    assert spec.check(checked) == checked
    items = checked if isinstance(checked, tuple) else (checked,)
    kinds = {'bool': bool, 'double': float, 'string': str, 'double[]': float, 'string[]': str}
    assert isinstance(checked, tuple) == spec.type.endswith('[]')
    for item in items:
        assert type(item) is kinds[spec.type]
        if kinds[spec.type] is float:
            assert spec.minimum <= item <= spec.maximum
            assert math.isfinite(item) or spec.allow_infinity
            assert not (spec.above_minimum and item == spec.minimum)
        if spec.choices:
            assert item in spec.choices
    assert not spec.lengths or len(items) in spec.lengths


states = st.tuples(
    st.lists(st.one_of(modest, finite), min_size=3, max_size=3),
    st.one_of(st.floats(0.0, 3.0), st.floats(-1e10, 1e10)),
    st.sampled_from([0.0, 0.002, 0.05, 0.2]),
)
timeouts = st.sampled_from([math.inf, 0.1, 1e-9])
velocity_limits = st.sampled_from([None, [1.0, math.inf, 4.0], [math.inf, math.inf, 1e-300]])


@given(st.lists(states, max_size=12), timeouts, velocity_limits, st.sampled_from(list(FaultKind)))
@fuzz
def test_states_are_believed_again(history, timeout, velocities, kind: FaultKind) -> None:
    limits = StateLimits(timeout, None if velocities is None else np.array(velocities))
    guard = StateGuard(JOINTS, limits)
    arrival = 0.0
    for position, stamp, later in history:
        arrival += later
        try:
            guard.check(np.array(position), None, stamp, arrival)
        except StateRefused:
            assert guard.last is None or guard.last.position.tolist() != [math.pi] * 3
        else:
            assert guard.fault is None
            assert guard.last.time == stamp
    if guard.fault is None and kind is not FaultKind.GAP:
        guard.trip(Fault(kind, 'for the test'))
    if guard.fault is None:
        return
    good = np.array([0.1, 0.2, 0.3])
    for index in range(4):
        try:
            guard.check(good, None, 20.0 + 1e-3 * index, arrival + 1e-3 * index)
            break
        except StateRefused:
            pass
    # One more where the last bad one was taken for a neighbour of the first good one.
    assert guard.fault is None
    np.testing.assert_array_equal(guard.last.position, good)


efforts = st.lists(st.one_of(st.floats(-100, 100), numbers), min_size=3, max_size=3)
rates = st.lists(st.sampled_from([0.0, math.inf, 5e-324, 1.0, 1e3, 1e308]), min_size=3, max_size=3)


@given(st.lists(st.tuples(efforts, st.sampled_from([0.0, 0.002, 0.1, 1e9])), max_size=12), rates)
@fuzz
def test_a_command_is_refused_or_limited(wanted, rate) -> None:
    """Whatever is wanted, what comes out is finite, within the limits and the rates."""
    bounds = np.array([500.0, math.inf, 40.0])
    limiter = EffortLimiter(bounds, rate)
    allowed = np.array([value or math.inf for value in rate])
    last = None
    for values, dt in wanted:
        try:
            effort, saturated = limiter.apply(np.array(values), dt)
        except InputError:
            assert not np.isfinite(values).all()
            continue
        assert np.isfinite(effort).all()
        assert (np.abs(effort) <= bounds).all()
        if last is not None:
            with np.errstate(over='ignore', invalid='ignore'):
                step = np.where(np.isinf(allowed), np.inf, allowed * dt)
                rounding = 1e-12 * (np.abs(last) + np.abs(effort))
                assert (np.abs(effort - last) <= step + rounding).all()
        changed = effort != np.array(values)
        assert (saturated is None and not changed.any()) or (saturated == changed).all()
        last = effort
