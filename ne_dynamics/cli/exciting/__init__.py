"""What ``ne_dynamics excite`` is made of."""
