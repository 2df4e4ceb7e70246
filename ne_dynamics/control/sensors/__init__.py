"""What is measured: wrist wrench, tilt of the base, velocities, reported efforts, rates."""
