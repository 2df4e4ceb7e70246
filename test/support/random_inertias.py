"""Inertias of real bodies, drawn at random."""

import numpy as np

from ne_dynamics.model.rigid_body import Inertia


def random_inertia(rng):
    """Return an inertia with a full tensor, of 0.5 to 5 kg within a third of a metre."""
    mass = rng.uniform(0.5, 5.0)
    x, y, z = mass * rng.uniform(0.05, 0.3, 3) ** 2
    axes, _ = np.linalg.qr(rng.normal(size=(3, 3)))
    tensor = axes @ np.diag([y + z, x + z, x + y]) @ axes.T
    return Inertia(mass, rng.uniform(-0.3, 0.3, 3), 0.5 * (tensor + tensor.T))
