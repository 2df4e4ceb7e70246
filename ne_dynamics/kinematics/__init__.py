"""From poses to joint positions: inverse kinematics by search on the generated equations."""
