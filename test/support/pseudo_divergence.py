"""The divergence of one pseudo-inertia from another, as the textbooks write it."""

import numpy as np


def divergence(pseudo, reference):
    """Return tr(P0^-1 P) - log(det P / det P0) - 4; infinite where P is not positive definite."""
    if np.linalg.eigvalsh(pseudo)[0] <= 0.0:
        return float('inf')
    logarithm = np.linalg.slogdet(pseudo)[1] - np.linalg.slogdet(reference)[1]
    return float(np.trace(np.linalg.solve(reference, pseudo)) - logarithm - 4.0)
