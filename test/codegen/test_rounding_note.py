"""What the header of a printed function says that numbers taken as exact change, holds."""

from dataclasses import replace

import numpy as np
import pytest
from random_robots import random_tree
from tolerance_robots import KINDS

import ne_dynamics as ned
from ne_dynamics.codegen.functions import FUNCTIONS
from ne_dynamics.errors import ModelError

GRAVITY = (0.3, -0.2, -9.80665)
SAMPLES = 20


def make_robots():
    """Return robots of which a tolerance of 9e-3 changes much, by name."""
    robots = {}
    for seed in range(4):
        tree = random_tree(seed, 6)
        robots[f'tree {seed}'] = replace(ned.load_urdf(tree.urdf), tip_link=tree.tip)
    for kind, make in KINDS.items():
        robots[kind] = make(2, spread=0.05)
    return {name: robot.without_friction() for name, robot in robots.items()}


ROBOTS = make_robots()


def draw_unit(rng, count, size):
    """Return vectors of a length, in random directions."""
    vectors = rng.normal(size=(count, 3))
    return size * vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def draw_arguments(robot, name, rng):
    """Return arguments of a function of the sizes that the text states, one row a sample."""
    count, n = SAMPLES, robot.n
    slides = np.array([joint.type.is_prismatic for joint in robot.joints])
    q = np.where(slides, 1.0, np.pi) * rng.uniform(-1.0, 1.0, (count, n))
    square = np.tile(np.array([1.0, 0.0, 1.0, 0.0, 0.0, 1.0]), (count, 1))
    given = {
        'q': q,
        'qd': rng.choice([-1.0, 1.0], (count, n)),
        'qdd': rng.choice([-1.0, 1.0], (count, n)),
        'wrench': np.hstack([draw_unit(rng, count, 100.0), draw_unit(rng, count, 10.0)]),
        'base_motion': np.hstack([draw_unit(rng, count, 1.0) for _ in range(3)]),
        'payload': np.hstack([np.full((count, 1), 10.0), draw_unit(rng, count, 1.0), square]),
        # Of the laws: no errors, so that their motion is the desired one; no limits.
        'kp': np.ones((count, n)),
        'kv': np.ones((count, n)),
        'effort_limits': np.full((count, n), 1e9),
        'smoothing_velocity': np.full((count, 1), 0.1),
    }
    for stem in ('q', 'qd', 'qdd'):
        given[f'{stem}_desired'] = given[stem]
    return [given[argument.name] for argument in FUNCTIONS[name].arguments]


@pytest.mark.kept(1)
@pytest.mark.parametrize('language', ['python', 'c'])
def test_an_export_says_it_of_each_function(language):
    """The module and the C header state the bound beside the function that it is for."""
    dynamics = ned.Dynamics(ROBOTS['tree 1'], backend='python', tolerance=9e-3)
    text = '\n'.join(dynamics.source_files(language, 'robot').values())
    assert text.count('Numbers taken as exact: an effort changes by at most ') >= 6
    assert 'Numbers taken as exact: a position changes by at most ' in text


def test_the_bound_of_a_call_takes_the_loads():
    """`rounding_bound` with a wrench, a base or a payload is what the loaded efforts change by."""
    robot = ROBOTS['tree 2']
    exact = ned.Dynamics(robot, GRAVITY, backend='python', tolerance=0.0)
    rounded = ned.Dynamics(robot, GRAVITY, backend='python', tolerance=9e-3)
    names = ('wrench', 'base_motion', 'payload')
    q, qd, qdd, *values = draw_arguments(
        robot, 'inverse_dynamics_in_full', np.random.default_rng(1)
    )
    loads = dict(zip(names, values, strict=True))
    plain = rounded.rounding_bound()
    assert (rounded.rounding_bound(q=50.0) > plain).any()
    for name, rows in loads.items():
        bound = rounded.rounding_bound(**{name: rows[0]})
        change = rounded.inverse_dynamics(q, qd, qdd, **{name: rows})
        change = np.abs(change - exact.inverse_dynamics(q, qd, qdd, **{name: rows})).max(axis=0)
        assert (change <= bound + 1e-10).all()
        assert (bound >= plain).all()
        assert (bound > plain).any()
    with pytest.raises(ModelError, match='tip'):
        ned.Dynamics(replace(robot, tip_link=None)).rounding_bound(wrench=np.ones(6))
