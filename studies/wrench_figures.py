"""Print the figures of wrench.md that need no simulation: python -m studies.wrench_figures.

How heavy a tool is compared with the arm (d), and how far the arm sags by what the gain leaves out
of a tool that nobody knows, for the sensor's cut at `ft_sensor` and at `flange`.
"""

from __future__ import annotations

import argparse

import numpy as np

from ne_dynamics import Dynamics, Robot, load_model
from ne_dynamics.model.rigid_body import FloatArray
from ne_dynamics.shipped import shipped_file
from ne_dynamics.simulation.altered_robot import with_hung_mass

POSTURE = np.array([0.3, -0.6, 0.7, 0.4, 0.7, -0.5])
CUTS = ('ft_sensor', 'flange')
"""In front of what is read: the tool alone, or the sensor too, as in Gazebo."""

ARM = load_model(shipped_file('six_axis_arm.urdf'), tip_link='tcp')


def loaded(mass: float) -> Dynamics:
    """Return the arm with a mass on its tool [kg]."""
    robot: Robot = with_hung_mass(ARM, mass, np.zeros(3)) if mass else ARM
    return Dynamics(robot, backend='python')


def heaviness(mass: float, cut: str) -> float:
    """Return the largest eigenvalue of inv(M_A) M_T at the posture."""
    own = Dynamics(ARM.cut_beyond(cut), backend='python').mass_matrix(POSTURE)
    whole = loaded(mass).mass_matrix(POSTURE)
    return float(np.linalg.eigvals(np.linalg.solve(own, whole - own)).real.max())


def heaviest(limit: float, cut: str) -> float:
    """Return the mass on the tool that makes it so heavy [kg]."""
    light, heavy = 0.0, 100.0
    while heavy - light > 1e-3:
        mass = 0.5 * (light + heavy)
        light, heavy = (mass, heavy) if heaviness(mass, cut) < limit else (light, mass)
    return light


def sag(share: float, mass: float, cut: str, kp: float) -> FloatArray:
    """Return how far the arm sags by a share of the tool [rad].

    Computed torque at rest: `M_A(q) kp (q_d - q)` carries the share of what is beyond the cut.
    """
    own, whole = Dynamics(ARM.cut_beyond(cut), backend='python'), loaded(mass)
    q = POSTURE.copy()
    for _ in range(2000):
        unknown = share * (whole.gravity_torque(q) - own.gravity_torque(q))
        error = np.linalg.solve(own.mass_matrix(q), unknown) / kp
        q += 0.1 * (POSTURE - error - q)
    sagged: FloatArray = POSTURE - q
    return sagged


def main() -> None:
    """Print both tables."""
    print('d, and the load that makes it 50 [kg]')
    for cut in CUTS:
        figures = [f'{heaviness(mass, cut):.1f}' for mass in (0.0, 3.0, 10.0, 20.0)]
        print(f'  {cut}: {", ".join(figures)} with 0, 3, 10, 20 kg; {heaviest(50.0, cut):.1f} kg')
    print('sag of joints 4, 5, 6 with 3 kg [mrad], and as part of that without the wrench')
    for cut in CUTS:
        for kp in (100.0, 400.0):
            without = sag(1.0, 3.0, cut, kp)[3:]
            print(f'  {cut}, Kp {kp:g}: without {np.round(1e3 * np.abs(without))}')
            for gain in (0.95, 0.9):
                with_gain = sag(1.0 - gain, 3.0, cut, kp)[3:]
                parts = np.round(100.0 * np.abs(with_gain / without))
                print(f'    gain {gain}: {np.round(1e3 * np.abs(with_gain))}, {parts} %')


if __name__ == '__main__':
    argparse.ArgumentParser(description=__doc__).parse_args()
    main()
