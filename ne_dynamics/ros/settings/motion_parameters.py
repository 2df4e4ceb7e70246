"""Parameters of how motions are followed, checked and given up: groups of the node's settings."""

from __future__ import annotations

from dataclasses import dataclass

from ne_dynamics.control.desired.thresholds import DESIRED
from ne_dynamics.motion.limit_violation import WhenInfeasible
from ne_dynamics.settings import Changes, parameter


@dataclass(frozen=True)
class FollowingErrorSettings:
    """How far the measured motion may be from the desired one."""

    position: tuple[float, ...] = parameter(
        (),
        'A joint farther from its desired position than this, or for 1 s farther than 0.4 of it, '
        'is a fault that latches. One for all joints or one per joint; 0 or `.inf`: off. Empty: '
        "the way at the model's velocity limit (3 rad/s or 1 m/s where it has none) in 0.4 s, in "
        'modes with feedback.',
        unit='rad or m',
        minimum=0.0,
        allow_infinity=True,
    )
    velocity: tuple[float, ...] = parameter(
        (),
        'A joint whose velocity is off the desired one by more than this for 0.25 s, and not '
        'being braked, is one too, in modes with feedback; as before. Empty: twice the velocity '
        'limit.',
        unit='rad/s or m/s',
        minimum=0.0,
        allow_infinity=True,
    )
    frozen: tuple[float, ...] = parameter(
        (),
        'A position that stays the same, or trembles within 0.02 of this, for 40 ms and 10 '
        'states is one too, in modes with feedback, when the model says that the joint must have '
        'moved by 0.1 of this: by the speed that it had and the effort that was commanded, less '
        'gravity, coupling and friction. Where it stood before, the desired position must have '
        'gone on by more than this. As before. Empty: the way at the velocity limit in 0.02 s.',
        unit='rad or m',
        minimum=0.0,
        allow_infinity=True,
    )


@dataclass(frozen=True)
class TrajectorySettings:
    """What becomes of trajectories."""

    when_infeasible: WhenInfeasible = parameter(
        WhenInfeasible.REFUSE,
        'What becomes of a trajectory that asks for more than the arm can do, anywhere on its '
        'splines: `refuse`, it is not followed, and what went before goes on; `slow_down`, its '
        'path is, as fast as the limits allow; `follow`, it is, as '
        'far as the motors do. That is for velocities, accelerations (URDF 1.2) and efforts: '
        'positions beyond the limits, and poses that the motors cannot hold, are refused in every '
        'case.',
    )
    stream_interval: float = parameter(
        DESIRED.longest_interval,
        'Messages of positions alone, one after the other, are a stream where their points are no '
        'farther apart than this: the last point is passed as those before it say, and returned '
        'to when nothing more comes (0.15 s later at most, and a stop); messages without a '
        'stamp are laid at the pace in which they come. 0: each message ends at rest, and begins '
        'when it comes. For `interpolation_method: splines`.',
        unit='s',
        minimum=0.0,
        maximum=1.0,
    )


@dataclass(frozen=True)
class SpeedScalingSettings:
    """At what speed motions are followed."""

    initial_scaling_factor: float = parameter(
        1.0,
        'Speed at which motions are followed on their path, as long as `~/speed_scaling_input` '
        'says nothing else; 1: as they were sent.',
        minimum=0.0,
        maximum=1.0,
        changes=Changes.UNCONFIGURED,
    )


@dataclass(frozen=True)
class StopSettings:
    """How a motion that is given up comes to rest."""

    deceleration: tuple[float, ...] = parameter(
        (),
        'A motion that is given up (`~/hold`, cancel, an empty trajectory, a goal that ends '
        'moving, an arm that is found in motion) is brought to rest along its way with no more '
        'than this, and with no more than 0.8 of the effort limits. One for all joints or one per '
        "joint; 0 or `.inf`: the usual. Empty: the model's deceleration limit (URDF 1.2), else "
        'the usual: the velocity limit in 0.1 s.',
        unit='rad/s^2 or m/s^2',
        minimum=0.0,
        allow_infinity=True,
    )


@dataclass(frozen=True)
class SaturationSettings:
    """How long a joint may be at its effort limit."""

    timeout: float = parameter(
        1.0,
        'A joint at its effort limit for longer, in the direction of its position error, is one '
        'too, and so is one whose effort goes from one limit to the other 12 times within this, '
        'in modes with feedback. 0 or `.inf`: off.',
        unit='s',
        minimum=0.0,
        allow_infinity=True,
    )


@dataclass(frozen=True)
class RepeatedFaultsSettings:
    """When faults that come back latch."""

    window: float = parameter(
        10.0,
        'A fault of one kind that comes for the third time within this latches, and the sixth of '
        'any kinds. 0: never.',
        unit='s',
        minimum=0.0,
        allow_infinity=True,
    )


@dataclass(frozen=True)
class ConstraintSettings:
    """How closely trajectories are followed."""

    trajectory: tuple[float, ...] = parameter(
        (0.0,),
        'Largest position error while a trajectory or the goal of an action is followed, one for '
        'all joints or one per joint. 0: any. A goal may bring its own; '
        '`constraints.<joint>.trajectory` (double), once the node is configured, counts before '
        'it for that joint, but for -1.',
        unit='rad or m',
        minimum=0.0,
    )
    goal: tuple[float, ...] = parameter(
        (0.0,),
        'Largest position error at its end; as before, with `constraints.<joint>.goal`.',
        unit='rad or m',
        minimum=0.0,
    )
    goal_time: float = parameter(
        0.0,
        'Time after its end in which the goal must be reached, else the arm is held where it is '
        'found. 0: any.',
        unit='s',
        minimum=0.0,
    )
    stopped_velocity_tolerance: float = parameter(
        0.01, 'Largest speed at its end. 0: any.', unit='rad/s or m/s', minimum=0.0
    )


@dataclass(frozen=True)
class TrackingErrorSettings:
    """What the diagnostics say of the position error."""

    warn: tuple[float, ...] = parameter(
        (0.05,),
        'Position error from which the diagnostics warn, one for all joints or one per joint. '
        '`.inf`: never.',
        unit='rad or m',
        minimum=0.0,
        above_minimum=True,
        allow_infinity=True,
    )
    error: tuple[float, ...] = parameter(
        (0.2,),
        'Position error from which the diagnostics report an error; as before.',
        unit='rad or m',
        minimum=0.0,
        above_minimum=True,
        allow_infinity=True,
    )
