"""The same messages to the node and to joint_trajectory_controller, row by row.

`doc/joint_trajectory_controller.md` says what both have in common, and what not. `model` is JTC's
rule in `test/support/jtc_model.py`; `real` is JTC itself (`test/support/real_jtc.py`), where it
has been compiled; the model must then be equal to it at every cycle.

A new trajectory begins one period earlier with JTC than with the node, in the same state: on the
way to the first point JTC leaps ahead by as much as is gone in a period. The model without this
leap is what the node is compared with at every cycle, and with JTC from the first point on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import pytest

pytest.importorskip('rclpy', reason='needs ROS 2 for Python: pip install "ne_dynamics[ros]"')

from jtc_model import JtcModel, Settings
from node_bench import SLOW_STATES
from rclpy.serialization import serialize_message
from real_jtc import JtcProcess, RealJtc

from ne_dynamics.motion.waypoints import TrajectoryPoint

Q = np.array([0.3, -1.0, 1.2, 0.4, -0.5, 0.2])
STEP = np.array([0.4, -0.2, 0.3, 0.1, 0.2, -0.1])
STILL = np.zeros(6)
PERIOD = 0.05


def parameters_of(settings: Settings) -> dict[str, Any]:
    """Return the parameters of settings, which JTC and the node have by the same names."""
    plain = 'interpolation_method', 'cmd_timeout'
    plain += 'allow_partial_joints_goal', 'allow_integration_in_goal_trajectories'
    plain += ('allow_nonzero_velocity_at_trajectory_end',)
    values = {name: getattr(settings, name) for name in plain}
    for name in ('goal_time', 'stopped_velocity_tolerance'):
        values[f'constraints.{name}'] = getattr(settings, name)
    for stage in ('trajectory', 'goal'):
        for joint, limit in getattr(settings, stage).items():
            values[f'constraints.{joint}.{stage}'] = limit
    return values


class Sent(NamedTuple):
    """A message: after how many cycles it comes, its stamp as seconds from the first, points."""

    cycle: int
    points: Sequence[tuple[Any, ...]]
    stamp: float | None = None
    names: Sequence[str] | None = None


class Histories(NamedTuple):
    """What was desired at each cycle, and what JTC gave up for.

    Positions and velocities of the node, of JTC, and of its model without the leap, each of shape
    (2, cycles, 6); `begins` tells when a trajectory begins and its first point is due.
    """

    times: np.ndarray
    found: np.ndarray
    expected: np.ndarray
    unleapt: np.ndarray
    reasons: list[str]
    begins: list[tuple[float, float]]


class Jtc:
    """JTC on an arm that is held, by its model, and by itself where there is a process of it.

    Parameters
    ----------
    process : JtcProcess or None
    bench : Bench
    settings : Settings
    """

    def __init__(self, process: JtcProcess | None, bench: Any, settings: Settings) -> None:
        names = list(bench.robot.joint_names)
        self.model = JtcModel(names, Q, settings)
        self.unleapt = JtcModel(names, Q, replace(settings, leaps=False))
        self.real: RealJtc | None = None
        if process is not None:
            self.real = process.RealJtc(
                names,
                Q,
                bench.urdf,
                PERIOD,
                bench.time,
                command_interfaces=['position'],
                interpolate_from_desired_state=True,
                **parameters_of(settings),
            )
        self._has_received = False
        self.update(bench.time, Q)

    def receive(self, message: Any, rows: Any, stamp: float, now: float) -> bool:
        points = [TrajectoryPoint(*row) for row in rows]
        accepted = [
            model.receive(message.joint_names, points, stamp, now)
            for model in (self.model, self.unleapt)
        ]
        if self.real is not None:
            accepted.append(self.real.receive(bytes(serialize_message(message)), now))
        assert len(set(accepted)) == 1
        self._has_received |= accepted[0]
        return accepted[0]

    def update(self, now: float, position: np.ndarray) -> tuple[Any, Any]:
        """Return what JTC desires; the model must desire and give up the same.

        Positions and velocities, and those without the leap.
        """
        wanted = self.model.update(now, position, STILL)
        if self.real is not None:
            cycle = self.real.update(now, position, STILL)
            np.testing.assert_allclose(wanted, cycle.desired[:3], rtol=0.0, atol=1e-12)
            gives_up = cycle.is_holding and self._has_received
            assert gives_up == bool(self.model.reason)
            wanted = list(cycle.desired[:3])
        return np.array(wanted[:2]), np.array(self.unleapt.update(now, position, STILL)[:2])

    def close(self) -> None:
        """Destroy the real one."""
        if self.real is not None:
            self.real.close()


@pytest.fixture(params=['model', 'real'])
def make_jtc(request: pytest.FixtureRequest) -> Iterator[Callable[[Any, Settings], Jtc]]:
    """Return what makes JTC for a started bench."""
    process = request.getfixturevalue('jtc_process') if request.param == 'real' else None
    made: list[Jtc] = []

    def make(bench: Any, settings: Settings) -> Jtc:
        made.append(Jtc(process, bench, settings))
        return made[-1]

    yield make
    for jtc in made:
        jtc.close()


Arm = Callable[[float, np.ndarray], np.ndarray]
"""Where an arm is, by the time and what is desired."""


def as_wanted(time: float, desired: np.ndarray) -> np.ndarray:
    """Return the position of an arm that is where it should be."""
    return desired


def behind(distance: float, since: float = 0.0) -> Arm:
    """Return an arm that is so far behind from a time on."""
    return lambda time, desired: desired - (distance if time >= since else 0.0)


def run(
    bench: Any,
    make_jtc: Callable[[Any, Settings], Jtc],
    settings: Settings,
    *messages: Sent,
    cycles: int = 40,
    arm: Arm = as_wanted,
    **parameters: Any,
) -> Histories:
    bench.start(**SLOW_STATES | parameters_of(settings) | parameters)
    bench.answer(bench.joint_state(Q))
    jtc = make_jtc(bench, settings)
    first, wanted = bench.time, (Q, STILL)
    rows, reasons, begins = [], [], []
    for cycle in range(cycles):
        now = bench.time + PERIOD
        for sent in messages:
            if sent.cycle == cycle:
                stamp = 0.0 if sent.stamp is None else first + sent.stamp
                message = bench.trajectory(*sent.points, names=sent.names, stamp=stamp)
                assert jtc.receive(message, sent.points, stamp, bench.time)
                bench.send_trajectory(message)
                start = stamp or now
                begin = max(start, now) if settings.defers else now
                # The last of them is before the point, whatever rounding does.
                begins.append((begin - first - 1e-6, start + sent.points[0][0] - 1e-6 - first))
        # Where the arm is depends on what was wanted of it before.
        measured = arm(now - first, np.array(wanted[0]))
        position = bench.desired(measured, STILL, dt=PERIOD)
        wanted, unleapt = jtc.update(now, measured)
        reasons.append(jtc.model.reason)
        rows.append(((position, bench.efforts[-1].velocity), wanted, unleapt))
    times = PERIOD * np.arange(1, cycles + 1)
    histories = np.array(rows).transpose(1, 2, 0, 3)
    return Histories(times, *histories, reasons, begins)


def check_close(found: np.ndarray, expected: np.ndarray) -> None:
    """Check that two motions are one: positions, and velocities."""
    for rows, others, tolerance in zip(found, expected, (1e-6, 1e-5), strict=True):
        np.testing.assert_allclose(rows, others, atol=tolerance)


def check_same(run: Histories) -> None:
    """Check that both desired the same but for the leap, which is that of one period at most."""
    check_close(run.found, run.unleapt)
    # On the way to a first point, from the cycle at which it was taken over, JTC leads.
    rest = np.array(
        [not any(begin <= time < due for begin, due in run.begins) for time in run.times]
    )
    check_close(run.found[:, rest], run.expected[:, rest])
    leaps = np.abs(run.expected[0] - run.found[0])
    fastest = np.maximum(np.abs(run.found[1]), np.abs(run.expected[1])).max(axis=0)
    assert (leaps <= 1.001 * PERIOD * fastest + 1e-6).all()
    # The arm was to move at all.
    assert np.abs(run.found[0] - Q).max() > 0.05


def way(order: int, step: float = 0.51) -> list[tuple[Any, ...]]:
    """Return three points that carry derivatives up to an order; no cycle is at one of them."""
    rng = np.random.default_rng(order)
    rows = []
    for index, share in enumerate((0.4, 0.7, 1.0)):
        row: list[Any] = [step * (index + 1), Q + share * STEP]
        ends = index == 2
        row += [STILL if ends else rng.uniform(-0.3, 0.3, 6) for _ in range(order)]
        rows.append(tuple(row))
    return rows


FOUR_AND_TWO = ['joint_4', 'joint_2']
PARTIAL = {order: [(1.0, [0.7, -0.8], *[[0.0, 0.0]] * order)] for order in (1, 2)}
AT_ONCE = [(0.0, Q + 0.1 * STEP, STILL, STILL), (1.0, Q + STEP, STILL, STILL)]
NONE, SOME = Settings(interpolation_method='none'), Settings(allow_partial_joints_goal=True)
SAME: dict[str, tuple[Settings, list[Sent]]] = {
    # Through every point, from the desired state of now: cubics, quintics, lines, no way at all.
    'cubics': (Settings(), [Sent(2, way(1))]),
    'quintics': (Settings(), [Sent(2, way(2))]),
    'lines, where JTC has splines': (Settings(), [Sent(2, way(0))]),
    'no interpolation': (NONE, [Sent(2, way(2))]),
    'a first point that is due now is jumped to': (Settings(), [Sent(2, AT_ONCE)]),
    # As with `interpolate_from_desired_state`.
    'replaced while moving': (Settings(), [Sent(2, way(1)), Sent(17, [(0.8, Q, STILL)])]),
    'replaced while moving, with accelerations': (
        Settings(),
        [Sent(2, way(2)), Sent(17, [(0.8, Q, STILL, STILL)])],
    ),
    # The others stay where they are held.
    'some of the joints': (SOME, [Sent(2, PARTIAL[1], names=FOUR_AND_TWO)]),
    'some of the joints, with accelerations': (SOME, [Sent(2, PARTIAL[2], names=FOUR_AND_TWO)]),
}


@pytest.mark.kept(6)
@pytest.mark.parametrize('name', SAME)
def test_the_motion_is_the_same(bench, make_jtc, name: str) -> None:
    settings, messages = SAME[name]
    chosen = {'interpolation_method': 'linear'} if 'lines' in name else {}
    check_same(run(bench, make_jtc, settings, *messages, **chosen))


def test_a_begin_in_the_past(bench, make_jtc) -> None:
    """JTC jumps into what is left; here the way leads to its next point, and both are one then."""
    history = run(bench, make_jtc, Settings(), Sent(20, way(2), stamp=0.3))
    found, expected = history.found[0], history.expected[0]
    joined = history.times > 0.3 + 1.02
    np.testing.assert_allclose(found[joined], expected[joined], atol=1e-6)
    steps, jumps = (np.abs(np.diff(each, axis=0)).max() for each in (found, expected))
    assert steps < 0.5 * jumps


@pytest.mark.parametrize('make_jtc', ['model'], indirect=True)
@pytest.mark.parametrize('is_moving', [False, True])
def test_a_stamp_in_the_future(bench, make_jtc, is_moving: bool) -> None:
    """What is followed is followed until then, else the arm is held: the rule from 6.8 on."""
    first = [Sent(1, way(2))] if is_moving else []
    later = Sent(10, [(0.6, Q - STEP, STILL, STILL)], stamp=1.2)
    check_same(run(bench, make_jtc, Settings(defers=True), *first, later))


def test_a_stamp_in_the_future_was_no_matter_to_jazzy(bench, make_jtc) -> None:
    """There the arm sets out at once, here it waits; from the first point on both are one."""
    later = Sent(1, [(0.6, Q + STEP, STILL, STILL)], stamp=1.0)
    history = run(bench, make_jtc, Settings(), later)
    found, expected = history.found[0], history.expected[0]
    waits, after = history.times < 0.99, history.times > 1.61
    np.testing.assert_allclose(found[waits], np.tile(Q, (waits.sum(), 1)), atol=1e-9)
    assert np.abs(expected[waits] - Q).max() > 0.1
    np.testing.assert_allclose(found[after], expected[after], atol=1e-9)


NEAR_GOAL = {'joint_2': 0.05}
GIVEN_UP: dict[str, tuple[Settings, Arm, str, str]] = {
    'path': (
        Settings(trajectory={'joint_3': 0.05}),
        behind(0.1, since=0.6),
        'path',
        'PATH_TOLERANCE_VIOLATED',
    ),
    'goal': (Settings(goal=NEAR_GOAL, goal_time=0.22), behind(0.1), 'goal', ''),
    'goal without a time': (Settings(goal=NEAR_GOAL), behind(0.1), '', ''),
    # The end of a topic's trajectory counts for as long as nothing else comes.
    'pushed away long after the end': (
        Settings(goal=NEAR_GOAL, goal_time=0.1),
        behind(0.1, since=1.88),
        'goal',
        '',
    ),
    # Counted from the last point; not used unless it is longer than the goal time.
    'timeout': (Settings(cmd_timeout=0.22), behind(0.02), 'timeout', 'cmd_timeout'),
    'timeout within the goal time': (
        Settings(cmd_timeout=0.22, goal_time=0.5),
        behind(0.02),
        '',
        '',
    ),
}


@pytest.mark.kept(4)
@pytest.mark.parametrize('name', GIVEN_UP)
def test_the_motion_is_given_up_for_the_same(bench, make_jtc, name: str) -> None:
    """The arm is held where it was measured then, and the log says why."""
    settings, arm, reason, said = GIVEN_UP[name]
    history = run(bench, make_jtc, settings, Sent(2, way(2)), arm=arm, cycles=42)
    assert {one for one in history.reasons if one} == ({reason} if reason else set())
    if said:
        bench.hear(said, 'held at its measured position')
    if 'long after' in name:
        assert history.reasons.index('goal') * PERIOD > 1.7
    check_same(history)


BLANK: list[float] = []
RATE = np.array([0.2, -0.1, 0.3, 0.1, 0.2, -0.1])
INTEGRATES = Settings(allow_integration_in_goal_trajectories=True)
LONGER = 0.51 + PERIOD
AT_SPEED = 0.5 * PERIOD * RATE, STILL
INTEGRATED: dict[str, tuple[list[tuple[Any, ...]], tuple[np.ndarray, np.ndarray]]] = {
    'velocities': (
        [(0.51, BLANK, RATE), (1.02, BLANK, 0.5 * RATE), (1.53, BLANK, STILL)],
        AT_SPEED,
    ),
    'accelerations': (
        [
            (0.51, BLANK, BLANK, RATE),
            (1.02, BLANK, BLANK, -RATE),
            (1.53, BLANK, BLANK, STILL),
        ],
        (0.25 * (LONGER**2 - 0.51**2) * RATE, 0.5 * PERIOD * RATE),
    ),
    'velocities and accelerations': (
        [
            (0.51, BLANK, RATE, 0.2 * RATE),
            (1.02, BLANK, 0.5 * RATE, -RATE),
            (1.53, BLANK, STILL, STILL),
        ],
        AT_SPEED,
    ),
    'positions among them': (
        [(0.51, BLANK, RATE), (1.02, Q + 0.1 * RATE, 0.2 * RATE), (1.53, BLANK, STILL)],
        (STILL, STILL),
    ),
}
"""Points, and what JTC has more of position and velocity at the first: its way is longer."""


@pytest.mark.kept(2)
@pytest.mark.parametrize('name', list(INTEGRATED))
def test_points_without_positions(bench, make_jtc, name: str) -> None:
    points, (more, faster) = INTEGRATED[name]
    history = run(bench, make_jtc, INTEGRATES, Sent(2, points))
    check_close(history.found, history.unleapt)
    assert np.abs(history.found[0] - Q).max() > 0.02
    # JTC integrates over a period more; from the first point on, or the first position, it is off.
    since = history.times - history.begins[0][0]
    settled = since > (1.02 if name == 'positions among them' else 0.51)
    extra = more + faster * np.clip(since - 0.51, 0.0, 1.02)[:, np.newaxis]
    extra = np.array([extra, np.broadcast_to(faster, extra.shape)])
    check_close(history.expected[:, settled], (history.found + extra)[:, settled])


def test_points_without_positions_while_moving(bench, make_jtc) -> None:
    """They are integrated from the desired state in which they take over."""
    messages = Sent(2, way(2)), Sent(17, INTEGRATED['velocities'][0])
    history = run(bench, make_jtc, INTEGRATES, *messages)
    check_close(history.found, history.unleapt)
    # JTC integrates over a period more.
    extra = np.array([0.5 * PERIOD * (history.found[1, 17] + RATE), STILL])
    settled = history.times > history.begins[1][1]
    found = history.found[:, settled] + extra[:, np.newaxis]
    check_close(history.expected[:, settled], found)


GOOD = (1.0, Q, STILL)
REFUSED: dict[str, tuple[Sequence[str] | None, list[tuple[Any, ...]], float]] = {
    'a joint missing': (['joint_1', 'joint_2'], [(1.0, Q[:2])], 0.0),
    'an unknown joint': ([*(f'joint_{i}' for i in range(1, 6)), 'tail'], [(1.0, Q)], 0.0),
    'moves at its end': (None, [(1.0, Q, STILL + 0.1)], 0.0),
    'in the past': (None, [GOOD], -5.0),
    'times that stand': (None, [GOOD, (1.0, Q, STILL)], 0.0),
    'times that go back': (None, [GOOD, (0.5, Q, STILL)], 0.0),
    'too few positions': (None, [(1.0, Q[:5])], 0.0),
    'too many velocities': (None, [(1.0, Q, np.zeros(7))], 0.0),
    'no positions': (None, [(1.0, [], STILL)], 0.0),
}


# With integration: efforts alone say nothing of the motion, and a length is wrong then, too.
UNINTEGRABLE = {
    'efforts alone': [(1.0, [], [], [], STILL)],
    'a wrong length': [(1.0, Q), (2.0, [], STILL[:5])],
}


@pytest.mark.kept(8)
@pytest.mark.parametrize('what', [*REFUSED, *UNINTEGRABLE])
def test_what_both_refuse(bench, make_jtc, what: str) -> None:
    """Dropped, with a reason, and what is followed is followed on."""
    settings = INTEGRATES if what in UNINTEGRABLE else Settings()
    names, points, stamp = REFUSED.get(what) or (None, UNINTEGRABLE[what], 0.0)
    bench.start(**SLOW_STATES | parameters_of(settings))
    bench.answer(bench.joint_state(Q))
    stamp = bench.time + stamp if stamp else 0.0
    message = bench.trajectory(*points, names=names, stamp=stamp)
    assert not make_jtc(bench, settings).receive(message, points, stamp, bench.time)
    bench.send_trajectory(message)
    np.testing.assert_allclose(bench.desired(Q), Q)
    bench.hear('joint_trajectory dropped')
