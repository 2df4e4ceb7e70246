"""Random arms and motions, seeded, for the tests of the published formulations."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ne_dynamics.papers.forms import FORMULATIONS
from ne_dynamics.papers.forms.random_arms import random_arm

GRAVITY = (0.3, -0.2, -9.80665)
"""Tilted, so that no component is hidden [m/s^2]."""

TOLERANCE = 1e-9
"""Largest deviation allowed, relative to the largest torque."""

STANDARD = [name for name, form in FORMULATIONS.items() if form.covers.convention == 'standard']
GENERAL = [name for name in STANDARD if FORMULATIONS[name].covers.prismatic]


@dataclass(frozen=True)
class Motion:
    """One motion of an arm, as lists of floats.

    Attributes
    ----------
    q, qd, qdd : list of n float
    wrench : list of 6 float
        Force [N], moment [N m], of the last link on the environment.
    base_motion : list of 9 float
    """

    q: list
    qd: list
    qdd: list
    wrench: list
    base_motion: list


def random_motion(rng, n):
    """Return a :class:`Motion`."""
    return Motion(
        q=rng.uniform(-2.0, 2.0, n).tolist(),
        qd=rng.uniform(-2.0, 2.0, n).tolist(),
        qdd=rng.uniform(-3.0, 3.0, n).tolist(),
        wrench=rng.uniform(-10.0, 10.0, 6).tolist(),
        base_motion=rng.uniform(-2.0, 2.0, 9).tolist(),
    )


def arm_for(name, rng, n, **options):
    """Return a random arm of the most general kind that a formulation covers."""
    covers = FORMULATIONS[name].covers
    if not covers.prismatic:
        options['prismatic'] = 0.0
    return random_arm(
        rng,
        n,
        covers.convention,
        principal_axes=not covers.products_of_inertia,
        half_way=not covers.any_center_of_mass,
        **options,
    )


def without_drives(arm):
    """Return the arm without Coulomb friction and rotor inertia, which no document covers."""
    return arm.with_links(
        [replace(link, coulomb_friction=0.0, reflected_inertia=0.0) for link in arm.links]
    )


def relative_error(computed, expected, scale=None):
    """Return the largest deviation relative to the largest magnitude in `expected`."""
    computed, expected = np.asarray(computed, dtype=float), np.asarray(expected, dtype=float)
    assert computed.shape == expected.shape
    assert np.isfinite(computed).all()
    largest = float(np.abs(expected).max()) if scale is None else float(scale)
    return float(np.abs(computed - expected).max()) / largest
