"""Desired motions: trajectories, checks of their limits, time scaling.

No ROS and no controller. :class:`Waypoints` are the points of a JointTrajectory message;
:class:`Motion` is the motion through them, by the rules of ros2_control's
joint_trajectory_controller; a sample of it is a :class:`DesiredState`. ``check.py`` finds
violations of joint limits, ``time_scaling`` slows a motion or makes it as fast as the limits
allow, ``annotated`` adds efforts to a trajectory, ``trajectory_file.py`` reads and writes one as
YAML, and ``stopping.py`` and ``braking.py`` stop it.

Begin with ``waypoints.py`` and ``motion.py``.
"""

from typing import TYPE_CHECKING

from ne_dynamics.loaded_later import load_later

if TYPE_CHECKING:
    from ne_dynamics.motion.annotated.annotated_trajectory import AnnotatedTrajectory
    from ne_dynamics.motion.annotated.annotation import annotate
    from ne_dynamics.motion.annotated.file_annotation import AnnotatedFile, AnnotationRequest
    from ne_dynamics.motion.annotated.position_check import check_positions
    from ne_dynamics.motion.check import check_motion
    from ne_dynamics.motion.joint_limits import (
        DemandLimits,
        LimitTolerances,
        position_limits,
        sample_positions,
        usual_velocities,
    )
    from ne_dynamics.motion.limit_violation import LimitViolation
    from ne_dynamics.motion.motion import Motion
    from ne_dynamics.motion.thresholds import MOTION
    from ne_dynamics.motion.time_scaling.retiming import retime
    from ne_dynamics.motion.trajectory_file import (
        TrajectoryFile,
        parse_trajectory,
        read_trajectory,
        trajectory_text,
    )
    from ne_dynamics.motion.waypoints import (
        NANO,
        DesiredState,
        TrajectoryPoint,
        Waypoints,
        resting_state,
    )

__all__ = [
    'MOTION',
    'NANO',
    'AnnotatedFile',
    'AnnotatedTrajectory',
    'AnnotationRequest',
    'DemandLimits',
    'DesiredState',
    'LimitTolerances',
    'LimitViolation',
    'Motion',
    'TrajectoryFile',
    'TrajectoryPoint',
    'Waypoints',
    'annotate',
    'check_motion',
    'check_positions',
    'parse_trajectory',
    'position_limits',
    'read_trajectory',
    'resting_state',
    'retime',
    'sample_positions',
    'trajectory_text',
    'usual_velocities',
]

if not TYPE_CHECKING:
    __getattr__, __dir__ = load_later(__name__)
