"""All contenders compute the same inverse dynamics; the textbook recursion and conversions."""

from __future__ import annotations

import numpy as np
import pytest

import ne_dynamics as ned
from benchmark import competitors, suite
from benchmark.textbook import inverse_dynamics, textbook_links
from benchmark.timing import require_agreement
from ne_dynamics.codegen.functions import FUNCTIONS
from ne_dynamics.errors import BackendError, MissingDependencyError, ModelError
from ne_dynamics.model.robot import JointType
from ne_dynamics.papers import robots

MAKERS = {
    'pinocchio': lambda case, inputs: competitors.PinocchioModel(case).contender(
        inputs, 'rnea', 'q, qd, qdd'
    ),
    'mujoco': competitors.mujoco_inverse,
    'toolbox': lambda case, inputs: competitors.ToolboxModel(case).compiled(inputs),
    'toolbox in Python': lambda case, inputs: competitors.ToolboxModel(case).python(inputs),
    'textbook': competitors.textbook,
}

CASES = {
    **robots.ARMS,
    'chain of 3': lambda: robots.Case('chain of 3', robots.chain(3)),
    'with prismatic joints': lambda: robots.Case('mixed', mixed_chain()),
}


def mixed_chain():
    """Return a random chain in which every other joint slides, along slanted axes."""
    from dataclasses import replace

    robot = robots.chain(4)
    kinds = [JointType.REVOLUTE, JointType.PRISMATIC] * 2
    axes = np.array([[0.0, 0.6, 0.8], [0.6, 0.8, 0.0], [0.0, 0.0, 1.0], [1.0, 0.0, 0.0]])
    return replace(
        robot,
        joints=tuple(
            replace(joint, type=kind, rotor_inertia=0.1, gear_ratio=2.0)
            for joint, kind in zip(robot.joints, kinds, strict=True)
        ),
        bodies=tuple(
            replace(body, joint_type=kind, axis=axis)
            for body, kind, axis in zip(robot.bodies, kinds, axes, strict=True)
        ),
    )


@pytest.mark.parametrize('maker', MAKERS)
@pytest.mark.parametrize('case', CASES)
def test_contenders_compute_the_same(case, maker):
    """Whatever is timed as inverse dynamics gives our result, friction apart, at random states."""
    try:
        case = CASES[case]()
        inputs = competitors.Inputs((case.robot.n,), seed=3)
        contender = MAKERS[maker](case, inputs)
    except MissingDependencyError as error:
        pytest.skip(str(error))
    dyn = ned.Dynamics(case.robot, backend='python')
    for _ in range(3):
        inputs.renew()
        expected = dyn.inverse_dynamics(inputs.q, inputs.qd, inputs.qdd)
        require_agreement([contender], expected, dyn.friction_torque(inputs.qd))


@pytest.mark.parametrize('case', ['chain of 3', 'with prismatic joints', 'chain of 11'])
def test_regressors_have_the_same_columns(case):
    """Pinocchio's regressor is ours entry by entry, on both sides of the step to many joints."""
    try:
        case = robots.Case(case, robots.chain(11)) if case == 'chain of 11' else CASES[case]()
        pinocchio = competitors.PinocchioModel(case)
    except MissingDependencyError as error:
        pytest.skip(str(error))
    inputs = competitors.Inputs((case.robot.n,), seed=3)
    contender = pinocchio.contender(inputs, 'computeJointTorqueRegressor', 'q, qd, qdd')
    dyn = ned.Dynamics(case.robot, backend='python')
    for _ in range(3):
        inputs.renew()
        require_agreement([contender], dyn.regressor(inputs.q, inputs.qd, inputs.qdd))


def test_locked_joints_are_fixed_in_the_description():
    """The URDF for readers without prismatic joints has the locked ones fixed, no others."""
    from benchmark.jax_calls import describe_with_locked_joints

    try:
        case = robots.panda()
    except MissingDependencyError as error:
        pytest.skip(str(error))
    robot = ned.load_urdf(describe_with_locked_joints(case))
    assert robot.joint_names == case.robot.joint_names
    q, qd, qdd = np.random.default_rng(0).uniform(-1.0, 1.0, (3, robot.n))
    np.testing.assert_allclose(
        ned.Dynamics(robot, backend='python').inverse_dynamics(q, qd, qdd),
        ned.Dynamics(case.robot, backend='python').inverse_dynamics(q, qd, qdd),
        rtol=1e-9,
    )


def test_a_compiler_that_cannot_be_had_is_an_error(monkeypatch):
    """The compiled backend passes on why there is none; Python needs no compiler."""

    def refuse():
        raise BackendError('expected llvmlite >= 1000')

    monkeypatch.setattr(competitors, 'toolchain', refuse)
    with pytest.raises(BackendError, match='llvmlite >= 1000'):
        competitors.dynamics(robots.chain(3), 'compiled')
    assert competitors.dynamics(robots.chain(3), 'python').backend == 'python'


def test_textbook_refuses_what_it_is_not_for():
    """The textbook's recursion and the DH conversion are for chains: trees raise ModelError."""
    from dataclasses import replace

    robot = robots.chain(3)
    bodies = (*robot.bodies[:2], replace(robot.bodies[2], parent=0))
    tree = replace(robot, bodies=bodies)
    for convert in (textbook_links, competitors.modified_dh):
        with pytest.raises(ModelError, match='expected a chain'):
            convert(tree)


def test_textbook_at_rest_without_gravity():
    """Without motion and gravity no effort is needed."""
    links = textbook_links(robots.chain(5))
    zero = np.zeros(5)
    assert not inverse_dynamics(links, np.zeros(3), zero + 0.3, zero, zero).any()


def test_regressors_are_measured_on_both_sides_of_the_step():
    """The longest chain whose regressor is written out, and the next one: both have the aim."""
    largest = FUNCTIONS['regressor'].largest
    assert {largest, largest + 1} <= set(robots.REGRESSOR_LENGTHS)
    assert largest >= suite.AIMED_REGRESSOR


def test_chains_are_reproducible():
    """The same length gives the same chain, another length another one."""
    first, second = (robots.chain(5).bodies[2].inertia for _ in range(2))
    assert first.mass == second.mass
    assert robots.chain(10).bodies[2].inertia.mass != first.mass


def test_inputs_change_in_place():
    """Renewing changes the contents of the arrays that contenders hold."""
    inputs = competitors.Inputs((4,))
    held, before = inputs.names['q'], inputs.q.copy()
    inputs.renew()
    assert held is inputs.q
    assert (held != before).all()


@pytest.mark.parametrize('shape', [(4,), (7, 4)])
def test_inputs_fit_a_call_with_everything(shape):
    """Wrench and `out` have the shapes that a call of these samples takes."""
    inputs = competitors.Inputs(shape)
    dyn = ned.Dynamics(robots.chain(4), backend='python')
    names = inputs.names
    result = dyn.inverse_dynamics(**{name: names[name] for name in ('q', 'qd', 'qdd', 'wrench')},
                                  out=names['out'])  # fmt: skip
    assert result is names['out']
