"""What a written controller does when it begins, changes, and when something fails.

The program is compiled with all warnings as errors, and with the address and undefined-behaviour
sanitizers, which end it at the first fault.
"""

import numpy as np
import pytest
from controller_arm import ZERO, N, Q, load_arm
from controller_bench import ControllerBench

from ne_dynamics.control.transition import CommandOffset
from ne_dynamics.dynamics import Dynamics
from ne_dynamics.motion.waypoints import DesiredState
from ne_dynamics.ros.settings.configuration import make_tuning
from ne_dynamics.ros.settings.controlled_arm import controlled_arm
from ne_dynamics.ros.settings.parameters import PARAMETERS

# ---- the beginning, and changes


def test_the_first_command_begins_at_the_measured_effort_and_fades(make_bench, dynamics):
    """It decays as the node's does, to 1 % in the transition time, without a step."""
    gravity = dynamics.gravity_torque(Q)
    bench = make_bench(offset=3.0)
    expected = CommandOffset(0.2)
    expected.change(np.full(N, 3.0))
    for index in range(200):
        np.testing.assert_allclose(bench.follow(Q), gravity + expected.value, atol=1e-10)
        if index == 100:
            assert np.abs(expected.value).max() <= 0.0301
        expected.decay(0.002)
    for _ in range(150):
        found = bench.follow(Q)
    np.testing.assert_allclose(found, gravity, atol=1e-12)


@pytest.mark.parametrize(
    'kind', ['no efforts', 'beyond the share', 'without gravity', 'no number']
)
def test_an_effort_that_the_model_does_not_bear_out_is_no_beginning(make_bench, dynamics, kind):
    """The command begins at the effort of the model."""
    gravity = dynamics.gravity_torque(Q)
    readings = {
        'no efforts': ZERO,
        'beyond the share': gravity + 0.21 * load_arm().limits('effort_limit'),
        'without gravity': 0.1 * gravity + 0.01,
        'no number': np.full(N, np.nan),
    }
    bench = make_bench(offset=readings[kind] - gravity)
    np.testing.assert_allclose(bench.follow(Q), gravity, atol=1e-10)


@pytest.mark.parametrize(
    'change',
    [
        {'mode': 'gravity_compensation'},
        {'computed_torque.kp': [900.0], 'computed_torque.kv': [60.0]},
        {'payload.mass': 3.0},
        {'terms.gravity': False},
    ],
    ids=str,
)
def test_no_change_of_a_parameter_makes_a_step(bench, change):
    """The command goes on from the last one, and reaches what it would be with the new ones."""
    bench.states(Q + 0.01, ZERO, ZERO)
    for _ in range(400):
        before = bench.follow(Q)
    assert bench.set(change) == ''
    np.testing.assert_allclose(bench.follow(Q), before, atol=1e-9)
    for _ in range(400):
        after = bench.follow(Q)
    settings = PARAMETERS.changed(
        {name: tuple(v) if isinstance(v, list) else v for name, v in change.items()}
    )
    tuning, _ = make_tuning(settings, controlled_arm(settings, load_arm()))
    wanted = tuning.law.effort(Q + 0.01, ZERO, DesiredState(Q, ZERO, ZERO))
    np.testing.assert_allclose(after, wanted, atol=1e-9)
    assert np.abs(after - before).max() > 1.0


def test_changes_in_every_period_do_not_take_the_feedback(bench, dynamics):
    """Each fades by itself, and none keeps the others up: the arm is held where it is pushed."""
    for index in range(100):
        bench.states(Q + 0.0002 * index, ZERO, ZERO)
        assert bench.set({'payload.mass': 1e-9 * (index + 1)}) == ''
        found = bench.follow(Q)
    at = Q + 0.0002 * 99
    wanted = dynamics.inverse_dynamics(at, ZERO, 100.0 * (Q - at))
    np.testing.assert_allclose(found, wanted, atol=1e-6)


def test_limits_of_effort_and_rate_hold(make_bench, dynamics):
    """Whatever is asked for, the command stays within them, and changes no faster."""
    bench = make_bench(effort_limits=[40.0], effort_rate_limit=[50.0], transition_time=0.0)
    last = np.clip(dynamics.gravity_torque(Q), -40.0, 40.0)
    bench.states(Q + 0.4, ZERO, ZERO)
    for _ in range(1000):
        command = bench.follow(Q)
        assert np.abs(command).max() <= 40.0
        assert np.abs(command - last).max() <= 0.1 + 1e-12
        last = command
    assert np.abs(last).max() == 40.0


# ---- references


def start_at(program, q, speed, **parameters):
    """Return a bench that follows a reference of constant velocity at a place."""
    bench = ControllerBench(program, N, transition_time=0.0, state_effort='ignore', **parameters)
    bench.states(q, speed)
    assert bench.activate()
    bench.follow(q, speed)
    return bench


def sweep(bench, count, speed=0.5):
    """Follow a reference of constant velocity; return where it came to."""
    for index in range(count):
        q = Q + speed * 0.002 * (index + 1)
        bench.states(q, np.full(N, speed), ZERO)
        bench.follow(q, np.full(N, speed))
    return q


def hold_after(bench, count):
    """Let periods pass in which the arm does what it is told; return the commands."""
    found = []
    for _ in range(count):
        assert bench.update()
        found.append(bench.commands)
    return np.array(found)


FAULTS = {
    'no number': (np.nan, 'reference is not a number'),
    'infinite': (np.inf, 'reference is not a number'),
    'jump': (0.1, 'reference jumps'),
}


@pytest.mark.parametrize('kind', FAULTS)
def test_a_reference_that_cannot_be_is_not_followed(bench, dynamics, kind):
    """The motion comes to rest on its way, without a step; it is said once."""
    added, words = FAULTS[kind]
    q = sweep(bench, 600)
    before = bench.commands
    bad = q.copy()
    bad[2] += added
    bench.references(bad, np.full(N, 0.5))
    # From 0.5 rad/s at the velocity limit in 0.1 s: some milliseconds, and so far goes the arm.
    limits = load_arm().limits('velocity_limit')
    rest = q + 0.5**2 / (2.0 * limits / 0.1)
    bench.states(q, np.full(N, 0.5), ZERO)
    first = hold_after(bench, 1)[0]
    inertia = dynamics.mass_matrix(q) @ (-limits / 0.1)
    assert np.abs(first - before).max() <= 1.5 * np.abs(inertia).max()
    bench.states(rest, ZERO, ZERO)
    held = hold_after(bench, 500)[-1]
    np.testing.assert_allclose(held, dynamics.gravity_torque(rest), atol=0.05)
    (line,) = bench.log
    assert line.startswith(words)
    assert "(joint 'joint_3')" in line
    hold_after(bench, 10)
    assert bench.log == []


LIMIT = 2.8
"""Of the third joint, both ways [rad]; it may have 3.1 rad/s, and so stops on 0.155 rad."""


def find_held(bench, dynamics, at, kp=100.0):
    """Return the positions that the commands hold an arm at, which rests somewhere."""
    bench.states(at, ZERO)
    command = hold_after(bench, 200)[-1]
    effort = command - dynamics.gravity_torque(at)
    return at + np.linalg.solve(dynamics.mass_matrix(at), effort) / kp


@pytest.mark.parametrize('side', [-1.0, 1.0])
@pytest.mark.parametrize(
    ('room', 'end'),
    [(0.5, 0.345), (0.12, 0.0), (0.08, 0.0), (0.05, 0.0), (0.0, 0.0), (-0.1, -0.1)],
)
def test_a_motion_that_is_given_up_ends_before_a_position_limit(
    program, dynamics, side, room, end
):
    """It takes the time that it has; what cannot end before the limit ends there, no farther."""
    q, speed = Q.copy(), ZERO.copy()
    q[2], speed[2] = side * (LIMIT - room), side * 3.1
    with start_at(program, q, speed) as bench:
        bench.references(np.full(N, np.nan))
        held = find_held(bench, dynamics, q)
    expected = q.copy()
    expected[2] = side * (LIMIT - end)
    np.testing.assert_allclose(held, expected, rtol=0, atol=1e-6)


@pytest.mark.parametrize(('room', 'largest'), [(0.5, 31.0), (0.12, 40.05), (0.05, 62.0)])
def test_a_position_limit_takes_twice_the_usual_deceleration_at_most(
    program, dynamics, room, largest
):
    """It is seen in the first command, which is the law's for the arm as it moves."""
    q, speed = Q.copy(), ZERO.copy()
    q[2], speed[2] = LIMIT - room, 3.1
    with start_at(program, q, speed, computed_torque__kp=[0.0]) as bench:
        bench.references(np.full(N, np.nan))
        found = hold_after(bench, 1)[0]
    stop = np.where(np.arange(N) == 2, -largest, 0.0)
    # The feedback is on a velocity that is less by one period.
    wanted = dynamics.inverse_dynamics(q, speed, stop + 20.0 * 0.002 * stop)
    np.testing.assert_allclose(found, wanted, atol=0.05)


def test_an_acceleration_that_no_motor_can_give_is_not_followed(bench, dynamics):
    """It is said once, with the joint; the arm is held, and followed again when it is gone."""
    gravity = dynamics.gravity_torque(Q)
    wild = np.where(np.arange(N) == 2, 500.0, 0.0)
    for _ in range(5):
        assert np.abs(bench.follow(Q, ZERO, wild) - gravity).max() > 100.0
    assert bench.log == []
    for _ in range(100):
        np.testing.assert_allclose(bench.follow(Q, ZERO, wild), gravity, atol=1e-9)
    (line,) = bench.log
    assert line.startswith('reference accelerates beyond the effort limits')
    assert "(joint 'joint_3')" in line
    for _ in range(300):
        found = bench.follow(Q, ZERO, 0.01 * wild)
    expected = dynamics.inverse_dynamics(Q, ZERO, 0.01 * wild)
    np.testing.assert_allclose(found, expected, atol=1e-6)
    assert bench.log == []


def test_a_reference_comes_back_when_it_is_sound_and_within_reach(bench):
    """One that is far away is not taken up; one where the arm is held is."""
    bench.references(Q + 1.0)
    assert bench.update()
    assert len(bench.log) == 1
    command = bench.commands
    for _ in range(50):
        assert bench.update()
    np.testing.assert_allclose(bench.commands, command, atol=1e-9)
    for _ in range(300):
        found = bench.follow(Q + 0.01)
    assert bench.log == []
    law = Dynamics(load_arm(), backend='python')
    acceleration = 100.0 * np.full(N, 0.01)
    np.testing.assert_allclose(
        found, law.inverse_dynamics(Q, ZERO, acceleration), rtol=0, atol=1e-6
    )


def test_a_reference_that_moves_but_does_not_change_is_stale(bench):
    """After `reference_timeout` the arm is held; one that stands still may stay the same."""
    for _ in range(200):
        bench.follow(Q)
    assert bench.log == []
    sweep(bench, 50)
    hold_after(bench, 49)
    assert bench.log == []
    hold_after(bench, 5)
    (line,) = bench.log
    assert line.startswith('reference moves, but does not change')


def test_a_slower_controller_in_front_is_followed(bench):
    """At a tenth of the rate references step by what their velocities say, and that is no jump."""
    for index in range(500):
        if index % 10 == 0:
            q = Q + 1.5 * 0.002 * index
            bench.references(q, np.full(N, 1.5))
        assert bench.update()
    assert bench.log == []


def test_a_reference_that_jumps_with_its_velocity_is_not_followed(bench):
    """After it stood still, however long, it may not be where its velocity would come to."""
    for _ in range(200):
        bench.follow(Q)
    bench.follow(Q + 0.3, np.full(N, 4.0))
    (line,) = bench.log
    assert line.startswith('reference jumps')


def test_without_a_controller_in_front_the_arm_is_held(make_bench, dynamics):
    """Out of a chain references are not looked at; in it again they are."""
    bench = make_bench()
    bench.ask('chain', 0)
    bench.references(Q + 0.02)
    for _ in range(400):
        assert bench.update()
    np.testing.assert_allclose(bench.commands, dynamics.gravity_torque(Q), atol=1e-9)
    assert bench.log == []
    bench.ask('chain', 1)
    for _ in range(400):
        assert bench.update()
    assert np.abs(bench.commands - dynamics.gravity_torque(Q)).max() > 0.1


# ---- states, and the end


@pytest.mark.parametrize('kind', ['position', 'velocity'])
@pytest.mark.parametrize('value', [np.nan, np.inf])
def test_a_state_that_is_no_number_ends_in_an_error(bench, dynamics, kind, value):
    """One last command holds the arm against gravity where it was seen last; it is said."""
    q = sweep(bench, 100)
    bad = np.full(N, value) if kind == 'velocity' else np.where(np.arange(N) == 1, value, q)
    bench.states(bad if kind == 'position' else q, bad if kind == 'velocity' else ZERO, ZERO)
    assert not bench.update()
    np.testing.assert_allclose(bench.commands, dynamics.gravity_torque(q), atol=1e-9)
    (line,) = bench.log
    assert line.startswith('state is not a number')
    assert bench.ask('deactivate') == 'success'
    np.testing.assert_allclose(bench.commands, dynamics.gravity_torque(q), atol=1e-9)


def test_states_without_a_number_are_not_begun_with(make_bench):
    """The controller does not become active, and says why."""
    bench = make_bench()
    bench.ask('deactivate')
    bench.states(np.full(N, np.nan), ZERO, ZERO)
    assert not bench.activate()
    assert bench.log == ["state is not a number (joint 'joint_1')"]


@pytest.mark.parametrize('word', ['gravity', 'zero', 'none'])
def test_the_last_command_is_what_on_deactivate_says(make_bench, dynamics, word):
    """What holds the arm, nothing, or the command that was there."""
    bench = make_bench(on_deactivate=word)
    bench.states(Q + 0.02, ZERO, ZERO)
    for _ in range(400):
        bench.follow(Q)
    command = bench.commands
    assert bench.ask('deactivate') == 'success'
    expected = {'gravity': dynamics.gravity_torque(Q + 0.02), 'zero': ZERO, 'none': command}
    np.testing.assert_allclose(bench.commands, expected[word], atol=1e-9)


def test_it_begins_anew_after_it_was_deactivated(bench, dynamics):
    """A reference of before does not count: the arm is held where it is found."""
    sweep(bench, 100)
    assert bench.ask('deactivate') == 'success'
    bench.states(Q, ZERO, dynamics.gravity_torque(Q))
    assert bench.activate()
    assert bench.update()
    np.testing.assert_allclose(bench.commands, dynamics.gravity_torque(Q), atol=1e-9)
    (line,) = bench.log
    assert line.startswith('reference is not a number')
    assert bench.ask('deactivate') == 'success'
    assert bench.ask('cleanup') == 'success'


def test_interfaces_that_somebody_else_holds_keep_their_values(bench):
    """What cannot be read in a period is what it was."""
    q = sweep(bench, 20)
    command = bench.follow(q, np.full(N, 0.5))
    bench.ask('lock', 1)
    assert bench.update()
    np.testing.assert_allclose(bench.commands, command, atol=0.5)
    assert bench.log == []


# ---- real time


@pytest.mark.kept(1)
@pytest.mark.parametrize(
    'values', [{}, {'payload.mass': 2.0}, {'mode': 'gravity_compensation'}], ids=str
)
def test_a_million_updates_allocate_nothing_and_call_nothing_of_the_system(
    programs, folder, values
):
    """With references that are lost and come back, under a kernel that allows no system call."""
    with ControllerBench(programs.compile(folder), N, 1000) as bench:
        bench.states(ZERO, ZERO, ZERO)
        assert bench.activate()
        assert bench.set(values) == ''
        bench.references(ZERO)
        assert bench.ask('run', 1e6) == 'ok'


def test_an_effort_that_overflows_ends_in_an_error(bench, dynamics):
    """No command is anything but a number."""
    bench.states(Q, np.full(N, 1e200), ZERO)
    assert not bench.update()
    assert np.isfinite(bench.commands).all()
    assert bench.log == ['effort is not a number']
