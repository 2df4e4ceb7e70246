"""Whether the efforts of a resting arm bear out the weight by the model."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from example_robots import load_arm
from tuned_arm import DYNAMICS, LIMITS, ROBOT, ZERO, make_tuning

from ne_dynamics import Dynamics
from ne_dynamics.control.controller import Controller
from ne_dynamics.control.guards.weight_check import (
    RestingState,
    Weight,
    WeightCheck,
    find_limit_share,
)
from ne_dynamics.control.laws import Terms
from ne_dynamics.control.sensors.state_effort import StateEffort
from ne_dynamics.model.coupled_drive import CoupledDrive
from ne_dynamics.model.rigid_body import Inertia

Q = np.array([0.3, -1.0, 1.2, 0.4, -0.5, 0.2])
CHECK = WeightCheck()
POSES = 400

RATED = {
    'six_axis_arm': 10.0,
    'UR3': 3.0,
    'UR5': 5.0,
    'UR10': 10.0,
    'Panda, fingers locked': 3.0,
    'Kinova j2s6s200 (continuous)': 2.2,
    'xArm7': 3.5,
}
"""Payloads that the manufacturers name [kg]."""

FRICTION, NOISE = 0.1, 0.01
"""Of a joint at rest, in either direction, and of its reading, as shares of the effort limit."""


def limits_of(robot):
    """Return effort limits as of motors for this arm: the UR3's file has those of a UR10."""
    limits = robot.limits('effort_limit')
    return find_limit_share(Dynamics(robot), limits) * limits


def random_poses(robot, rng):
    """Return poses within the limits of the joints, or a turn."""
    lower = np.maximum(robot.limits('lower'), -np.pi)
    upper = np.minimum(robot.limits('upper'), np.pi)
    return rng.uniform(lower, upper, (POSES, robot.n))


def verdicts(robot, efforts, weights):
    """Count what is said of efforts."""
    limits, none = limits_of(robot), np.zeros(len(robot.joints))
    pairs = zip(efforts, weights, strict=True)
    found = (CHECK.compare(*pair, limits, none, robot.joint_names).weight for pair in pairs)
    return Counter(found)


@pytest.mark.kept(3)
@pytest.mark.parametrize(('name', 'rated'), RATED.items())
def test_a_mirrored_weight_is_found_and_no_sound_arm_is_called_so(name, rated) -> None:
    """Random poses of arms with the friction of gears, noise, and an unknown payload up to the
    rated one: no weight is called mirrored; without the load few are far off. Where the model has
    gravity upside down nine of ten are, and the others are far off, or the weight is small.
    """
    robot = load_arm(name)
    dynamics, limits = Dynamics(robot), limits_of(robot)
    rng = np.random.default_rng(3)
    q = random_poses(robot, rng)
    still = np.zeros_like(q)
    weights = dynamics.gravity_torque(q)
    for share in (0.0, 0.5, 1.0):
        offset = rng.uniform((-0.1, -0.1, -0.05), (0.1, 0.1, 0.15))
        carried = Inertia(max(share * rated, 1e-9), offset, np.zeros((3, 3)))
        payload = robot.payload_parameters(carried, robot.tip_link)
        efforts = dynamics.inverse_dynamics(
            q, still, still, payload=np.broadcast_to(payload, (POSES, 10))
        )
        efforts = efforts + FRICTION * limits * rng.uniform(-1.0, 1.0, q.shape)
        efforts += NOISE * limits * rng.standard_normal(q.shape)
        assert verdicts(robot, efforts, weights)[Weight.MIRRORED] == 0
    quiet = weights + 0.5 * FRICTION * limits * rng.uniform(-1.0, 1.0, q.shape)
    assert verdicts(robot, quiet, weights)[Weight.FAR_OFF] == 0
    found = verdicts(robot, quiet, -weights)
    assert found[Weight.MIRRORED] > 0.9 * POSES
    assert found[Weight.CONFIRMED] == 0


def controller(up=False, robot=ROBOT, **changes):
    """Return the controller of the shipped arm."""
    dynamics = Dynamics(robot, gravity=(0.0, 0.0, 9.80665 if up else -9.80665), backend='python')
    return Controller(make_tuning(dynamics=dynamics, **changes))


def resting(effort, velocity=ZERO):
    """Return a state at `Q`."""
    return RestingState(0.0, Q, velocity, effort)


WEIGHT = DYNAMICS.gravity_torque(Q)


def test_only_torques_of_resting_motors_tell() -> None:
    """No word of efforts that are zero, missing, declared as something else, of a moving arm, or
    where the robot compensates gravity itself; velocities that are not measured are no motion.
    """
    assert CHECK.find(controller(up=True), resting(WEIGHT)).weight is Weight.MIRRORED
    assert CHECK.find(controller(up=True), resting(WEIGHT, None)).weight is Weight.MIRRORED
    assert CHECK.find(controller(), resting(WEIGHT)).weight is Weight.CONFIRMED
    assert CHECK.find(controller(up=True), resting(WEIGHT, np.full(6, 0.097))).weight is (
        Weight.MIRRORED
    )
    for one, state in (
        (controller(up=True), resting(WEIGHT, np.full(6, 0.103))),
        (controller(up=True), resting(ZERO)),
        (controller(up=True), resting(None)),
        (controller(up=True), resting(WEIGHT, 0.2 * np.ones(6))),
        (controller(up=True, terms=Terms(gravity=False)), resting(WEIGHT)),
        (controller(up=True, state_effort=StateEffort.IGNORE), resting(WEIGHT)),
        (controller(up=True, state_effort=StateEffort.TORQUE_WITHOUT_GRAVITY), resting(WEIGHT)),
    ):
        assert CHECK.find(one, state).weight is Weight.UNKNOWN


@pytest.mark.parametrize('mass', [2.0, 5.0, 20.0])
def test_a_payload_is_judged_by_the_effort_at_rest(mass) -> None:
    """A change of the load is contradicted where the efforts stay with the old one, and not where
    they are those of the new one, friction of 3 % of the limits included, put on or taken off.
    """
    rng = np.random.default_rng(5)
    payload = ROBOT.payload_parameters(Inertia(mass, (0.0, 0.0, 0.05), np.zeros((3, 3))), 'tcp')
    empty, loaded = controller(), controller(payload=payload)
    weights = WEIGHT, DYNAMICS.inverse_dynamics(Q, ZERO, ZERO, payload=payload)
    for before, after, (old, new) in (
        (empty, loaded, weights),
        (loaded, empty, weights[::-1]),
    ):
        text = CHECK.check_payload(before, after.tuning, resting(old))
        joint = int(np.abs((new - old) / np.maximum(LIMITS, LIMITS.max() / 4)).argmax())
        assert f'expects {old[joint]:.3g} without' in text
        assert f'{new[joint]:.3g} with it' in text
        for part in (0.24, 0.26):
            felt = old + part * (new - old)
            assert bool(CHECK.check_payload(before, after.tuning, resting(felt))) == (part < 0.25)
        for _ in range(20):
            felt = new + 0.03 * LIMITS * rng.uniform(-1.0, 1.0, 6)
            assert CHECK.check_payload(before, after.tuning, resting(felt)) == ''
    assert CHECK.check_payload(empty, loaded.tuning, resting(ZERO)) == ''
    assert CHECK.check_payload(empty, empty.tuning, resting(weights[1])) == ''
    friction = float(np.abs(weights[1] - weights[0]).max())
    drive = CoupledDrive('all', ROBOT.joint_names, (1.0,) * 6, coulomb_friction=friction)
    robot = replace(ROBOT, coupled_drives=(drive,))
    empty, loaded = controller(robot=robot), controller(robot=robot, payload=payload)
    assert CHECK.check_payload(empty, loaded.tuning, resting(weights[0])) == ''
    without_gravity = controller(terms=Terms(gravity=False)).tuning
    assert CHECK.check_payload(empty, without_gravity, resting(WEIGHT)) == ''
