"""States are answered in the middle of work that takes longer than they can wait."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip('rclpy', reason='needs ROS 2 for Python: pip install "ne_dynamics[ros]"')

from rclpy.serialization import serialize_message

Q = np.array([0.3, -0.6, 1.1, 0.4, -0.5, 0.2])


class StatesMeanwhile:
    """Hands a state to the node whenever it makes a pause, as its executor does.

    Attributes
    ----------
    positions : list of array
        Desired positions that were answered with, shape (6,) [rad].
    """

    def __init__(self, bench) -> None:
        self._bench = bench
        self.positions: list[np.ndarray] = []
        self.measured = Q
        bench.node.answer_states = self

    def __call__(self, *, keeps_last: bool = False) -> None:
        self.positions.append(self.send(self.measured))

    def send(self, position) -> np.ndarray:
        """Let a state be answered; return the desired position."""
        configured = self._bench.node.configured
        configured.states.on_message(serialize_message(self._bench.joint_state(position)))
        return configured.controller.motion.present_state().position


@pytest.fixture
def meanwhile(bench):
    """Return what hands states to the node of a bench, which holds an arm."""
    bench.start(jump_velocity=[20.0])
    for _ in range(5):
        bench.answer(bench.joint_state(Q))
    return StatesMeanwhile(bench)


def move(bench) -> None:
    bench.send_trajectory(bench.trajectory((0.5, Q + 0.1), (1.0, Q)))


def hear_diagnostics(bench) -> None:
    count = len(bench.diagnostics)
    bench.spin(lambda: len(bench.diagnostics) > count)


@pytest.mark.parametrize(
    ('work', 'least'),
    [
        (move, 4),
        (lambda bench: bench.set(computed_torque__kp=[90.0]), 3),
        (hear_diagnostics, 3),
    ],
    ids=['trajectory', 'parameters', 'diagnostics'],
)
def test_long_work_makes_pauses(bench, meanwhile, work, least) -> None:
    """And the arm is held as if nothing was done."""
    before = len(bench.commands)
    work(bench)
    answered = len(meanwhile.positions)
    assert answered >= least
    bench.spin(lambda: len(bench.commands) >= before + answered, 'the commands')
    np.testing.assert_allclose(meanwhile.positions, np.tile(Q, (answered, 1)), atol=1e-12)


def test_a_fault_in_the_middle_of_planning_ends_what_is_planned(bench, meanwhile) -> None:
    """The arm is held where it is found when states return, and nothing sets off."""
    meanwhile.measured = Q + 0.5  # a jump
    move(bench)
    assert len(meanwhile.positions) > 3
    controller = bench.node.configured.controller
    assert not controller.motion.plans
    bench.node.answer_states = lambda **_: None
    for _ in range(100):
        held = meanwhile.send(Q + 0.5)
    assert controller.fault is None
    np.testing.assert_allclose(held, Q + 0.5, atol=1e-9)
