"""Energies of an arm from the 4x4 transforms of Lagrange's form: oracles of what a motion keeps.

Functions take an arm in standard Denavit-Hartenberg frames.
"""

from __future__ import annotations

from ne_dynamics.algorithms.scalars.elementary import dot
from ne_dynamics.papers.forms.lagrange_euler import FORM, add_derivatives, pseudo_inertia
from ne_dynamics.papers.forms.matrices_4x4 import multiply_4x4, trace_of_product
from ne_dynamics.papers.forms.transform_derivatives import ChainTransforms


def kinetic_energy(arm, q, qd):
    """Return the kinetic energy [J] (001 2.6, 003 3.4).

    ERRATUM: 001 (2.6) leaves out the velocities that (2.5) and 003 (3.4) have.
    """
    FORM.check(arm, q=q, qd=qd)
    transforms = ChainTransforms(arm, q)
    energy = 0.0
    for q_index, link in enumerate(arm.links, start=1):
        # 001 (2.4): the velocity of any point of link q is (sum of dT/dq_j qd_j) d_q.
        rate = add_derivatives(qd, q_index, transforms.first_derivative)
        energy = energy + 0.5 * trace_of_product(multiply_4x4(rate, pseudo_inertia(link)), rate)
    return energy


def potential_energy(arm, q, *, gravity):
    """Return the potential energy in gravity [J]; zero at the origin of frame 0 (003 3.5)."""
    FORM.check(arm, q=q, gravity=gravity)
    transforms = ChainTransforms(arm, q)
    down = arm.from_base_axes(gravity)
    energy = 0.0
    for index, link in enumerate(arm.links):
        pose = transforms.between(0, index + 1)
        center = [dot(row, link.center_of_mass) + row[3] for row in pose[:3]]
        # 003 (3.5); 001 (2.1) with the sign put right.
        energy = energy - link.mass * dot(down, center)
    return energy
