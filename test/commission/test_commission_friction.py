"""Friction that is fitted by itself: Stribeck effect, asymmetry, joints that stick."""

from dataclasses import replace

import numpy as np
import pytest
from small_arm import URDF, kept_folder, no_bar, small_arm

import ne_dynamics as ned
from ne_dynamics.algorithms.hysteresis import follow_hysteresis
from ne_dynamics.algorithms.joint_friction import compute_friction
from ne_dynamics.commission.fits.fitting import fit_records
from ne_dynamics.commission.fits.friction import refine_friction
from ne_dynamics.commission.fits.lost_motion import tell_lost_motion
from ne_dynamics.commission.fits.uneven_friction import find_uneven_friction
from ne_dynamics.commission.offline_steps import CLOSE, OfflineSteps
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
    desk = OfflineSteps(subject, kept_folder(tmp_path / 'run', subject), True, no_bar)
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
    desk.closely()
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


@pytest.mark.parametrize('bits', [19, 15])
def test_friction_of_a_joint_with_lost_motion_is_not_taken_for_less(bits):
    """By the sign of the velocity it would be; the finding has the way, and the vibration."""
    position, velocity, acceleration = excited()
    rigid = robot_with(FrictionModel(), VISCOUS, 0.0)
    effort = rigid.inverse_dynamics(position, velocity, acceleration)
    effort[:, 1] += 6.0 * follow_hysteresis(position[:, 1], 0.008)
    effort[:, [0, 2]] += 6.0 * np.sign(velocity[:, [0, 2]])
    found = refine_friction(rigid, [logged(position, effort, bits)])
    loose, stiff = found.joints[1], found.joints[2]
    assert loose.coulomb_friction + loose.friction.hysteresis_friction == pytest.approx(6.0, 0.05)
    assert loose.friction.hysteresis_displacement == pytest.approx(0.008, rel=0.5)
    assert loose.viscous_friction == pytest.approx(VISCOUS, abs=0.4)
    assert not stiff.friction.has_hysteresis
    (told,) = tell_lost_motion(ned.Dynamics(found, backend='python'), position[0])
    assert (told.code, told.joints) == ('lost-motion', (loose.name,))
    assert told.amount == loose.friction.hysteresis_displacement


def test_a_model_is_fitted_again_with_the_lost_motion_that_was_found():
    """Else it takes that for inertia and viscous friction."""
    position, velocity, acceleration = excited()
    effort = robot_with(FrictionModel(), VISCOUS, 0.0).inverse_dynamics(
        position, velocity, acceleration
    )
    for joint in range(ROBOT.n):
        effort[:, joint] += 6.0 * follow_hysteresis(position[:, joint], 0.03)
    nothing = np.full_like(effort, np.nan)
    command = np.column_stack([np.interp(TIMES + 0.5 * PERIOD, TIMES, one) for one in effort.T])
    record = Record(ROBOT.joint_names, TIMES, position, nothing, nothing, command, position)
    fitted = fit_records(ned.Dynamics(ROBOT, backend='python'), [record], 0.0)
    assert [one.code for one in fitted.friction] == ['lost-motion'] * ROBOT.n
    for joint in fitted.robot.joints:
        assert joint.viscous_friction == pytest.approx(VISCOUS, abs=0.3)
        assert joint.reflected_inertia < 0.05


@pytest.mark.parametrize('share', [0.4, 0.0])
def test_friction_that_differs_with_the_position_is_told(share):
    """Of the joint that has it, by how much."""
    position, velocity, acceleration = excited()
    model = robot_with(FrictionModel())
    effort = model.inverse_dynamics(position, velocity, acceleration)
    wave = np.sin(5.0 * position[:, 1]) * np.sign(velocity[:, 1])
    effort[:, 1] += share * COULOMB * wave
    found = find_uneven_friction(model, 6 * [logged(position, effort, 19)])
    if not share:
        assert not found
        return
    (one,) = found
    assert (one.code, one.joints) == ('uneven-friction', (ROBOT.joint_names[1],))
    assert one.amount == pytest.approx(share / np.sqrt(2.0), rel=0.3)
