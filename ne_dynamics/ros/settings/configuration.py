"""From the settings of the node to what they describe: tuning and controller. No ROS."""

from __future__ import annotations

import numpy as np

from ne_dynamics.control.controller import Controller
from ne_dynamics.control.desired.feasibility_checker import Pause, go_on
from ne_dynamics.control.desired.time_scaling import Submit, submit_here
from ne_dynamics.control.feedback_gains import Gains
from ne_dynamics.control.guards.goal import Tolerances
from ne_dynamics.control.guards.limits import GUARD_LIMITS
from ne_dynamics.control.guards.motion_limits import FollowingLimits
from ne_dynamics.control.guards.state_guard import StateLimits
from ne_dynamics.control.hand_guiding import HandGuiding
from ne_dynamics.control.laws import ControlLaw, Mode
from ne_dynamics.control.observer import DisturbanceTuning, ObserverMode
from ne_dynamics.control.sensors.imu import BaseImu
from ne_dynamics.control.sensors.velocity_source import VelocitySource
from ne_dynamics.control.sensors.wrench import WristWrench
from ne_dynamics.control.slew import needed_slew, refuse_slow_rates, slew_remarks
from ne_dynamics.control.thresholds import COMMAND
from ne_dynamics.control.tuning import OnStateLoss, Tuning
from ne_dynamics.errors import ParameterError
from ne_dynamics.model.rigid_body import FloatArray
from ne_dynamics.motion.joint_limits import effort_limits, limit_remarks, per_joint
from ne_dynamics.ros.settings.carried_load import carried_parameters, payload_parameters
from ne_dynamics.ros.settings.command_layout import EFFORT, GAINS
from ne_dynamics.ros.settings.controlled_arm import ControlledArm, warm_up_observer
from ne_dynamics.ros.settings.parameters import NodeSettings
from ne_dynamics.ros.thresholds import NODE


def make_tuning(
    settings: NodeSettings, arm: ControlledArm, pause: Pause = go_on
) -> tuple[Tuning, list[str]]:
    """Return what the parameters of run time make, and remarks on it.

    `pause` is called between parts of the work, for who cannot wait until its end.

    Raises
    ------
    ParameterError
        When a gain or limit does not fit the robot. Nothing has changed then.
    """
    remarks = _check_loops(settings, arm)
    gains = _find_gains(settings, arm)
    if gains is not None:
        remarks += gains.remarks(settings.mode.value, arm.robot.joint_names)
    limits, rates = _find_effort_limits(settings, arm)
    remarks += _remark_on_limits(arm, limits)
    remarks += _check_others(settings, arm)
    pause()
    law, hold_law, doubts = _make_laws(settings, arm, gains, pause)
    remarks += doubts
    pause()
    remarks += _check_rates(law, limits, rates, arm) if np.any(rates) else []
    fastest = NODE.jump_margin * arm.robot.limits('velocity_limit')
    tuning = Tuning(
        law=law,
        hold_law=hold_law,
        effort_limits=limits,
        effort_rates=rates,
        wrench=settings.wrench,
        imu=settings.imu,
        states=StateLimits(
            settings.state_timeout,
            _limits_or_none(settings.jump_velocity, arm, 'jump_velocity', fastest),
            settings.repeat_window,
        ),
        following=_following_limits(settings, arm),
        velocity=settings.velocity,
        transition_time=settings.transition_time,
        decelerations=_limits_or_none(settings.stop_deceleration, arm, 'stop.deceleration', None),
        state_effort=settings.state_effort,
        on_state_loss=settings.on_state_loss,
        on_fault=settings.on_fault,
        disturbance=_disturbance_tuning(settings, arm, limits),
        when_infeasible=settings.trajectory.when_infeasible,
        interpolation_method=settings.interpolation_method,
        longest_interval=settings.trajectory.stream_interval,
        drives_close_loop=settings.command.drives_close_loop,
    )
    return tuning, remarks


def _find_gains(settings: NodeSettings, arm: ControlledArm) -> Gains | None:
    """Return the gains of the mode, in the order of the model; those of others are checked too."""
    found: dict[Mode, Gains] = {}
    for mode, given in (
        (Mode.COMPUTED_TORQUE, settings.computed_torque),
        (Mode.FEEDFORWARD_PD, settings.feedforward_pd),
    ):
        gains = Gains.from_values(given.kp, given.kv, arm.dynamics.n, mode.value)
        found[mode] = Gains(arm.to_model_order(gains.kp), arm.to_model_order(gains.kv))
    return found.get(settings.mode)


def _find_effort_limits(
    settings: NodeSettings, arm: ControlledArm
) -> tuple[FloatArray, FloatArray]:
    """Return the limits of the efforts, shape (n,), and of their rates, shape (n,) or (0,)."""
    given = settings.effort_limits
    limits = effort_limits(
        arm.robot.joints, arm.per_joint(given, 'effort_limits') if given else ()
    )
    given = settings.effort_rate_limit
    rates = arm.per_joint(given, 'effort_rate_limit') if given else np.array(())
    return limits, rates


def _remark_on_limits(arm: ControlledArm, limits: FloatArray) -> list[str]:
    """Return what is doubtful of effort limits."""
    remarks = limit_remarks(arm.robot.joints, limits)
    unlimited = np.flatnonzero(np.isinf(limits))
    if not unlimited.size:
        return remarks
    names = ', '.join(arm.robot.joint_names[index] for index in unlimited)
    return [f'no effort limit for {names}: their commands are not clamped', *remarks]


def _check_others(settings: NodeSettings, arm: ControlledArm) -> list[str]:
    """Check what is used elsewhere, and is to be right from the start; return remarks on it."""
    for check in (goal_tolerances, tracking_limits):
        check(settings, arm)
    if not settings.cmd_timeout or command_timeout(settings):
        return []
    return [
        'cmd_timeout: expected more than constraints.goal_time '
        f'({settings.constraints.goal_time:g} s), got {settings.cmd_timeout:g} s: it is not used'
    ]


def _make_laws(
    settings: NodeSettings, arm: ControlledArm, gains: Gains | None, pause: Pause
) -> tuple[ControlLaw, ControlLaw, list[str]]:
    """Return the law of the mode, the one that holds the arm, and remarks on what it carries."""
    payload, remarks = payload_parameters(settings, arm)
    unread = None if arm.wrench_link is None else carried_parameters(settings, arm)
    model = (settings.terms, payload, settings.smoothing_velocity, unread)
    guiding = settings.hand_guiding
    speeds = _limits_or_none(guiding.speed_limit, arm, 'hand_guiding.speed_limit', None)
    pause()
    law = ControlLaw(arm.dynamics, settings.mode, gains, *model, HandGuiding(guiding, speeds))
    pause()
    return law, ControlLaw(arm.dynamics, Mode.GRAVITY_COMPENSATION, None, *model), remarks


def _check_loops(settings: NodeSettings, arm: ControlledArm) -> list[str]:
    """Return remarks on who feeds the error back.

    Raises
    ------
    ParameterError
        When nobody does, or two, or what is sent cannot be.
    """
    mode, command = settings.mode, settings.command
    command.require_sound()
    for gain, values in zip(GAINS.values(), (command.kp, command.kd), strict=True):
        if values:
            arm.per_joint(values, gain)
    if command.repeat and np.isinf(settings.state_timeout):
        raise ParameterError(
            f'command.repeat: expected 0 with an infinite state_timeout, got {command.repeat:g}: '
            'nothing would end a command that is sent again'
        )
    if not command.drives_close_loop:
        if mode is Mode.FEEDFORWARD and not settings.robot_closes_loop:
            raise ParameterError(
                'mode: feedforward has no feedback: an arm that does not close the loop itself '
                'falls by the error of the model; expected feedforward.robot_closes_loop to be '
                'true, or mode feedforward_pd or computed_torque'
            )
        _require_feedback(settings)
        return []
    if mode.has_feedback:
        raise ParameterError(
            f'mode: {mode.value} feeds the position error back, and so do drives that are given '
            f'command.interfaces {list(command.interfaces)}: it would count twice; expected mode '
            f'feedforward or gravity_compensation, or command.interfaces [{EFFORT}]'
        )
    if settings.on_state_loss is OnStateLoss.LOWER:
        raise ParameterError(
            f'on_state_loss: lower lets the effort fade, and drives that are given '
            f'command.interfaces {list(command.interfaces)} hold the arm all the same; expected '
            'brake or gravity'
        )
    if settings.observer.mode is not ObserverMode.OFF:
        return [
            'observer.mode: nothing is observed: the drives close the loop, and what they exert '
            'beside the command is not known'
        ]
    return []


def _require_feedback(settings: NodeSettings) -> None:
    """Raise when the gains of a mode with feedback feed nothing back, and nobody else does."""
    mode = settings.mode
    if not mode.has_feedback or settings.robot_closes_loop:
        return
    is_pd = mode is Mode.FEEDFORWARD_PD
    given = settings.feedforward_pd if is_pd else settings.computed_torque
    if not (np.any(given.kp) or np.any(given.kv)):
        raise ParameterError(
            f'{mode.value}.kp, {mode.value}.kv: both are zero: no feedback, and an arm that does '
            'not close the loop itself falls by the error of the model; expected gains above '
            'zero, or feedforward.robot_closes_loop to be true'
        )


def _disturbance_tuning(
    settings: NodeSettings, arm: ControlledArm, limits: FloatArray
) -> DisturbanceTuning | None:
    """Return how disturbances are observed on an arm with these effort limits, if they are."""
    observer, contact = settings.observer, settings.contact
    bounds, least = COMMAND.observer_bound_share * limits, GUARD_LIMITS.contact_least * limits
    # What is used when the observer is switched on is to be right from the start.
    if observer.max_effort:
        bounds = arm.per_joint(observer.max_effort, 'observer.max_effort')
    if contact.min_effort:
        least = arm.per_joint(contact.min_effort, 'contact.min_effort')
    if observer.mode is ObserverMode.OFF or settings.command.drives_close_loop:
        return None
    n = arm.dynamics.n
    warm_up_observer(arm.dynamics, with_wrench=arm.wrench_link is not None)
    velocity = settings.velocity
    is_measured = velocity.source is VelocitySource.MEASURED
    return DisturbanceTuning(
        compensates=observer.mode is ObserverMode.COMPENSATE,
        cutoff_frequency=observer.cutoff_frequency,
        velocity_lag=observer.velocity_lag if is_measured else velocity.lag,
        lag_periods=0.5 if velocity.source is VelocitySource.DIFFERENTIATED else 0.0,
        bounds=np.array(np.broadcast_to(bounds, n)),
        contact_cutoff_frequency=contact.cutoff_frequency,
        least_contact=np.array(np.broadcast_to(least, n)),
        reaction=contact.reaction,
    )


def goal_tolerances(settings: NodeSettings, arm: ControlledArm) -> Tolerances:
    """Return how closely a goal is followed when it does not say.

    Raises
    ------
    ParameterError
        When there are neither one value nor one per joint, as for those that follow.
    """
    chosen = settings.constraints
    return Tolerances(
        arm.per_joint(chosen.trajectory, 'constraints.trajectory'),
        np.zeros(arm.dynamics.n),
        arm.per_joint(chosen.goal, 'constraints.goal'),
        np.full(arm.dynamics.n, chosen.stopped_velocity_tolerance),
        chosen.goal_time,
    )


def command_timeout(settings: NodeSettings) -> float:
    """Return the time after a last point in which more must come [s]; 0 for any."""
    timeout = settings.cmd_timeout
    return timeout if timeout > settings.constraints.goal_time else 0.0


def tracking_limits(settings: NodeSettings, arm: ControlledArm) -> tuple[FloatArray, FloatArray]:
    """Return from which position errors on to warn, and to report an error [rad or m]."""
    chosen = settings.tracking_error
    return (
        arm.per_joint(chosen.warn, 'tracking_error.warn'),
        arm.per_joint(chosen.error, 'tracking_error.error'),
    )


def _check_rates(
    law: ControlLaw, limits: FloatArray, rates: FloatArray, arm: ControlledArm
) -> list[str]:
    """Return whether the rate limit, in the order of the model, is too slow for the gains.

    Raises
    ------
    ParameterError
        When it is too slow to hold the arm.
    """
    slow = refuse_slow_rates(law, limits, rates, arm.robot.joint_names)
    if slow:
        raise ParameterError(slow[0])
    name = 'effort_rate_limit'
    inertia = arm.inverse_inertia if law.mode is Mode.FEEDFORWARD_PD else None
    needed = needed_slew(law, limits, inertia)
    return slew_remarks(
        per_joint(rates, arm.dynamics.n, name), needed, arm.robot.joint_names, name
    )


def _limits_or_none(
    given: tuple[float, ...], arm: ControlledArm, name: str, derived: FloatArray | None
) -> FloatArray | None:
    """Return limits in the order of the model, infinite where one is off; None when all are.

    `derived` are those that count where the parameter is empty.
    """
    if given:
        limits = arm.per_joint(given, name)
    elif derived is None:
        return None
    else:
        limits = derived.copy()
    limits[~(limits > 0.0)] = np.inf
    return None if np.isinf(limits).all() else limits


def _following_limits(settings: NodeSettings, arm: ControlledArm) -> FollowingLimits:
    """Return the limits of the following error: those of the user, else those of the arm."""
    derived, given = FollowingLimits.derived(arm.robot.joints), settings.following_error
    return FollowingLimits(
        _limits_or_none(given.position, arm, 'following_error.position', derived.position),
        _limits_or_none(given.velocity, arm, 'following_error.velocity', derived.velocity),
        _limits_or_none(given.frozen, arm, 'following_error.frozen', derived.frozen),
        settings.saturation_timeout or np.inf,
        counts_without_feedback=len(given.position) > 0 or settings.command.drives_close_loop,
    )


def make_controller(
    arm: ControlledArm, tuning: Tuning, submit: Submit = submit_here
) -> Controller:
    """Return a controller of the arm, with the sensors that it has; it plans by `submit`."""
    wrist = None if arm.wrench_link is None else WristWrench(arm.uncut, arm.wrench_link)
    imu = BaseImu(arm.uncut, arm.dynamics.gravity) if arm.has_imu else None
    return Controller(tuning, wrist, imu, submit)
