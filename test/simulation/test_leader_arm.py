"""An arm that is led by hand, with the parameters of `leader:=true`, against MuJoCo's arm."""

from __future__ import annotations

import numpy as np
import pytest

from ne_dynamics.control.thresholds import COMMAND

pytest.importorskip('mujoco', reason='MuJoCo is not installed')

from motion_loop import HeldArmLoop, node_controller, shipped_arm, with_coulomb

from ne_dynamics.control.guards.state_guard import FaultKind
from ne_dynamics.control.tuning import LastCommand
from ne_dynamics.ros.settings.parameter_file import read_parameters
from ne_dynamics.shipped import shipped_file
from ne_dynamics.simulation.altered_robot import scale_friction, scale_masses
from ne_dynamics.simulation.mujoco_model import MujocoArm
from ne_dynamics.simulation.one_process_loop import encoder, external_push

VALUES = {
    name: tuple(value) if isinstance(value, list) else value
    for name, value in read_parameters(
        shipped_file('leader_arm.params.yaml'), '/computed_torque'
    ).items()
}
"""What `leader:=true` sets."""

FREE = shipped_arm()
LIMITS = FREE.limits('effort_limit')
RUBBING = with_coulomb(FREE, 0.02)
"""The shipped arm, and the same with Coulomb friction of 2 % of its motors."""

POSES = np.array(
    [
        [0.3, -1.0, 1.2, 0.4, -0.5, 0.2],
        [0.0, -0.1, 0.1, 0.0, 1.5, 0.0],
        [-1.2, -2.4, 1.8, -1.0, 0.8, 1.0],
        [1.0, -1.6, -1.5, 2.0, -1.2, -2.0],
    ]
)
(SPEED_LIMIT,) = VALUES['hand_guiding.speed_limit']


def led(model, plant, pose, push=None, seconds=3.0, **changes):
    """Lead an arm by efforts of a hand from 0.1 s to 0.6 s; return the recording."""
    loop = HeldArmLoop(
        model,
        pose,
        {**VALUES, **changes},
        plant=plant,
        body={'integrator': 'implicitfast'},
        sensors=[encoder(bits=18)],
        disturbances=[] if push is None else [external_push(np.array(push), 0.1, 0.5)],
        delay=1,
        effort_limits=LIMITS,
    )
    return loop.run(seconds)


@pytest.mark.kept(1)
@pytest.mark.parametrize('pose', POSES)
def test_a_hand_moves_it_and_released_it_stays(pose) -> None:
    """Two to four percent of the motors lead it away; let go of, it coasts to rest within its
    damping and stays within a milliradian.
    """
    push = np.array([0.03, 0.03, 0.03, 0.01, 0.01, 0.004]) * LIMITS
    found = led(FREE, FREE, pose, push, seconds=6.0)
    moved = np.abs(found.position - pose).max(axis=1)
    release = np.searchsorted(found.time, 0.6)
    assert moved[release] > 0.05
    assert np.abs(found.velocity[-1000:]).max() < 0.01
    assert np.ptp(found.position[-1000:], axis=0).max() < 1e-3 + 0.5 * 0.01
    coasted = np.abs(found.position[-1] - found.position[release]).max()
    assert coasted < 2.0 * np.abs(found.velocity[release]).max() / VALUES['hand_guiding.damping']


@pytest.mark.kept(1)
@pytest.mark.parametrize('pose', POSES)
def test_with_friction_it_stays_where_it_was_left(pose) -> None:
    """Half of the friction is taken off: the same hand moves it farther than without, and what is
    left of friction holds it to a hundredth of a radian for 5 s.
    """
    push = np.array([0.03, 0.03, 0.03, 0.0, 0.0, 0.0]) * LIMITS
    helped = led(RUBBING, RUBBING, pose, push, seconds=6.0)
    alone = led(RUBBING, RUBBING, pose, push, seconds=1.0, **{'hand_guiding.friction': 0.0})
    release = np.searchsorted(helped.time, 0.6)
    ways = [np.linalg.norm(one.position[release] - pose) for one in (helped, alone)]
    assert ways[0] > 1.1 * ways[1]
    assert np.abs(helped.velocity[-500:]).max() < 0.01
    still = led(RUBBING, RUBBING, pose, seconds=5.0)
    assert np.abs(still.position - pose).max() < 0.01


@pytest.mark.kept(1)
@pytest.mark.parametrize('pose', POSES)
@pytest.mark.parametrize('scale', [0.9, 1.1])
def test_masses_that_are_wrong_by_a_tenth_do_not_let_it_run_away(pose, scale) -> None:
    """Without any friction it drifts, no faster than a quarter above the speed limit, for as long
    as nobody holds it, and no command exceeds the motors.
    """
    found = led(FREE, scale_masses(FREE.without_friction(), scale), pose, seconds=8.0)
    assert np.abs(found.velocity).max() < 1.25 * SPEED_LIMIT
    assert (np.abs(found.command) <= LIMITS).all()


@pytest.mark.kept(1)
@pytest.mark.parametrize('pose', POSES)
def test_a_model_with_too_much_friction_does_not_run_away(pose) -> None:
    """Four times the friction that there is, of which half is compensated, drives the arm once it
    is pushed: the speed limit holds it.
    """
    push = 0.05 * LIMITS * np.array([1.0, 1.0, 1.0, 0.2, 0.2, 0.1])
    found = led(scale_friction(RUBBING, 4.0), RUBBING, pose, push, seconds=5.0)
    after = found.time > 1.0
    assert np.abs(found.velocity[after]).max() < 1.5 * SPEED_LIMIT


def test_a_hard_push_is_braked() -> None:
    """A fifth of the motor of the base for half a second takes the arm to no more than two and a
    half times the speed limit; without the limit to more than ten times that.
    """
    push = 0.2 * LIMITS * np.array([1.0, 0.0, 0.0, 0.0, 0.0, 0.0])
    speeds = [
        np.abs(led(FREE, FREE, POSES[0], push, 1.0, **changes).velocity).max()
        for changes in ({}, {'hand_guiding.speed_limit': ()})
    ]
    assert speeds[0] < 2.5 * SPEED_LIMIT < 10.0 * SPEED_LIMIT < speeds[1]


@pytest.mark.kept(1)
@pytest.mark.parametrize('pose', POSES[:2])
@pytest.mark.parametrize('seconds', [1.5, 6.0])
def test_deactivated_while_nobody_sees_it_it_is_not_thrown(pose, seconds) -> None:
    geared = scale_friction(RUBBING, 3.0)
    speeds = []
    for is_left in (False, True):
        body = MujocoArm(geared, integrator='implicitfast')
        controller = node_controller(FREE, **VALUES)
        body.reset(pose)
        effort = controller.update(pose, np.zeros(6), 0.0).effort
        controller.trip(FaultKind.STOPPED, 'by the test')
        way, fastest = controller.machine.lowering_commands(), 0.0
        for step in range(round((seconds + 4.0) / COMMAND.ramp_period)):
            if is_left and step == round(seconds / COMMAND.ramp_period):
                way = controller.machine.last_commands(LastCommand.GRAVITY)
            effort = next(way, effort)
            body.step(effort, 0.0)
            fastest = max(fastest, np.abs(body.velocity).max())
        speeds.append(fastest)
    assert speeds[1] <= speeds[0] + 1e-9
