"""What a robot is, and how it is read."""
