"""A C project from the equations of a robot, with the bound of their rounding errors."""
