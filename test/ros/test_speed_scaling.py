"""`~/speed_scaling_input` and trajectories that are slowed down, over DDS."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

pytest.importorskip('rclpy', reason='needs ROS 2 for Python: pip install "ne_dynamics[ros]"')

from jtc_model import JtcModel, Settings
from node_bench import SLOW_STATES

from ne_dynamics.motion.waypoints import TrajectoryPoint
from ne_dynamics.ros.latched import LATCHED

Q = np.array([0.3, -1.0, 1.2, 0.4, -0.5, 0.2])
STEP = np.array([0.4, -0.2, 0.3, 0.1, 0.2, -0.1])
STILL = np.zeros(6)
PERIOD = 0.05


class Slider:
    """Says at what speed motions are to be followed, as an operator does."""

    def __init__(self, bench: Any) -> None:
        from control_msgs.msg import SpeedScalingFactor

        self.bench, self.kind = bench, SpeedScalingFactor
        self.publisher = bench.probe.create_publisher(
            SpeedScalingFactor, 'computed_torque/speed_scaling_input', LATCHED
        )

    def say(self, factor: float) -> None:
        self.publisher.publish(self.kind(factor=factor))

    @property
    def target(self) -> float:
        """What the node has heard."""
        return self.bench.node.configured.controller.motion.time_scaling.target

    def wait_for(self, factor: float) -> None:
        """Wait until the node has heard it."""
        self.bench.spin(lambda: self.target == factor, f'factor {factor}')


@pytest.fixture
def slider(bench, messages) -> Slider:
    """Return a slider; the node is not started yet."""
    return Slider(bench)


def step(bench: Any, dt: float = PERIOD) -> tuple[np.ndarray, np.ndarray]:
    """Let a state be answered of an arm that is where it was to be; return what is desired."""
    position = bench.desired(bench.efforts[-1].position if bench.efforts else Q, dt=dt)
    return position, np.array(bench.efforts[-1].velocity)


WAY: list[tuple[Any, ...]] = [
    (0.51, Q + 0.4 * STEP, 0.6 * STEP, STILL),
    (1.02, Q + 0.7 * STEP, 0.7 * STEP, STILL),
    (1.53, Q + STEP, STILL, STILL),
]


@pytest.mark.kept(2)
@pytest.mark.parametrize('where', ['topic', 'parameter', 'before the node'])
def test_half_the_speed_is_the_path_of_jtc(bench, slider, where: str) -> None:
    """At half the speed the positions are those of JTC's clock at half its pace.

    The velocities, which JTC does not send with position interfaces alone, are half as large.
    """
    if where == 'before the node':
        slider.say(0.5)
    initial = 0.5 if where == 'parameter' else 1.0
    bench.start(**SLOW_STATES, speed_scaling__initial_scaling_factor=initial)
    step(bench)
    if where == 'topic':
        slider.say(0.5)
    slider.wait_for(0.5)
    for _ in range(10):
        step(bench)
    model = JtcModel(list(bench.robot.joint_names), Q, Settings())
    bench.send_trajectory(bench.trajectory(*WAY))
    assert model.receive(bench.joint_names, [TrajectoryPoint(*point) for point in WAY], 0.0, 0.0)
    position, _ = step(bench)
    np.testing.assert_allclose(position, model.update(0.0, Q, STILL)[0], atol=1e-9)
    fastest = 0.0
    for cycle in range(1, 66):
        position, velocity = step(bench)
        expected = model.update(0.5 * PERIOD * cycle, position, STILL)
        np.testing.assert_allclose(position, expected[0], atol=1e-6)
        np.testing.assert_allclose(velocity, 0.5 * np.array(expected[1]), atol=1e-6)
        fastest = max(fastest, np.abs(velocity).max())
    assert fastest > 0.1
    np.testing.assert_allclose(position, Q + STEP, atol=1e-9)


def test_a_factor_that_cannot_be_counts_for_nothing(bench, slider, unthrottled) -> None:
    """It is refused by name, and the motion goes on as it was."""
    bench.start()
    step(bench)
    slider.say(0.5)
    slider.wait_for(0.5)
    for factor in (-0.5, float('nan'), float('inf'), 1.5):
        bench.forget_what_was_said()
        slider.say(factor)
        assert 'factor: expected from 0 to 1' in bench.hear('speed_scaling_input', 'factor')
        assert slider.target == 0.5


def test_a_goal_that_is_too_much_is_slowed_down(bench, slider) -> None:
    """Its sender is told how long it takes; the state tells at what speed it is followed."""
    from control_msgs.msg import JointTrajectoryControllerState

    states: list[Any] = []
    bench.probe.create_subscription(
        JointTrajectoryControllerState, 'computed_torque/controller_state', states.append, 2000
    )
    limits = [330.0, 330.0, 150.0, 56.0, 56.0, 56.0]
    bench.start(
        trajectory__when_infeasible='slow_down',
        interpolation_method='splines',
        effort_limits=limits,
        state_publish_rate=1e6,
        **SLOW_STATES,
    )
    publisher = bench.node._controller_state._publisher
    bench.spin(lambda: publisher.get_subscription_count() > 0, 'the subscription')
    period = 0.01
    step(bench, period)
    far = 2.0 * STEP
    bench.send_trajectory(bench.trajectory((0.2, Q + 0.5 * far), (0.3, Q + far)))
    line = bench.hear('beyond the limits, slowed down (', 'in place of 0.3 s')
    assert 'velocity' in line
    count, velocity = 0, far
    while count < 30 or velocity.any():
        position, velocity = step(bench, period)
        assert (np.abs(velocity) <= 1.01 * bench.robot.limits('velocity_limit')).all()
        count += 1
        assert count < 200
    np.testing.assert_allclose(position, Q + far, atol=1e-9)
    bench.spin(lambda: len(states) > count, 'the states')
    speeds = [state.speed_scaling_factor for state in states]
    assert min(speeds) < 0.5
    assert max(speeds) <= 1.0
    assert (np.abs(bench.commands) < limits).all()
