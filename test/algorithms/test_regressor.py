"""The regressor, written out and in factors, against each other and against Pinocchio."""

from functools import partial

import numpy as np
import pytest
from test_mechanism import MEETINGS, PATTERNS, SHIPPED, chain, tree_robot

import ne_dynamics as ned
from ne_dynamics.algorithms.mechanism import build_mechanism
from ne_dynamics.algorithms.regressor import (
    assemble_regressor,
    find_structure,
    regressor,
    regressor_by_factors,
    regressor_factors,
)
from ne_dynamics.codegen.symbols import Graph
from ne_dynamics.papers import robots
from ne_dynamics.shipped import shipped_file

GRAVITY = (0.3, -0.2, -9.80665)


def factors(plain, q, qd, qdd, gravity=GRAVITY):
    """Return twists (N, b, 6) and wrenches (N, 6, 10 b) for samples in rows."""
    arguments = [list(np.ascontiguousarray(values.T)) for values in (q, qd, qdd)]
    twists, wrenches = regressor_factors(plain, *arguments, gravity)
    samples = q.shape[0]

    def array(rows):
        flat = [np.broadcast_to(value, samples) for value in rows]
        return np.stack(flat, axis=1)

    count = len(plain.bodies)
    return (
        array([value for twist in twists for value in twist]).reshape(samples, count, 6),
        array([v for row in range(6) for wrench in wrenches for v in wrench[row]]).reshape(
            samples, 6, 10 * count
        ),
    )


def assembled(robot, q, qd, qdd, gravity=GRAVITY):
    """Return the regressor of samples, shape (N, n, 10 b)."""
    plain = build_mechanism(robot, regroup=False)
    return assemble_regressor(*factors(plain, q, qd, qdd, gravity), find_structure(plain))


SPECIAL = list(enumerate(zip(PATTERNS.values(), (*MEETINGS, 'skew'), strict=True)))
MODELS = [
    *(partial(tree_robot, seed, 9) for seed in range(6)),
    *(partial(chain, seed, pattern, 1.0, meeting) for seed, (pattern, meeting) in SPECIAL),
    *(
        partial(chain, seed, pattern, np.pi / 2, meeting, axis_aligned=True)
        for seed, (pattern, meeting) in SPECIAL
    ),
    *(lambda name=name: ned.load_model(shipped_file(name)) for name in SHIPPED),
]
"""What makes trees with slides and mimic joints, special chains, and shipped robots."""


@pytest.fixture(params=range(len(MODELS)))
def robot(request):
    """Return each robot."""
    return MODELS[request.param]()


@pytest.mark.kept(4)
def test_both_forms_agree(robot):
    """The factors, assembled or multiplied one by one, are the regressor that is written out."""
    q, qd, qdd = np.random.default_rng(robot.n).uniform(-2.0, 2.0, (3, 4, robot.n))
    result = assembled(robot, q, qd, qdd)
    plain = build_mechanism(robot, regroup=False)
    for sample, arguments in enumerate(zip(q, qd, qdd, strict=True)):
        expected = np.array(regressor(plain, *(row.tolist() for row in arguments), GRAVITY))
        scale = np.abs(expected).max()
        np.testing.assert_allclose(result[sample], expected, rtol=1e-9, atol=1e-12 * scale)
        products = regressor_by_factors(plain, *(row.tolist() for row in arguments), GRAVITY)
        np.testing.assert_allclose(products, result[sample], rtol=1e-12, atol=1e-14 * scale)


def test_operations_of_the_factors_grow_with_the_number_of_bodies():
    """Each body of a general chain adds the same operations, some two hundred products."""
    counts = []
    for n in (10, 30, 50):
        graph = Graph()
        arguments = [graph.inputs(stem, n) for stem in ('q', 'qd', 'qdd')]
        plain = build_mechanism(robots.chain(n), regroup=False)
        twists, wrenches = regressor_factors(plain, *arguments, (0.0, 0.0, -9.80665))
        outputs = [value for twist in twists for value in twist]
        outputs += [value for wrench in wrenches for row in wrench for value in row]
        counts.append(graph.count(outputs).multiplications)
    earlier, later = np.diff(counts)
    assert earlier == later
    assert later < 215 * 20
