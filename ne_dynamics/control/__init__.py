"""From a measured state and a desired one to an effort, and what watches over both.

No ROS and no clock: stamps come in, commands go out. :class:`Controller` sends each joint state as
a :class:`Tick` through the row of ``stages``; ``command_machine.py`` has the commands that answer
none, ``damped_arm.py`` the answers after a fault. ``tuning.py`` is all that may change on the way,
``laws.py`` the five laws. ``sensors`` are the wrist, the IMU, velocities and what a reported
effort means; ``guards`` refuse states, gains and motions that would harm; ``desired`` is the
motion that is followed; ``payload`` weighs what hangs on the flange.

Begin with ``Controller.answer`` in ``controller.py``. What tools, studies and benchmarks use is
exported here, and nothing else is theirs.
"""

from typing import TYPE_CHECKING

from ne_dynamics.loaded_later import load_later

if TYPE_CHECKING:
    from ne_dynamics.control.controller import Controller
    from ne_dynamics.control.feedback_gains import Gains
    from ne_dynamics.control.guards.feasibility import (
        check_gains_and_drives,
        find_drive_inertias,
        largest_damping_rate,
        phase_margin,
    )
    from ne_dynamics.control.guards.limits import GUARD_LIMITS, GuardLimits
    from ne_dynamics.control.guards.state_guard import Fault, FaultKind, StateRefused
    from ne_dynamics.control.laws import ControlLaw, Mode
    from ne_dynamics.control.payload.carrier import Carrier, PayloadSource
    from ne_dynamics.control.payload.estimate import PayloadEstimate, estimate_payload
    from ne_dynamics.control.payload.motion_windows import MotionWindows
    from ne_dynamics.control.payload.thresholds import PAYLOAD
    from ne_dynamics.control.sensors.velocity_source import (
        PositionVelocity,
        VelocityFilter,
        VelocitySettings,
        VelocitySource,
        velocity_filter,
    )
    from ne_dynamics.control.sensors.wrench_settings import Measures
    from ne_dynamics.control.tick import Tick
    from ne_dynamics.control.tuning import OnFault

__all__ = [
    'GUARD_LIMITS',
    'PAYLOAD',
    'Carrier',
    'ControlLaw',
    'Controller',
    'Fault',
    'FaultKind',
    'Gains',
    'GuardLimits',
    'Measures',
    'Mode',
    'MotionWindows',
    'OnFault',
    'PayloadEstimate',
    'PayloadSource',
    'PositionVelocity',
    'StateRefused',
    'Tick',
    'VelocityFilter',
    'VelocitySettings',
    'VelocitySource',
    'check_gains_and_drives',
    'estimate_payload',
    'find_drive_inertias',
    'largest_damping_rate',
    'phase_margin',
    'velocity_filter',
]

if not TYPE_CHECKING:
    __getattr__, __dir__ = load_later(
        __name__,
        {
            'controller': 'Controller',
            'guards.feasibility': (
                'find_drive_inertias check_gains_and_drives largest_damping_rate phase_margin'
            ),
            'guards.limits': 'GUARD_LIMITS GuardLimits',
            'guards.state_guard': 'Fault FaultKind StateRefused',
            'feedback_gains': 'Gains',
            'laws': 'ControlLaw Mode',
            'payload.carrier': 'Carrier PayloadSource',
            'payload.estimate': 'PayloadEstimate estimate_payload',
            'payload.motion_windows': 'MotionWindows',
            'sensors.velocity_source': (
                'PositionVelocity VelocityFilter VelocitySettings VelocitySource velocity_filter'
            ),
            'sensors.wrench_settings': 'Measures',
            'payload.thresholds': 'PAYLOAD',
            'tick': 'Tick',
            'tuning': 'OnFault',
        },
    )
