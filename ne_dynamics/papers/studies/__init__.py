"""What the source documents report, computed anew: behind ``ne_dynamics reproduce``."""
