"""From the settings of the node to what they describe: model, tuning, controller. No ROS."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ne_dynamics.control.contact import LEAST_SHARE
from ne_dynamics.control.controller import Controller
from ne_dynamics.control.desired.time_scaling import Submit, submit_here
from ne_dynamics.control.disturbance import DisturbanceTuning
from ne_dynamics.control.guards.following_error import FollowingLimits
from ne_dynamics.control.guards.goal import Tolerances
from ne_dynamics.control.guards.motion_guard import MotionLimits
from ne_dynamics.control.guards.state_guard import StateLimits
from ne_dynamics.control.hand_guiding import HandGuiding
from ne_dynamics.control.laws import ControlLaw, Gains, Mode
from ne_dynamics.control.limits import EffortLimiter
from ne_dynamics.control.observer import BOUND_SHARE, ObserverMode
from ne_dynamics.control.sensors.imu import BaseImu
from ne_dynamics.control.sensors.velocity_source import VelocitySource
from ne_dynamics.control.sensors.wrench import WristWrench, inertia_beyond
from ne_dynamics.control.slew import needed_slew, refuse_slow_rates, slew_remarks
from ne_dynamics.control.tuning import OnStateLoss, Tuning
from ne_dynamics.dynamics import Dynamics
from ne_dynamics.dynamics.compensation import BASE_MOTION, Base, Compensation, Terms
from ne_dynamics.errors import InputError, ModelError, NeDynamicsError, ParameterError
from ne_dynamics.model.checks import impossible_inertia
from ne_dynamics.model.extras import choose_extras
from ne_dynamics.model.rigid_body import FloatArray, Inertia
from ne_dynamics.model.robot import Robot
from ne_dynamics.model.urdf.tree import load_urdf
from ne_dynamics.motion.joint_limits import effort_limits, limit_remarks, per_joint
from ne_dynamics.ros.settings.command_layout import EFFORT, GAINS
from ne_dynamics.ros.settings.model_file import load_model_file
from ne_dynamics.ros.settings.parameters import (
    ComputedTorqueGains,
    FeedforwardPdGains,
    NodeSettings,
    PayloadSettings,
)

PAYLOAD = 10
"""Inertial parameters of a payload."""

JUMP_MARGIN = 2.0
"""A joint that seems faster than this many times its velocity limit has jumped."""

INERTIA_POSES = 64
"""Poses, at random within the position limits, in which the least inertia is looked for."""


@dataclass(frozen=True, eq=False)
class ControlledArm:
    """The model that is compensated, and how it meets the outside.

    Attributes
    ----------
    dynamics : Dynamics
        Of the robot, cut at the wrist sensor if its readings include the tool.
    command_order : array, shape (n,), dtype int
        Model index of each joint of the command.
    uncut : Robot
        As it was loaded.
    wrench_link : str or None
        Link at whose frame the wrench acts, the tip of the model; None without a sensor.
    tool : Inertia
        What the uncut robot has beyond the cut, in its frame.
    has_imu : bool
        Whether an IMU says how the base stands and moves.
    """

    dynamics: Dynamics
    command_order: NDArray[np.intp]
    uncut: Robot
    wrench_link: str | None
    tool: Inertia
    has_imu: bool = False

    @property
    def robot(self) -> Robot:
        """The robot that is compensated."""
        return self.dynamics.robot

    @property
    def command_names(self) -> tuple[str, ...]:
        """Joints in the order of the command."""
        names = [self.robot.joint_names[index] for index in self.command_order]
        return tuple(names)

    @cached_property
    def inverse_inertia(self) -> FloatArray:
        """Largest diagonal of the inverse mass matrix in some poses, shape (n,).

        [1/(kg m^2) or 1/kg]; infinite where a joint moves next to nothing.
        """
        lower, upper = self.robot.limits('lower'), self.robot.limits('upper')
        lower, upper = np.maximum(lower, -np.pi), np.minimum(upper, np.pi)
        rng = np.random.default_rng(0)
        largest = np.zeros(self.dynamics.n)
        for _ in range(INERTIA_POSES):
            position = rng.uniform(np.minimum(lower, upper), np.maximum(lower, upper))
            try:
                inverse = np.linalg.inv(self.dynamics.mass_matrix(position))
            except np.linalg.LinAlgError:
                return np.full(self.dynamics.n, np.inf)
            np.maximum(largest, np.diagonal(inverse), out=largest)
        return largest

    def to_model_order(self, values: FloatArray) -> FloatArray:
        """Return gains or limits, given in the order of the command, in the model's.

        Parameters
        ----------
        values : array, shape (), (0,), (1,), (n,) or (n, n)
        """
        if values.size <= 1:
            return values
        result = np.empty_like(values)
        order = self.command_order
        if values.ndim == 2:
            result[np.ix_(order, order)] = values
        else:
            result[order] = values
        return result

    def per_joint(self, values: tuple[float, ...], name: str) -> FloatArray:
        """Return one number a joint in the order of the model, shape (n,).

        Parameters
        ----------
        values : tuple of float
            One for all, or one each in the order of the command.
        name : str
            Of the parameter.

        Raises
        ------
        ParameterError
            When there are neither 1 nor n.
        """
        return self.to_model_order(per_joint(values, self.dynamics.n, name))


LONGEST_DESCRIPTION = 2**21
"""Characters of a description by topic: of large robots they have a tenth of it."""


def has_model_parameter(settings: NodeSettings) -> bool:
    """Return whether a parameter names the robot, so that the topic is not used."""
    return bool(settings.model_file or settings.robot_description)


def load_robot(settings: NodeSettings, description: str = '') -> Robot:
    """Return the robot that the parameters name.

    Parameters
    ----------
    settings : NodeSettings
    description : str
        URDF as text, for when no parameter names a robot.

    Returns
    -------
    Robot
        Not cut.

    Raises
    ------
    ModelError
        When there is no robot, or it is wrong.
    ParameterError
        When the parameters contradict each other.
    """
    locked = settings.locked_joints.by_name()
    base_link, tip_link = settings.base_link or None, settings.tip_link or None
    extras = choose_extras(settings.model_extras_file)
    if settings.model_file:
        return load_model_file(settings.model_file, base_link, tip_link, locked, extras)
    text = settings.robot_description or description
    if not text:
        raise ModelError(
            'no robot: expected model_file, robot_description or a message on the topic '
            'robot_description, got none'
        )
    return load_urdf(text, base_link, tip_link, locked, extras)


def require_short(text: str) -> None:
    """Raise when a URDF that came by topic is too long to be read.

    Raises
    ------
    ModelError
    """
    if len(text) > LONGEST_DESCRIPTION:
        raise ModelError(
            f'expected a URDF of at most {LONGEST_DESCRIPTION} characters, got {len(text)}'
        )


def check_description(settings: NodeSettings, text: str) -> None:
    """Raise when no parameters could make a robot of this URDF.

    Raises
    ------
    ModelError, ParameterError
        What is wrong with the text as the parameters have it read.
    """
    by_topic = replace(settings, model_file='', robot_description='')
    try:
        load_robot(by_topic, text)
    except NeDynamicsError as error:
        # Sound by itself: then a parameter is wrong, and configuring will say which.
        try:
            load_urdf(text)
        except NeDynamicsError:
            raise error from None


def controlled_arm(settings: NodeSettings, robot: Robot) -> ControlledArm:
    """Return the arm as it is compensated, everything computed once that the control path needs.

    Raises
    ------
    ModelError
        When the sensor link is unknown or the robot cannot be cut there, or the effort at rest
        is not finite.
    ParameterError
        When `joints` are not the model's, `gain_joints` are not these in this order, or the
        sensor has no link.
    """
    model, wrench_link, tool = robot, None, Inertia.zero()
    if settings.wrench.enabled:
        wrench_link = settings.wrench.sensor_link or robot.tip_link
        if wrench_link is None:
            raise ParameterError(
                'wrench.sensor_link: expected a link: the robot has no tip of its own'
            )
        if settings.wrench.includes_tool:
            tool = inertia_beyond(robot, wrench_link)
            model = robot.cut_beyond(wrench_link)
        else:
            robot.link(wrench_link)
            model = replace(robot, tip_link=wrench_link)
    order = _command_order(model.joint_names, settings.joints)
    _require_gains_of(settings.joints or model.joint_names, settings.gain_joints)
    dynamics = Dynamics(model, gravity=settings.gravity, backend=settings.backend)
    _warm_up(dynamics, with_wrench=wrench_link is not None)
    return ControlledArm(dynamics, order, robot, wrench_link, tool, settings.imu.enabled)


def _command_order(joint_names: tuple[str, ...], wanted: tuple[str, ...]) -> NDArray[np.intp]:
    names = wanted or joint_names
    if sorted(names) != sorted(joint_names):
        raise ParameterError(
            f"joints: expected the model's joints in any order, {list(joint_names)}, got "
            f'{list(names)}; joints that do not move belong into locked_joints.names'
        )
    return np.array([joint_names.index(name) for name in names], dtype=np.intp)


def _require_gains_of(names: tuple[str, ...], written_for: tuple[str, ...]) -> None:
    """Raise when gains were written for other joints than they would go to."""
    if written_for and written_for != names:
        raise ParameterError(
            f'gain_joints: expected the joints in the order of the command, {list(names)}, got '
            f'{list(written_for)}: gains with one value per joint would go to wrong joints; '
            '`ne_dynamics gains --joints` writes them in another order'
        )


def _warm_up(dynamics: Dynamics, *, with_wrench: bool) -> None:
    """Have everything compiled that a state may need: with a payload, a tilt, without gravity."""
    zero = np.zeros(dynamics.n)
    base = Base(np.zeros(BASE_MOTION), np.zeros(BASE_MOTION))
    payload = None if dynamics.robot.tip_link is None else np.zeros(PAYLOAD)
    try:
        plain = Compensation(dynamics, Terms())
        carrying = Compensation(dynamics, Terms(), payload)
        # One sample for a command, several for a motion that is judged before it is followed.
        for shape in ((), (2,)):
            rest = np.zeros((*shape, dynamics.n))
            wrench = np.zeros((*shape, 6)) if with_wrench else None
            for one in (None, wrench):
                plain.effort(rest, rest, rest, rest, one)
                carrying.effort(rest, rest, rest, rest, one)
                carrying.effort(rest, rest, rest, rest, one, base)
            if with_wrench:
                dynamics.forward_kinematics(rest)
        if dynamics.has_entries:
            # What any gains, terms and loads of a law with feedback call.
            compute: Callable[..., FloatArray] = dynamics.control_effort
            arguments = *[zero] * 12, np.zeros(1)
            compute(*arguments)
            if payload is not None:
                one = np.zeros(6) if with_wrench else None
                compute(*arguments, one, base.motion, payload)
        dynamics.mass_matrix(zero)  # for the gains that are efforts
    except InputError as error:
        raise ModelError(
            f'robot {dynamics.robot.name!r}: expected finite efforts at rest: {error}'
        ) from error


def _warm_up_observer(dynamics: Dynamics, *, with_wrench: bool) -> None:
    """Have what an observer calls compiled; only for who has one."""
    if not dynamics.has_entries:
        return
    zero = np.zeros(dynamics.n)
    compute: Callable[..., FloatArray] = dynamics.disturbance_residuals
    arguments = *[zero] * 7, np.zeros(7)
    compute(*arguments)
    if dynamics.robot.tip_link is not None:
        wrench = np.zeros(6) if with_wrench else None
        compute(*arguments, wrench, np.zeros(BASE_MOTION), np.zeros(PAYLOAD))


def make_tuning(settings: NodeSettings, arm: ControlledArm) -> tuple[Tuning, list[str]]:
    """Return what the parameters of run time make, and remarks on it.

    Raises
    ------
    ParameterError
        When a gain or limit does not fit the robot. Nothing has changed then.
    """
    mode = settings.mode
    remarks = _check_loops(settings, arm)
    gains_by_mode = {
        Mode.COMPUTED_TORQUE: _gains(settings.computed_torque, arm, Mode.COMPUTED_TORQUE),
        Mode.FEEDFORWARD_PD: _gains(settings.feedforward_pd, arm, Mode.FEEDFORWARD_PD),
    }
    gains = gains_by_mode.get(mode)
    if gains is not None:
        remarks += gains.remarks(mode.value, arm.robot.joint_names)
    given = settings.effort_limits
    limits = effort_limits(
        arm.robot.joints, arm.per_joint(given, 'effort_limits') if given else ()
    )
    unlimited = np.flatnonzero(np.isinf(limits))
    if unlimited.size:
        names = ', '.join(arm.robot.joint_names[index] for index in unlimited)
        remarks.append(f'no effort limit for {names}: their commands are not clamped')
    remarks += limit_remarks(arm.robot.joints, limits)
    given = settings.effort_rate_limit
    rates = arm.per_joint(given, 'effort_rate_limit') if given else np.array(())
    EffortLimiter(limits, rates)
    # What is used elsewhere is to be right from the start.
    for check in (effort_tolerance, goal_tolerances, tracking_limits):
        check(settings, arm)
    if settings.cmd_timeout and not command_timeout(settings):
        remarks.append(
            f'cmd_timeout: expected more than constraints.goal_time '
            f'({settings.constraints.goal_time:g} s), got {settings.cmd_timeout:g} s: it is not '
            'used'
        )
    payload, payload_remarks = payload_parameters(settings, arm)
    remarks += payload_remarks
    unread = None if arm.wrench_link is None else carried_parameters(settings, arm)
    model = (settings.terms, payload, settings.friction.smoothing_velocity, unread)
    guiding = settings.hand_guiding
    speeds = _limits_or_none(guiding.speed_limit, arm, 'hand_guiding.speed_limit', None)
    law = ControlLaw(arm.dynamics, mode, gains, *model, HandGuiding(guiding, speeds))
    if np.any(rates):
        slow = refuse_slow_rates(law, limits, rates, arm.robot.joint_names)
        if slow:
            raise ParameterError(slow[0])
        remarks += _slew_remarks(law, limits, rates, arm)
    tuning = Tuning(
        law=law,
        hold_law=ControlLaw(arm.dynamics, Mode.GRAVITY_COMPENSATION, None, *model),
        effort_limits=limits,
        effort_rates=rates,
        wrench=settings.wrench,
        imu=settings.imu,
        states=StateLimits(
            settings.state_timeout,
            _jump_velocities(settings, arm),
            settings.repeated_faults.window,
        ),
        motion=MotionLimits(_following_limits(settings, arm), settings.velocity),
        transition_time=settings.transition_time,
        decelerations=_limits_or_none(settings.stop.deceleration, arm, 'stop.deceleration', None),
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
        if mode is Mode.FEEDFORWARD and not settings.feedforward.robot_closes_loop:
            raise ParameterError(
                'mode: feedforward has no feedback: an arm that does not close the loop itself '
                'falls by what the model is wrong; expected feedforward.robot_closes_loop to be '
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
    if not mode.has_feedback or settings.feedforward.robot_closes_loop:
        return
    is_pd = mode is Mode.FEEDFORWARD_PD
    given = settings.feedforward_pd if is_pd else settings.computed_torque
    if not (np.any(given.kp) or np.any(given.kv)):
        raise ParameterError(
            f'{mode.value}.kp, {mode.value}.kv: both are zero: no feedback, and an arm that does '
            'not close the loop itself falls by what the model is wrong; expected gains above '
            'zero, or feedforward.robot_closes_loop to be true'
        )


def _disturbance_tuning(
    settings: NodeSettings, arm: ControlledArm, limits: FloatArray
) -> DisturbanceTuning | None:
    """Return how disturbances are observed on an arm with these effort limits, if they are."""
    observer, contact = settings.observer, settings.contact
    bounds, least = BOUND_SHARE * limits, LEAST_SHARE * limits
    # What is used when the observer is switched on is to be right from the start.
    if observer.max_effort:
        bounds = arm.per_joint(observer.max_effort, 'observer.max_effort')
    if contact.min_effort:
        least = arm.per_joint(contact.min_effort, 'contact.min_effort')
    if observer.mode is ObserverMode.OFF or settings.command.drives_close_loop:
        return None
    n = arm.dynamics.n
    _warm_up_observer(arm.dynamics, with_wrench=arm.wrench_link is not None)
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


def effort_tolerance(settings: NodeSettings, arm: ControlledArm) -> FloatArray:
    """Return how near annotated efforts are to be, shape (n,) [N m or N].

    Raises
    ------
    ParameterError
        When there are neither one value nor one per joint, as for those that follow.
    """
    return arm.per_joint(settings.effort_tolerance, 'effort_tolerance')


def goal_tolerances(settings: NodeSettings, arm: ControlledArm) -> Tolerances:
    """Return how closely a goal is followed when it does not say."""
    chosen = settings.constraints
    return Tolerances.from_values(
        arm.per_joint(chosen.trajectory, 'constraints.trajectory'),
        arm.per_joint(chosen.goal, 'constraints.goal'),
        chosen.stopped_velocity_tolerance,
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


def _slew_remarks(
    law: ControlLaw, limits: FloatArray, rates: FloatArray, arm: ControlledArm
) -> list[str]:
    """Return whether the rate limit, in the order of the model, is too slow for the gains."""
    name = 'effort_rate_limit'
    inertia = arm.inverse_inertia if law.mode is Mode.FEEDFORWARD_PD else None
    needed = needed_slew(law, limits, inertia)
    return slew_remarks(
        per_joint(rates, arm.dynamics.n, name), needed, arm.robot.joint_names, name
    )


def _jump_velocities(settings: NodeSettings, arm: ControlledArm) -> FloatArray | None:
    """Return the speeds beyond which joints have jumped, in the order of the model."""
    derived = JUMP_MARGIN * arm.robot.limits('velocity_limit')
    return _limits_or_none(settings.jump_velocity, arm, 'jump_velocity', derived)


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
        settings.saturation.timeout or np.inf,
        counts_without_feedback=len(given.position) > 0 or settings.command.drives_close_loop,
    )


def _payload(payload: PayloadSettings, arm: ControlledArm) -> tuple[Inertia, str] | None:
    """Return the payload in the frame of its link, and that link; None without a payload."""
    if payload.mass == 0.0:
        if any(payload.inertia):
            raise ParameterError(
                f'payload.mass: expected > 0 with payload.inertia {list(payload.inertia)}, got 0'
            )
        if not payload.link:
            return None
    name = payload.link or arm.uncut.tip_link
    if name is None:
        raise ParameterError('payload.link: expected a link: the robot has no tip of its own')
    xx, xy, xz, yy, yz, zz = payload.inertia
    tensor = np.array(((xx, xy, xz), (xy, yy, yz), (xz, yz, zz)))
    impossible = impossible_inertia(tensor)
    if impossible:
        raise ParameterError(f'payload.inertia: {impossible}')
    try:
        arm.uncut.link(name)
    except ModelError as error:
        raise ParameterError(f'payload.link: {error}') from error
    return Inertia(payload.mass, np.array(payload.com), tensor), name


def payload_parameters(
    settings: NodeSettings, arm: ControlledArm
) -> tuple[FloatArray | None, list[str]]:
    """Return what the model carries beside itself, shape (10,) at the tip, and remarks.

    A payload on the arm's side of the sensor counts in full. Of what is beyond the sensor, the
    model carries what `wrench.gain` leaves out of the reading. None when there is neither.

    Raises
    ------
    ParameterError
        When no body could have such an inertia, or the link is not of the tip's body.
    """
    parameters, remarks = _unmeasured(settings, arm), []
    payload = _payload(settings.payload, arm)
    if payload is not None:
        inertia, name = payload
        if arm.wrench_link is not None and name in arm.uncut.descendants(arm.wrench_link):
            remarks.append(
                f'payload: {name!r} is beyond the sensor at {arm.wrench_link!r}, whose reading '
                'contains it: it counts for ~/tare_wrench, and for what wrench.gain leaves out'
            )
        else:
            try:
                own = arm.robot.payload_parameters(inertia, name)
            except ModelError as error:
                raise ParameterError(f'payload.link: {error}') from error
            if inertia.mass > 0.0:
                parameters = own if parameters is None else own + parameters
    if parameters is not None:
        parameters.setflags(write=False)
    return parameters, remarks


def _unmeasured(settings: NodeSettings, arm: ControlledArm) -> FloatArray | None:
    """Return what the gain of the wrench leaves out of what is known beyond the sensor."""
    if arm.wrench_link is None or settings.wrench.gain == 1.0:
        return None
    beyond = load_beyond_sensor(settings, arm)
    if beyond.is_zero:
        return None
    share: float = 1.0 - settings.wrench.gain
    return share * arm.robot.payload_parameters(beyond, arm.wrench_link)


def carried_parameters(settings: NodeSettings, arm: ControlledArm) -> FloatArray | None:
    """Return all that the arm carries and its model has not, shape (10,), or None.

    What is beyond the sensor too, which is for whoever has no reading: of a gain that counts
    for nothing, all is left out.
    """
    without_reading = replace(settings, wrench=replace(settings.wrench, gain=0.0))
    return payload_parameters(without_reading, arm)[0]


def load_beyond_sensor(settings: NodeSettings, arm: ControlledArm) -> Inertia:
    """Return what the reading of the sensor contains at rest, in the frame of the cut."""
    payload = _payload(settings.payload, arm)
    if payload is None or arm.wrench_link is None:
        return arm.tool
    inertia, name = payload
    if name not in arm.uncut.descendants(arm.wrench_link):
        return arm.tool
    cut, link = arm.uncut.link(arm.wrench_link), arm.uncut.link(name)
    if cut.body != link.body:
        return arm.tool
    return arm.tool + inertia.transformed(cut.pose_in_body.inverse() @ link.pose_in_body)


def _gains(
    given: ComputedTorqueGains | FeedforwardPdGains, arm: ControlledArm, mode: Mode
) -> Gains:
    gains = Gains.from_values(given.kp, given.kv, arm.dynamics.n, mode.value)
    return Gains(arm.to_model_order(gains.kp), arm.to_model_order(gains.kv))


def make_controller(
    arm: ControlledArm, tuning: Tuning, submit: Submit = submit_here
) -> Controller:
    """Return a controller of the arm, with the sensors that it has.

    Parameters
    ----------
    arm : ControlledArm
    tuning : Tuning
    submit : Submit
        As for :class:`~ne_dynamics.control.controller.Controller`.
    """
    wrist = None if arm.wrench_link is None else WristWrench(arm.uncut, arm.wrench_link)
    imu = BaseImu(arm.uncut, arm.dynamics.gravity) if arm.has_imu else None
    return Controller(tuning, wrist, imu, submit)
