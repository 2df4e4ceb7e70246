"""What `doc/joint_trajectory_controller.md` says of JTC is what JTC does, where it is compiled.

See `test/support/real_jtc.py`; JTC is stepped by virtual time, and its arm is where a test says.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip('rclpy', reason='needs ROS 2 for Python: pip install "ne_dynamics[ros]"')

from rclpy.serialization import serialize_message
from real_jtc import Cycle, RealJtc

from ne_dynamics.shipped import shipped_file
from ne_dynamics.simulation.demo.node_messages import trajectory_message

PAGE = Path(__file__).resolve().parents[2] / 'doc' / 'joint_trajectory_controller.md'
NAMES = [f'joint_{i}' for i in range(1, 7)]
STILL = np.zeros(6)
PERIOD = 0.002
P = 100.0
GAINS = {name: {'p': P, 'd': 0.0} for name in NAMES}
BEHIND = STILL - 0.01
"""Where an arm is that should be at 0: PID alone sends 1 N m."""


class Driven:
    """JTC whose cycles are counted; positions of the arm are given, or the last ones.

    Parameters
    ----------
    jtc : RealJtc
    """

    def __init__(self, jtc: RealJtc) -> None:
        self.jtc, self.time, self.measured = jtc, 100.0, STILL

    def send(self, *rows: tuple[Any, ...], names: Sequence[str] = NAMES) -> None:
        """Send a trajectory of (time, positions, velocities, accelerations, effort)."""
        message = trajectory_message(names, rows)
        assert self.jtc.receive(bytes(serialize_message(message)), self.time)

    def step(self, measured: np.ndarray | None = None, velocity: np.ndarray = STILL) -> Cycle:
        self.measured = self.measured if measured is None else measured
        cycle: Cycle = self.jtc.update(self.time, self.measured, velocity)
        self.time += PERIOD
        return cycle

    def run(self, seconds: float, measured: np.ndarray | None = None) -> list[Cycle]:
        """Return the cycles of a time."""
        return [self.step(measured) for _ in range(round(seconds / PERIOD))]


@pytest.fixture
def make(jtc_process) -> Iterator[Callable[..., Driven]]:
    made: list[RealJtc] = []

    def start(*interfaces: str, at: np.ndarray = STILL, **parameters: Any) -> Driven:
        urdf = shipped_file('six_axis_arm.urdf').read_text(encoding='utf-8')
        jtc = jtc_process.RealJtc(
            NAMES, at, urdf, PERIOD, 100.0, command_interfaces=list(interfaces), **parameters
        )
        made.append(jtc)
        return Driven(jtc)

    yield start
    for jtc in made:
        jtc.close()


def commands(cycles: Sequence[Cycle], interface: int = 0) -> np.ndarray:
    """Return what is sent to the first joint at each cycle."""
    return np.array([cycle.command[interface, 0] for cycle in cycles])


def test_a_new_trajectory_begins_a_period_early(make) -> None:
    """The desired position goes as far as is said in a cycle, then on as before."""
    text = re.sub(r'\s+', ' ', PAGE.read_text(encoding='utf-8'))
    speed, leap, step = map(
        float,
        re.search(r'(\S+) rad/s at 500 Hz: (\S+) mrad in place of (\S+) mrad', text).groups(),
    )
    for is_from_desired, expected in ((True, leap), (False, step)):
        jtc = make('position', interpolate_from_desired_state=is_from_desired)
        jtc.step()
        velocity = STILL + speed
        jtc.send((0.0, STILL, velocity), (1.0, velocity, velocity), (2.0, velocity + 0.5, STILL))
        desired = []
        for cycle in range(200):
            arrived = velocity * PERIOD * cycle
            if cycle == 100:
                jtc.send((1.0, arrived + velocity, velocity), (2.0, arrived + 4.0, STILL))
            desired.append(jtc.step(arrived, velocity).desired[0, 0])
        steps = 1e3 * np.diff(desired)
        assert steps[99] == pytest.approx(expected, abs=0.05)
        np.testing.assert_allclose(np.delete(steps, 99), step, atol=0.05)


@pytest.mark.parametrize('is_from_desired', [False, True])
def test_a_trajectory_in_the_first_cycle_has_no_effort_until_its_first_point(
    make, is_from_desired: bool
) -> None:
    """It begins at the command that there was, which nobody has written yet: NaN."""
    for interfaces in (['effort'], ['position', 'effort']):
        for cycles in (0, 1):
            jtc = make(*interfaces, gains=GAINS, interpolate_from_desired_state=is_from_desired)
            jtc.run(cycles * PERIOD)
            jtc.send((0.02, STILL, STILL, STILL, STILL + 10.0), (1.0, STILL, STILL, STILL, STILL))
            sent = commands(jtc.run(0.04), interfaces.index('effort'))
            assert np.isnan(sent[:9]).all() == (cycles == 0)
            assert np.isfinite(sent[10:]).all()


def test_the_way_to_the_first_effort_begins_at_the_last_command(make) -> None:
    """With its PID part, unless `interpolate_from_desired_state`."""
    for is_from_desired, begin in ((False, 1.0), (True, 0.0)):
        jtc = make('effort', gains=GAINS, interpolate_from_desired_state=is_from_desired)
        jtc.run(0.01, BEHIND)
        jtc.send((1.0, STILL, STILL, STILL, STILL), (2.0, STILL, STILL, STILL, STILL))
        assert jtc.step().next[3, 0] == pytest.approx(begin, abs=0.01)


def test_which_cycle_a_command_is_of(make) -> None:
    """Effort alone: the PID of now, the effort of the next cycle; else the other way round."""
    rows = (0.0, STILL, STILL, STILL, STILL), (1.0, STILL + 1.0, STILL, STILL, STILL + 10.0)
    jtc = make('effort', gains=GAINS)
    jtc.step()
    jtc.send(*rows)
    cycle = jtc.run(0.1, BEHIND)[-1]
    pid = P * (cycle.desired[0] - BEHIND)
    np.testing.assert_allclose(cycle.command[0], pid + cycle.next[3], atol=1e-9)
    jtc = make('position', 'effort')
    jtc.step()
    jtc.send(*rows)
    cycle = jtc.run(0.1, BEHIND)[-1]
    np.testing.assert_allclose(cycle.command, [cycle.next[0], cycle.desired[3]], atol=1e-12)


def test_after_activation_there_is_no_effort_but_that_of_the_gains(make) -> None:
    """The arm is held where it is by PID alone."""
    jtc = make('effort', gains=GAINS)
    np.testing.assert_allclose(commands(jtc.run(0.02, BEHIND))[1:], 1.0, atol=1e-9)


def test_outside_of_a_tolerance_the_effort_is_gone(make) -> None:
    """What holds the arm where it is measured has none."""
    constraints = {'joint_1': {'trajectory': 0.02}}
    jtc = make('effort', gains=GAINS, constraints=constraints)
    jtc.step()
    jtc.send((0.0, STILL, STILL, STILL, STILL + 10.0), (1.0, STILL, STILL, STILL, STILL + 10.0))
    assert commands(jtc.run(0.1))[-1] == pytest.approx(10.0)
    assert commands(jtc.run(0.1, STILL + 0.05))[-1] == pytest.approx(0.0)


def test_the_last_effort_goes_on(make) -> None:
    """For as long as nothing else comes."""
    jtc = make('effort', gains=GAINS)
    jtc.step()
    jtc.send((0.0, STILL, STILL, STILL, STILL), (0.1, STILL, STILL, STILL, STILL + 10.0))
    np.testing.assert_allclose(commands(jtc.run(5.0))[60:], 10.0)


def test_a_point_without_effort(make) -> None:
    """It counts as one of 0, to which the line leads."""
    jtc = make('effort', gains=GAINS)
    jtc.step()
    effort = STILL + 10.0
    jtc.send(*((0.1 * i, STILL, STILL, STILL, *([effort] if i != 2 else [])) for i in range(5)))
    sent = commands(jtc.run(0.4))
    # An effort is sent a period before it is due.
    np.testing.assert_allclose(sent[[24, 74, 99, 124, 174]], [10.0, 5.0, 0.0, 5.0, 10.0])


def test_a_joint_that_is_left_out_has_no_effort(make) -> None:
    """Where it is held it has PID alone."""
    jtc = make('effort', gains=GAINS, allow_partial_joints_goal=True)
    jtc.step()
    none, ten = [0.0], [10.0]
    jtc.send((0.0, none, none, none, ten), (1.0, none, none, none, ten), names=['joint_2'])
    command = jtc.run(0.1)[-1].command[0]
    assert command[1] == pytest.approx(10.0)
    np.testing.assert_allclose(np.delete(command, 1), 0.0, atol=1e-12)


def test_speed_scaling_reaches_position_interfaces_alone(make) -> None:
    for interfaces, expected in ((['position'], 0.25), (['position', 'effort'], 0.5)):
        jtc = make(*interfaces, speed_scaling__initial_scaling_factor=0.5)
        jtc.step()
        jtc.send((0.0, STILL), (1.0, STILL + 1.0))
        assert jtc.run(0.5)[-1].desired[0, 0] == pytest.approx(expected, abs=0.01)


def test_without_an_effort_interface_efforts_are_refused(make) -> None:
    """The trajectory is dropped."""
    jtc = make('position')
    rows = (0.0, STILL, STILL, STILL, STILL), (1.0, STILL, STILL, STILL, STILL)
    message = trajectory_message(NAMES, rows)
    assert not jtc.jtc.receive(bytes(serialize_message(message)), jtc.time)
