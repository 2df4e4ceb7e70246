"""The same path at another speed: limits along a path, the time-optimal profile, and new times."""
