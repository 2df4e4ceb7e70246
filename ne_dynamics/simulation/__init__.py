"""Simulated arms in MuJoCo, which share no code with the dynamics; drives and sensors.

``mujoco_model.py`` is an arm with friction, rotors and a wrist sensor, whose model ``mjcf.py``
writes; ``simulated_arm.py`` adds drives and sensors, and ``simulated_robot.py`` is the ROS node
around it; ``one_process_loop.py`` closes a loop without ROS, with sensor errors, disturbances and
delay; ``gain_proof.py`` simulates designed gains. ``demo`` is `make demo`; ``descriptions`` are
files for Gazebo and ros2_control.

Begin with ``mujoco_model.py``.
"""

from typing import TYPE_CHECKING

from ne_dynamics.loaded_later import load_later

if TYPE_CHECKING:
    from ne_dynamics.simulation.elastic_arm import ElasticArm
    from ne_dynamics.simulation.gain_proof import Proof, prove_gains
    from ne_dynamics.simulation.hidden_errors import (
        EffortMeaning,
        HiddenErrors,
        draw_hidden_errors,
    )
    from ne_dynamics.simulation.mujoco_model import MujocoArm
    from ne_dynamics.simulation.one_process_loop import OneProcessLoop, SensorReading
    from ne_dynamics.simulation.robot_parameters import SimulatedRobotSettings

__all__ = [
    'EffortMeaning',
    'ElasticArm',
    'HiddenErrors',
    'MujocoArm',
    'OneProcessLoop',
    'Proof',
    'SensorReading',
    'SimulatedRobotSettings',
    'draw_hidden_errors',
    'prove_gains',
]

if not TYPE_CHECKING:
    __getattr__, __dir__ = load_later(__name__)
