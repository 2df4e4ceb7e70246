"""What the controller does about efforts that its model does not have."""

from __future__ import annotations

import numpy as np
import pytest
from tuned_arm import COMPILED, LIMITS, ZERO, Q, follow, make_tuning

from ne_dynamics.control.contact import ContactReaction
from ne_dynamics.control.controller import Controller
from ne_dynamics.control.guards.state_guard import FaultKind, StateLimits
from ne_dynamics.control.laws import Mode
from ne_dynamics.control.observer import DisturbanceTuning
from ne_dynamics.control.stages.observer import Observer
from ne_dynamics.control.tick import Tick
from ne_dynamics.control.tuning import LastCommand, Tuning
from ne_dynamics.motion.waypoints import TrajectoryPoint, resting_state

PERIOD = 0.002
MISSING = np.array([4.0, 30.0, -12.0, 2.0, -1.0, 0.5])
"""What the model lacks of the effort that holds the arm [N m]."""


def disturbance(**changes) -> DisturbanceTuning:
    """Return a tuning that compensates."""
    values = {
        'compensates': True,
        'cutoff_frequency': 3.0,
        'velocity_lag': 0.0,
        'lag_periods': 0.0,
        'bounds': 0.3 * LIMITS,
        'contact_cutoff_frequency': 30.0,
        'least_contact': 0.04 * LIMITS,
    }
    return DisturbanceTuning(**{**values, **changes})


def tuning(chosen: DisturbanceTuning | None, mode=Mode.COMPUTED_TORQUE, **options) -> Tuning:
    """Return a tuning with an observer."""
    return make_tuning(
        mode, dynamics=COMPILED, disturbance=chosen, states=StateLimits(0.1), **options
    )


class Arm:
    """An arm that stands at Q whatever is commanded, as behind a wall, and its controller."""

    def __init__(self, controller: Controller) -> None:
        self.controller = controller
        self.now = 0.0
        self.q = Q

    def stand(self, seconds: float) -> np.ndarray:
        """Report the same position for a while; return the commands."""
        commands = []
        for _ in range(round(seconds / PERIOD)):
            self.command = self.controller.update(self.q, ZERO, self.now)
            commands.append(self.command.effort)
            self.now += PERIOD
        return np.array(commands)


class HeavyArm(Arm):
    """One that needs more effort than its model says, and that may be pushed.

    Attributes
    ----------
    push : array, shape (6,)
        Efforts from outside [N m].
    """

    def __init__(self, controller: Controller) -> None:
        super().__init__(controller)
        self.qd = self.push = ZERO

    def stand(self, seconds: float) -> np.ndarray:
        """Let a while pass; return the commands."""
        commands, step = [], 0.5 * PERIOD
        for _ in range(round(seconds / PERIOD)):
            self.asked = self.q
            self.command = self.controller.update(self.q, self.qd, self.now)
            commands.append(self.command.effort)
            acting = self.command.effort - MISSING + self.push
            for _ in range(2):
                middle = self.q + 0.5 * step * self.qd
                self.qd = self.qd + step * COMPILED.forward_dynamics(middle, self.qd, acting)
                self.q = middle + 0.5 * step * self.qd
            self.now += PERIOD
        return np.array(commands)


def largest_step(commands: np.ndarray) -> float:
    """Return the largest change from one command to the next [N m]."""
    return float(np.abs(np.diff(commands, axis=0)).max())


def test_an_estimate_changes_no_command() -> None:
    """With `estimate` the commands are those without it, to the last bit."""
    commands = [
        HeavyArm(Controller(tuning(chosen))).stand(1.0)
        for chosen in (None, disturbance(compensates=False))
    ]
    np.testing.assert_array_equal(*commands)


@pytest.mark.parametrize(
    'after',
    [
        None,
        disturbance(compensates=False),
        disturbance(bounds=0.01 * LIMITS),
        disturbance(cutoff_frequency=1.0),
    ],
    ids=['off', 'estimate', 'other bounds', 'other cut-off'],
)
@pytest.mark.parametrize('back', [False, True], ids=['to', 'back'])
def test_no_change_of_it_makes_a_step(after, back) -> None:
    """Whatever the observer is switched to, and back, the command goes over in its time."""
    first, second = (after, disturbance()) if back else (disturbance(), after)
    arm = HeavyArm(Controller(tuning(first)))
    before = arm.stand(3.0)
    arm.controller.adopt(tuning(second))
    commands = np.concatenate([before[-2:], arm.stand(1.0)])
    # What an observer learns comes with its own rate.
    fastest = 2.0 * np.pi * 3.0 * PERIOD * np.abs(MISSING).max()
    assert largest_step(commands) < 1.05 * fastest


class ObservedArm:
    """An arm that stands, and what is taken out of its commands after each of its states."""

    def __init__(self) -> None:
        self.tuning = tuning(disturbance(bounds=np.full(6, np.inf)))
        self.observer = Observer(self.tuning)
        self.now = 0.0

    def compensation(self, missing, limited):
        """Return that of the next state, in which an effort is missing and joints are limited."""
        tick = Tick(self.tuning, self.tuning.law, Q, ZERO, self.now)
        tick.velocity, tick.desired, tick.error, tick.wanted = ZERO, resting_state(Q), ZERO, ZERO
        self.observer.step(tick)
        tick.effort, tick.saturated = COMPILED.gravity_torque(Q) + missing, limited
        self.observer.review(tick)
        self.now += PERIOD
        return tick.compensation


def test_while_a_joint_is_limited_it_may_shrink_but_not_grow() -> None:
    """A joint at its limit keeps its compensation where it is, or lets it fall; others go on."""
    arm = ObservedArm()

    def go_on(missing, limited, states):
        """Let an effort lack; return the compensations."""
        found = [arm.compensation(missing, limited) for _ in range(states)]
        return np.array([each for each in found if each is not None])

    grown = go_on(MISSING, None, 50)
    np.testing.assert_allclose(grown[-1] / -MISSING, np.full(6, (grown[-1] / -MISSING)[0]))
    limited = np.array([True, True, False, False, False, False])
    # One more: the state that is answered after the first command that was limited.
    kept = go_on(MISSING, limited, 50)[1:]
    np.testing.assert_array_equal(kept[:, :2], np.tile(kept[0, :2], (len(kept), 1)))
    assert (np.abs(kept[-1, 2:]) > np.abs(kept[0, 2:])).all()
    shrunk = go_on(-MISSING, limited, 200)
    assert (np.diff(np.abs(shrunk[:, :2]), axis=0) <= 0.0).all()
    np.testing.assert_array_equal(shrunk[-1, :2], 0.0)
    assert (shrunk[-1, 2:] * grown[-1, 2:] < 0.0).all()


@pytest.mark.parametrize('is_switched_off', [False, True])
def test_in_a_fault_it_holds(is_switched_off: bool) -> None:
    """What the model lacks is reported, and taken out of the command; an arm is left with that,
    whatever is set since.
    """
    arm = HeavyArm(Controller(tuning(disturbance())))
    arm.stand(6.0)
    external = arm.controller.observer.observed.external_effort
    np.testing.assert_allclose(external, -MISSING, rtol=2e-2, atol=2e-2)
    if is_switched_off:
        arm.controller.adopt(tuning(None))
    arm.controller.trip(FaultKind.STOPPED, 'a test')
    *_, last = arm.controller.machine.last_commands()
    np.testing.assert_allclose(
        last, COMPILED.gravity_torque(arm.q) + MISSING, rtol=1e-2, atol=1e-2
    )
    *_, zero = arm.controller.machine.last_commands(LastCommand.ZERO)
    np.testing.assert_array_equal(zero, ZERO)


def test_where_the_arm_is_found_anew_it_begins_anew() -> None:
    """After a fault nothing is known, and the command goes on from the last one."""
    arm = HeavyArm(Controller(tuning(disturbance())))
    before = arm.stand(6.0)
    arm.now += 1.0
    after = arm.stand(PERIOD)
    assert arm.command.fault.kind is FaultKind.GAP
    assert arm.controller.observer.observed.external_effort is None
    after = np.concatenate([before[-1:], after, arm.stand(1.0)])
    assert largest_step(after) < 2.0


def test_a_mode_without_feedback_takes_it_out_without_a_step() -> None:
    """On the way to gravity compensation the compensation goes in the transition time."""
    arm = HeavyArm(Controller(tuning(disturbance())))
    before = arm.stand(3.0)
    arm.controller.adopt(tuning(disturbance(), Mode.GRAVITY_COMPENSATION))
    after = arm.stand(1.0)
    assert largest_step(np.concatenate([before[-1:], after])) < 1.0
    np.testing.assert_allclose(after[-1], COMPILED.gravity_torque(arm.asked), atol=0.01)


def pushed(reaction: ContactReaction, **changes) -> tuple[HeavyArm, np.ndarray]:
    """Return an arm on its way that has been pushed, and the commands around it."""
    arm = HeavyArm(Controller(tuning(disturbance(reaction=reaction, **changes))))
    arm.stand(2.0)
    follow(arm.controller, TrajectoryPoint(5.0, arm.q + 0.5))
    before = arm.stand(0.2)
    arm.push = np.array([0.0, 0.0, -0.3, 0.0, 0.0, 0.0]) * LIMITS
    commands = [before]
    arm.reacted = 0
    for _ in range(50):
        commands.append(arm.stand(PERIOD))
        arm.reacted += arm.controller.observer.observed.has_reacted
        if arm.controller.observer.observed.is_in_contact:
            # It was a short one.
            arm.push = ZERO
    return arm, np.concatenate(commands)


@pytest.mark.parametrize('reaction', ContactReaction)
def test_a_contact_is_reported_and_answered(reaction) -> None:
    """It is said in the commands; the motion goes on, is held where it is found, or floats."""
    arm, _ = pushed(reaction)
    assert arm.reacted == (reaction is not ContactReaction.NONE)
    moved = np.abs(arm.command.desired.velocity).max() > 0.0
    assert moved == (reaction is ContactReaction.NONE)
    assert arm.controller.machine.is_floating == (reaction is ContactReaction.FLOAT)


def test_an_arm_that_floats_is_carried_and_no_more() -> None:
    """The command fades into gravity's effort without a step, the compensation with it."""
    arm, commands = pushed(ContactReaction.FLOAT)
    assert largest_step(commands[:110]) < largest_step(commands[100:]) + 1.0
    arm.stand(1.0)
    np.testing.assert_allclose(arm.command.effort, COMPILED.gravity_torque(arm.asked), atol=0.01)
    assert arm.controller.watch.last.compensation is None


def test_it_is_bounded_joint_by_joint() -> None:
    """No joint's compensation exceeds its bound."""
    bounds = np.array([1.0, 10.0, 20.0, 0.5, 0.0, np.inf])
    arm = Arm(Controller(tuning(disturbance(bounds=bounds))))
    arm.q = Q + 0.3
    arm.stand(0.1)
    arm.q = Q
    arm.stand(2.0)
    compensation = arm.controller.watch.last.compensation
    assert (np.abs(compensation) <= bounds).all()
    assert (np.abs(compensation)[:4] == bounds[:4]).any()


def observe_late_velocities(**lag: float) -> float:
    """Return the largest residual [N m] of a motion whose velocities come ten periods late."""
    chosen = disturbance(**lag, compensates=False)
    controller = Controller(tuning(chosen))
    q, late, largest = Q, [ZERO] * 11, 0.0
    for index in range(500):
        command = controller.update(q, late[-11], PERIOD * index)
        if index == 0:
            follow(controller, TrajectoryPoint(1.0, Q + 0.5))
        found = controller.observer.observed.external_effort
        largest = max(largest, 0.0 if found is None else float(np.abs(found).max()))
        middle = q + 0.5 * PERIOD * late[-1]
        late.append(
            late[-1] + PERIOD * COMPILED.forward_dynamics(middle, late[-1], command.effort)
        )
        q = middle + 0.5 * PERIOD * late[-1]
    return largest


@pytest.mark.parametrize('lag', [{'velocity_lag': 0.02}, {'lag_periods': 10.0}])
def test_velocities_that_are_late_by_the_lag_leave_no_residual(lag) -> None:
    """The command that had acted then is compared, and the position of then."""
    assert 10.0 * observe_late_velocities(**lag) < observe_late_velocities()
