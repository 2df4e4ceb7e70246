"""The node with MuJoCo's arm in virtual time: what becomes of the arm."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pytest

pytest.importorskip('mujoco', reason='MuJoCo is not installed')
pytest.importorskip('rclpy', reason='needs ROS 2 for Python: pip install "ne_dynamics[ros]"')

from fault_bench import SHORTEST_PERIOD
from golden_arms import SHIPPED
from node_session import opened
from plant_loop import STATE_DELAY, Fields, PlantLoop, Scenario
from replay_inputs import EVENT, RESOLUTION
from sticking_arms import with_friction
from virtual_world import VirtualWorld, closed_context

from ne_dynamics import Robot


class NodeRun(NamedTuple):
    """What became of the arm [s, rad, rad/s], a row a state; commands are by their limits.

    Faults are named, with their times [s].
    """

    time: np.ndarray
    position: np.ndarray
    velocity: np.ndarray
    command_time: np.ndarray
    command: np.ndarray
    faults: list[tuple[str, float]]

    def fastest(self, begin: float = 0.0) -> float:
        """Return the speed of the fastest joint from a time on [rad/s]."""
        return float(np.abs(self.velocity[self.time >= begin]).max())

    def largest_step(self, begin: float = 0.0) -> float:
        """Return the largest step from a command to the next, from a time on."""
        steps = np.abs(np.diff(self.command, axis=0))
        return float(steps[self.command_time[1:] >= begin].max())


class NodeLoop(PlantLoop):
    """The loop of the recordings, which keeps the true motion."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        # What another publisher sends between two states, for its stamp [s].
        self.second: Callable[[float], Fields] | None = None
        self.rows: list[tuple[float, np.ndarray, np.ndarray]] = []

    def _tell_state(self) -> None:
        super()._tell_state()
        if self.second is None:
            return
        fields = self.second(self.time + 0.5 * self._period)
        arrays = {one: np.round(fields[one], 6).tolist() for one in RESOLUTION}
        stamp, half = round(1e9 * fields['stamp']), round(0.5e9 * self._period)
        state = {'stamp': stamp, 'name': fields['name'], **arrays}
        self._tell(self._now + STATE_DELAY + half, EVENT, {'state': state})

    def say_beside(self, away: Any, *, still: bool = False) -> None:
        """Let another one publish all joints from now on, so far from where they are, or were."""
        names, found = list(self.robot.joint_names), self.plant.position

        def make(stamp: float) -> Fields:
            plant = self.plant
            place = (found if still else plant.position) + away
            speed = np.zeros_like(found) if still else plant.velocity
            return {
                'stamp': stamp,
                'name': names,
                'position': place,
                'velocity': speed,
                'effort': plant.effort,
            }

        self.second = make

    def _move(self) -> None:
        super()._move()
        plant = self.plant
        self.rows.append((self.time + self._period, plant.position, plant.velocity))


def run_node(
    script: Any, parameters: dict[str, Any] | None = None, seconds: float = 2.0, **fields: Any
) -> NodeRun:
    """Run the node with the shipped arm; the fields are those of the scenario."""
    scenario = Scenario('', '', SHIPPED, script, parameters or {}, seconds=seconds, **fields)
    context = closed_context(31)
    try:
        with opened(context, SHIPPED, scenario.parameters, scenario.sensor_links) as session:
            loop = NodeLoop(scenario, session)
            loop.run()
            outputs = session.outputs
            outputs.finish()
    finally:
        context.try_shutdown()
    time, position, velocity = (np.array(each) for each in zip(*loop.rows, strict=True))
    times, efforts = zip(*outputs.commands, strict=True)
    command = np.array(efforts) / SHIPPED.robot.limits('effort_limit')
    return NodeRun(time, position, velocity, 1e-9 * np.array(times), command, outputs.faults)


# ---- deactivated under way


END = 1.1
"""When the node is deactivated [s]."""


@pytest.mark.kept(1)
@pytest.mark.parametrize('share', [0.01, 0.05])
def test_an_arm_that_moves_is_braked_first(share) -> None:
    """A command against gravity alone would let it go on, and fall: friction that the model does
    not have then holds it where it has come to rest.
    """

    def script(loop):
        yield 0.2
        loop.follow(loop.motion)
        yield END
        loop.tell('transition', 'deactivate')

    run = run_node(script, seconds=2.6, plant=partial(with_friction, share=share))
    assert run.faults == []
    assert run.fastest(END) < 1.7
    assert run.fastest(END + 0.4) < 0.2
    assert run.fastest(2.3) < 0.05
    assert run.command_time[-1] < END + 0.5


def test_the_rate_limit_slows_the_brake_down() -> None:
    """A stop that asks for faster efforts than they may change would push the arm beyond it."""

    def script(loop):
        yield 0.2
        loop.go(np.array([0.2, -0.2, 0.2, 0.2, -0.2, 0.2]), 4.0)
        yield END
        loop.tell('transition', 'deactivate')

    slow = {'computed_torque.kp': [25.0], 'computed_torque.kv': [10.0]}
    start = (0.0, 2.74, -1.05, -0.48, 0.3, 0.0)
    run = run_node(script, {'effort_rate_limit': [1000.0], **slow}, 1.8, start=start)
    assert run.fastest(END) < 0.1
    assert run.fastest(1.7) < 0.02


def test_a_busy_machine_does_not_brake_it_for_longer(monkeypatch) -> None:
    """Pauses that last thrice as long as asked for: the brake would throw the arm back."""
    sleep = VirtualWorld._sleep
    monkeypatch.setattr(VirtualWorld, '_sleep', lambda world, time: sleep(world, 3.0 * time))

    def script(loop):
        yield 0.2
        loop.follow(loop.motion)
        yield END
        loop.tell('transition', 'deactivate')

    run = run_node(script, seconds=2.6, plant=partial(with_friction, share=0.01))
    assert run.fastest(END + 0.4) < 0.3


# ---- led by hand


LED = {'mode': 'gravity_compensation', 'hand_guiding.damping': 2.0}


def pushed(plant, effort):
    """Push for a while."""
    return np.array([3.0, 3.0, 2.0, 0.1, 0.1, 0.05]) * (0.2 < plant.time < 0.5)


def test_a_damping_too_fast_for_the_states_is_refused() -> None:
    """It would shake the arm, ever faster: set while the arm is led, it changes nothing."""

    def script(loop):
        loop.disturbances.append(pushed)
        yield 1.0
        loop.set(hand_guiding__damping=100.0)
        loop.disturbances.clear()

    run = run_node(script, LED, 2.5, rate=30.0)
    assert run.faults == []
    assert run.fastest(1.0) < 1.0


def test_one_that_was_set_before_is_a_fault() -> None:
    """Nobody knew how fast the states are: the arm is damped as they allow."""

    def script(loop):
        loop.disturbances.append(pushed)
        yield 10.0

    run = run_node(script, {**LED, 'hand_guiding.damping': 100.0}, 2.5, rate=30.0)
    assert [name for name, _ in run.faults] == ['gains unstable']
    assert run.fastest(2.3) < 1.0


# ---- states that come slowly


def follow(loop):
    """Send the motion of the demo."""
    yield 0.3
    loop.follow(loop.motion)


# ---- two publishers of the same joints


BEGIN = 0.5
"""When the other one begins [s]."""

RATE_LIMIT = 3000.0
"""Of the efforts [N m/s]."""


def disturbed(away, *, moves=False, still=False):
    """Return a script of which another publisher becomes part, which may show one pose."""

    def script(loop):
        yield 0.2
        if moves:
            loop.follow(loop.motion)
        yield BEGIN
        loop.say_beside(np.array(away), still=still)

    return script


@pytest.mark.kept(1)
@pytest.mark.parametrize(('rate', 'away'), [(50.0, 0.3), (125.0, 0.1)])
def test_one_that_shows_a_pose_near_the_way_of_the_arm_throws_it_not(rate, away) -> None:
    """The arm comes nearer to that pose than it was when they parted, as it comes to rest."""
    script = disturbed(np.full(6, away), moves=True, still=True)
    run = run_node(script, plant=Robot.without_friction, rate=rate, seconds=3.5)
    assert [name for name, _ in run.faults] == ['joint_states jumped']
    assert run.fastest(BEGIN) < 1.5
    assert run.fastest(3.0) < 0.1


@pytest.mark.kept(1)
@pytest.mark.parametrize('away', [0.1, 0.3])
def test_an_arm_that_is_left_under_way_is_braked(away) -> None:
    """`on_fault: leave`: the last states that were believed tell how it is brought to rest; a
    friction that the model does not have then holds it.
    """
    script = disturbed(np.full(6, away), moves=True)
    plant = partial(with_friction, share=0.01)
    run = run_node(script, {'on_fault': 'leave'}, 3.0, plant=plant)
    assert [name for name, _ in run.faults] == ['joint_states jumped']
    assert run.fastest(BEGIN) < 1.5
    assert run.fastest(1.5) < 0.05


@pytest.mark.kept(1)
@pytest.mark.parametrize('rate', [125.0, 500.0])
def test_one_that_repeats_a_state_with_its_stamp_throws_it_not(rate) -> None:
    """From a stamp that is old by seconds to a new one no such time has passed: neither for the
    velocity of an arm that is damped, nor for the rate limit of its efforts.
    """

    def script(loop):
        yield 0.2
        loop.follow(loop.motion)
        yield BEGIN
        loop.say_beside(np.zeros(6), still=True)
        make, stamp = loop.second, loop.time
        loop.second = lambda now: make(stamp)

    parameters = {'effort_rate_limit': [RATE_LIMIT], 'terms.friction': False}
    run = run_node(script, parameters, 4.0, plant=Robot.without_friction, rate=rate)
    assert {name for name, _ in run.faults} == {'joint_states clock ran backwards'}
    assert run.fastest(BEGIN) < 2.5
    assert run.fastest(3.0) < 0.01
    elapsed = np.maximum(np.diff(run.command_time), SHORTEST_PERIOD)
    steps = np.abs(np.diff(run.command, axis=0)) * SHIPPED.robot.limits('effort_limit')
    # States come up to 0.1 ms later than they are stamped.
    assert (steps.max(axis=1) <= RATE_LIMIT * (elapsed + 1e-4)).all()


# ---- a wrist sensor that reads what no motor can hold


FORCE = 1000.0
"""What is read beside the load [N]."""


def shake_sensor(duration):
    """Return a script in which the sensor reads a force for a time, under way."""

    def script(loop):
        yield 0.3
        loop.follow(loop.motion)
        yield 1.0

        def alter(_kind, values):
            values = values.copy()
            values[2] += FORCE
            return values

        loop.alter_reading = alter
        yield 1.0 + duration
        loop.alter_reading = lambda _kind, values: values

    return script


@pytest.mark.kept(1)
@pytest.mark.parametrize('duration', [0.004, 0.5])
def test_a_force_that_no_motor_can_hold_is_not_compensated(duration) -> None:
    parameters = {'wrench.enabled': True, 'wrench.sensor_link': 'ft_sensor'}
    run = run_node(
        shake_sensor(duration),
        parameters,
        2.5,
        plant=lambda robot: with_friction(robot, 0.005),
        rate=500.0,
        options={'sensor_link': 'ft_sensor'},
    )
    assert run.faults == []
    assert run.largest_step(0.5) < 0.1
    assert run.fastest() < 2.5
