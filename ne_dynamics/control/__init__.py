"""Control laws, trajectories, wrench and limits: pure, without ROS."""
