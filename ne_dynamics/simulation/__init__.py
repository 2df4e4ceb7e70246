"""A simulated arm behind ROS topics, and the demo that compares control laws on it."""
