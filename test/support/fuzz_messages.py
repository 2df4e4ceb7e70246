"""Messages for every input of the node, valid and spoiled; all of it follows from one seed.

:class:`MessageSource` keeps a small world (an arm that moves smoothly, a clock) and sends what a
robot would send: most of it right, so that the node gets into all of its states, and the rest
with hostile values in any of its fields. It never looks at the node: the same seed gives the same
steps, whatever the node does with them.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

from geometry_msgs.msg import Quaternion, Vector3, WrenchStamped
from hostile_fields import INF, HostileFields
from lifecycle_msgs.srv import ChangeState, GetState
from rcl_interfaces.msg import Parameter as ParameterMessage
from rcl_interfaces.msg import ParameterValue
from rcl_interfaces.srv import (
    DescribeParameters,
    GetParameters,
    GetParameterTypes,
    ListParameters,
    SetParameters,
    SetParametersAtomically,
)
from rclpy.parameter import Parameter
from rclpy.serialization import serialize_message
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import Imu, JointState
from std_msgs.msg import String
from std_srvs.srv import Trigger
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from ne_dynamics import Robot, load_model, load_urdf
from ne_dynamics.model.robot import Joint, JointType
from ne_dynamics.motion import NANO
from ne_dynamics.ros.settings.parameters import PARAMETERS
from ne_dynamics.settings import Changes, ParameterSpec
from ne_dynamics.shipped import shipped_file

SCALING = '~/speed_scaling_input'
GOAL, CANCEL = '~/follow_joint_trajectory', '~/follow_joint_trajectory cancel'
"""Kinds of steps that concern the action."""

SERVICES = {
    **dict.fromkeys(('~/hold', '~/clear_fault', '~/tare_wrench', '~/estimate_payload'), Trigger),
    '~/get_state': GetState,
    '~/get_parameters': GetParameters,
    '~/get_parameter_types': GetParameterTypes,
    '~/describe_parameters': DescribeParameters,
    '~/list_parameters': ListParameters,
}
"""That may be called at any time."""

START = 20_000.0
"""Where the clocks of the world begin [s]."""

PERIOD = 0.002
"""Between two joint states [s]."""

EARLIEST, LATEST = -(2**31) * NANO, (2**31 - 1) * NANO
"""Stamps at the ends of their range [ns]."""

LIFT = """<robot name="lift">
  <link name="floor"/>
  <link name="carriage"><inertial><origin xyz="0.1 0 0"/><mass value="12"/>
    <inertia ixx="0.4" ixy="0.01" ixz="0" iyy="0.5" iyz="0" izz="0.3"/></inertial></link>
  <link name="table"><inertial><origin xyz="0 0.1 0.05"/><mass value="5"/>
    <inertia ixx="0.1" ixy="0" ixz="0.01" iyy="0.1" iyz="0" izz="0.2"/></inertial></link>
  <link name="rod"><inertial><origin xyz="0.2 0 0"/><mass value="2"/>
    <inertia ixx="0.01" ixy="0" ixz="0" iyy="0.06" iyz="0" izz="0.06"/></inertial></link>
  <link name="hand"/>
  <joint name="column" type="prismatic"><parent link="floor"/><child link="carriage"/>
    <origin rpy="0.1 0 0"/><axis xyz="0 0 1"/>
    <limit lower="-0.5" upper="1.5" velocity="0.5" effort="600"/>
    <dynamics damping="20" friction="3"/></joint>
  <joint name="turntable" type="continuous"><parent link="carriage"/><child link="table"/>
    <origin xyz="0.3 0 0" rpy="1.2 0 0"/><axis xyz="0 0.6 0.8"/></joint>
  <joint name="boom" type="revolute"><parent link="table"/><child link="rod"/>
    <origin xyz="0 0.2 0.1"/><axis xyz="0 1 0"/>
    <limit lower="-2" upper="2" velocity="3" effort="40"/></joint>
  <joint name="grip" type="fixed"><parent link="rod"/><child link="hand"/>
    <origin xyz="0.4 0 0" rpy="0 0.5 0"/></joint>
</robot>
"""
"""A prismatic joint, a continuous one without any limit, Coulomb friction."""


class ModelCase(NamedTuple):
    """A robot, and what the messages have to know of it."""

    robot: Robot
    parameters: dict[str, Any]
    description: str
    """URDF; empty for a DH model."""
    tip_frames: tuple[str, ...]
    base_frames: tuple[str, ...]


MODELS = ('six_axis_arm.urdf', 'lift', 'puma560_modified_dh.yaml')


@cache
def model_case(model: str) -> ModelCase:
    """Return the case of that name, one of :data:`MODELS`."""
    if model == 'lift':
        robot, parameters, text = load_urdf(LIFT), {'robot_description': LIFT}, LIFT
    else:
        path = str(shipped_file(model))
        robot, parameters = load_model(path), {'model_file': path}
        text = Path(path).read_text() if model.endswith('.urdf') else ''

    def frames(of: str) -> tuple[str, ...]:
        bodies = {link.name: link.body for link in robot.links}
        return tuple(name for name, body in bodies.items() if body == bodies[of])

    tip = robot.tip_link or robot.links[-1].name
    return ModelCase(robot, parameters, text, frames(tip), frames(robot.links[0].name))


def bad_descriptions(good: str) -> list[str]:
    """Return texts that a robot_description may be taken by, none of them the good one."""
    deep = '<link name="x">' * 400 + '</link>' * 400
    bomb = (
        '<!DOCTYPE r [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">'
        '<!ENTITY c "&b;&b;&b;&b;&b;&b;&b;&b;">]><robot name="&c;"><link name="base"/></robot>'
    )
    outside = (
        '<!DOCTYPE r [<!ENTITY x SYSTEM "file:///etc/hostname">]>'
        '<robot name="&x;"><link name="base"/></robot>'
    )
    return [
        '',
        ' ',
        'no robot',
        '<robot/>',
        '<robot name="r"><link name="base"/></robot>',
        '<robot name="🦾"><link name=""/></robot>',
        f'<robot name="r">{deep}</robot>',
        '<a>' * 3000,
        bomb,
        outside,
        LIFT,
        LIFT.replace('name="column"', 'name="boom"'),
        LIFT.replace('mass value="2"', 'mass value="nan"'),
        LIFT.replace('mass value="2"', 'mass value="-2"'),
        LIFT.replace('mass value="2"', 'mass value="1e308"'),
        LIFT.replace('xyz="0 0 1"', 'xyz="0 0 0"'),
        LIFT.replace('effort="40"', 'effort="0"'),
        LIFT.replace('child link="rod"', 'child link="floor"'),
        good[: len(good) // 2],
        good.replace('joint_3', 'joint_2'),
        good.replace('link name="tool"', 'link name="flange"'),
        good + good,
        'x' * 200_000,
    ]


@dataclass(frozen=True)
class Step:
    """One thing that happens to the node.

    Attributes
    ----------
    kind : str
        A topic, '~/name' of a service, with `message` the request, or `GOAL` or `CANCEL`, with
        `message` how many goals ago the one to be canceled was; or 'wait', 'clock' (the
        node's clock jumps by `message` seconds), 'revive' (the node is made active again, a new
        one started when it was shut down), 'probe' (it must answer
        good states; `message` is the stamp they begin at [ns], and whether the counts of the
        diagnostics are compared).
    message : object
    after : float
        Steady time that passes before [s].
    mutations : tuple of str
        What was done to a valid message; empty when it is one.
    """

    kind: str
    message: Any = None
    after: float = 0.0
    mutations: tuple[str, ...] = ()

    @property
    def counts(self) -> bool:
        """Whether it is a message or a request."""
        return self.kind not in ('wait', 'clock', 'revive', 'probe')


@dataclass
class Plan:
    """What one run is made of; everything follows from `seed`.

    Attributes
    ----------
    seed : int
    model : str
        One of :data:`MODELS`.
    parameters : dict
        Of the node at its start.
    """

    seed: int
    model: str = MODELS[0]
    parameters: dict[str, Any] = field(default_factory=dict)

    @property
    def case(self) -> ModelCase:
        """The robot."""
        return model_case(self.model)

    @property
    def sane(self) -> dict[str, Any]:
        """Values of all parameters that may be set at any time, with which the node works."""
        values = {spec.name: spec.default for spec in SETTABLE}
        return values | {key: self.parameters[key] for key in values if key in self.parameters}


SETTABLE = [spec for spec in PARAMETERS if spec.changes is Changes.ANY_TIME]
MODES = next(spec.choices for spec in PARAMETERS if spec.name == 'mode')


def plan(seed: int, number: int) -> Plan:
    """Return the run of that number; rate limits are set in every other one."""
    rng = random.Random(f'{seed} plan {number}')
    model = MODELS[0] if rng.random() < 0.6 else rng.choice(MODELS[1:])
    is_shipped = model == MODELS[0]
    robot = model_case(model).robot
    # The shipped arm may come by the topic.
    by_topic = is_shipped and rng.random() < 0.3
    values: dict[str, Any] = {} if by_topic else dict(model_case(model).parameters)
    mode = 'computed_torque' if rng.random() < 0.7 else rng.choice(MODES)
    values |= {
        'mode': mode,
        'backend': 'compiled' if rng.random() < 0.25 else 'python',
        'wrench.enabled': rng.random() < 0.75,
        'imu.enabled': rng.random() < 0.6,
        'on_deactivate': rng.choice(('gravity', 'gravity', 'zero', 'none')),
        'use_sim_time': rng.random() < 0.15,
    }
    if mode != 'computed_torque':
        # Gains of feedforward_pd are zero.
        values['feedforward.robot_closes_loop'] = True
    if is_shipped:
        values['wrench.sensor_link'] = 'ft_sensor'
        values['wrench.includes_tool'] = rng.random() < 0.7
    if rng.random() < 0.3:
        values['wrench.on_timeout'] = 'zero'
    if rng.random() < 0.3:
        values['payload.mass'] = 1.5
    joints = list(robot.joint_names)
    if rng.random() < 0.4:
        rng.shuffle(joints)
        values['joints'] = tuple(joints)
    limits = {
        joint.name: joint.effort_limit if 0.0 < joint.effort_limit < INF else 200.0
        for joint in robot.joints
    }
    if min(robot.limits('effort_limit')) <= 0.0 or rng.random() < 0.2:
        values['effort_limits'] = tuple(rng.choice((0.5, 1.0)) * limits[name] for name in joints)
    if number % 2:
        # With feedback a slow one is refused.
        has_feedback = mode == 'computed_torque'
        rate = 4.0 * max(limits.values()) if has_feedback else rng.choice((1.0, 50.0, 2000.0))
        by_joint = tuple(rate * rng.uniform(0.5, 2) for _ in joints)
        values['effort_rate_limit'] = (rate,) if rng.random() < 0.5 else by_joint
    return Plan(rng.randrange(2**48), model, values)


class Swing:
    """How one joint of the arm moves: a sine within its limits."""

    def __init__(self, joint: Joint, rng: random.Random) -> None:
        wide = joint.type is JointType.CONTINUOUS or not math.isfinite(joint.upper)
        lower, upper = (-1.5, 1.5) if wide else (joint.lower, joint.upper)
        self._center = 0.5 * (lower + upper) + rng.uniform(-0.1, 0.1)
        self._amplitude = 0.2 * min(upper - lower, 2.0)
        self._rate = rng.uniform(0.3, 1.0)

    def position(self, phase: float) -> float:
        """Return where it is."""
        return self._center + self._amplitude * math.sin(self._rate * phase)

    def velocity(self, phase: float) -> float:
        """Return how fast it is."""
        return self._amplitude * self._rate * math.cos(self._rate * phase)


class MessageSource:
    """Makes the steps of one run.

    Parameters
    ----------
    plan : Plan
    may_shut_down : bool
        Whether the node may be shut down, so that a new one has to be started.
    with_bytes : bool
        Whether messages may be bytes that are no message: of all topics, and not only of those
        that the node reads by itself.
    """

    def __init__(
        self, plan: Plan, may_shut_down: bool = True, *, with_bytes: bool = False
    ) -> None:
        self.plan = plan
        self._with_bytes = with_bytes
        self._may_shut_down = may_shut_down
        self.case = plan.case
        self.rng = random.Random(plan.seed)
        self.time = round(START * NANO)
        self._phase = 0.0
        self._mood = 0.0
        self._mood_left = 0
        joints = self.case.robot.joints
        self.names = [joint.name for joint in joints]
        self.n = len(joints)
        self._swings = [Swing(joint, self.rng) for joint in joints]
        self._links = [link.name for link in self.case.robot.links]
        self.hostile = HostileFields(self.rng, [*self.names, *self._links], self._spoil_time)
        self._descriptions = bad_descriptions(self.case.description or LIFT)
        self._kinds = (
            (self._joint_state, 60.0),
            (self._trajectory, 11.0),
            (self._wrench, 9.0),
            (self._imu, 6.0),
            (self._parameters, 5.0),
            (self._service, 3.0),
            (self._transition, 1.2),
            (self._clock, 1.0),
            (self._wait, 0.7),
            (self._description, 0.25),
        )
        if find_spec('control_msgs'):
            self._kinds += (self._goal, 3.0), (self._cancel, 0.7), (self._factor, 1.0)

    # ---- the run

    def steps(self, messages: int, probe_every: int = 150) -> Iterator[Step]:
        """Yield steps until so many messages have been among them; probes in between."""
        makers, weights = zip(*self._kinds, strict=True)
        sent = probes = 0
        yield Step('revive')
        while sent < messages:
            if self._mood_left <= 0:
                # Calm, so that motions get somewhere; disturbed; nothing right at all.
                self._mood = self.rng.choice((0.02, 0.02, 0.15, 0.5, 1.0))
                self._mood_left = self.rng.randint(10, 120)
                if self.rng.random() < 0.7:
                    yield Step('revive')
            self._mood_left -= 1
            step = self.rng.choices(makers, weights)[0]()
            sent += step.counts
            yield self._as_bytes(step) if self._with_bytes else step
            if step.counts and sent % probe_every == 0:
                yield self._probe(probes % 4 == 3)
                probes += 1
        yield self._probe(with_report=True)

    def trajectories(self, count: int) -> Iterator[Step]:
        """Yield trajectories alone, some of them as bytes, for who annotates them."""
        for _ in range(count):
            self._mood = self.rng.choice((0.0, 0.3, 0.8))
            step = self._spoiled('joint_trajectory', self._any_trajectory(50))
            yield self._as_bytes(step) if self._is_mutated() else step

    def _probe(self, with_report: bool) -> Step:
        begin = self.time
        # What the probe takes as a rule, by the clock of the states and by the report's period.
        self.time += 1_100_000_000 if with_report else 100_000_000
        return Step('probe', (begin, with_report))

    def _is_mutated(self) -> bool:
        return self.rng.random() < self._mood

    def _spoiled(self, kind: str, message: Any, after: float = 0.0) -> Step:
        """Return a message as a step, now and then with something hostile in some fields."""
        count = self.rng.choice((1, 1, 2, 3)) if self._is_mutated() else 0
        return Step(kind, message, after, tuple(self.hostile.spoil(message) for _ in range(count)))

    def _as_bytes(self, step: Step) -> Step:
        """Return a message as bytes, now and then, and not those of the message."""
        rng = self.rng
        is_message = step.counts and not step.kind.startswith('~/')
        if not is_message or rng.random() > 0.3 * self._mood:
            return step
        data = bytearray(serialize_message(step.message))
        what = rng.choice(('short', 'long', 'bytes', 'length', 'encoding', 'noise'))
        if what == 'short':
            del data[rng.randrange(len(data)) :]
        elif what == 'long':
            data += rng.randbytes(rng.choice((1, 8, 1000)))
        elif what == 'bytes':
            for _ in range(rng.randint(1, 8)):
                data[rng.randrange(len(data))] = rng.randrange(256)
        elif what == 'noise':
            data = bytearray(rng.randbytes(rng.choice((0, 1, 3, 4, 5, 100))))
        else:
            # The length of something, as likely as not.
            place = 0 if what == 'encoding' else 4 * rng.randrange(1, max(len(data) // 4, 2))
            length = rng.choice((0, 1, 2**16, 3 * 2**8, 2**31 - 1, 2**32 - 1))
            data[place : place + 4] = length.to_bytes(4, 'little')
        return replace(step, message=bytes(data), mutations=(*step.mutations, what))

    # ---- time

    @staticmethod
    def _put_stamp(stamp: Any, nanoseconds: int) -> None:
        stamp.sec, stamp.nanosec = divmod(min(max(nanoseconds, EARLIEST), LATEST), NANO)

    def _spoil_time(self, stamp: Any) -> None:
        rng = self.rng
        if rng.random() < 0.1:
            # The clock itself has been set: the next messages go on from there.
            self.time += rng.choice((-1, 1)) * rng.choice((2 * 10**8, 2 * 10**9, 10**12))
            self.time = min(max(self.time, 10**6), 2 * 10**18)
        near = rng.choice((0, round(PERIOD * NANO), rng.randint(1, 900_000_000)))
        far = rng.choice((10**9, 5 * 10**9, 10**12, 10**13, 10**16))
        ends = rng.choice((0, -NANO, EARLIEST, LATEST, rng.randint(EARLIEST, LATEST)))
        sign = rng.choice((-1, 1))
        self._put_stamp(stamp, rng.choice((self.time + sign * near, self.time + sign * far, ends)))
        if rng.random() < 0.2:
            stamp.nanosec = rng.choice((999_999_999, NANO, 2**32 - 1))

    # ---- topics

    def _joint_state(self) -> Step:
        rng, message = self.rng, JointState()
        dt = PERIOD if rng.random() < 0.9 else rng.choice((0.0, 1e-9, 1e-5, 0.001, 0.03, 0.09))
        self.time += round(dt * NANO)
        self._phase += dt
        self._put_stamp(message.header.stamp, self.time)
        order = list(range(self.n))
        if rng.random() < 0.1:
            rng.shuffle(order)
        message.name = [self.names[i] for i in order]
        message.position = [self._swings[i].position(self._phase) for i in order]
        message.velocity = [self._swings[i].velocity(self._phase) for i in order]
        if rng.random() < 0.3:
            message.effort = [rng.gauss(0.0, 20.0) for _ in order]
        mutations: tuple[str, ...] = ()
        if rng.random() < 0.2 * self._mood:
            if rng.random() < 0.3:
                # For good: somebody has moved it.
                self._phase += rng.uniform(0.0, 5.0)
            jump = rng.choice((-1, 1)) * rng.choice((0.015, 0.03, 1.0, 6.28))
            message.position[rng.randrange(self.n)] += jump
            mutations = ('jump',)
        step = self._spoiled('joint_states', message, dt)
        return replace(step, mutations=mutations + step.mutations)

    def _any_trajectory(self, largest: int = 200) -> JointTrajectory:
        """Return a motion from where the arm is, at rest at its end."""
        rng, message = self.rng, JointTrajectory()
        order = list(range(self.n))
        if rng.random() < 0.2:
            rng.shuffle(order)
        message.joint_names = [self.names[i] for i in order]
        if rng.random() < 0.3:
            self._put_stamp(message.header.stamp, self.time + rng.choice((0, 10**7, 10**8)))
        count = largest if rng.random() < 0.03 else rng.choice((1, 1, 2, 3, 5, 12))
        derivatives = rng.choice((0, 0, 1, 2))
        # Mutated: hardly any time between the points.
        step = 1e-9 if rng.random() < 0.1 * self._mood else rng.choice((0.02, 0.1, 0.5))
        start = rng.choice((0.0, step))
        for k in range(count):
            point, is_last = JointTrajectoryPoint(), k == count - 1
            time = start + k * step
            point.positions = [self._swings[i].position(self._phase + time) for i in order]
            if derivatives > 0:
                point.velocities = [0.0 if is_last else rng.gauss(0.0, 0.2) for _ in order]
            if derivatives > 1:
                point.accelerations = [0.0 if is_last else rng.gauss(0.0, 0.5) for _ in order]
            if rng.random() < 0.1:
                point.effort = [rng.gauss(0.0, 5.0) for _ in order]
            self._put_stamp(point.time_from_start, round(time * NANO))
            message.points.append(point)
        return message

    def _trajectory(self) -> Step:
        return self._spoiled('joint_trajectory', self._any_trajectory())

    def _goal(self) -> Step:
        from control_msgs.action import FollowJointTrajectory

        rng, goal = self.rng, FollowJointTrajectory.Goal()
        goal.trajectory = self._any_trajectory(2_001)
        goal.path_tolerance, goal.goal_tolerance = self._tolerances(), self._tolerances()
        if rng.random() < 0.3:
            self._put_stamp(goal.goal_time_tolerance, rng.choice((0, 10**6, 10**9, -(10**9))))
        step = self._spoiled(GOAL, goal)
        if step.mutations and rng.random() < 0.7:
            return replace(step, mutations=(self.hostile.spoil(goal.trajectory), *step.mutations))
        return step

    def _tolerances(self) -> list[Any]:
        from control_msgs.msg import JointTolerance

        rng = self.rng
        names = [name for name in self.names if rng.random() < 0.8] if rng.random() < 0.5 else []
        sizes = (-1.0, 0.0, 1e-4, 0.1, 10.0)
        return [JointTolerance(name=name, position=rng.choice(sizes)) for name in names]

    def _cancel(self) -> Step:
        return Step(CANCEL, self.rng.choice((0, 0, 0, 1, 5)))

    def _factor(self) -> Step:
        from control_msgs.msg import SpeedScalingFactor

        factor = self.rng.choice((0.0, 0.5, 1.0, 1.0, self.rng.random()))
        return self._spoiled(SCALING, SpeedScalingFactor(factor=factor))

    def _put_header(self, message: Any, frames: Sequence[str]) -> None:
        self._put_stamp(message.header.stamp, self.time if self.rng.random() < 0.8 else 0)
        message.header.frame_id = self.rng.choice(frames)

    def _wrench(self) -> Step:
        gauss, message = self.rng.gauss, WrenchStamped()
        self._put_header(message, self.case.tip_frames)
        message.wrench.force = Vector3(x=gauss(0.0, 5.0), y=gauss(0.0, 5.0), z=gauss(0.0, 5.0))
        message.wrench.torque = Vector3(x=gauss(0.0, 1.0), y=gauss(0.0, 1.0), z=gauss(0.0, 1.0))
        return self._spoiled('wrench', message)

    def _imu(self) -> Step:
        message = Imu()
        self._put_header(message, self.case.base_frames)
        tilt = 0.2 * math.sin(0.5 * self._phase)
        message.orientation = Quaternion(x=math.sin(0.5 * tilt), w=math.cos(0.5 * tilt))
        rate = 0.1 * math.cos(0.5 * self._phase)
        message.angular_velocity = Vector3(x=rate, y=self.rng.gauss(0.0, 0.01))
        force = Vector3(y=9.81 * math.sin(tilt), z=9.81 * math.cos(tilt))
        message.linear_acceleration = force
        for what in ('orientation', 'angular_velocity', 'linear_acceleration'):
            setattr(message, f'{what}_covariance', [0.01, *[0.0, 0.0, 0.0, 0.01] * 2])
        return self._spoiled('imu', message)

    def _description(self) -> Step:
        if self._is_mutated() or not self.case.description:
            text = String(data=self.rng.choice(self._descriptions))
            return Step('robot_description', text, 0.0, ('another text',))
        return Step('robot_description', String(data=self.case.description))

    # ---- services

    def _parameter_value(self, spec: ParameterSpec) -> Any:
        """Return a value of the right kind that a user might give."""
        rng = self.rng
        if spec.type == 'bool':
            return rng.random() < 0.7
        if spec.name == 'robot_description':
            return rng.choice(('', self.case.description, *self._descriptions))
        if spec.type == 'string':
            given = self.plan.parameters.get(spec.name, '')
            return rng.choice(spec.choices or ('', '', *self._links, given))
        if spec.type == 'string[]':
            names = rng.sample(self.names, self.n)
            return names if spec.name == 'joints' else names[: rng.choice((0, 0, 1))]
        if spec.type == 'double':
            return self._parameter_number(spec)
        count = rng.choice(spec.lengths or (1, 1, self.n, self.n, self.n**2, 0))
        if rng.random() < 0.3 and isinstance(spec.default, tuple) and len(spec.default) == count:
            return list(spec.default)
        return [self._parameter_number(spec) for _ in range(count)]

    def _parameter_number(self, spec: ParameterSpec) -> float:
        rng = self.rng
        low, high = max(spec.minimum, -1e3), min(spec.maximum, 1e3)
        if rng.random() < 0.1:
            return rng.choice((low, high, 0.0, INF))
        return min(max(rng.choice((0.01, 0.1, 1.0, 10.0, 100.0)) * rng.random(), low), high)

    def _hostile_value(self, value: Any) -> Any:
        """Return another value for a parameter: of its kind, or of another one."""
        rng, number, word = self.rng, self.hostile.number, self.hostile.word
        if rng.random() < 0.7:
            if isinstance(value, list):
                return self.hostile.spoil_list(
                    value, word if value and isinstance(value[0], str) else number
                )
            if isinstance(value, (float, str)):
                return number() if isinstance(value, float) else word()
        one = rng.choice((True, 7, -(2**63), number(), word(), b'\x00'))
        return rng.choice(([], None, [one], [one, one], True if isinstance(one, bytes) else one))

    def _parameter(self) -> tuple[ParameterMessage, str]:
        rng = self.rng
        if rng.random() < 0.04 + 0.1 * self._mood:
            others = 'use_sim_time', 'no.such', 'start_type_description_service'
            name = rng.choice((*others, self.hostile.word()))
            value, what = self._hostile_value(None), 'unknown'
        else:
            spec = rng.choice(PARAMETERS if rng.random() < 0.25 else SETTABLE)
            name, value, what = spec.name, self._parameter_value(spec), ''
            if self._is_mutated():
                value, what = self._hostile_value(value), 'value'
        return ParameterMessage(name=name, value=parameter_value(value)), what

    def _parameters(self) -> Step:
        rng = self.rng
        if rng.random() < 0.3:
            return Step('~/set_parameters_atomically', sane_request(self.plan))
        pairs = [self._parameter() for _ in range(rng.choice((1, 1, 2, 3, 8)))]
        parameters = [message for message, _ in pairs]
        mutations = tuple(what for _, what in pairs if what)
        if self._is_mutated() and rng.random() < 0.1:
            mutations += (self.hostile.spoil(parameters[0]),)
        if rng.random() < 0.6:
            request = SetParametersAtomically.Request(parameters=parameters)
            return Step('~/set_parameters_atomically', request, 0.0, mutations)
        request = SetParameters.Request(parameters=parameters)
        return Step('~/set_parameters', request, 0.0, mutations)

    def _transition(self) -> Step:
        rng, request = self.rng, ChangeState.Request()
        transition = request.transition
        if self._is_mutated() and rng.random() < 0.3:
            if rng.random() < 0.5:
                transition.id = rng.choice((8, 9, 10, 11, 12, 30, 60, 61, 62, 97, 98, 99))
            what = self.hostile.spoil(request)
            if not self._may_shut_down:
                transition.id = min(transition.id, 4)
            return Step('~/change_state', request, 0.0, (what,))
        if rng.random() < 0.06 and self._may_shut_down:
            transition.label = 'shutdown'
        else:
            labels = ('configure', 'activate', 'deactivate', 'cleanup', 'destroy', 'create')
            transition.label = rng.choice(labels[: 4 if rng.random() < 0.95 else 6])
        return Step('~/change_state', request)

    def _service(self) -> Step:
        rng = self.rng
        kind = rng.choice(list(SERVICES))
        request = SERVICES[kind].Request()
        if hasattr(request, 'names'):
            request.names = [rng.choice(PARAMETERS).name for _ in range(3)]
        # Nothing that the node holds comes of those that have fields.
        is_plain = not request.get_fields_and_field_types()
        return Step(kind, request, 0.0, () if is_plain else (self.hostile.spoil(request),))

    # ---- time

    def _clock(self) -> Step:
        rng = self.rng
        if rng.random() < 0.5:
            message = Clock()
            self._put_stamp(message.clock, self.time)
            return self._spoiled('/clock', message)
        jump = rng.choice((-1, 1)) * rng.choice((0.05, 0.5, 2.0, 1e4))
        return Step('clock', jump if self._is_mutated() else 0.0)

    def _wait(self) -> Step:
        rng = self.rng
        seconds = rng.choice((0.03, 0.09, 0.11, 0.3, 0.6, 1.2))
        if rng.random() < 0.03:
            seconds = 20.0
        if rng.random() < 0.5:
            # The messages were only late: their stamps go on from where they were.
            self.time += round(seconds * NANO)
            self._phase += seconds
        return Step('wait', None, seconds)


def good_state(robot: Robot, stamp: int) -> JointState:
    """Return the state of an arm that rests within its limits, at a time [ns]."""
    message = JointState(name=list(robot.joint_names), velocity=[0.0] * robot.n)
    message.header.stamp.sec, message.header.stamp.nanosec = divmod(stamp, NANO)
    message.position = [min(max(0.3, joint.lower), joint.upper) for joint in robot.joints]
    return message


def parameter_value(value: Any) -> ParameterValue:
    """Return a value as a message; empty lists are of strings."""
    if isinstance(value, (list, tuple)) and not value:
        return ParameterValue(type=9)
    return Parameter('value', value=value).get_parameter_value()


def parameter_messages(values: dict[str, Any]) -> list[ParameterMessage]:
    """Return parameters by name as messages."""
    return [
        ParameterMessage(name=name, value=parameter_value(value)) for name, value in values.items()
    ]


def sane_request(plan: Plan) -> SetParametersAtomically.Request:
    """Return a request that sets everything that can be set at any time to what works."""
    return SetParametersAtomically.Request(parameters=parameter_messages(plan.sane))
