"""Base parameters, as publications print them, in the place of the inertias of bodies."""

import pickle
from dataclasses import replace

import numpy as np
import pytest
from random_robots import random_tree

import ne_dynamics as ned
from ne_dynamics.errors import ModelError
from ne_dynamics.shipped import shipped_file


def find_base_parameters(dynamics):
    """Return the inertias as base parameters, masses zero wherever they can be, shape (10 b,).

    The columns of the regressor that are kept are the first that the others depend on: moments
    come before masses, as in Gautier and Khalil 1990.
    """
    rng = np.random.default_rng(4)
    count = len(dynamics.robot.bodies)
    rows = dynamics.regressor(*rng.uniform(-2.0, 2.0, (3, 60, dynamics.n)))
    rows = rows.reshape(-1, rows.shape[-1])
    order = [10 * body + k for k in (4, 5, 6, 7, 8, 9, 1, 2, 3, 0) for body in range(count)]
    scale = np.linalg.norm(rows, axis=0).max()
    kept, basis = [], np.zeros((len(rows), 0))
    for column in order:
        rest = rows[:, column] - basis @ (basis.T @ rows[:, column])
        rest -= basis @ (basis.T @ rest)
        size = np.linalg.norm(rest)
        if size > 1e-9 * scale:
            basis = np.column_stack([basis, rest / size])
            kept.append(column)
    found = np.zeros(10 * count)
    efforts = rows @ dynamics.inertial_parameters()
    found[kept] = np.linalg.lstsq(rows[:, kept], efforts, rcond=None)[0]
    return found


def list_models():
    """Return robots by name: of turning joints, a tree with sliding and mimic joints."""
    tree = random_tree(5, 8)
    assert {'prismatic', 'mimic'} <= set(tree.kinds)
    return {
        'arm': ned.load_urdf(shipped_file('six_axis_arm.urdf'), tip_link='tcp'),
        'puma': ned.load_dh(shipped_file('puma560_modified_dh.yaml')),
        'tree': replace(ned.load_urdf(tree.urdf), tip_link=tree.tip),
    }


MODELS = list_models()


@pytest.mark.kept(1)
@pytest.mark.parametrize('name', MODELS)
def test_base_parameters_are_taken_where_it_is_said_that_they_are_no_bodies(name, backend):
    """Masses zero, first moments not: efforts, M, C and accelerations are those of the robot."""
    dynamics = ned.Dynamics(MODELS[name], backend=backend)
    inertial = find_base_parameters(dynamics)
    rows = inertial.reshape(-1, 10)
    assert ((rows[:, 0] == 0.0) & rows[:, 1:4].any(axis=1)).any()
    with pytest.raises(ModelError, match='expected no first moment without a mass'):
        dynamics.with_parameters(inertial=inertial)
    found = dynamics.with_parameters(inertial=inertial, physical=False)
    again = pickle.loads(pickle.dumps(found.with_parameters(coulomb_friction=np.zeros(found.n))))
    again = again.with_parameters(coulomb_friction=dynamics.robot.joint_values('coulomb_friction'))
    remade = ned.Dynamics(found.robot, backend='python')
    np.testing.assert_array_equal(found.inertial_parameters(), inertial)
    q, qd, qdd = np.random.default_rng(5).uniform(-2.0, 2.0, (3, 7, dynamics.n))
    for method, arguments in (
        ('inverse_dynamics', (q, qd, qdd, np.linspace(-3.0, 3.0, 6))),
        ('gravity_torque', (q,)),
        ('mass_matrix', (q,)),
        ('coriolis_matrix', (q, qd)),
        ('forward_dynamics', (q, qd, qdd)),
    ):
        expected = getattr(dynamics, method)(*arguments)
        for each in (found, again, remade):
            error = np.abs(getattr(each, method)(*arguments) - expected).max()
            assert error < 1e-8 * np.abs(expected).max(), method


def test_a_sliding_body_has_no_first_moment_without_its_mass():
    """Its mass is a base parameter itself; the error names the body."""
    robot = MODELS['tree']
    dynamics = ned.Dynamics(robot, backend='python')
    place = next(k for k, body in enumerate(robot.bodies) if body.joint_type.is_prismatic)
    inertial = dynamics.inertial_parameters()
    inertial[10 * place] = 0.0
    message = f"body '{robot.bodies[place].name}': expected a mass where there is a first moment"
    with pytest.raises(ModelError, match=message):
        dynamics.with_parameters(inertial=inertial, physical=False)
