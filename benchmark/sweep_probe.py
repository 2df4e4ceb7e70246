"""A fresh process that uses many robots in turn, drops each, and says what they leave behind.

Its text is run with ``python -c`` and one argument, JSON with the keys

urdf, tip_link
    Robot as a file.
backend
    Of ne_dynamics.
robots, first
    How many robots, and how many of them come before the counting starts.

It prints JSON: bytes of resident memory, memory maps and seconds for each robot that is counted.
"""

from __future__ import annotations

import gc
import json
import os
import sys
import time
from collections.abc import Sequence
from typing import Any

import numpy as np

import ne_dynamics as ned
from ne_dynamics.simulation.altered_robot import scale_masses


def count_maps() -> int:
    """Return the number of memory maps of this process."""
    with open('/proc/self/maps', encoding='utf-8', errors='replace') as maps:
        return sum(1 for _ in maps)


def read_resident() -> int:
    """Return the resident memory of this process [B]."""
    with open('/proc/self/statm', encoding='ascii') as pages:
        return int(pages.read().split()[1]) * os.sysconf('SC_PAGE_SIZE')


def call_every_method(robot: ned.Robot, backend: str, shapes: Sequence[tuple[int, ...]]) -> None:
    """Compute all that there is of a robot, for arrays of each shape.

    Twice: the second call of a sample is the first that goes through the compiled entry.
    """
    dyn = ned.Dynamics(robot, backend=backend)
    wrench, payload = np.ones(6), np.ones(10)
    for _ in range(2):
        for shape in shapes:
            q = np.full((*shape, dyn.n), 0.1)
            wrenches = np.broadcast_to(wrench, (*shape, 6))
            dyn.inverse_dynamics(q, q, q)
            dyn.inverse_dynamics(q, q, q, wrenches)
            dyn.inverse_dynamics(q, q, q, payload=payload)
            dyn.gravity_torque(q)
            dyn.friction_torque(q)
            dyn.mass_matrix(q)
            dyn.coriolis_matrix(q, q)
            dyn.forward_dynamics(q, q, q)
            dyn.forward_dynamics(q, q, q, wrenches)
            dyn.regressor(q, q, q)
            dyn.regressor_gradient(q, q, q, np.ones((*shape, dyn.n, 10 * dyn.n)))
            dyn.forward_kinematics(q)
            dyn.jacobian(q)
            dyn.jacobian(q, axes='tip')
            dyn.jacobian_rate(q, q)
            dyn.link_poses(q)
            smoothing = np.zeros((*shape, 1))
            dyn.computed_torque(q, q, q, q, q, q, q, q, smoothing)
            dyn.feedforward_pd(q, q, q, q, q, q, q, q, smoothing)
            dyn.control_effort(q, q, q, q, q, q, q, q, q, q, q, q, smoothing)
            step = np.zeros((*shape, 7))
            dyn.disturbance_residuals(q, q, q, q, q, q, q, step)
            dyn.friction_hysteresis(q, q, q)
            dyn.bias_torque(q, q)
            dyn.inverse_dynamics_derivatives(q, q, q)
            dyn.forward_dynamics_derivatives(q, q, q)
            dyn.kinetic_energy(q, q)
            dyn.potential_energy(q)
            dyn.center_of_mass(q)
            dyn.center_of_mass_jacobian(q)
            dyn.centroidal_momentum(q, q)
            dyn.centroidal_momentum_matrix(q)
            dyn.centroidal_momentum_rate(q, q, q)
            dyn.joint_wrenches(q, q, q)
            dyn.link_velocities(q, q)
            dyn.link_accelerations(q, q, q)
            dyn.kinetic_energy_regressor(q, q)
            dyn.potential_energy_regressor(q)
            dyn.generalized_momentum(q, q)
            dyn.lagrangian_gradient(q, q)


def run(task: dict[str, Any]) -> dict[str, float]:
    """Do what is asked and return what each robot that is counted costs."""
    robot = ned.load_urdf(task['urdf'], tip_link=task['tip_link'])

    def use(numbers: range) -> None:
        for number in numbers:
            other = scale_masses(robot, 1.0 + 1e-3 * number)
            call_every_method(other, task['backend'], shapes=((), (20,)))

    use(range(task['first']))
    gc.collect()
    before = read_resident(), count_maps()
    begin = time.perf_counter()
    use(range(task['first'], task['robots']))
    seconds = time.perf_counter() - begin
    gc.collect()
    counted = task['robots'] - task['first']
    return {
        'resident': (read_resident() - before[0]) / counted,
        'maps': (count_maps() - before[1]) / counted,
        'seconds': seconds / counted,
    }


if __name__ == '__main__':
    print(json.dumps(run(json.loads(sys.argv[1]))))
