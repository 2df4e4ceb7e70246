"""The arm whose controller is driven in tests, and where it stands."""

import numpy as np

import ne_dynamics as ned
from ne_dynamics.shipped import shipped_file

N = 6
Q = np.array([0.2, -0.9, 1.1, -0.4, 0.6, 0.1])
ZERO = np.zeros(N)


def load_arm():
    """Return the shipped arm as a chain."""
    return ned.load_urdf(shipped_file('six_axis_arm.urdf'), tip_link='tcp')
