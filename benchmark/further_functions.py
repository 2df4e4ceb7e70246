"""Functions beside the dynamics and their matrices, each next to Pinocchio's for the same."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmark import competitors as who
from benchmark.timing import Contender
from ne_dynamics.model.rigid_body import FloatArray
from ne_dynamics.papers import Case

_RNEA_DERIVATIVES = (
    'np.array([data.dtau_dq, data.dtau_dv, np.triu(data.M) + np.triu(data.M, 1).T])'
)


@dataclass(frozen=True)
class Pair:
    """A call of ours and Pinocchio's for the same.

    Attributes
    ----------
    ours : str
        Arguments and all, a method of `dyn`.
    theirs : str
        Function of `pin` and what it takes after model and data.
    result : str
        Expression that holds what Pinocchio's call has computed; '' for what it returns.
    subject : str
        '' for the name of our method.
    row : str
        Generated function whose operations are told; '' for that of the method's name.
    """

    ours: str
    theirs: str
    result: str = ''
    subject: str = ''
    row: str = ''

    @property
    def method(self) -> str:
        """Name of our method."""
        return self.ours.partition('(')[0]


PAIRS = (
    Pair(
        'joint_wrenches(q, qd, qdd)',
        'rnea(q, qd, qdd)',
        'np.array([data.f[joint].vector for joint in range(1, model.njoints)])',
    ),
    Pair(
        'link_velocities(q, qd)',
        'forwardKinematics(q, qd)',
        'np.array([pin.getFrameVelocity(model, data, each, pin.LOCAL).vector for each in frames])',
    ),
    Pair(
        'link_accelerations(q, qd, qdd)',
        'forwardKinematics(q, qd, qdd)',
        'np.array([pin.getFrameAcceleration(model, data, each, pin.LOCAL).vector '
        'for each in frames])',
    ),
    Pair('center_of_mass_jacobian(q)', 'jacobianCenterOfMass(q)'),
    Pair(
        'centroidal_momentum(q, qd)',
        'computeCentroidalMomentum(q, qd)',
        'np.array(data.hg.vector)',
    ),
    Pair('centroidal_momentum_matrix(q)', 'computeCentroidalMap(q)'),
    Pair(
        'centroidal_momentum_rate(q, qd, qdd)',
        'computeCentroidalMomentumTimeVariation(q, qd, qdd)',
        'np.array(data.dhg.vector)',
    ),
    Pair('kinetic_energy_regressor(q, qd)', 'computeKineticEnergyRegressor(q, qd)'),
    Pair('potential_energy_regressor(q)', 'computePotentialEnergyRegressor(q)'),
    Pair('jacobian(q)', 'computeFrameJacobian(q, tip, pin.LOCAL_WORLD_ALIGNED)'),
    Pair(
        "jacobian(q, axes='world')",
        'computeFrameJacobian(q, tip, pin.WORLD)',
        subject="jacobian, axes='world'",
        row='jacobian_at_base_origin',
    ),
    Pair(
        'inverse_dynamics_derivatives(q, qd, qdd, load)',
        'computeRNEADerivatives(q, qd, qdd, tip_forces)',
        _RNEA_DERIVATIVES,
        'inverse_dynamics_derivatives, wrench',
        'inverse_dynamics_derivatives_with_wrench',
    ),
    Pair(
        'inverse_dynamics_derivatives(q, qd, qdd, external_wrenches=on_links)',
        'computeRNEADerivatives(q, qd, qdd, link_forces)',
        _RNEA_DERIVATIVES,
        'inverse_dynamics_derivatives, wrenches on three links',
        'inverse_dynamics_derivatives_with_external_wrenches',
    ),
    Pair(
        'inverse_dynamics(q_list, qd_list, qdd_list)',
        'rnea(q, qd, qdd)',
        subject='inverse_dynamics of lists, beside rnea of arrays',
    ),
)


class FurtherFunctions:
    """Ours and Pinocchio's calls for one arm, without friction, whose inputs change.

    Parameters
    ----------
    case : Case

    Raises
    ------
    MissingDependencyError, BackendError
        When Pinocchio or the compiler cannot be had.
    """

    def __init__(self, case: Case) -> None:
        self._inputs = who.Inputs((case.robot.n,))
        self._lists = {name: [0.0] * case.robot.n for name in ('q', 'qd', 'qdd')}
        self.dyn = who.dynamics(case.robot.without_friction(), 'compiled')
        self._interpreted = who.dynamics(case.robot.without_friction(), 'python')
        self._counts = self._interpreted.operation_counts()
        bodies = case.robot.bodies
        loads = np.random.default_rng(1).uniform(-20.0, 20.0, (3, 6))
        on_links = dict(zip([body.name for body in bodies[1::2]], loads, strict=True))
        names = who.PinocchioModel(case).names
        tip = names['model'].getFrameId(case.robot.tip.name)
        self._names: dict[str, Any] = {
            **self._inputs.names,
            **{f'{name}_list': values for name, values in self._lists.items()},
            **names,
            'np': np,
            'load': loads[0],
            'on_links': on_links,
            'tip': tip,
            'frames': [names['model'].getFrameId(name) for name in self.dyn.link_names],
            'tip_forces': _make_forces(names, {case.robot.tip.name: -loads[0]}),
            'link_forces': _make_forces(names, on_links),
        }
        self.renew()

    def renew(self) -> None:
        """Draw another motion, for arrays and lists."""
        self._inputs.renew()
        for name, values in self._lists.items():
            values[:] = getattr(self._inputs, name).tolist()

    def contenders(self, pair: Pair) -> tuple[Contender, Contender, FloatArray]:
        """Return our call, Pinocchio's, and what is right by the interpreted equations."""
        expected = Contender('', f'dyn.{pair.ours}', {**self._names, 'dyn': self._interpreted})
        products, sums = self._counts[pair.row or pair.method]
        label = f'{who.COMPILED} ({products}; {sums})'
        ours = Contender(label, f'dyn.{pair.ours}', {**self._names, 'dyn': self.dyn})
        ours.value()  # from the second call on the entry answers
        function, _, rest = pair.theirs.partition('(')
        statement = f'pin.{function}(model, data, {rest}'
        name = f'{who.PINOCCHIO} {function}'
        shape = expected.value().shape
        result = f'np.reshape({pair.result or statement}, {shape})'
        theirs = Contender(name, statement, self._names, result)
        return ours, theirs, expected.value()


def _make_forces(names: dict[str, Any], on_links: dict[str, FloatArray]) -> Any:
    """Return Pinocchio's forces on joints for wrenches on links."""
    pin, model = names['pin'], names['model']
    forces = [pin.Force.Zero() for _ in range(model.njoints)]
    for link, wrench in on_links.items():
        frame = model.frames[model.getFrameId(link)]
        forces[frame.parentJoint] += frame.placement.act(pin.Force(wrench[:3], wrench[3:]))
    result = pin.StdVec_Force()
    result.extend(forces)
    return result
