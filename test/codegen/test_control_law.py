"""The control laws as traced equations: what they print, and what the node calls."""

import math
from dataclasses import replace
from functools import cache
from itertools import product

import numpy as np
import pytest
from compiled_c import call_c, compile_c, run_text
from coupled_robots import couple
from test_friction import TERMS, random_robot
from urdf_text import joint_xml, limit_xml, link_xml, robot_xml

import ne_dynamics as ned
from ne_dynamics.algorithms.scalars import elementary
from ne_dynamics.codegen.differentiation import differentiate
from ne_dynamics.codegen.program import trace
from ne_dynamics.codegen.python_kernel import PythonKernel
from ne_dynamics.codegen.source import LANGUAGES, standalone_source
from ne_dynamics.control.feedback_gains import Gains
from ne_dynamics.control.laws import ControlLaw, ResidualStep
from ne_dynamics.control.stages.limits import EffortLimiter
from ne_dynamics.dynamics.compensation import Base, Terms
from ne_dynamics.errors import InputError
from ne_dynamics.model.robot import JointType
from ne_dynamics.motion.waypoints import DesiredState
from ne_dynamics.shipped import shipped_file

GRAVITY = (0.3, -0.2, -9.80665)
LAWS = ('computed_torque', 'feedforward_pd')
LOADS = {'': (), '_with_wrench': ('wrench',), '_in_full': ('wrench', 'base_motion', 'payload')}
TOLERANCE = 1e-9
"""Relative to the largest effort of a comparison."""

EDGES = (0.0, 0.5, 1.5, 2.5, -0.5, -1.5, 0.49999999999999994, 1e15, 2.0**51 + 0.5, 1e300)


# ---- the two operations


def trace_operations():
    """Return a program of the nearest whole number, and of limits in every form."""

    def function(q, qd):
        x, limit = q[0], qd[0]
        return [
            elementary.nearest(x),
            elementary.nearest(-x),
            elementary.clamp(x, limit),
            elementary.clamp(-x, limit),
            elementary.clamp(x, -limit),
            elementary.clamp(x, 2.0),
            elementary.clamp(x, -2.0),
            elementary.clamp(3.0, limit),
            elementary.clamp(-3.0, limit),
            elementary.clamp(x + limit, x * limit),
        ]

    return trace('operations', (('q', 1), ('qd', 1)), (10,), function)


def expected_operations(x, limit):
    """Return the same of floats, by other means."""

    def clamp(value, size):
        return math.copysign(min(abs(value), abs(size)), value)

    values = [float(np.rint(x)), float(np.rint(-x))]
    values += [clamp(x, limit), clamp(-x, limit), clamp(x, limit), clamp(x, 2.0), clamp(x, 2.0)]
    return [*values, clamp(3.0, limit), clamp(-3.0, limit), clamp(x + limit, x * limit)]


def operation_rows():
    """Return numbers and limits: ties, large ones, equal ones."""
    rng = np.random.default_rng(1)
    pairs = [*product(EDGES, (0.0, 1.5, -2.5, 1e6)), *rng.uniform(-4.0, 4.0, (40, 2)).tolist()]
    return np.array(pairs)


@pytest.mark.parametrize('language', LANGUAGES)
def test_numbers_are_rounded_and_limited_alike_in_every_text(language, tmp_path):
    """Python, NumPy, an array namespace and C give what floats give, to the last bit."""
    rows = operation_rows()
    program = trace_operations()
    expected = np.array([expected_operations(*row) for row in rows.tolist()])
    kernel = PythonKernel(program)
    columns = [np.ascontiguousarray(rows[:, :1]), rows[:, 1:].copy()]
    np.testing.assert_array_equal(kernel.batch(*columns), expected)
    singles = [kernel.single(row[:1], row[1:]) for row in rows]
    np.testing.assert_array_equal(singles, expected)
    text = standalone_source(program, language)
    found = run_text(text, language, 'operations', columns, 10, tmp_path)
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize(('x', 'limit'), [(math.nan, 1.0), (1.0, math.nan), (math.nan, math.nan)])
def test_what_is_no_number_is_not_limited_to_one(x, limit, tmp_path):
    """A firmware whose encoder gives no number gets no full effort from the limits."""
    program = trace('limited', (('q', 1), ('qd', 1)), (1,), lambda q, qd: [q[0].clamp(qd[0])])
    assert math.isnan(elementary.clamp(x, limit))
    assert np.isnan(elementary.clamp(np.array([x]), np.array([limit])))
    for language in LANGUAGES:
        text = standalone_source(program, language)
        assert np.isnan(run_text(text, language, 'limited', [[[x]], [[limit]]], 1, tmp_path))


@pytest.mark.parametrize(
    ('x', 'limit', 'slopes'), [(0.3, 2.0, (1, 0)), (5.0, 2.0, (0, 1)), (-5.0, 2.0, (0, -1))]
)
def test_the_derivatives_of_a_limit_and_of_a_rounding(x, limit, slopes):
    """Inside the number counts, beyond it the limit, with its sign; a rounding has no slope."""

    def function(q, qd):
        outputs = [elementary.clamp(q[0], qd[0]), elementary.nearest(q[0]) + qd[0]]
        return differentiate(outputs, [q[0], qd[0]])

    kernel = PythonKernel(trace('slopes', (('q', 1), ('qd', 1)), (4,), function))
    found = kernel.single(np.array([x]), np.array([limit]))
    np.testing.assert_array_equal(found, [*slopes, 0.0, 1.0])


# ---- the laws as text


@cache
def robot_of(name):
    """Return a robot: of a random tree, with friction of some terms; a shipped one."""
    if name == 'six_axis_arm':
        return ned.load_urdf(shipped_file('six_axis_arm.urdf'), tip_link='tcp')
    if name == 'puma':
        return ned.load_dh(shipped_file('puma560_standard_dh.yaml'))
    seed, terms, *coupled = name
    robot = replace(random_robot(TERMS.get(terms, {}), seed, 8), name='tree')
    return couple(robot, seed) if coupled else robot


ROBOTS = ['six_axis_arm', 'puma', (2, ''), (4, 'all but smooth'), (5, 'all'), (9, 'load')]
ROBOTS += [(2, '', 'coupled'), (4, 'all but smooth', 'coupled')]


class Call:
    """Random arguments of a law, desired positions turns away where a joint has no end.

    Parameters
    ----------
    robot : Robot
    seed : int
    """

    def __init__(self, robot, seed):
        rng = np.random.default_rng([seed, robot.n])
        n = robot.n
        endless = np.array([joint.type is JointType.CONTINUOUS for joint in robot.joints])
        self.q, self.qd = rng.uniform(-3.0, 3.0, (2, n))
        position, velocity, acceleration = rng.uniform(-3.0, 3.0, (3, n))
        # Across the half turn: from just below it to just above, and turns more.
        self.q[endless] = math.pi - rng.uniform(0.0, 0.3, endless.sum())
        position[endless] = -math.pi + rng.uniform(0.0, 0.3, endless.sum())
        position[endless] += 2.0 * math.pi * rng.integers(-3, 4, endless.sum())
        if seed % 3 == 0:
            velocity[0] = 0.0
        self.desired = DesiredState(position, velocity, acceleration)
        self.kp, self.kv = rng.uniform(1.0, 90.0, n), rng.uniform(0.0, 20.0, n)
        self.smoothing = (0.0, 1e-3, 0.2)[seed % 3]
        self.limits = rng.uniform(5.0, 400.0, n)
        self.wrench = rng.uniform(-9.0, 9.0, 6)
        self.base = Base(rng.uniform(-2.0, 2.0, 9), rng.uniform(-2.0, 2.0, 9))
        self.payload = np.concatenate(
            [[2.0], rng.uniform(-0.3, 0.3, 3), [0.2, 0.01, 0.3, 0.02, -0.01, 0.25]]
        )

    def arguments(self, loads):
        """Return what a row of the table takes."""
        given = {'wrench': self.wrench, 'base_motion': self.base.motion, 'payload': self.payload}
        return [
            *(self.q, self.qd, *self.desired, self.kp, self.kv, self.limits),
            np.array([self.smoothing]),
            *[given[load] for load in loads],
        ]

    def expected(self, dynamics, law, loads):
        """Return the limited effort of the law on arrays, with gains as full matrices."""
        gains = Gains.from_values(np.diag(self.kp), np.diag(self.kv), len(self.q))
        payload = self.payload if 'payload' in loads else None
        compute = ControlLaw(dynamics, law, gains, Terms(), payload, self.smoothing)
        wrench = self.wrench if 'wrench' in loads else None
        base = self.base if 'base_motion' in loads else None
        effort = compute.effort(self.q, self.qd, self.desired, wrench, base)
        return EffortLimiter(self.limits).clamp(effort)


def assert_close(found, expected, what=''):
    """Assert agreement relative to the largest entry."""
    scale = max(np.abs(expected).max(), 1e-6)
    np.testing.assert_allclose(found, expected, rtol=0, atol=TOLERANCE * scale, err_msg=what)


@pytest.mark.kept(4)
@pytest.mark.parametrize(('language', 'name'), list(product(LANGUAGES, ROBOTS)), ids=str)
def test_every_language_prints_the_laws_of_the_node(language, name, tmp_path):
    """A firmware, and whoever takes arrays, gets what the node's law and limits give."""
    dynamics = ned.Dynamics(robot_of(name), GRAVITY, backend='python')
    calls = [Call(dynamics.robot, seed) for seed in range(12)]
    saturated = 0
    for law, (suffix, loads) in product(LAWS, LOADS.items()):
        rows = [call.arguments(loads) for call in calls]
        columns = [np.array(column) for column in zip(*rows, strict=True)]
        text = dynamics.source(f'{law}{suffix}', language)
        found = run_text(text, language, f'{law}{suffix}', columns, dynamics.n, tmp_path)
        for call, effort in zip(calls, found, strict=True):
            expected = call.expected(dynamics, law, loads)
            assert_close(effort, expected, f'{law}{suffix}')
            saturated += int((np.abs(expected) == call.limits).sum())
    assert 0 < saturated < 72 * dynamics.n


SINGLE_JOINT = robot_xml(
    *('base', link_xml('arm', 2, '0.2 0 0', moments=(0.1, 0.1, 0.1))),
    joint_xml(
        'swing', 'base', 'arm', inside='<dynamics friction="0.4"/>' + limit_xml(), axis='0 1 0'
    ),
)
"""Its velocity counts in the sign of Coulomb friction alone."""


MAY_BE_INFINITE = {
    'effort_limits': '',
    'smoothing_velocity': '',
    'qd': 'dynamics',
    'qd_desired': 'dynamics',
    'displacement': 'friction_hysteresis',
    'friction_qd': 'friction_hysteresis',
    'wrench': 'derivatives',
    'payload': 'derivatives',
    'external': 'derivatives',
}
"""What doc/c_library.md lets give a finite result all the same, with the functions it does in."""


@pytest.mark.kept(1)
@pytest.mark.parametrize('name', ['single', (9, 'load'), (5, 'all')], ids=str)
def test_the_library_gives_no_result_of_what_is_no_number(name, tmp_path):
    """Each scalar that a function uses is not finite once: so is the result, as the page says.

    It names what may be infinite: limits, smoothing velocities, velocities in friction alone.
    """
    robot = ned.load_urdf(SINGLE_JOINT) if name == 'single' else robot_of(name)
    dynamics = ned.Dynamics(robot, GRAVITY, backend='python')
    files = dynamics.source_files('c', 'robot')
    (tmp_path / 'robot_dynamics.h').write_text(files['robot_dynamics.h'])
    library = compile_c(files['robot_dynamics.c'], tmp_path)
    rng = np.random.default_rng(7)
    for function in dynamics.operation_counts():
        program = dynamics._evaluator.interpret(function, None).program
        used = {program.graph.nodes[index][1:] for index in program.live}
        for group, (stem, count) in enumerate(program.inputs):
            places = [place for place in range(count) if (f'{stem}{place + 1}',) in used]
            for place, value in product(places, (math.nan, math.inf, -math.inf)):
                arrays = [rng.uniform(0.5, 2.0, size) for _, size in program.inputs]
                arrays[group][place] = value
                out = np.zeros(len(program.outputs))
                call_c(library[f'robot_{function}'], *arrays, out)
                may_be_finite = stem in MAY_BE_INFINITE and MAY_BE_INFINITE[stem] in function
                if math.isnan(value) or not may_be_finite:
                    assert not np.isfinite(out).all(), f'{function}: {stem} {value}'


# ---- the law that the node calls


@cache
def dynamics_of(name, backend):
    """Return the dynamics of a robot, built once a session."""
    return ned.Dynamics(robot_of(name), GRAVITY, backend=backend)


def smooth_friction(robot, velocity):
    """Return a robot whose friction changes its sign over a velocity where it gives none."""

    def smooth(friction):
        return replace(friction, smoothing_velocity=friction.smoothing_velocity or velocity)

    joints = [replace(joint, friction=smooth(joint.friction)) for joint in robot.joints]
    drives = [smooth(drive) for drive in robot.coupled_drives]
    return replace(robot, joints=tuple(joints), coupled_drives=tuple(drives))


@pytest.mark.kept(3)
@pytest.mark.parametrize('name', ROBOTS, ids=str)
def test_the_general_law_is_what_it_says(name, backend):
    """Efforts and errors of random arguments, one sample and a batch, before and after calls."""
    dynamics, n = dynamics_of(name, backend), robot_of(name).n
    rigid = ned.Dynamics(robot_of(name).without_friction(), GRAVITY, backend='python')
    smooth = ned.Dynamics(smooth_friction(robot_of(name), 0.2), GRAVITY, backend='python')
    endless = np.array([joint.type is JointType.CONTINUOUS for joint in dynamics.robot.joints])
    rng = np.random.default_rng(3)
    rows = rng.uniform(-3.0, 3.0, (12, 9, n))
    loads = rng.uniform(-2.0, 2.0, (9, 25))
    loads[:, 15] += 3.0
    q, qd, q_desired, qd_desired, q_model, qd_model, qdd, friction_qd, *gains = rows
    error = q_desired - q
    error[:, endless] = np.remainder(error[:, endless] + math.pi, 2.0 * math.pi) - math.pi
    rate = qd_desired - qd
    acceleration = qdd + gains[0] * error + gains[1] * rate
    for parts in ((None, None, None), (loads[:, :6], loads[:, 6:15], loads[:, 15:])):
        moved = rigid.inverse_dynamics(q_model, qd_model, np.zeros_like(qdd), *parts)
        expected = rigid.inverse_dynamics(q_model, qd_model, acceleration, *parts)
        expected += smooth.friction_torque(friction_qd, load=moved)
        expected += gains[2] * error + gains[3] * rate
        arguments = [*rows, np.full((9, 1), 0.2), *parts]
        for which in (slice(None), 0, 1, 2) * 2:
            given = [None if each is None else each[which].copy() for each in arguments]
            efforts, errors = dynamics.control_effort(*given)
            assert_close(efforts, expected[which])
            np.testing.assert_allclose(errors, error[which], rtol=0, atol=1e-12)


def both_laws(dynamics, mode, gains, terms, payload, smoothing):
    """Return a law twice: as it is, and with its gains as full matrices."""
    n = dynamics.n
    full = Gains.from_values(*(np.diag(np.broadcast_to(g, n)) for g in (gains.kp, gains.kv)), n)
    return [ControlLaw(dynamics, mode, each, terms, payload, smoothing) for each in (gains, full)]


def test_another_tuning_compiles_nothing(compiler):
    """Mode, gains, terms, smoothing and payload are numbers of one call of one program or two."""
    dynamics = ned.Dynamics(robot_of('puma'), GRAVITY, backend='compiled')
    methods, asked = type(dynamics), []
    for seed, (mode, terms) in enumerate(product(LAWS, product([False, True], repeat=4))):
        call = Call(dynamics.robot, seed)
        payload = call.payload if seed % 2 else None
        law = ControlLaw(
            dynamics, mode, Gains(call.kp, call.kv), Terms(*terms), payload, call.smoothing
        )
        if any(terms):
            law.compensation.effort = None
        dynamics.__dict__['control_effort'] = lambda *given: (
            asked.append(given) or methods.control_effort(dynamics, *given)
        )
        law.effort(call.q, call.qd, call.desired, call.wrench if seed % 3 else None)
    assert len(asked) == 30  # without any term nothing is asked of the model
    names = {name for name, _ in dynamics._evaluator._compiled}
    assert names <= {'control_effort', 'control_effort_in_full'}


def test_overridden_inverse_dynamics_are_asked():

    class Heavier(ned.Dynamics):
        def inverse_dynamics(self, *arguments, **named):
            return 2.0 * super().inverse_dynamics(*arguments, **named)

    call = Call(robot_of('six_axis_arm'), 1)
    robot = robot_of('six_axis_arm').without_friction()
    laws = [
        ControlLaw(kind(robot), 'computed_torque', Gains(call.kp, call.kv))
        for kind in (ned.Dynamics, Heavier)
    ]
    plain, heavier = (law.effort(call.q, call.qd, call.desired) for law in laws)
    np.testing.assert_allclose(heavier, 2.0 * plain)


@pytest.mark.parametrize('name', [(5, 'all'), (2, '', 'coupled')], ids=str)
def test_an_observer_on_arrays_takes_the_same_step(name, backend):
    """With full gains, which no trace has, the residuals are those of the traced step."""
    dynamics = dynamics_of(name, backend)
    step = ResidualStep(rate=100.0, lag=0.004, slow_share=0.1, fast_share=0.4)
    for seed, uses_friction in product(range(3), (False, True)):
        call = Call(dynamics.robot, seed)
        rng = np.random.default_rng(seed)
        rows = rng.uniform(-2.0, 2.0, (3, dynamics.n))
        residuals = rng.uniform(-5.0, 5.0, (2, dynamics.n))
        has_offset = any(joint.friction.friction_offset for joint in dynamics.robot.joints)
        terms = Terms(friction=uses_friction or has_offset)
        found, expected = (
            law.disturbance_residuals(call.q, call.qd, *rows, residuals, step, call.wrench)
            for law in both_laws(
                dynamics, 'computed_torque', Gains(call.kp, call.kv), terms, call.payload, 0.1
            )
        )
        assert_close(found, expected)


@pytest.mark.parametrize('size', [1e13, 1e15, 1e17, 3e17, 1e30])
def test_the_nearest_turn_is_one_in_every_backend(size, compiler):
    """However far a continuous joint has turned, machine code gives what Python gives."""
    robots = [dynamics_of((2, ''), backend) for backend in ('python', 'compiled')]
    endless = np.array([joint.type is JointType.CONTINUOUS for joint in robots[0].robot.joints])
    assert endless.any()
    n = robots[0].n
    rows = np.random.default_rng(9).uniform(-1.0, 1.0, (13, 40, n))
    rows[2, :, endless] += size * np.random.default_rng(8).uniform(-1.0, 1.0, (1, 40))
    rows[8:] = 0.0
    rows = [*rows[:12], np.full((40, 1), 0.1)]
    batches = [dynamics.control_effort(*rows)[1] for dynamics in robots]
    np.testing.assert_array_equal(batches[0], batches[1])
    for k in range(40):
        for dynamics in robots:
            _, single = dynamics.control_effort(*[row[k] for row in rows])
            np.testing.assert_array_equal(single, batches[0][k])


@pytest.mark.parametrize('method', [*LAWS, 'control_effort', 'friction_hysteresis'])
def test_a_negative_smoothing_velocity_is_refused(method, backend):
    """By name and place, in one sample and in a batch, before and after code is compiled."""
    dynamics = dynamics_of('puma', backend)
    counts = {'control_effort': 12, 'friction_hysteresis': 3}
    rows = [np.full((5, 6), 0.5)] * counts.get(method, 8)
    width = np.full((5, 1), 0.1)
    for _ in range(3):
        getattr(dynamics, method)(*rows, width)
        getattr(dynamics, method)(*[row[0] for row in rows], -0.0 * width[0])
        wrong = width.copy()
        wrong[3] = -1e-3
        with pytest.raises(InputError, match=r'smoothing_velocity: expected numbers >= 0, got'):
            getattr(dynamics, method)(*rows, wrong)
        with pytest.raises(InputError, match=r'numbers >= 0, got -0.001 at index \(0,\)'):
            getattr(dynamics, method)(*[row[0] for row in rows], wrong[3])
