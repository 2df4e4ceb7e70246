"""Simulated arms that share no code with the dynamics: MuJoCo, and what arms have besides.

``mujoco_model.py`` is an arm with friction, rotors and a wrist sensor; ``simulated_robot.py`` the
ROS node around it; ``one_process_loop.py`` closes a loop without ROS, with sensors that err,
disturbances and delay; ``gain_proof.py`` tries gains. ``demo`` is `make demo`;
``descriptions`` are the files that Gazebo and ros2_control want.

Begin with ``mujoco_model.py``.
"""
