"""The linear map of inertias is what regrouping the bodies of a robot gives."""

import numpy as np
import pytest
from random_robots import random_tree

import ne_dynamics as ned
from ne_dynamics.algorithms.inertia_map import InertiaMap
from ne_dynamics.algorithms.mechanism import build_mechanism, replace_inertias
from ne_dynamics.model.rigid_body import Inertia


def draw_inertias(rng, count):
    """Return parameters of bodies with full tensors, shape (10 count,)."""
    rows = []
    for _ in range(count):
        tensor = rng.normal(size=(3, 3))
        body = Inertia(rng.uniform(0.5, 4.0), rng.normal(size=3), tensor @ tensor.T)
        rows.append(body.parameters)
    return np.concatenate(rows)


def list_moments(mechanism):
    """Return mass, first and second moments of the bodies, shape (b, 10)."""
    parts = [body.inertia for body in mechanism.bodies]
    return np.array([[each.mass, *each.first_moment, *each.second_moments] for each in parts])


@pytest.mark.parametrize('seed', [3, 5, 8])
def test_the_map_is_that_of_the_bodies(seed):
    """Trees with revolute, prismatic and mimic joints: each entry within rounding."""
    robot = ned.load_urdf(random_tree(seed, 7).urdf)
    mechanism = build_mechanism(robot)
    inertias = InertiaMap(mechanism)
    parameters = draw_inertias(np.random.default_rng(seed), len(robot.bodies))
    changed = robot.with_inertial_parameters(parameters)
    own = inertias.express(parameters)
    expected = list_moments(replace_inertias(mechanism, changed, regroup=False))
    np.testing.assert_allclose(own, expected, rtol=0, atol=1e-12 * np.abs(expected).max())
    expected = list_moments(replace_inertias(mechanism, changed))
    found = inertias.regroup(own)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12 * np.abs(expected).max())
    np.testing.assert_array_equal(found[expected == 0.0], 0.0)
