"""The node `computed_torque`. Only `node` needs ROS; the rest runs without."""
