"""Functions of a robot beside Pinocchio: `python -m benchmark.functions_beside_pinocchio`.

Calls from Python on float64 arrays, in turns; of each the fastest of 15 rounds of 2000 calls.
"""

from __future__ import annotations

import timeit
from collections.abc import Callable

import numpy as np
import pinocchio as pin

import ne_dynamics as ned
from ne_dynamics.shipped import shipped_file

CALLS = 2000
ROUNDS = 15


def main() -> None:
    """Print a row each function: microseconds a call of both, and their ratio."""
    path = shipped_file('six_axis_arm.urdf')
    dyn = ned.Dynamics(ned.load_urdf(path, tip_link='tcp'))
    model = pin.buildModelFromUrdf(str(path))
    data = model.createData()
    q, v, a = np.random.default_rng(1).uniform(-1.0, 1.0, (3, dyn.n))
    lists = q.tolist(), v.tolist(), a.tolist()
    rows: dict[str, tuple[Callable[[], object], Callable[[], object]]] = {
        'joint_wrenches': (
            lambda: dyn.joint_wrenches(q, v, a),
            lambda: pin.rnea(model, data, q, v, a),
        ),
        'link_velocities': (
            lambda: dyn.link_velocities(q, v),
            lambda: pin.forwardKinematics(model, data, q, v),
        ),
        'link_accelerations': (
            lambda: dyn.link_accelerations(q, v, a),
            lambda: pin.forwardKinematics(model, data, q, v, a),
        ),
        'center_of_mass_jacobian': (
            lambda: dyn.center_of_mass_jacobian(q),
            lambda: pin.jacobianCenterOfMass(model, data, q),
        ),
        'centroidal_momentum': (
            lambda: dyn.centroidal_momentum(q, v),
            lambda: pin.computeCentroidalMomentum(model, data, q, v),
        ),
        'centroidal_momentum_matrix': (
            lambda: dyn.centroidal_momentum_matrix(q),
            lambda: pin.computeCentroidalMap(model, data, q),
        ),
        'centroidal_momentum_rate': (
            lambda: dyn.centroidal_momentum_rate(q, v, a),
            lambda: pin.computeCentroidalMomentumTimeVariation(model, data, q, v, a),
        ),
        'kinetic_energy_regressor': (
            lambda: dyn.kinetic_energy_regressor(q, v),
            lambda: pin.computeKineticEnergyRegressor(model, data, q, v),
        ),
        'potential_energy_regressor': (
            lambda: dyn.potential_energy_regressor(q),
            lambda: pin.computePotentialEnergyRegressor(model, data, q),
        ),
        'inverse_dynamics of lists, beside rnea of arrays': (
            lambda: dyn.inverse_dynamics(*lists),
            lambda: pin.rnea(model, data, q, v, a),
        ),
    }
    counts = dyn.operation_counts()
    print('| function | operations | ne_dynamics [us] | Pinocchio [us] | ratio |')
    print('| --- | --- | --- | --- | --- |')
    for name, contenders in rows.items():
        fastest = [float('inf')] * 2
        for _ in range(ROUNDS):
            for place, call in enumerate(contenders):
                taken = timeit.timeit(call, number=CALLS) / CALLS * 1e6
                fastest[place] = min(fastest[place], taken)
        ours, theirs = fastest
        found = counts.get(name.split()[0])
        print(f'| {name} | {found} | {ours:.2f} | {theirs:.2f} | {ours / theirs:.2f} |')


if __name__ == '__main__':
    main()
