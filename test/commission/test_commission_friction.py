"""Friction that is fitted by itself: Stribeck effect, asymmetry, joints that stick."""

from dataclasses import replace

import numpy as np
import pytest
from small_arm import URDF, kept_folder, no_bar, small_arm

import ne_dynamics as ned
from ne_dynamics.algorithms.joint_friction import compute_friction
from ne_dynamics.commission.desk import CLOSE, Desk
from ne_dynamics.commission.fits.friction import refine_friction
from ne_dynamics.commission.record import Record
from ne_dynamics.logs.log import Log
from ne_dynamics.model.friction import FrictionModel

ROBOT = ned.load_urdf(URDF)
PERIOD = 0.002
TIMES = np.arange(0.0, 14.0, PERIOD)
TRUE = FrictionModel(static_friction=9.0, stribeck_velocity=0.1, friction_offset=0.4)
VISCOUS, COULOMB = 2.0, 6.0


def robot_with(friction, viscous=VISCOUS, coulomb=COULOMB):
    """Return the arm with the same friction in all joints."""
    joints = tuple(
        replace(joint, viscous_friction=viscous, coulomb_friction=coulomb, friction=friction)
        for joint in ROBOT.joints
    )
    return ned.Dynamics(replace(ROBOT, joints=joints), backend='python')


def excited():
    """Return positions, velocities and accelerations of sums of sines, shape (N, 3) each."""
    rows = np.zeros((3, TIMES.size, ROBOT.n))
    for joint in range(ROBOT.n):
        for rate, size, phase in ((0.9, 0.5, 0.3), (2.3, 0.2, 1.1), (4.1, 0.08, 2.0)):
            rate *= 1.0 + 0.1 * joint
            angle = rate * TIMES + phase * (1 + joint)
            rows[:, :, joint] += (
                size * np.sin(angle),
                size * rate * np.cos(angle),
                -size * rate**2 * np.sin(angle),
            )
    return rows


def logged(position, effort, bits):
    """Return the log of an encoder."""
    step = 2.0 * np.pi / 2**bits
    return Log.from_samples(ROBOT.joint_names, TIMES, np.round(position / step) * step, effort)


def friction_of(robot, speeds):
    """Return the friction of each joint at some velocities, shape (n, speeds)."""
    return np.array(
        [
            compute_friction(
                joint.friction,
                joint.viscous_friction,
                joint.coulomb_friction,
                speeds,
                0.0,
                np.sign(speeds),
            )
            for joint in robot.joints
        ]
    )


@pytest.mark.parametrize(('bits', 'allowed'), [(19, 0.25), (14, 0.6)])
def test_static_friction_is_found_where_the_fit_had_another(bits, allowed):
    """At all velocities, in both directions; inertias and rotors stay [N m]."""
    position, velocity, acceleration = excited()
    effort = robot_with(TRUE).inverse_dynamics(position, velocity, acceleration)
    fitted = robot_with(FrictionModel(static_friction=12.0, stribeck_velocity=0.03), 1.5, 6.6)
    found = refine_friction(fitted, [logged(position, effort, bits)])
    speeds = np.array([-0.8, -0.3, -0.1, -0.05, -0.02, 0.02, 0.05, 0.1, 0.3, 0.8])
    wanted = friction_of(robot_with(TRUE).robot, speeds)
    np.testing.assert_allclose(friction_of(found, speeds), wanted, atol=allowed)
    assert [body.inertia.mass for body in found.bodies] == [
        body.inertia.mass for body in ROBOT.bodies
    ]
    assert [joint.rotor_inertia for joint in found.joints] == [
        joint.rotor_inertia for joint in ROBOT.joints
    ]


def test_what_holds_a_joint_that_sticks_is_not_its_friction():
    """For a quarter of the time all stand, and the efforts are anything."""
    goes_on = np.clip(3.0 * np.sin(2.0 * np.pi * TIMES / 3.0) + 2.0, 0.0, 1.0)
    warped = np.cumsum(goes_on) * PERIOD
    position = np.column_stack([np.interp(warped, TIMES, column) for column in excited()[0].T])
    velocity = np.gradient(position, PERIOD, axis=0)
    effort = robot_with(TRUE).inverse_dynamics(
        position, velocity, np.gradient(velocity, PERIOD, axis=0)
    )
    stands = goes_on == 0.0
    assert 0.2 < stands.mean() < 0.3
    effort[stands] += 8.0 * np.sin(TIMES[stands])[:, np.newaxis]
    found = refine_friction(robot_with(TRUE), [logged(position, effort, 17)])
    speeds = np.array([-0.8, -0.3, -0.1, 0.1, 0.3, 0.8])
    wanted = friction_of(robot_with(TRUE).robot, speeds)
    np.testing.assert_allclose(friction_of(found, speeds), wanted, atol=0.4)


def test_joints_that_stand_keep_their_friction():
    """Nothing is told of them."""
    position, _, _ = excited()
    effort = np.zeros_like(position)
    log = logged(np.full_like(position, 0.3), effort, 19)
    fitted = robot_with(TRUE)
    assert refine_friction(fitted, [log]).joints == fitted.robot.joints


def test_a_joint_that_sticks_in_the_excitation_is_told_by_the_probes(tmp_path):
    """Its friction is in the model by which it is excited again."""
    subject = small_arm(tmp_path / 'model')
    desk = Desk(subject, kept_folder(tmp_path / 'run', subject), True, no_bar)
    for name, standing in (('excite', [0]), ('probe', [1, 2]), ('tremble', [1, 2])):
        motion = excited()[:, ::2]
        motion[0][:, standing], motion[1:, :, standing] = 0.3, 0.0
        effort = robot_with(TRUE).inverse_dynamics(*motion)
        nothing = np.full_like(effort, np.nan)
        times = 5.0 + TIMES[::2]
        # A command that is held for a period acts half of it late in the mean.
        command = np.column_stack([np.interp(times + PERIOD, times, one) for one in effort.T])
        record = Record(ROBOT.joint_names, times, motion[0], nothing, nothing, command, motion[0])
        record.write(desk.folder.file(f'{name}.csv'))
    desk.folder.finish('tremble', {'delay': 0.0})
    desk.fit_closely()
    speeds = np.array([-0.8, -0.3, 0.3, 0.8])
    wanted = friction_of(robot_with(TRUE).robot, speeds)
    found = friction_of(desk.model(CLOSE).robot, speeds)
    np.testing.assert_allclose(found[0], wanted[0], atol=0.1)


def test_friction_changes_its_sign_within_a_thousandth_of_the_largest_velocity():
    """What is fed forward where a joint turns round slowly is friction already."""
    position, velocity, acceleration = excited()
    blurred = robot_with(replace(TRUE, smoothing_velocity=0.005 * np.abs(velocity).max()))
    effort = robot_with(TRUE).inverse_dynamics(position, velocity, acceleration)
    found = refine_friction(blurred, [logged(position, effort, 19)])
    largest = np.abs(velocity).max(axis=0)
    for joint, speed in zip(found.joints, largest.tolist(), strict=True):
        assert 0.0 < joint.friction.smoothing_velocity < 0.002 * speed


def swinging():
    """Return the same as :func:`excited`, with joints that swing while they are slow."""
    rows = excited()
    slow = np.exp(-((rows[1] / 0.15) ** 2))
    rows[0] += 0.004 * slow * np.sin(2.0 * np.pi * 12.0 * TIMES)[:, np.newaxis]
    rows[1] = np.gradient(rows[0], PERIOD, axis=0)
    rows[2] = np.gradient(rows[1], PERIOD, axis=0)
    return rows


def test_joints_that_swing_are_not_taken_for_noisy_encoders():
    """What is filtered for the sake of noise that is not there does not tell static friction."""
    true = robot_with(replace(TRUE, stribeck_velocity=0.06))
    logs = [logged(rows[0], true.inverse_dynamics(*rows), 16) for rows in (swinging(), excited())]
    found = refine_friction(true, logs)
    speeds = np.array([-0.8, -0.3, -0.05, -0.02, 0.02, 0.05, 0.3, 0.8])
    np.testing.assert_allclose(
        friction_of(found, speeds), friction_of(true.robot, speeds), atol=0.4
    )
