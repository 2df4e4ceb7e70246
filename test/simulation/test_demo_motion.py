"""The demo's motion: within all limits, exciting, from rest to rest."""

from types import SimpleNamespace

import numpy as np
import pytest

import ne_dynamics as ned
from ne_dynamics.errors import InputError
from ne_dynamics.shipped import shipped_file
from ne_dynamics.simulation.demo.motion import excitation
from ne_dynamics.simulation.demo.path_distance import SampledPath

MODELS = ('six_axis_arm.urdf', 'puma560_standard_dh.yaml', 'six_link_dh.yaml')


def planned(robot, duration=4.0):
    """Return the excitation of a robot and its dynamics."""
    dyn = ned.Dynamics(robot, backend='python')
    return excitation(robot, duration, dyn.inverse_dynamics), dyn


@pytest.mark.parametrize('model', MODELS)
def test_the_excitation_moves_every_joint_within_all_limits_from_rest_to_rest(model):
    robot = ned.load_model(shipped_file(model))
    motion, dyn = planned(robot)
    assert 4.0 <= motion.duration <= 16.0
    q, qd, qdd = motion.sample(np.linspace(0.0, motion.duration, 1001))
    assert (q >= robot.limits('lower')).all()
    assert (q <= robot.limits('upper')).all()
    assert (np.abs(qd) <= 1.02 * 0.6 * robot.limits('velocity_limit')).all()
    share = np.abs(dyn.inverse_dynamics(q, qd, qdd)) / robot.limits('effort_limit')
    assert (share <= 1.02 * 0.8).all()
    assert (np.ptp(q, axis=0) > 0.05).all()
    for values in (qd, qdd):
        np.testing.assert_allclose(values[[0, -1]], 0.0, atol=1e-12)
    np.testing.assert_allclose(q[-1], q[0], atol=1e-12)


def with_effort_limit(column, limit):
    """Return the shipped arm with another effort limit of one joint."""
    robot = ned.load_model(shipped_file(MODELS[0]))
    limits = robot.limits('effort_limit')
    limits[column] = limit
    return robot.with_joint_values('effort_limit', limits)


def test_a_weak_joint_gets_more_time_or_another_posture():
    motion, dyn = planned(with_effort_limit(2, 45.0))
    q, qd, qdd = motion.sample(np.linspace(0.0, motion.duration, 1001))
    assert np.abs(dyn.inverse_dynamics(q, qd, qdd)[:, 2]).max() <= 1.02 * 0.8 * 45.0


def test_an_arm_that_cannot_carry_itself_is_refused_by_the_name_of_its_joint():
    with pytest.raises(InputError, match="joint 'joint_2' needs"):
        planned(with_effort_limit(1, 0.01))


@pytest.mark.parametrize('duration', [0.0, np.nan])
def test_a_duration_that_is_none_is_refused(duration):
    with pytest.raises(InputError, match='duration'):
        planned(ned.load_model(shipped_file(MODELS[0])), duration)


def test_distance_and_place_on_a_coarse_path_are_those_on_its_lines():
    corners = np.array([[0.0, 0.0], [2.0, 0.0], [2.0, 2.0]])
    path = SampledPath.of(lambda time: SimpleNamespace(position=corners[int(time)]), 0.0, 2.0, 1.0)
    np.testing.assert_array_equal(path.times, [0.0, 1.0, 2.0])
    beside = np.array([[1.0, 0.5], [2.5, 1.0], [3.0, 3.0]])
    np.testing.assert_allclose(path.distances(beside), [0.5, 0.5, np.sqrt(2.0)])
    on_it = np.array([[0.5, 0.0], [1.5, 0.0], [2.0, 1.0]])
    np.testing.assert_allclose(path.places(on_it), [0.25, 0.75, 1.5])
