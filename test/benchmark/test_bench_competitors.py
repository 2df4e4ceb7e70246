"""All contenders compute the same inverse dynamics; the textbook recursion and conversions."""

import numpy as np
import pytest

import ne_dynamics as ned
from benchmark import competitors
from benchmark.timing import require_agreement
from ne_dynamics.errors import MissingDependencyError
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


@pytest.mark.kept(6)
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
