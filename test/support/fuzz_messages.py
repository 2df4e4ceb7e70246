"""Messages for every input of the node, valid and mutated; all of it follows from one seed.

:class:`MessageSource` keeps a small world (an arm that moves smoothly, a clock) and sends what a
robot would send: most of it right, so that the node gets into all of its states, and the rest
mutated in one or several ways at once. It never looks at the node: the same seed gives the same
steps, whatever the node does with them.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

from geometry_msgs.msg import WrenchStamped
from lifecycle_msgs.srv import ChangeState, GetState
from padding import serialize
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
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import Imu, JointState
from std_msgs.msg import String
from std_srvs.srv import Trigger
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from ne_dynamics import Robot, load_model
from ne_dynamics.model.robot import JointType
from ne_dynamics.ros.settings.parameters import PARAMETERS
from ne_dynamics.settings import Changes, ParameterSpec
from ne_dynamics.shipped import shipped_file

SCALING = '~/speed_scaling_input'
GOAL, CANCEL = '~/follow_joint_trajectory', '~/follow_joint_trajectory cancel'
"""Kinds of steps that concern the action."""

START = 20_000.0
"""Where the clocks of the world begin [s]."""

PERIOD = 0.002
"""Between two joint states [s]."""

INT32_MAX = 2**31 - 1
UINT32_MAX = 2**32 - 1

NAN, INF = math.nan, math.inf
NUMBERS = (
    *(NAN, INF, -INF),
    *(1.7976931348623157e308, -1.7976931348623157e308, 1e308, -1e300, 1e200, -1e155, 1e154),
    *(1e100, -1e39, 1e20, -1e16, 1e12, -1e9, 1e6, -1e4, 1e3),
    *(5e-324, -5e-324, 2.2250738585072014e-308, -1e-310, 1e-200, 1e-100, -1e-30, 1e-17),
    *(0.0, -0.0, 1.0, -1.0, math.pi, -math.tau, 1e6 * math.tau),
)
WORDS = (
    *('', ' ', '/', 'joint_1 ', ' joint_1', 'JOINT_1', 'joint_1\n', 'joint_7', 'joint_', 'world'),
    *('gelenk_ä', 'gelenk_a\u0308', '関節_1', '🦾', '\u202e1_tnioj', '\ufeffjoint_1', '\ufffd'),
    *('%s%n%d', '{}', '{0.__class__}', "'", '"', '\\', '\x1b[31m', '\t\r\n', '../..', 'nan', '0'),
    *('a' * 300, 'ü' * 5_000, 'a: b: c: ' * 50),
)

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


def _case(model: str) -> ModelCase:
    if model == 'lift':
        from ne_dynamics import load_urdf

        robot, parameters, text = load_urdf(LIFT), {'robot_description': LIFT}, LIFT
    else:
        path = str(shipped_file(model))
        robot, parameters = load_model(path), {'model_file': path}
        text = Path(path).read_text() if model.endswith('.urdf') else ''
    bodies = {link.name: link.body for link in robot.links}
    tip = robot.tip_link or robot.links[-1].name
    base = robot.links[0].name
    return ModelCase(
        robot,
        parameters,
        text,
        tuple(name for name, body in bodies.items() if body == bodies[tip]),
        tuple(name for name, body in bodies.items() if body == bodies[base]),
    )


MODELS = ('six_axis_arm.urdf', 'lift', 'puma560_modified_dh.yaml')
_cases: dict[str, ModelCase] = {}


def model_case(model: str) -> ModelCase:
    """Return the case of that name, one of :data:`MODELS`."""
    if model not in _cases:
        _cases[model] = _case(model)
    return _cases[model]


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
        values = {
            spec.name: spec.default for spec in PARAMETERS if spec.changes is Changes.ANY_TIME
        }
        return values | {key: self.parameters[key] for key in values if key in self.parameters}


KNOWN = {spec.name: spec for spec in PARAMETERS}


def plan(seed: int, number: int) -> Plan:
    """Return the run of that number; rate limits are set in every other one."""
    rng = random.Random(f'{seed} plan {number}')
    model = MODELS[0] if rng.random() < 0.6 else rng.choice(MODELS[1:])
    case = model_case(model)
    n = len(case.robot.joints)
    parameters: dict[str, Any] = dict(case.parameters)
    if model == MODELS[0] and rng.random() < 0.3:
        # By the topic then.
        parameters = {}
    parameters['backend'] = 'compiled' if rng.random() < 0.25 else 'python'
    parameters['mode'] = rng.choice(KNOWN['mode'].choices)
    if rng.random() < 0.7:
        parameters['mode'] = 'computed_torque'
    has_feedback = parameters['mode'] == 'computed_torque'
    if not has_feedback:
        # Gains of feedforward_pd are zero.
        parameters['feedforward.robot_closes_loop'] = True
    joints = list(case.robot.joint_names)
    if rng.random() < 0.4:
        rng.shuffle(joints)
        parameters['joints'] = tuple(joints)
    limits = case.robot.limits('effort_limit').tolist()
    by_name = dict(zip(case.robot.joint_names, limits, strict=True))
    if min(limits) <= 0.0 or rng.random() < 0.2:
        parameters['effort_limits'] = tuple(
            rng.choice((0.5, 1.0)) * by_name[name] if 0.0 < by_name[name] < INF else 200.0
            for name in joints
        )
    if number % 2:
        largest = max(limit if 0.0 < limit < INF else 200.0 for limit in limits)
        # With feedback a slow one is refused.
        rate = 4.0 * largest if has_feedback else rng.choice((1.0, 50.0, 2000.0))
        parameters['effort_rate_limit'] = (
            (rate,) if rng.random() < 0.5 else tuple(rate * rng.uniform(0.5, 2) for _ in range(n))
        )
    parameters['wrench.enabled'] = rng.random() < 0.75
    if model == MODELS[0]:
        parameters['wrench.sensor_link'] = 'ft_sensor'
        parameters['wrench.includes_tool'] = rng.random() < 0.7
    if rng.random() < 0.3:
        parameters['wrench.on_timeout'] = 'zero'
    if 'imu.enabled' in KNOWN:
        parameters['imu.enabled'] = rng.random() < 0.6
    if 'on_deactivate' in KNOWN:
        parameters['on_deactivate'] = rng.choice(('gravity', 'gravity', 'zero', 'none'))
    if 'payload.mass' in KNOWN and rng.random() < 0.3:
        parameters['payload.mass'] = 1.5
    parameters['use_sim_time'] = rng.random() < 0.15
    return Plan(rng.randrange(2**48), model, parameters)


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
        self.time = round(START * 1e9)
        self._phase = 0.0
        self._mood = 0.0
        self._mood_left = 0
        joints = self.case.robot.joints
        self.names = [joint.name for joint in joints]
        self.n = len(joints)
        self._center, self._amplitude, self._rate = [], [], []
        for joint in joints:
            wide = joint.type is JointType.CONTINUOUS or not math.isfinite(joint.upper)
            lower, upper = (-1.5, 1.5) if wide else (joint.lower, joint.upper)
            self._center.append(0.5 * (lower + upper) + self.rng.uniform(-0.1, 0.1))
            self._amplitude.append(0.2 * min(upper - lower, 2.0))
            self._rate.append(self.rng.uniform(0.3, 1.0))
        self._descriptions = bad_descriptions(self.case.description or LIFT)
        self._kinds = (
            (self._joint_state, 60.0),
            (self._trajectory, 11.0),
            (self._wrench, 9.0),
            (self._imu, 6.0),
            (self._parameters, 5.0),
            (self._trigger, 2.0),
            (self._transition, 1.2),
            (self._standard_service, 0.7),
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
            for step in self.rng.choices(makers, weights)[0]():
                sent += step.counts
                yield self._as_bytes(step) if self._with_bytes else step
                if step.counts and sent % probe_every == 0:
                    yield self._probe(probes % 4 == 3)
                    probes += 1
        yield self._probe(with_report=True)

    def _probe(self, with_report: bool) -> Step:
        begin = self.time
        # What the probe takes as a rule, by the clock of the states and by the report's period.
        self.time += 1_100_000_000 if with_report else 100_000_000
        return Step('probe', (begin, with_report))

    def _is_mutated(self) -> bool:
        return self.rng.random() < self._mood

    # ---- numbers and words

    def number(self) -> float:
        """Return any number at all."""
        rng = self.rng
        if rng.random() < 0.7:
            return rng.choice(NUMBERS)
        return rng.choice((-1.0, 1.0)) * rng.uniform(1, 10) * 10.0 ** rng.randint(-320, 307)

    def word(self) -> str:
        """Return any text at all."""
        rng = self.rng
        roll = rng.random()
        if roll < 0.6:
            return rng.choice(WORDS)
        if roll < 0.8:
            return rng.choice(self.names)
        if roll < 0.99:
            return ''.join(chr(rng.randint(1, 0x2FFF)) for _ in range(rng.randint(0, 40)))
        return 'z' * 100_000

    def position(self, ahead: float = 0.0) -> list[float]:
        """Return where the arm is, or would be a while later."""
        return [
            center + amplitude * math.sin(rate * (self._phase + ahead))
            for center, amplitude, rate in zip(
                self._center, self._amplitude, self._rate, strict=True
            )
        ]

    def velocity(self) -> list[float]:
        """Return how fast it is."""
        return [
            amplitude * rate * math.cos(rate * self._phase)
            for amplitude, rate in zip(self._amplitude, self._rate, strict=True)
        ]

    def _spoil_list(self, values: list[float]) -> list[float]:
        rng, values = self.rng, list(values)
        roll = rng.random()
        if roll < 0.45 and values:
            values[rng.randrange(len(values))] = self.number()
        elif roll < 0.55:
            values = [self.number() for _ in values]
        elif roll < 0.65:
            values = values[: rng.randint(0, max(len(values) - 1, 0))]
        elif roll < 0.75:
            values += [self.number() for _ in range(rng.choice((1, 2, 50)))]
        elif roll < 0.85:
            values = []
        elif roll < 0.93:
            rng.shuffle(values)
        else:
            values = [rng.gauss(0.0, 3.0) for _ in values]
        return values

    def _spoil_names(self, names: list[str]) -> list[str]:
        rng, names = self.rng, list(names)
        roll = rng.random()
        if roll < 0.2 and names:
            del names[rng.randrange(len(names))]
        elif roll < 0.4 and names:
            names.insert(rng.randint(0, len(names)), rng.choice(names))
        elif roll < 0.55:
            rng.shuffle(names)
        elif roll < 0.8 and names:
            names[rng.randrange(len(names))] = self.word()
        elif roll < 0.9:
            names = []
        else:
            names += [self.word() for _ in range(rng.choice((1, 3, 100)))]
        return names

    # ---- time

    @staticmethod
    def _put_stamp(stamp: Any, nanoseconds: int) -> None:
        stamp.sec, stamp.nanosec = divmod(
            min(max(nanoseconds, -(2**31) * 10**9), (2**31 - 1) * 10**9), 10**9
        )

    def _spoil_stamp(self, stamp: Any) -> str:
        rng = self.rng
        roll = rng.randrange(11)
        if roll == 0:
            stamp.sec = stamp.nanosec = 0
            return 'stamp zero'
        if roll == 1:
            self._put_stamp(stamp, self.time - rng.randint(1, 900_000_000))
            return 'stamp a little back'
        if roll == 2:
            self._put_stamp(stamp, self.time - rng.choice((10**9, 5 * 10**9, 10**12)))
            return 'stamp back'
        if roll == 3:
            self._put_stamp(stamp, self.time + rng.randint(1, 900_000_000))
            return 'stamp a little ahead'
        if roll == 4:
            self._put_stamp(stamp, self.time + rng.choice((10**9, 10**10, 10**13, 10**16)))
            return 'stamp ahead'
        if roll == 5:
            stamp.sec = -rng.choice((1, 100, 2**31))
            return 'stamp negative'
        if roll == 6:
            stamp.sec, stamp.nanosec = INT32_MAX, rng.choice((0, 999_999_999, UINT32_MAX))
            return 'stamp last'
        if roll == 7:
            stamp.nanosec = rng.choice((10**9, UINT32_MAX))
            return 'nanosec extreme'
        if roll == 8:
            # The clock itself has been set: the next messages go on from there.
            self.time += rng.choice((-1, 1)) * rng.choice((2 * 10**8, 2 * 10**9, 10**12))
            self.time = min(max(self.time, 10**6), 2 * 10**18)
            self._put_stamp(stamp, self.time)
            return 'clock set'
        if roll == 9:
            self._put_stamp(stamp, rng.randint(-(2**31) * 10**9, INT32_MAX * 10**9))
            return 'stamp anything'
        self._put_stamp(stamp, self.time - round(PERIOD * 1e9))
        return 'stamp repeated'

    def _spoil_duration(self, duration: Any) -> None:
        rng = self.rng
        duration.sec, duration.nanosec = rng.choice(
            ((0, 0), (-1, 0), (0, 1), (INT32_MAX, UINT32_MAX), (-(2**31), 0), (10**6, 0), (0, 5))
        )

    def _as_bytes(self, step: Step) -> Step:
        """Return a message as bytes, now and then, and not those of the message."""
        rng = self.rng
        if step.kind.startswith('~/'):
            return step
        if not step.counts or isinstance(step.message, bytes) or rng.random() > 0.3 * self._mood:
            return step
        data = serialize(step.message)
        roll = rng.randrange(6)
        if roll == 0:
            del data[rng.randrange(len(data)) :]
        elif roll == 1:
            for _ in range(rng.randint(1, 8)):
                data[rng.randrange(len(data))] = rng.randrange(256)
        elif roll == 2:
            # The length of something, as likely as not.
            place = 4 * rng.randrange(1, max(len(data) // 4, 2))
            length = rng.choice((0, 1, 2**16, 2**31 - 1, UINT32_MAX))
            data[place : place + 4] = length.to_bytes(4, 'little')
        elif roll == 3:
            data[:4] = rng.choice((b'\0\0\0\0', b'\0\3\0\0', b'\xff\xff\xff\xff'))
        elif roll == 4:
            data += rng.randbytes(rng.choice((1, 8, 1000)))
        else:
            data = bytearray(rng.randbytes(rng.choice((0, 1, 3, 4, 5, 100))))
        return replace(step, message=bytes(data), mutations=(*step.mutations, 'bytes'))

    # ---- topics

    def _joint_state(self) -> Iterator[Step]:
        rng, message = self.rng, JointState()
        dt = PERIOD if rng.random() < 0.9 else rng.choice((0.0, 1e-9, 1e-5, 0.001, 0.03, 0.09))
        self.time += round(dt * 1e9)
        self._phase += dt
        self._put_stamp(message.header.stamp, self.time)
        names, position, velocity = list(self.names), self.position(), self.velocity()
        effort = [rng.gauss(0.0, 20.0) for _ in names] if rng.random() < 0.3 else []
        if rng.random() < 0.1:
            order = list(range(self.n))
            rng.shuffle(order)
            names = [names[i] for i in order]
            position = [position[i] for i in order]
            velocity = [velocity[i] for i in order]
            effort = [effort[i] for i in order] if effort else []
        mutations = []
        if self._is_mutated():
            for _ in range(rng.choice((1, 1, 1, 2, 3))):
                what = rng.choice(('name', 'position', 'velocity', 'effort', 'stamp', 'jump'))
                mutations.append(what)
                if what == 'name':
                    names = self._spoil_names(names)
                elif what == 'position':
                    position = self._spoil_list(position)
                elif what == 'velocity':
                    velocity = self._spoil_list(velocity)
                elif what == 'effort':
                    effort = self._spoil_list(effort or [0.0] * self.n)
                elif what == 'stamp':
                    mutations[-1] = self._spoil_stamp(message.header.stamp)
                elif position:
                    if rng.random() < 0.3:
                        # For good: somebody has moved it.
                        self._phase += rng.uniform(0.0, 5.0)
                    index = rng.randrange(len(position))
                    position[index] += rng.choice((-1, 1)) * rng.choice((0.015, 0.03, 1.0, 6.28))
        message.header.frame_id = self.word() if rng.random() < 0.01 else ''
        message.name, message.position = names, position
        message.velocity, message.effort = velocity, effort
        yield Step('joint_states', message, dt, tuple(mutations))

    def _points(self, names: list[str], count: int) -> list[JointTrajectoryPoint]:
        """Return a motion from where the arm is, at rest at its end."""
        rng = self.rng
        order = rng.choice((0, 0, 1, 2))
        step = rng.choice((0.02, 0.1, 0.5))
        start = rng.choice((0.0, step))
        by_name = dict(zip(self.names, range(self.n), strict=True))
        points = []
        for k in range(count):
            point = JointTrajectoryPoint()
            where, last = self.position(start + k * step), k == count - 1
            point.positions = [where[by_name.get(name, 0)] for name in names]
            if order > 0:
                point.velocities = [0.0 if last else rng.gauss(0.0, 0.2) for _ in names]
            if order > 1:
                point.accelerations = [0.0 if last else rng.gauss(0.0, 0.5) for _ in names]
            if rng.random() < 0.1:
                point.effort = [rng.gauss(0.0, 5.0) for _ in names]
            self._put_stamp(point.time_from_start, round((start + k * step) * 1e9))
            points.append(point)
        return points

    def _any_trajectory(self, largest: int = 200) -> tuple[JointTrajectory, tuple[str, ...]]:
        rng, message = self.rng, JointTrajectory()
        names = list(self.names)
        if rng.random() < 0.2:
            rng.shuffle(names)
        count = largest if rng.random() < 0.03 else rng.choice((1, 1, 2, 3, 5, 12))
        points = self._points(names, count)
        if rng.random() < 0.3:
            self._put_stamp(message.header.stamp, self.time + rng.choice((0, 10**7, 10**8)))
        mutations = []
        if self._is_mutated():
            for _ in range(rng.choice((1, 1, 2, 3))):
                what = rng.choice(
                    ('names', 'values', 'values', 'times', 'stamp', 'empty', 'fast', 'twice')
                )
                mutations.append(what)
                if what == 'names':
                    names = self._spoil_names(names)
                elif what == 'values' and points:
                    point = rng.choice(points)
                    key = rng.choice(('positions', 'velocities', 'accelerations', 'effort'))
                    values = list(getattr(point, key)) or [0.0] * self.n
                    setattr(point, key, self._spoil_list(values))
                elif what == 'times' and points:
                    if rng.random() < 0.2:
                        rng.shuffle(points)
                    else:
                        self._spoil_duration(rng.choice(points).time_from_start)
                elif what == 'stamp':
                    mutations[-1] = self._spoil_stamp(message.header.stamp)
                elif what == 'empty':
                    points = []
                elif what == 'fast':
                    # In order, but hardly any time between the points.
                    for k, point in enumerate(points):
                        self._put_stamp(point.time_from_start, k + 1)
                elif what == 'twice' and points:
                    points.insert(0, points[-1])
        message.joint_names, message.points = names, points
        return message, tuple(mutations)

    def _trajectory(self) -> Iterator[Step]:
        message, mutations = self._any_trajectory()
        yield Step('joint_trajectory', message, 0.0, mutations)

    def trajectories(self, count: int) -> Iterator[Step]:
        """Yield trajectories alone, some of them as bytes, for who annotates them."""
        for _ in range(count):
            self._mood = self.rng.choice((0.0, 0.3, 0.8))
            message, mutations = self._any_trajectory(50)
            step = Step('joint_trajectory', message, 0.0, mutations)
            yield self._as_bytes(step) if self._is_mutated() else step

    def _goal(self) -> Iterator[Step]:
        from control_msgs.action import FollowJointTrajectory
        from control_msgs.msg import JointComponentTolerance

        rng, goal = self.rng, FollowJointTrajectory.Goal()
        goal.trajectory, mutations = self._any_trajectory(2_001)
        goal.path_tolerance = self._tolerances()
        goal.goal_tolerance = self._tolerances()
        if rng.random() < 0.3:
            self._put_stamp(goal.goal_time_tolerance, rng.choice((0, 10**6, 10**9, -(10**9))))
        if self._is_mutated():
            what = rng.choice(('tolerance', 'time tolerance', 'other fields'))
            mutations = (*mutations, what)
            if what == 'time tolerance':
                self._spoil_duration(goal.goal_time_tolerance)
            elif what == 'other fields':
                goal.component_path_tolerance = [
                    JointComponentTolerance(joint_name=self.word(), position=self.number())
                ]
                goal.multi_dof_trajectory.joint_names = [self.word()]
            for item in (*goal.path_tolerance, *goal.goal_tolerance):
                key = rng.choice(('position', 'velocity', 'acceleration', 'name'))
                setattr(item, key, self.word() if key == 'name' else self.number())
        yield Step(GOAL, goal, 0.0, mutations)

    def _tolerances(self) -> list[Any]:
        from control_msgs.msg import JointTolerance

        rng = self.rng
        if rng.random() < 0.5:
            return []
        return [
            JointTolerance(name=name, position=rng.choice((-1.0, 0.0, 1e-4, 0.1, 10.0)))
            for name in self.names
            if rng.random() < 0.8
        ]

    def _cancel(self) -> Iterator[Step]:
        yield Step(CANCEL, self.rng.choice((0, 0, 0, 1, 5)))

    def _factor(self) -> Iterator[Step]:
        from control_msgs.msg import SpeedScalingFactor

        rng = self.rng
        factor, mutations = rng.choice((0.0, 0.5, 1.0, 1.0, rng.random())), ()
        if self._is_mutated():
            factor, mutations = self.number(), ('factor',)
        yield Step(SCALING, SpeedScalingFactor(factor=factor), 0.0, mutations)

    def _frame(self, good: tuple[str, ...]) -> str:
        rng = self.rng
        roll = rng.random()
        if roll < 0.4:
            return self.word()
        if roll < 0.6:
            return ''
        return rng.choice([link.name for link in self.case.robot.links])

    def _vector(self, vector: Any, values: list[float]) -> None:
        vector.x, vector.y, vector.z = values

    def _wrench(self) -> Iterator[Step]:
        rng, message = self.rng, WrenchStamped()
        self._put_stamp(message.header.stamp, self.time if rng.random() < 0.8 else 0)
        message.header.frame_id = rng.choice(self.case.tip_frames)
        force = [rng.gauss(0.0, 5.0) for _ in range(3)]
        torque = [rng.gauss(0.0, 1.0) for _ in range(3)]
        mutations = []
        if self._is_mutated():
            for _ in range(rng.choice((1, 1, 2))):
                what = rng.choice(('frame', 'values', 'values', 'stamp'))
                mutations.append(what)
                if what == 'frame':
                    message.header.frame_id = self._frame(self.case.tip_frames)
                elif what == 'stamp':
                    mutations[-1] = self._spoil_stamp(message.header.stamp)
                else:
                    rng.choice((force, torque))[rng.randrange(3)] = self.number()
        self._vector(message.wrench.force, force)
        self._vector(message.wrench.torque, torque)
        yield Step('wrench', message, 0.0, tuple(mutations))

    def _imu(self) -> Iterator[Step]:
        rng, message = self.rng, Imu()
        self._put_stamp(message.header.stamp, self.time if rng.random() < 0.8 else 0)
        message.header.frame_id = rng.choice(self.case.base_frames)
        tilt = 0.2 * math.sin(0.5 * self._phase)
        quaternion = [math.sin(0.5 * tilt), 0.0, 0.0, math.cos(0.5 * tilt)]
        rate = [0.1 * math.cos(0.5 * self._phase), rng.gauss(0.0, 0.01), 0.0]
        acceleration = [0.0, 9.81 * math.sin(tilt), 9.81 * math.cos(tilt)]
        covariance = [[0.01, 0.0, 0.0, 0.0, 0.01, 0.0, 0.0, 0.0, 0.01] for _ in range(3)]
        mutations = []
        if self._is_mutated():
            for _ in range(rng.choice((1, 1, 2))):
                what = rng.choice(('frame', 'value', 'value', 'quaternion', 'covariance', 'stamp'))
                mutations.append(what)
                if what == 'frame':
                    message.header.frame_id = self._frame(self.case.base_frames)
                elif what == 'stamp':
                    mutations[-1] = self._spoil_stamp(message.header.stamp)
                elif what == 'value':
                    rng.choice((rate, acceleration))[rng.randrange(3)] = self.number()
                elif what == 'quaternion':
                    quaternion = rng.choice(
                        ([0.0] * 4, [0.0, 0.0, 0.0, 2.0], [5e-324] * 4, [1e308] * 4, [NAN] * 4)
                    )
                else:
                    rng.choice(covariance)[0] = rng.choice((-1.0, NAN, INF, 0.0))
        orientation = message.orientation
        orientation.x, orientation.y, orientation.z, orientation.w = quaternion
        self._vector(message.angular_velocity, rate)
        self._vector(message.linear_acceleration, acceleration)
        message.orientation_covariance = covariance[0]
        message.angular_velocity_covariance = covariance[1]
        message.linear_acceleration_covariance = covariance[2]
        yield Step('imu', message, 0.0, tuple(mutations))

    def _description(self) -> Iterator[Step]:
        texts = self._descriptions
        if self._is_mutated():
            yield Step(
                'robot_description', String(data=self.rng.choice(texts)), 0.0, ('another text',)
            )
        elif self.case.description:
            yield Step('robot_description', String(data=self.case.description))

    # ---- services

    def _parameter_value(self, spec: ParameterSpec) -> tuple[Any, bool]:
        """Return a value that a user might give, and whether it is of the right kind."""
        rng, mutated = self.rng, self._is_mutated()
        links = [link.name for link in self.case.robot.links]
        if mutated and rng.random() < 0.3:
            wrong = (True, 7, -(2**63), self.number(), self.word(), [], [True], [1, 2], [b'\x00'])
            return rng.choice((*wrong, [self.word(), 'b'], [self.number()], None)), False
        if spec.type == 'bool':
            return rng.random() < 0.7, True
        if spec.type == 'string':
            if mutated:
                return self.word(), False
            if spec.choices:
                return rng.choice(spec.choices), True
            if spec.name == 'robot_description':
                return rng.choice(('', self.case.description, *self._descriptions)), True
            return rng.choice(('', '', *links, self.plan.parameters.get(spec.name, ''))), True
        if spec.type == 'string[]':
            names = list(self.names)
            rng.shuffle(names)
            if spec.name != 'joints':
                names = names[: rng.choice((0, 0, 1))]
            return self._spoil_names(names) if mutated else names, not mutated
        if spec.type == 'double':
            return self._parameter_number(spec, mutated), not mutated
        count = rng.choice(spec.lengths or (1, 1, self.n, self.n, self.n**2, 0))
        default = list(spec.default) if isinstance(spec.default, tuple) else []
        values = (
            [self._parameter_number(spec, False) for _ in range(count)]
            if rng.random() < 0.7 or len(default) != count
            else default
        )
        return self._spoil_list(values) if mutated else values, not mutated

    def _parameter_number(self, spec: ParameterSpec, mutated: bool) -> float:
        rng = self.rng
        if mutated:
            return self.number()
        low, high = max(spec.minimum, -1e3), min(spec.maximum, 1e3)
        if rng.random() < 0.1:
            return rng.choice((low, high, 0.0, INF))
        return min(max(rng.choice((0.01, 0.1, 1.0, 10.0, 100.0)) * rng.random(), low), high)

    def _parameter(self) -> tuple[ParameterMessage, str]:
        rng = self.rng
        if rng.random() < 0.04 + 0.1 * self._mood:
            name = rng.choice(
                ('use_sim_time', 'no.such', 'start_type_description_service', self.word())
            )
            value: Any = rng.choice((True, False, 1, self.word(), self.number(), None, []))
            what = 'unknown'
        else:
            settable = [spec for spec in PARAMETERS if spec.changes is Changes.ANY_TIME]
            spec = rng.choice(PARAMETERS if rng.random() < 0.25 else settable)
            name = spec.name
            value, is_right = self._parameter_value(spec)
            what = '' if is_right else 'value'
        message = ParameterMessage(name=name, value=parameter_value(value))
        if self._is_mutated() and rng.random() < 0.05:
            message.value.type = rng.choice((0, 5, 6, 7, 9, 10, 99, 255))
            what = 'type'
        return message, what

    def _parameters(self) -> Iterator[Step]:
        rng = self.rng
        if rng.random() < 0.3:
            yield Step('~/set_parameters_atomically', sane_request(self.plan))
            return
        pairs = [self._parameter() for _ in range(rng.choice((1, 1, 2, 3, 8)))]
        parameters = [message for message, _ in pairs]
        mutations = tuple(what for _, what in pairs if what)
        if rng.random() < 0.6:
            atomic = SetParametersAtomically.Request(parameters=parameters)
            yield Step('~/set_parameters_atomically', atomic, 0.0, mutations)
        else:
            yield Step(
                '~/set_parameters', SetParameters.Request(parameters=parameters), 0.0, mutations
            )

    def _trigger(self) -> Iterator[Step]:
        yield Step(
            self.rng.choice(('~/hold', '~/clear_fault', '~/tare_wrench', '~/estimate_payload')),
            Trigger.Request(),
        )

    def _transition(self) -> Iterator[Step]:
        rng, request = self.rng, ChangeState.Request()
        transition = request.transition
        mutations: tuple[str, ...] = ()
        if self._is_mutated() and rng.random() < 0.3:
            transition.id = rng.choice((0, 8, 9, 10, 11, 12, 30, 60, 61, 62, 97, 98, 99, 255))
            if not self._may_shut_down:
                transition.id = min(transition.id, 4)
            if rng.random() < 0.5:
                transition.label = self.word()
            mutations = ('transition',)
        elif rng.random() < 0.06 and self._may_shut_down:
            transition.label = 'shutdown'
        else:
            labels = ('configure', 'activate', 'deactivate', 'cleanup', 'destroy', 'create')
            transition.label = rng.choice(labels[: 4 if rng.random() < 0.95 else 6])
        yield Step('~/change_state', request, 0.0, mutations)

    def _standard_service(self) -> Iterator[Step]:
        rng = self.rng
        names = [rng.choice((rng.choice(PARAMETERS).name, self.word())) for _ in range(3)]
        kind, request = rng.choice(
            (
                ('~/get_state', GetState.Request()),
                ('~/get_parameters', GetParameters.Request(names=names)),
                ('~/get_parameter_types', GetParameterTypes.Request(names=names)),
                ('~/describe_parameters', DescribeParameters.Request(names=names)),
                (
                    '~/list_parameters',
                    ListParameters.Request(prefixes=names[:1], depth=rng.choice((0, 1, 2**63))),
                ),
            )
        )
        yield Step(kind, request)

    # ---- time

    def _clock(self) -> Iterator[Step]:
        rng = self.rng
        if rng.random() < 0.5:
            message = Clock()
            self._put_stamp(message.clock, self.time)
            mutations: tuple[str, ...] = ()
            if self._is_mutated():
                mutations = (self._spoil_stamp(message.clock),)
            yield Step('/clock', message, 0.0, mutations)
        elif self._is_mutated():
            yield Step('clock', rng.choice((-1, 1)) * rng.choice((0.05, 0.5, 2.0, 1e4)))

    def _wait(self) -> Iterator[Step]:
        rng = self.rng
        seconds = rng.choice((0.03, 0.09, 0.11, 0.3, 0.6, 1.2))
        if rng.random() < 0.03:
            seconds = 20.0
        if rng.random() < 0.5:
            # The messages were only late: their stamps go on from where they were.
            self.time += round(seconds * 1e9)
            self._phase += seconds
        yield Step('wait', None, seconds)


def parameter_value(value: Any) -> ParameterValue:
    """Return a value as a message; empty lists are of strings."""
    if isinstance(value, (list, tuple)) and not value:
        return ParameterValue(type=9)
    return Parameter('value', value=value).get_parameter_value()


def sane_request(plan: Plan) -> SetParametersAtomically.Request:
    """Return a request that sets everything that can be set at any time to what works."""
    return SetParametersAtomically.Request(
        parameters=[
            ParameterMessage(name=name, value=parameter_value(value))
            for name, value in plan.sane.items()
        ]
    )
