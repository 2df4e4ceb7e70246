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
        'Trajectories are dense enough for linear interpolation of their efforts to be this near; '
        'one for all joints or one per joint.',
        unit='N m or N',
        minimum=0.0,
        above_minimum=True,
    )
    allow_nonzero_velocity_at_trajectory_end: bool = parameter(
        False, 'Accept trajectories whose last point moves; a point at rest is added after it.'
    )
    retime: bool = parameter(
        False,
        'A trajectory that asks for more than the limits of velocity, acceleration and effort is '
        'slowed down on its path until it keeps them. Otherwise such a goal is aborted, and such '
        'a message goes out as it is, with its efforts.',
    )
    controller: str = parameter(
        '',
        'Controller, such as `/joint_trajectory_controller`, that goals of the action '
        '`~/follow_joint_trajectory` are handed to once they have efforts. Empty: no action.',
        changes=Changes.START,
    )


ANNOTATOR_PARAMETERS = ParameterTable(AnnotatorSettings)
