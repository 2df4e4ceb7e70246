"""Parameters of how motions are followed, checked and given up: groups of the node's settings."""

from __future__ import annotations

from dataclasses import dataclass

from ne_dynamics.control.desired.thresholds import DESIRED
from ne_dynamics.motion.limit_violation import WhenInfeasible
from ne_dynamics.settings import parameter


@dataclass(frozen=True)
class FollowingErrorSettings:
    """How far the measured motion may be from the desired one."""

    position: tuple[float, ...] = parameter(
        (),
        'Position error that is a latched fault, as is 0.4 of it for 1 s. One for all joints or '
        "one per joint; 0 or `.inf`: off. Empty: the distance at the model's velocity limit (3 "
        'rad/s or 1 m/s if it has none) in 0.4 s, in modes with feedback.',
        unit='rad or m',
        minimum=0.0,
        allow_infinity=True,
    )
    velocity: tuple[float, ...] = parameter(
        (),
        'Velocity error that is a latched fault if it lasts for 0.25 s without decreasing, in '
        'modes with feedback. One for all joints or one per joint; 0 or `.inf`: off. Empty: '
        "twice the model's velocity limit.",
        unit='rad/s or m/s',
        minimum=0.0,
        allow_infinity=True,
    )
    frozen: tuple[float, ...] = parameter(
        (),
        'Distance by which a frozen encoder is found, a latched fault in modes with feedback: '
        'the measured position stays within 0.02 of this for 40 ms and 10 states, although speed '
        'and effort, less gravity, coupling and friction, must have moved the joint by 0.1 of '
        'this; at rest the desired position must have moved by more than this. One for all '
        'joints or one per joint; 0 or `.inf`: off. Empty: the distance at the velocity limit in '
        '0.02 s.',
        unit='rad or m',
        minimum=0.0,
        allow_infinity=True,
    )


@dataclass(frozen=True)
class TrajectorySettings:
    """What becomes of trajectories."""

    when_infeasible: WhenInfeasible = parameter(
        WhenInfeasible.REFUSE,
        'What happens to a trajectory whose velocities, accelerations (URDF 1.2) or efforts '
        'exceed the limits, between points too: `refuse`, the present motion goes on; '
        '`slow_down`, the same path as fast as the limits allow; `follow`, as sent, as far as '
        'the motors can. Positions beyond the limits, and poses that the motors cannot hold, are '
        'always refused.',
    )
    stream_interval: float = parameter(
        DESIRED.longest_interval,
        'Messages of positions alone with points at most this far apart are a stream: the arm '
        'passes the last point of a message without stopping, and returns to it if nothing more '
        'comes (after a stop, 0.15 s later at most); messages without a stamp follow the pace of '
        'their arrival. 0: each message ends at rest, and begins when it comes. For '
        '`interpolation_method: splines`.',
        unit='s',
        minimum=0.0,
        maximum=1.0,
    )


@dataclass(frozen=True)
class ConstraintSettings:
    """How closely trajectories are followed."""

    trajectory: tuple[float, ...] = parameter(
        (0.0,),
        'Largest position error while a trajectory or goal is followed; beyond it the arm is '
        'held where it is. One for all joints or one per joint. 0: any. A goal may bring its '
        'own. `constraints.<joint>.trajectory` (double, once the node is configured) replaces it '
        'for one joint, unless it is -1.',
        unit='rad or m',
        minimum=0.0,
    )
    goal: tuple[float, ...] = parameter(
        (0.0,),
        'Largest position error at the end of a trajectory or goal, one for all joints or one '
        'per joint. 0: any. A goal may bring its own. `constraints.<joint>.goal` (double, once '
        'the node is configured) replaces it for one joint, unless it is -1.',
        unit='rad or m',
        minimum=0.0,
    )
    goal_time: float = parameter(
        0.0,
        'Time after the end of a trajectory or goal within which the arm must be there; '
        'otherwise it is held where it is. 0: any.',
        unit='s',
        minimum=0.0,
    )
    stopped_velocity_tolerance: float = parameter(
        0.01,
        'Largest speed of a joint at the end of a trajectory or goal. 0: any.',
        unit='rad/s or m/s',
        minimum=0.0,
    )


@dataclass(frozen=True)
class TrackingErrorSettings:
    """What the diagnostics say of the position error."""

    warn: tuple[float, ...] = parameter(
        (0.05,),
        'Position error at which the diagnostics warn, one for all joints or one per joint. '
        '`.inf`: never.',
        unit='rad or m',
        minimum=0.0,
        above_minimum=True,
        allow_infinity=True,
    )
    error: tuple[float, ...] = parameter(
        (0.2,),
        'Position error at which the diagnostics report an error, one for all joints or one per '
        'joint. `.inf`: never.',
        unit='rad or m',
        minimum=0.0,
        above_minimum=True,
        allow_infinity=True,
    )
