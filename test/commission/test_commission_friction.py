"""Friction that is fitted by itself: Stribeck effect, asymmetry, joints that stick."""

from dataclasses import replace

import numpy as np
import pytest
from small_arm import URDF

import ne_dynamics as ned
from ne_dynamics.algorithms.hysteresis import follow_hysteresis
from ne_dynamics.algorithms.joint_friction import compute_friction
from ne_dynamics.commission.fits.fitting import fit_records
from ne_dynamics.commission.fits.friction import _choose_cutoffs, _Fit, refine_friction
from ne_dynamics.commission.fits.lost_motion import tell_lost_motion
from ne_dynamics.commission.fits.uneven_friction import find_uneven_friction
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


@pytest.mark.parametrize(('rate', 'cutoff'), [(54.0, 9.0), (66.0, 10.0)])
def test_friction_is_fitted_with_six_samples_a_period_or_more(rate, cutoff):
    """Of the cut-off frequency; that is one of a row where the log is fast enough."""
    times = np.arange(0.0, 10.0, 1.0 / rate)
    position = np.column_stack([np.interp(times, TIMES, column) for column in excited()[0].T])
    log = Log.from_samples(ROBOT.joint_names, times, position, np.zeros_like(position))
    np.testing.assert_allclose(_choose_cutoffs(robot_with(TRUE), [log]), cutoff)


@pytest.mark.parametrize(('raised', 'is_possible'), [(5.9, True), (6.1, False), (-0.1, False)])
def test_static_friction_is_believed_up_to_twice_that_of_coulomb(raised, is_possible):
    assert _Fit(1.0, 6.0, 0.0, raised, 0.1, 0.0).is_possible == is_possible


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


@pytest.mark.parametrize('share', [0.4, 0.2, 0.1, 0.0])
def test_friction_that_differs_with_the_position_is_told(share):
    """Of the joint that has it, by how much."""
    position, velocity, acceleration = excited()
    model = robot_with(FrictionModel())
    effort = model.inverse_dynamics(position, velocity, acceleration)
    wave = np.sin(5.0 * position[:, 1]) * np.sign(velocity[:, 1])
    effort[:, 1] += share * COULOMB * wave
    found = find_uneven_friction(model, 6 * [logged(position, effort, 19)])
    if share < 0.14:  # a tenth, by its standard deviation
        assert not found
        return
    (one,) = found
    assert (one.code, one.joints) == ('uneven-friction', (ROBOT.joint_names[1],))
    assert one.amount == pytest.approx(share / np.sqrt(2.0), rel=0.3)
