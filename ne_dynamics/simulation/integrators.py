"""The integrators of the simulated robot by name; needs no MuJoCo to be read."""

INTEGRATORS = {'rk4': 'RK4', 'implicitfast': 'implicitfast', 'euler': 'Euler'}
"""Integrators on offer, and MuJoCo's names for them."""
