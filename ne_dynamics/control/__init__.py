"""Control of an arm: from a measured and a desired state to efforts, with guards.

No ROS and no clock: stamps come in, commands go out. :class:`Controller` passes each joint state
as a :class:`Tick` through its ``stages``; ``command_machine.py`` makes the commands that do not
answer a state, ``damped_arm.py`` the answers after a fault. ``tuning.py`` has the settings that
may change at run time, ``laws.py`` the control laws. ``sensors`` are wrist sensor, IMU,
velocities and the meaning of reported efforts; ``guards`` refuse harmful states, gains and
motions; ``desired`` is the desired motion; ``payload`` estimates the payload.

What docstrings do not say again: arrays have one value a joint, shape (n,), in the order of the
model; units are SI (rad or m, N m or N, s, Hz); wrenches are force, then moment, of the arm on
what is beyond its tip; arrays that are handed over are kept, so not to be changed. Laws and limits
raise InputError where an effort is not finite.

Begin with ``Controller.answer`` in ``controller.py``. Tools, studies and benchmarks use the names
exported here, and no others.
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
    __getattr__, __dir__ = load_later(__name__)
