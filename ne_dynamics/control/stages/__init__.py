"""The row of stages that answers a joint state; see :mod:`ne_dynamics.control.controller`."""
