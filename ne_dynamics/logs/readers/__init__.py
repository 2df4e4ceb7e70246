"""Files of logs: joint states of ROS 2 bags and tables of CSV."""
