"""Every parameter of the node `annotator`, declared once; needs no ROS to be read."""

from __future__ import annotations

from dataclasses import dataclass

from ne_dynamics.control.sensors.imu import ImuSettings
from ne_dynamics.ros.settings.parameters import ArmSettings
from ne_dynamics.settings import Changes, ParameterTable, group, parameter


@dataclass(frozen=True)
class AnnotatorSettings(ArmSettings):
    """All parameters of the node; those of the arm are the node `computed_torque`'s too."""

    imu: ImuSettings = group(ImuSettings)
    effort_tolerance: tuple[float, ...] = parameter(
        (0.1,),
        'Points are added until linear interpolation of the efforts is within this; one for all '
        'joints or one per joint.',
        unit='N m or N',
        minimum=0.0,
        above_minimum=True,
    )
    allow_nonzero_velocity_at_trajectory_end: bool = parameter(
        False, 'Accept trajectories whose last point moves; a point at rest is added after it.'
    )
    retime: bool = parameter(
        False,
        'Slow an infeasible trajectory (velocity, acceleration, effort) down on its path. '
        'Otherwise a goal is aborted, and a message is passed on with its efforts.',
    )
    controller: str = parameter(
        '',
        'Controller, such as `/joint_trajectory_controller`, that executes the goals of '
        '`~/follow_joint_trajectory` with efforts. Empty: no action.',
        changes=Changes.START,
    )


ANNOTATOR_PARAMETERS = ParameterTable(AnnotatorSettings)
