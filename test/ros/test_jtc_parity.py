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


class Sent(NamedTuple):
    """A message: after how many cycles it comes, its stamp as seconds from the first, points."""

    cycle: int
    points: Sequence[tuple[Any, ...]]
    stamp: float | None = None
    names: Sequence[str] | None = None


class Histories(NamedTuple):
    """What was desired at each cycle, shapes (cycles, 6), and what JTC gave up for.

    `expected` is of JTC, `unleapt` of its model without the leap; `begins` tells when a trajectory
    begins and its first point is due.
    """

    times: np.ndarray
    positions: np.ndarray
    velocities: np.ndarray
    expected_positions: np.ndarray
    expected_velocities: np.ndarray
    unleapt_positions: np.ndarray
    unleapt_velocities: np.ndarray
    reasons: list[str]
    begins: list[tuple[float, float]]

    @property
    def leads(self) -> np.ndarray:
        """Cycles on the way to a first point, from the one at which it was taken over."""
        return np.array(
            [any(begin <= time < due for begin, due in self.begins) for time in self.times]
        )


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
            limits = [*settings.trajectory.items()], [*settings.goal.items()]
            constraints: dict[str, Any] = {
                'goal_time': settings.goal_time,
                'stopped_velocity_tolerance': settings.stopped_velocity_tolerance,
            }
            for field, rows in zip(('trajectory', 'goal'), limits, strict=True):
                for joint, limit in rows:
                    constraints.setdefault(joint, {})[field] = limit
            same = (
                'interpolation_method',
                'allow_partial_joints_goal',
                'allow_nonzero_velocity_at_trajectory_end',
                'allow_integration_in_goal_trajectories',
                'cmd_timeout',
            )
            self.real = process.RealJtc(
                names,
                Q,
                bench.urdf,
                PERIOD,
                bench.time,
                command_interfaces=['position'],
                interpolate_from_desired_state=True,
                constraints=constraints,
                **{name: getattr(settings, name) for name in same},
            )
        self._has_received = False
        self.update(bench.time, Q)

    def receive(self, message: Any, points: Sequence[Any], stamp: float, now: float) -> bool:
        accepted = [
            model.receive(message.joint_names, points, stamp, now)
            for model in (self.model, self.unleapt)
        ]
        if self.real is not None:
            accepted.append(self.real.receive(bytes(serialize_message(message)), now))
        assert len(set(accepted)) == 1
        self._has_received |= accepted[0]
        return accepted[0]

    def update(self, now: float, position: np.ndarray) -> list[np.ndarray]:
        """Return what JTC desires; the model must desire and give up the same."""
        wanted = self.model.update(now, position, STILL)
        if self.real is not None:
            cycle = self.real.update(now, position, STILL)
            np.testing.assert_allclose(wanted, cycle.desired[:3], rtol=0.0, atol=1e-12)
            gives_up = cycle.is_holding and self._has_received
            assert gives_up == bool(self.model.reason)
            wanted = list(cycle.desired[:3])
        return wanted

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


def as_wanted(time: float, desired: Sequence[np.ndarray]) -> np.ndarray:
    """Return the position of an arm that is where it should be."""
    return np.array(desired[0])


def behind(distance: float, since: float = 0.0) -> Callable[[float, Any], np.ndarray]:
    """Return an arm that is so far behind from a time on."""
    return lambda time, desired: np.array(desired[0]) - (distance if time >= since else 0.0)


def run(
    bench: Any,
    make_jtc: Callable[[Any, Settings], Jtc],
    settings: Settings,
    *messages: Sent,
    cycles: int = 40,
    arm: Callable[[float, Any], np.ndarray] = as_wanted,
    **parameters: Any,
) -> Histories:
    names = list(bench.robot.joint_names)
    bench.start(
        **SLOW_STATES | {'interpolation_method': settings.interpolation_method} | parameters
    )
    bench.answer(bench.joint_state(Q))
    jtc = make_jtc(bench, settings)
    first, wanted = bench.time, [Q, STILL, STILL]
    rows, reasons, begins = [], [], []
    for cycle in range(cycles):
        now = bench.time + PERIOD
        for sent in messages:
            if sent.cycle == cycle:
                stamp = 0.0 if sent.stamp is None else first + sent.stamp
                points = [TrajectoryPoint(*point) for point in sent.points]
                chosen = names if sent.names is None else list(sent.names)
                message = bench.trajectory(*sent.points, names=chosen, stamp=stamp)
                assert jtc.receive(message, points, stamp, bench.time)
                bench.send_trajectory(message)
                start = stamp or now
                begin = max(start, now) if settings.defers else now
                # The last of them is before the point, whatever rounding does.
                due = start + points[0].time_from_start - 1e-6
                begins.append((begin - first - 1e-6, due - first))
        # Where the arm is depends on what was wanted of it before.
        measured = arm(now - first, wanted)
        bench.answer(bench.joint_state(measured, STILL, dt=PERIOD))
        wanted = jtc.update(now, measured)
        unleapt = jtc.unleapt.update(now, measured, STILL)
        reasons.append(jtc.model.reason)
        rows.append((now - first, *(np.array(row) for row in (*wanted[:2], *unleapt[:2]))))
    bench.spin(lambda: len(bench.efforts) == cycles + 1, 'all desired states')
    times, *desired = (np.array(column) for column in zip(*rows, strict=True))
    got = [
        np.array([getattr(effort, name) for effort in bench.efforts[1:]])
        for name in ('position', 'velocity')
    ]
    return Histories(times, *got, *desired, reasons, begins)


def check_close(positions: tuple[Any, Any], velocities: tuple[Any, Any]) -> None:
    """Check that two motions are one."""
    np.testing.assert_allclose(*positions, atol=1e-6)
    np.testing.assert_allclose(*velocities, atol=1e-5)


def check_unleapt(found: Histories) -> None:
    """Check that the node desires what JTC would without its leap, at every cycle."""
    check_close(
        (found.positions, found.unleapt_positions), (found.velocities, found.unleapt_velocities)
    )


def check_same(found: Histories) -> None:
    """Check that both desired the same but for the leap, which is that of one period at most."""
    check_unleapt(found)
    rest = ~found.leads
    check_close(
        (found.positions[rest], found.expected_positions[rest]),
        (found.velocities[rest], found.expected_velocities[rest]),
    )
    leaps = np.abs(found.expected_positions - found.positions)
    fastest = np.maximum(np.abs(found.velocities), np.abs(found.expected_velocities)).max(axis=0)
    assert (leaps <= 1.001 * PERIOD * fastest + 1e-6).all()
    # The arm was to move at all.
    assert np.abs(found.positions - Q).max() > 0.05


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


PARTIAL = {order: [(1.0, [0.7, -0.8], *[[0.0, 0.0]] * order)] for order in (1, 2)}
AT_ONCE = [(0.0, Q + 0.1 * STEP, STILL, STILL), (1.0, Q + STEP, STILL, STILL)]
SOME = {'allow_partial_joints_goal': True}
SAME: dict[str, tuple[Settings, list[Sent], dict[str, Any]]] = {
    # Through every point, from the desired state of now: cubics, quintics, lines, no way at all.
    'cubics': (Settings(), [Sent(2, way(1))], {}),
    'quintics': (Settings(), [Sent(2, way(2))], {}),
    'lines, where JTC has splines': (
        Settings(),
        [Sent(2, way(0))],
        {'interpolation_method': 'linear'},
    ),
    'no interpolation': (Settings(interpolation_method='none'), [Sent(2, way(2))], {}),
    'a first point that is due now is jumped to': (Settings(), [Sent(2, AT_ONCE)], {}),
    # As with `interpolate_from_desired_state`.
    'replaced while moving': (
        Settings(),
        [Sent(2, way(1)), Sent(17, [(0.8, Q, STILL)])],
        {},
    ),
    'replaced while moving, with accelerations': (
        Settings(),
        [Sent(2, way(2)), Sent(17, [(0.8, Q, STILL, STILL)])],
        {},
    ),
    # The others stay where they are held.
    'some of the joints': (
        Settings(**SOME),
        [Sent(2, PARTIAL[1], names=['joint_4', 'joint_2'])],
        SOME,
    ),
    'some of the joints, with accelerations': (
        Settings(**SOME),
        [Sent(2, PARTIAL[2], names=['joint_4', 'joint_2'])],
        SOME,
    ),
}


@pytest.mark.kept(6)
@pytest.mark.parametrize('name', SAME)
def test_the_motion_is_the_same(bench, make_jtc, name: str) -> None:
    settings, messages, parameters = SAME[name]
    check_same(run(bench, make_jtc, settings, *messages, **parameters))


def test_a_begin_in_the_past(bench, make_jtc) -> None:
    """JTC jumps into what is left; here the way leads to its next point, and both are one then."""
    found = run(bench, make_jtc, Settings(), Sent(20, way(2), stamp=0.3))
    joined = found.times > 0.3 + 1.02
    np.testing.assert_allclose(
        found.positions[joined], found.expected_positions[joined], atol=1e-6
    )
    steps = np.abs(np.diff(found.positions, axis=0)).max()
    jumps = np.abs(np.diff(found.expected_positions, axis=0)).max()
    assert steps < 0.5 * jumps


@pytest.mark.parametrize('make_jtc', ['model'], indirect=True)
@pytest.mark.parametrize('is_moving', [False, True])
def test_a_stamp_in_the_future(bench, make_jtc, is_moving: bool) -> None:
    """What is followed is followed until then, else the arm is held: the rule from 6.8 on."""
    first = [Sent(1, way(2))] if is_moving else []
    later = Sent(10, [(0.6, Q - STEP, STILL, STILL)], stamp=1.2)
    found = run(bench, make_jtc, Settings(defers=True), *first, later)
    check_same(found)


def test_a_stamp_in_the_future_was_no_matter_to_jazzy(bench, make_jtc) -> None:
    """There the arm sets out at once, here it waits; from the first point on both are one."""
    later = Sent(1, [(0.6, Q + STEP, STILL, STILL)], stamp=1.0)
    found = run(bench, make_jtc, Settings(), later)
    waits = found.times < 0.99
    np.testing.assert_allclose(found.positions[waits], np.tile(Q, (waits.sum(), 1)), atol=1e-9)
    assert np.abs(found.expected_positions[waits] - Q).max() > 0.1
    after = found.times > 1.61
    np.testing.assert_allclose(found.positions[after], found.expected_positions[after], atol=1e-9)


class GivenUp(NamedTuple):
    """An arm that is not where it should be, and what the motion is given up for, '' for nothing.

    It is held where it was measured then, and the log says why.
    """

    settings: Settings
    parameters: dict[str, Any]
    arm: Callable[[float, Any], np.ndarray]
    reason: str
    said: str = ''


GIVEN_UP = {
    'path': GivenUp(
        Settings(trajectory={'joint_3': 0.05}),
        {'constraints.joint_3.trajectory': 0.05},
        behind(0.1, since=0.6),
        'path',
        'PATH_TOLERANCE_VIOLATED',
    ),
    'goal': GivenUp(
        Settings(goal={'joint_2': 0.05}, goal_time=0.22),
        {'constraints.joint_2.goal': 0.05, 'constraints.goal_time': 0.22},
        behind(0.1),
        'goal',
    ),
    'goal without a time': GivenUp(
        Settings(goal={'joint_2': 0.05}),
        {'constraints.joint_2.goal': 0.05, 'constraints.goal_time': 0.0},
        behind(0.1),
        '',
    ),
    # The end of a topic's trajectory counts for as long as nothing else comes.
    'pushed away long after the end': GivenUp(
        Settings(goal={'joint_2': 0.05}, goal_time=0.1),
        {'constraints.joint_2.goal': 0.05, 'constraints.goal_time': 0.1},
        behind(0.1, since=1.88),
        'goal',
    ),
    # Counted from the last point; not used unless it is longer than the goal time.
    'timeout': GivenUp(
        Settings(cmd_timeout=0.22),
        {'cmd_timeout': 0.22},
        behind(0.02),
        'timeout',
        'cmd_timeout',
    ),
    'timeout within the goal time': GivenUp(
        Settings(cmd_timeout=0.22, goal_time=0.5),
        {'cmd_timeout': 0.22, 'constraints.goal_time': 0.5},
        behind(0.02),
        '',
    ),
}


@pytest.mark.kept(4)
@pytest.mark.parametrize('name', GIVEN_UP)
def test_the_motion_is_given_up_for_the_same(bench, make_jtc, name: str) -> None:
    settings, parameters, arm, reason, said = GIVEN_UP[name]
    found = run(bench, make_jtc, settings, Sent(2, way(2)), arm=arm, cycles=42, **parameters)
    assert {one for one in found.reasons if one} == ({reason} if reason else set())
    if said:
        bench.hear(said, 'held at its measured position')
    if 'long after' in name:
        assert found.reasons.index('goal') * PERIOD > 1.7
    check_same(found)


NONE: list[float] = []
RATE = np.array([0.2, -0.1, 0.3, 0.1, 0.2, -0.1])
INTEGRATED: dict[str, list[tuple[Any, ...]]] = {
    'velocities': [(0.51, NONE, RATE), (1.02, NONE, 0.5 * RATE), (1.53, NONE, STILL)],
    'accelerations': [
        (0.51, NONE, NONE, RATE),
        (1.02, NONE, NONE, -RATE),
        (1.53, NONE, NONE, STILL),
    ],
    'velocities and accelerations': [
        (0.51, NONE, RATE, 0.2 * RATE),
        (1.02, NONE, 0.5 * RATE, -RATE),
        (1.53, NONE, STILL, STILL),
    ],
    'positions among them': [
        (0.51, NONE, RATE),
        (1.02, Q + 0.1 * RATE, 0.2 * RATE),
        (1.53, NONE, STILL),
    ],
}


LONGER = 0.51 + PERIOD
EXTRA: dict[str, tuple[np.ndarray, np.ndarray]] = {
    'velocities': (0.5 * PERIOD * RATE, STILL),
    'accelerations': (0.25 * (LONGER**2 - 0.51**2) * RATE, 0.5 * PERIOD * RATE),
    'velocities and accelerations': (0.5 * PERIOD * RATE, STILL),
    'positions among them': (STILL, STILL),
}
"""Position and velocity that JTC has more of at the first point: its way there is longer."""


@pytest.mark.kept(2)
@pytest.mark.parametrize('name', list(INTEGRATED))
def test_points_without_positions(bench, make_jtc, name: str) -> None:
    chosen = {'allow_integration_in_goal_trajectories': True}
    found = run(bench, make_jtc, Settings(**chosen), Sent(2, INTEGRATED[name]), **chosen)
    check_unleapt(found)
    assert np.abs(found.positions - Q).max() > 0.02
    # JTC integrates over a period more; from the first point on, or the first position, it is off.
    more, faster = EXTRA[name]
    since = found.times - found.begins[0][0]
    settled = since > (1.02 if name == 'positions among them' else 0.51)
    extra = more + faster * np.clip(since - 0.51, 0.0, 1.02)[:, np.newaxis]
    check_close(
        (found.expected_positions[settled], (found.positions + extra)[settled]),
        (found.expected_velocities[settled], (found.velocities + faster)[settled]),
    )


def test_points_without_positions_while_moving(bench, make_jtc) -> None:
    """They are integrated from the desired state in which they take over."""
    chosen = {'allow_integration_in_goal_trajectories': True}
    found = run(
        bench,
        make_jtc,
        Settings(**chosen),
        Sent(2, way(2)),
        Sent(17, INTEGRATED['velocities']),
        **chosen,
    )
    check_unleapt(found)
    # JTC integrates over a period more.
    extra = 0.5 * PERIOD * (found.velocities[17] + RATE)
    settled = found.times > found.begins[1][1]
    check_close(
        (found.expected_positions[settled], found.positions[settled] + extra),
        (found.expected_velocities[settled], found.velocities[settled]),
    )


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
INTEGRATES = {'allow_integration_in_goal_trajectories': True}
UNINTEGRABLE = [[(1.0, [], [], [], STILL)], [(1.0, Q), (2.0, [], STILL[:5])]]


@pytest.mark.kept(8)
@pytest.mark.parametrize(
    ('names', 'points', 'stamp', 'chosen'),
    [
        *((*row, {}) for row in REFUSED.values()),
        *((None, points, 0.0, INTEGRATES) for points in UNINTEGRABLE),
    ],
    ids=[*REFUSED, 'efforts alone', 'a wrong length'],
)
def test_what_both_refuse(bench, make_jtc, names, points, stamp: float, chosen) -> None:
    """Dropped, with a reason, and what is followed is followed on."""
    known = list(bench.robot.joint_names)
    bench.start(**SLOW_STATES | chosen)
    bench.answer(bench.joint_state(Q))
    names = known if names is None else names
    stamp = bench.time + stamp if stamp else 0.0
    jtc = make_jtc(bench, Settings(**chosen))
    message = bench.trajectory(*points, names=names, stamp=stamp)
    assert not jtc.receive(message, [TrajectoryPoint(*row) for row in points], stamp, bench.time)
    bench.send_trajectory(message)
    bench.answer(bench.joint_state(Q))
    bench.hear('joint_trajectory dropped')
    bench.spin(lambda: len(bench.efforts) == 2)
    np.testing.assert_allclose(bench.efforts[-1].position, Q)
