"""Well-known robots and 200 random trees against Pinocchio: chains, locked joints, whole trees."""

import functools
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest
from example_robots import EXAMPLE_ROBOTS
from motion_samples import inverse_dynamics_rows, random_motion
from oracle_measure import GRAVITY, backend_cases, urdf_dynamics
from pinocchio_oracle import PinocchioRobot, UrdfTopology
from random_robots import random_tree

ROWS = 2
TREES = 200
LARGEST = 30
COMPILED = ('UR10', 'Panda with', 'Kinova', 'TIAGo (', 'tree 2,', 'tree 5,', 'tree 9,', 'tree 19,')
"""Mimic, continuous and prismatic joints; trees of up to ten joints, and twenty."""


@dataclass(frozen=True, eq=False)
class Case:
    """A robot as both sides load it.

    Attributes
    ----------
    name : str
    urdf : Path or str
        File or text.
    options : dict
        Base, tip, locked joints, link of the wrench.
    """

    name: str
    urdf: Path | str
    options: dict = field(default_factory=dict)

    def __str__(self):
        return self.name


@functools.cache
def tree(seed):
    """Return the random tree of a seed; sizes run from 1 to 30 joints and over again."""
    return random_tree(seed, 1 + seed % LARGEST)


def whole_tree(seed):
    """Return a random tree as a whole, with a tip for the wrench."""
    return Case(f'tree {seed}, all', tree(seed).urdf, {'wrench_link': tree(seed).tip})


def chain(seed):
    """Return the way to the tip of a random tree, every other joint off it locked somewhere.

    None where a mimic joint and the joint it follows are on two sides of the lock.
    """
    subject = tree(seed)
    topology = UrdfTopology(subject.urdf)
    on_the_way = topology.joints_between(subject.root, subject.tip)
    if any(
        (name in on_the_way) != (mimic.source in on_the_way)
        for name, mimic in topology.mimics.items()
    ):
        return None
    rng = np.random.default_rng(seed)
    off_the_way = [name for name in subject.coordinates if name not in on_the_way]
    locked = tuple((name, float(rng.uniform(-1.0, 1.0))) for name in off_the_way[::2])
    options = {'base_link': subject.root, 'tip_link': subject.tip, 'locked': locked}
    return Case(f'tree {seed}, chain', subject.urdf, options)


KNOWN = [Case(robot.name, robot.path, robot.as_loaded) for robot in EXAMPLE_ROBOTS]
WHOLE = [whole_tree(seed) for seed in range(TREES)]
LARGE = [WHOLE[23], WHOLE[12]]
"""Trees of 24 joints, for which no matrix is written out, and of 13: some are, by factors."""
SMALL = [WHOLE[seed] for seed in range(TREES) if seed % LARGEST < 10][:40]
CHAINS = [case for case in map(chain, range(120)) if case][:30:3]


def every(*groups):
    """Return a parametrisation over robots and backends, see :func:`backend_cases`."""
    cases = [case for group in groups for case in group]
    return pytest.mark.parametrize(
        ('backend', 'case'),
        backend_cases(cases, lambda case: case.name.startswith(COMPILED)),
        indirect=['backend'],
        ids=str,
    )


class Comparison:
    """Our dynamics, Pinocchio's, and motions to compare them at."""

    def __init__(self, case, backend):
        self.ours = urdf_dynamics(case.urdf, backend, **case.options)
        text = case.urdf.read_text() if isinstance(case.urdf, Path) else case.urdf
        self.oracle = PinocchioRobot(text, self.ours.joint_names, GRAVITY, **case.options)
        self.sample = random_motion(1, ROWS, self.ours.n)
        self.friction = np.array([self.oracle.friction_torque(qd) for qd in self.sample.qd])
        self.torque = inverse_dynamics_rows(self.oracle, self.sample)
        self.largest_torque = np.abs(self.torque).max()

    def each(self, function, *names):
        """Return the stacked results of a function called with every row of the sample."""
        arrays = [getattr(self.sample, name) for name in names]
        return np.array([function(*row) for row in zip(*arrays, strict=True)])


@pytest.fixture
def pair(case, backend):
    """Return both sides of a case."""
    return compare(case, backend)


@functools.cache
def compare(case, backend):
    """Return both sides of a case, set up once."""
    return Comparison(case, backend)


def test_the_trees_are_what_they_are_said_to_be():
    trees = [tree(seed) for seed in range(TREES)]
    assert {len(subject.kinds) for subject in trees} == set(range(1, LARGEST + 1))
    kinds = Counter(kind for subject in trees for kind in subject.kinds)
    assert set(kinds) == {'revolute', 'continuous', 'prismatic', 'fixed', 'mimic'}
    assert min(kinds.values()) > TREES
    branching = 0
    for subject in trees:
        parents = Counter(UrdfTopology(subject.urdf).parent_link.values())
        branching += max(parents.values()) > 1
    assert branching > TREES / 2
    assert len(CHAINS) == 10
    assert any(case.options['locked'] for case in CHAINS)


@pytest.mark.kept(22)
@every(KNOWN, WHOLE, CHAINS)
def test_inverse_dynamics(case, pair, assert_agree):
    """Row by row and as a batch, with and without a tip wrench, friction included."""
    sample, ours = pair.sample, pair.ours
    for names in (('q', 'qd', 'qdd'), ('q', 'qd', 'qdd', 'wrench')):
        rigid = inverse_dynamics_rows(pair.oracle, sample, wrench='wrench' in names)
        largest = max(np.abs(rigid).max(), pair.largest_torque)
        batch = ours.inverse_dynamics(*[getattr(sample, name) for name in names])
        for form in (pair.each(ours.inverse_dynamics, *names), batch):
            assert_agree(case.name, 'inverse dynamics', form, rigid + pair.friction, largest)


QUANTITIES = {
    'mass_matrix': ('q',),
    'gravity_torque': ('q',),
    'friction_torque': ('qd',),
    'forward_kinematics': ('q',),
}


@pytest.mark.kept(18)
@every(LARGE, KNOWN, SMALL, CHAINS)
@pytest.mark.parametrize('quantity', QUANTITIES)
def test_quantity(case, pair, quantity, assert_agree):
    """Mimic joints folded, gravity along no axis of the base, friction as in the URDF."""
    computed, expected = (
        pair.each(getattr(side, quantity), *QUANTITIES[quantity])
        for side in (pair.ours, pair.oracle)
    )
    scale = pair.largest_torque if quantity.endswith('torque') else None
    assert_agree(case.name, quantity, computed, expected, scale)


@pytest.mark.kept(8)
@every(LARGE, KNOWN, SMALL)
def test_coriolis_matrix_is_the_christoffel_one(case, pair, assert_agree):
    """C(q, a) b is the symmetric bilinear form whose diagonal is Pinocchio's C(q, qd) qd.

    Only the Christoffel matrix is: the form follows from its diagonal by polarisation.
    """
    q, a, b = pair.sample.q[0], pair.sample.qd[0], pair.sample.qd[1]
    squares = [pair.oracle.coriolis_torque(q, qd) for qd in (a, b, a + b)]
    computed = pair.ours.coriolis_matrix(q, a) @ a
    assert_agree(case.name, 'Coriolis', computed, squares[0], pair.largest_torque)
    computed = pair.ours.coriolis_matrix(q, a) @ b
    expected = 0.5 * (squares[2] - squares[0] - squares[1])
    assert_agree(case.name, 'Christoffel', computed, expected, pair.largest_torque)


@pytest.mark.kept(12)
@every(LARGE, KNOWN, SMALL)
@pytest.mark.parametrize('under_wrench', [False, True], ids=['free', 'wrench'])
def test_forward_dynamics(case, pair, under_wrench, assert_agree):
    """Accelerations answer the torques that Pinocchio asks for them, measured as torques."""
    sample = pair.sample
    torque = inverse_dynamics_rows(pair.oracle, sample, wrench=under_wrench) + pair.friction
    wrenches = sample.wrench if under_wrench else [None] * len(sample)
    deviation = [
        pair.oracle.mass_matrix(q) @ (pair.ours.forward_dynamics(q, qd, tau, wrench) - qdd)
        for q, qd, qdd, tau, wrench in zip(
            sample.q, sample.qd, sample.qdd, torque, wrenches, strict=True
        )
    ]
    scale = max(pair.largest_torque, np.abs(torque).max())
    assert_agree(case.name, 'forward dynamics', deviation, np.zeros_like(torque), scale)


@pytest.mark.kept(6)
@every(KNOWN)
@pytest.mark.parametrize('axes', ['base', 'tip', 'world'])
def test_jacobian(case, pair, axes, assert_agree):
    computed, expected = (
        pair.each(functools.partial(side.jacobian, axes=axes), 'q')
        for side in (pair.ours, pair.oracle)
    )
    assert_agree(case.name, f'Jacobian ({axes} axes)', computed, expected)


@pytest.mark.kept(4)
@every(KNOWN)
def test_forward_kinematics_of_named_links(case, pair, assert_agree):
    """Links can be asked for by name, fixed and locked ones too."""
    q = pair.sample.q[0]
    links = [link.name for link in pair.ours.robot.links]
    for link in (links[0], links[len(links) // 2], links[-1]):
        computed = pair.ours.forward_kinematics(q, link=link)
        assert_agree(case.name, 'links', computed, pair.oracle.forward_kinematics(q, link=link))


def check_regressor(case, pair, assert_agree):
    """Compare with Pinocchio's, mimic joints folded into the joint they follow."""
    joints = [body.joint_name for body in pair.ours.robot.bodies]
    computed = pair.each(pair.ours.regressor, 'q', 'qd', 'qdd')
    expected = pair.each(functools.partial(pair.oracle.regressor, joints=joints), 'q', 'qd', 'qdd')
    assert_agree(case.name, 'regressor', computed, expected)


@pytest.mark.kept(8)
@every(KNOWN, SMALL)
def test_regressor(case, pair, assert_agree):
    check_regressor(case, pair, assert_agree)


@pytest.mark.parametrize('backend', ['python'], indirect=True)
@pytest.mark.parametrize('case', LARGE, ids=str)
def test_regressor_of_many_joints(case, pair, assert_agree):
    """Written out by factors, and assembled."""
    check_regressor(case, pair, assert_agree)
