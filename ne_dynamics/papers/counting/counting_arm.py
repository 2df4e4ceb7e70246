"""The general arm that operations are counted on."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ne_dynamics.papers.forms.arm import Arm
from ne_dynamics.papers.forms.coverage import Covers, half_way_center
from ne_dynamics.papers.forms.random_arms import random_arm


def make_counting_arm(
    covers: Covers, n: int, principal_axes: bool = False, sliding: bool = False
) -> Arm:
    """Return an arm of n joints of one kind as the authors count one.

    Parameters
    ----------
    covers : Covers
        Of the formulation; the arm is as general as it covers.
    n : int
    principal_axes : bool
        Whether inertia tensors are diagonal, also where the form covers others.
    sliding : bool
        Whether all joints slide; else they turn.

    Returns
    -------
    Arm
        Every twist, length, moment of inertia and centre of mass is there and general; no joint
        offset, friction, base or tool.
    """
    rng = np.random.default_rng(n)
    arm = random_arm(
        rng,
        n,
        covers.convention,
        prismatic=1.0 if sliding else 0.0,
        principal_axes=principal_axes or not covers.products_of_inertia,
        friction=False,
        base_and_tool=False,
    )
    links = []
    for link in arm.links:
        # The joint's coordinate is all there is: nothing is added to it.
        row = replace(link, d=0.0) if sliding else replace(link, theta=0.0)
        row = replace(row, offset=0.0, alpha=float(rng.uniform(0.3, 1.2)))
        if not covers.any_center_of_mass:
            center = np.array(half_way_center(row))
            row = replace(row, inertia=replace(row.inertia, center_of_mass=center))
        links.append(row)
    return Arm(arm.convention, tuple(links), name=f'general {n}-joint arm')
