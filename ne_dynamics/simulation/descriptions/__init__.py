"""Robot descriptions for Gazebo and for ros2_control: what is added to a URDF."""
