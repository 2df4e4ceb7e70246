"""What hangs on the flange, from how an arm at rest or in slow motion is felt.

Efforts, and what a wrist sensor reads, are linear in the inertial parameters of a load. At rest
and in slow motion they tell its mass m and its first moment m c; its inertia about its centre of
mass they do not, and it is left out. So of the joint efforts ::

    effort = model without the load + Y (m, m c) + friction + what is wrong with the model

with Y from the model itself: what a load of one unit adds to its inverse dynamics. The unknown
rest is not noise, and is not treated as if it were. It is estimated along, joint by joint, each
with a width of what is believed of it beforehand:

- Coulomb friction beside that of the model, in the direction of motion; at rest half of it in the
  direction of the motion before, for a feedback without integral part stops short of where it
  wants to be. Poses that are approached from both sides tell it from the load.
- Viscous friction beside that of the model.
- An error of scale of the model's own effort.
- An error of the weight beyond each joint, along and across the lever on which it turns: as all
  joints before it feel it. It is what wrong masses and centres of mass of links, and wrong zeros
  of encoders come to, and looks more like a load than an error of scale does.

Beyond that a joint that stands may be held by friction in either direction, one and the same as
long as it stands: so many windows of one pose count as one. What is left is a weighted linear
least-squares problem, in which the load alone has no width beforehand: a direction in which its
variance stays large is one that the poses do not tell. Where friction, scale or weight turn out
larger than believed they are given more width, and the load is known the less; a model that would
have to be wrong by more than a tenth is refused.

The reading of a wrist sensor, in the axes of its link and with a for the acceleration of a point
of the load, ::

    force = m (a - g) summed over the load,  moment = c x force summed alike

has no friction in it, but a bias; that, and an error of scale of the tool of the model, which the
reading contains, are estimated along in the same way.
"""

from __future__ import annotations

import enum
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ne_dynamics.control.compensation import BASE_MOTION, Base, Compensation, Terms
from ne_dynamics.control.motion_windows import WINDOW, Window
from ne_dynamics.dynamics import Dynamics
from ne_dynamics.errors import PayloadError
from ne_dynamics.model.rigid_body import FloatArray, Inertia, Transform
from ne_dynamics.model.robot import JointType, Robot

SLOW_VELOCITY = 0.5
"""A window in which no joint is faster counts [rad/s or m/s]."""

SLOW_ACCELERATION = 1.0
"""Nor accelerates more [rad/s^2 or m/s^2]: the load's own inertia does not show."""

LEAST_TIME = 1.0
"""Time of windows that count, at least [s]."""

STANDING = 0.005
"""A joint that is nowhere faster in a window stands [rad/s or m/s]."""

FRICTION_SHARE = 0.005
"""Friction that any joint may have beside that of its model, as a share of its effort limit."""

SCALE_ERROR, LARGEST_SCALE_ERROR = 0.03, 0.1
"""What the model's own effort may be off by, as a share of itself, and what is refused."""

VISCOUS_VELOCITY = 1.0
"""At this velocity viscous friction beside the model's may be as large as Coulomb friction
[rad/s or m/s]."""

MOVING_SHARE = 0.1
"""Of the friction of a moving joint so much is not explained by its direction and velocity."""

WEIGHT_ERROR = 0.003
"""What the weight beyond a joint may be off by along its lever and across, as a share of itself:
a little, for where it is more that shows, and is given more width."""

MODEL_SHARE = 0.01
"""Of the model's own effort so much is wrong in no regular way."""

CORRELATED = 5
"""So many windows in a row count as one while a joint moves: 1 s."""

FORCE_ERROR, MOMENT_ERROR, READING_SHARE = 0.2, 0.02, 0.01
"""Error of a sensor's reading [N, N m], and as a share of the reading."""

FORCE_BIAS, MOMENT_BIAS = 1.0, 0.1
"""What the bias of a tared sensor may be off by [N, N m]."""

ANYTHING = 100.0
"""Width of mass [kg] and first moment [kg m] beforehand: no limit, but a number for what is not
told."""

MASS_DEVIATION, MASS_SHARE = 0.15, 0.15
"""A mass is told when its standard deviation is below either: [kg], share of the mass."""

COM_DEVIATION, MOMENT_DEVIATION = 0.03, 0.03
"""A centre of mass is told when its standard deviation is below either: [m], or the first moment
[kg m] as a length."""

LARGEST_MISFIT = 1.5
"""Root mean square of what may be left by the fit, in standard deviations."""

LARGEST_REST = 0.2
"""The same, as a share of what the load explains."""

PASSES, WIDENING = 5, 2.0
"""Fits, each with widths that are at least so many times what the one before has found."""

SIGNIFICANT = 2.0
"""A mass of fewer standard deviations is none."""

FARTHEST = 1.0
"""A centre of mass that is surely farther from its link is none [m]."""

LARGEST = 1e9
"""Efforts and readings [N m, N] that are larger come from nowhere."""

DIFFERENCE = 0.05
"""Time to either side over which the pose of the sensor is differenced twice [s]."""

ALONG_AXIS = 0.95
"""A direction with such a component is called by the name of the axis."""


class Source(str, enum.Enum):
    """What the load was felt by; the values are the words of the report."""

    EFFORT = 'measured efforts'
    COMMAND = 'commanded efforts'
    WRENCH = 'the wrist sensor'


@dataclass(frozen=True, eq=False)
class Carrier:
    """What carries the load, and what else is known of it.

    Attributes
    ----------
    dynamics : Dynamics
        Of the arm without the load; it has a tip. With a wrist sensor it ends at the sensor.
    link_name : str
        Link in whose frame the load is described.
    link_to_tip : Transform
        Pose of that link in the frame of the dynamics' tip.
    tool : Inertia
        What the reading of a wrist sensor contains beside the load, in the frame of the tip.
    """

    dynamics: Dynamics
    link_name: str
    link_to_tip: Transform
    tool: Inertia

    @classmethod
    def of_robot(cls, dynamics: Dynamics, link_name: str = '') -> Carrier:
        """Return the carrier of a load at the tip, or at a link that is fixed to it.

        Raises
        ------
        PayloadError
            When the robot has no tip, or the link is elsewhere.
        ModelError
            When there is no such link.
        """
        robot = dynamics.robot
        require_tip(robot)
        link = robot.link(link_name) if link_name else robot.tip
        if link.body != robot.tip.body:
            raise PayloadError(
                f'payload link {link_name!r}: expected one that does not move against the tip '
                f'{robot.tip.name!r}'
            )
        pose = robot.tip.pose_in_body.inverse() @ link.pose_in_body
        return cls(dynamics, link.name, pose, Inertia.zero())


def require_tip(robot: Robot) -> None:
    """Raise PayloadError when a robot has no tip for a load to hang on."""
    if robot.tip_link is None:
        raise PayloadError(
            f'robot {robot.name!r}: expected a tip link for the load to hang on, got none'
        )


@dataclass(frozen=True, eq=False)
class PayloadEstimate:
    """A load and how well it is known.

    Attributes
    ----------
    mass, mass_deviation : float
        And its standard deviation [kg]. 0 where no load was found.
    center_of_mass, com_deviation : array, shape (3,)
        In the frame of the link [m]; zero where no load was found.
    link_name : str
    source : Source
    duration : float
        Of the windows that count [s].
    misfit : float
        Root mean square of what the fit leaves, in standard deviations of what is expected.
    """

    mass: float
    mass_deviation: float
    center_of_mass: FloatArray
    com_deviation: FloatArray
    link_name: str
    source: Source
    duration: float
    misfit: float

    @property
    def text(self) -> str:
        """What was found, in words."""
        basis = f'from {self.duration:.1f} s, by {self.source.value}'
        if self.mass == 0.0:
            return (
                f'no load at {self.link_name!r}: mass 0 +- {self.mass_deviation:.2g} kg, {basis}'
            )
        return (
            f'mass {self.mass:.3f} +- {self.mass_deviation:.2g} kg, centre of mass '
            f'({_numbers(self.center_of_mass)}) +- ({_numbers(self.com_deviation)}) m in '
            f'{self.link_name!r}, {basis}'
        )

    def as_json(self) -> dict[str, Any]:
        """Return the estimate as what JSON can hold."""
        return {
            'link': self.link_name,
            'mass': self.mass,
            'mass_deviation': self.mass_deviation,
            'center_of_mass': self.center_of_mass.tolist(),
            'center_of_mass_deviation': self.com_deviation.tolist(),
            'source': self.source.value,
            'duration': self.duration,
            'misfit': self.misfit,
        }


def _numbers(values: FloatArray) -> str:
    return ', '.join(f'{value + 0.0:.3f}' for value in values)


class _Equations(NamedTuple):
    """Rows of a linear problem: ``right = load @ (m, m c) + rest @ unknown + error``.

    Attributes
    ----------
    load : array, shape (rows, 4)
        First moment in the frame of the load's link.
    rest : array, shape (rows, k)
    right, deviation : array, shape (rows,)
        `deviation` is that of the error.
    repeats : array, shape (rows,)
        How many rows have the same error.
    width : array, shape (k,)
        Of the unknown rest beforehand; its mean is 0.
    scales : slice
        Those of the rest that are errors of scale, joint by joint.
    """

    load: FloatArray
    rest: FloatArray
    right: FloatArray
    deviation: FloatArray
    repeats: FloatArray
    width: FloatArray
    scales: slice


def _ignore() -> None:
    return None


def estimate_payload(
    carrier: Carrier,
    windows: Sequence[Window],
    source: Source,
    pause: Callable[[], None] = _ignore,
) -> PayloadEstimate:
    """Estimate mass and centre of mass of the load that an arm carries.

    Parameters
    ----------
    carrier : Carrier
    windows : sequence of Window
        In the order of time. Those that do not have the source, or are too fast, do not count.
    source : Source
    pause : callable
        Called between pieces of work, most of a few ten microseconds and none of more than about
        a millisecond; what it raises ends the work.

    Returns
    -------
    PayloadEstimate

    Raises
    ------
    PayloadError
        When the windows do not tell; the message says what is missing.
    """
    # Numbers of any size come in; what overflows is refused.
    with np.errstate(all='ignore'):
        used, states = _choose(carrier.dynamics.robot, windows, source, pause)
        if source is Source.WRENCH:
            equations = _sensor_equations(carrier, used, states, pause)
        else:
            equations = _effort_equations(carrier, used, states, source, pause)
        pause()
        found, covariance, misfit = _solve(equations, carrier.dynamics.robot)
    duration = sum(window.duration for window in used)
    return _judge(found, covariance, carrier.link_name, source, duration, misfit)


def felt_by(window: Window, source: Source) -> FloatArray | None:
    """Return what a window has of a source; None where it has nothing."""
    return {
        Source.EFFORT: window.effort,
        Source.COMMAND: window.command,
        Source.WRENCH: window.wrench,
    }[source]


class _States(NamedTuple):
    """How the joints move in windows; shape (windows, n) each.

    Attributes
    ----------
    kind : array of int
        `_STANDING`, `_TURNING` or `_MOVING`.
    direction : array
        Sign of the last motion; 0 where nobody knows in which direction friction acts.
    repeats : array
        How many windows in a row have the same error of friction.
    repeats_of_arm : array, shape (windows,)
        The same of what the arm feels when all joints stand.
    """

    kind: NDArray[np.intp]
    direction: FloatArray
    repeats: FloatArray
    repeats_of_arm: FloatArray

    def of(self, rows: Sequence[int]) -> _States:
        """Return those of some windows."""
        return _States(
            self.kind[rows], self.direction[rows], self.repeats[rows], self.repeats_of_arm[rows]
        )


_STANDING, _TURNING, _MOVING = range(3)


def _find_states(windows: Sequence[Window], pause: Callable[[], None]) -> _States:
    """Return how the joints move, fast motions included: they end what is held before them."""
    shape = len(windows), windows[0].position.size
    kind, direction = np.full(shape, _TURNING), np.zeros(shape)
    last = np.zeros(shape[1])
    for row, window in enumerate(windows):
        kind[row, window.largest_speed <= STANDING] = _STANDING
        kind[row, window.least_speed > STANDING] = _MOVING
        last = np.where(kind[row] == _MOVING, np.sign(window.velocity), last)
        last = np.where(kind[row] == _TURNING, 0.0, last)
        direction[row] = last
        pause()
    positions = np.array([window.position for window in windows])
    # States may have been lost between two windows, and a motion with them.
    is_other: NDArray[np.bool_] = np.abs(np.diff(positions, axis=0)) > STANDING
    columns = zip(kind.T, is_other.T, strict=True)
    repeats = np.stack([_count_repeats(*column) for column in columns], axis=1)
    of_arm = np.where((kind == _STANDING).all(axis=1), _STANDING, _MOVING)
    return _States(kind, direction, repeats, _count_repeats(of_arm, np.any(is_other, axis=1)))


def _count_repeats(kind: NDArray[np.intp], is_other: NDArray[np.bool_]) -> FloatArray:
    """Return how many windows in a row have the same error, shape (windows,).

    `is_other` says of each window but the first that it is not held as the one before.
    """
    begins = np.concatenate([[False], is_other | (np.diff(kind) != 0)])
    run = np.cumsum(begins)
    lengths = np.bincount(run)[run]
    repeats: FloatArray = np.select(
        [kind == _STANDING, kind == _MOVING], [lengths, float(CORRELATED)], 1.0
    )
    return repeats


def _choose(
    robot: Robot, windows: Sequence[Window], source: Source, pause: Callable[[], None]
) -> tuple[list[Window], _States]:
    """Return the windows that count, and how the joints move in them.

    Raises
    ------
    PayloadError
        When they are too few.
    """
    felt = [window for window in windows if felt_by(window, source) is not None]
    expected = f'expected at least {LEAST_TIME:g} s'
    if not felt:
        raise PayloadError(f'no states with {source.value} yet: {expected} of them')
    slow = []
    for index, window in enumerate(felt):
        if (window.largest_speed <= SLOW_VELOCITY).all() and (
            np.abs(window.acceleration) <= SLOW_ACCELERATION
        ).all():
            slow.append(index)
        pause()
    duration = sum(felt[index].duration for index in slow)
    # Windows are a little shorter than they are asked to be.
    if duration >= LEAST_TIME - WINDOW:
        states = _find_states(felt, pause)
        pause()
        return [felt[index] for index in slow], states.of(slow)
    if len(felt) > len(slow):
        worst = int(felt[-1].largest_speed.argmax())
        raise PayloadError(
            f'the arm moves: {expected} with no joint faster than {SLOW_VELOCITY:g} rad/s or m/s '
            f'and no acceleration above {SLOW_ACCELERATION:g} rad/s^2 or m/s^2, got '
            f'{duration:.1f} s; the last speed of joint {robot.joint_names[worst]!r} is '
            f'{felt[-1].largest_speed[worst]:.3g}'
        )
    raise PayloadError(f'too few states with {source.value} yet: {expected}, got {duration:.1f} s')


# ---- joint efforts


def _effort_equations(
    carrier: Carrier,
    windows: Sequence[Window],
    states: _States,
    source: Source,
    pause: Callable[[], None],
) -> _Equations:
    """Return the equations of the joint efforts, joint by joint."""
    dynamics = carrier.dynamics
    robot, n = dynamics.robot, dynamics.n
    moving, standing = states.kind == _MOVING, states.kind == _STANDING
    to_tip = _first_moments_to_tip(carrier.link_to_tip)
    load, own, right, weights = [], [], [], []
    compensation = Compensation(dynamics, Terms())
    for window, moves in zip(windows, moving, strict=True):
        rigid, added = _load_efforts(dynamics.without_friction(), window)
        load.append(added @ to_tip)
        own.append(rigid)
        expected = _effort_with_friction(compensation, window, moves)
        right.append(np.asarray(felt_by(window, source)) - expected)
        pause()
        weights.append(_weight_errors(dynamics.without_friction(), window, pause))
    model = np.array(own)
    friction = _believed_friction(robot, model)
    velocity = np.array([window.velocity for window in windows])
    share = np.where(moving, 1.0, 0.5) * states.direction
    rest = np.zeros((len(windows), n, 5 * n))
    joints = np.arange(n)
    rest[:, joints, joints] = share
    rest[:, joints, n + joints] = velocity
    rest[:, joints, 2 * n + joints] = model
    rest[:, :, 3 * n :] = weights
    deviation = np.select(
        [moving, standing],
        [MOVING_SHARE * friction, friction],
        2.0 * friction,
    )
    deviation = np.hypot(deviation, MODEL_SHARE * model)
    viscous = robot.joint_values('viscous_friction') + friction / VISCOUS_VELOCITY
    return _Equations(
        np.concatenate(load),
        rest.reshape(-1, 5 * n),
        np.concatenate(right),
        deviation.ravel(),
        states.repeats.ravel(),
        np.concatenate([friction, viscous, np.full(n, SCALE_ERROR), np.full(2 * n, WEIGHT_ERROR)]),
        slice(2 * n, 5 * n),
    )


def _believed_friction(robot: Robot, model: FloatArray) -> FloatArray:
    """Return what friction may be off by, shape (n,) [N m or N]."""
    limits = robot.limits('effort_limit')
    largest = np.abs(model).max(axis=0)
    limits = np.where(np.isfinite(limits) & (limits > 0.0), limits, largest.max())
    coulomb = robot.joint_values('coulomb_friction')
    static = [joint.friction.static_friction or 0.0 for joint in robot.joints]
    friction: FloatArray = np.maximum(coulomb, static) + FRICTION_SHARE * limits
    # A model without weight and limits believes anything.
    return np.maximum(friction, 1e-6)


def _effort_with_friction(
    compensation: Compensation, window: Window, moves: NDArray[np.bool_]
) -> FloatArray:
    """Return the effort of the arm alone, with the friction of the joints that move."""
    rate = np.where(moves, window.velocity, 0.0)
    base = None if window.base is None else Base(window.base, window.base)
    motion = window.position, window.velocity, window.acceleration
    return compensation.effort(*motion, rate, None, base, np.sign(rate))


def _load_efforts(rigid: Dynamics, window: Window) -> tuple[FloatArray, FloatArray]:
    """Return the effort of the arm alone, shape (n,), and what a load adds, shape (n, 4).

    The columns are those of unit mass and unit first moments at the tip.
    """
    motion = window.position, window.velocity, window.acceleration
    alone = rigid.inverse_dynamics(*motion, None, window.base, np.zeros(10))
    columns = [
        rigid.inverse_dynamics(*motion, None, window.base, unit) - alone for unit in np.eye(10)[:4]
    ]
    return alone, np.stack(columns, axis=1)


def _weight_errors(rigid: Dynamics, window: Window, pause: Callable[[], None]) -> FloatArray:
    """Return what errors of the weight beyond each joint add to the efforts, shape (n, 2 n).

    First along the lever on which it turns about its joint, then across, as shares of the weight.
    The efforts g at rest are a constant and a sine of the angle of any one joint: the sine is what
    turns with that joint, (g(q) - g(q + pi)) / 2, and a quarter of a turn on it acts across. What
    a joint shifts has no lever.
    """
    still, none = np.zeros(rigid.n), np.zeros(10)
    along, across = np.zeros((2, rigid.n, rigid.n))
    here = rigid.inverse_dynamics(window.position, still, still, None, window.base, none)
    for index, joint in enumerate(rigid.robot.joints):
        if joint.type is JointType.PRISMATIC:
            continue
        quarter = np.zeros(rigid.n)
        quarter[index] = 0.5 * math.pi
        before, after = (
            rigid.inverse_dynamics(position, still, still, None, window.base, none)
            for position in (window.position - quarter, window.position + quarter)
        )
        # g(q - pi/2) + g(q + pi/2) is twice the constant.
        along[:, index] = here - 0.5 * (before + after)
        across[:, index] = 0.5 * (after - before)
        pause()
    return np.hstack([along, across])


def _first_moments_to_tip(link_to_tip: Transform) -> FloatArray:
    """Return the matrix from (m, m c) in the frame of a link to that of the tip, shape (4, 4)."""
    matrix = np.eye(4)
    matrix[1:, 1:] = link_to_tip.rotation
    matrix[1:, 0] = link_to_tip.translation
    return matrix


# ---- the wrist sensor


def _sensor_equations(
    carrier: Carrier, windows: Sequence[Window], states: _States, pause: Callable[[], None]
) -> _Equations:
    """Return the equations of force and moment."""
    to_tip = _first_moments_to_tip(carrier.link_to_tip)
    tool = np.concatenate([[carrier.tool.mass], carrier.tool.first_moment])
    load, rest, right = [], [], []
    for window in windows:
        unit = _load_wrench(carrier.dynamics, window)
        known = unit @ tool
        load.append(unit @ to_tip)
        rest.append(np.column_stack([np.eye(6), known]))
        right.append(np.asarray(window.wrench) - known)
        pause()
    readings = np.array([window.wrench for window in windows])
    error = np.empty_like(readings)
    for part, least in ((slice(0, 3), FORCE_ERROR), (slice(3, 6), MOMENT_ERROR)):
        size = np.linalg.norm(readings[:, part], axis=1, keepdims=True)
        error[:, part] = least + READING_SHARE * size
    return _Equations(
        np.concatenate(load),
        np.concatenate(rest),
        np.concatenate(right),
        error.ravel(),
        np.repeat(states.repeats_of_arm, 6),
        np.array([*[FORCE_BIAS] * 3, *[MOMENT_BIAS] * 3, SCALE_ERROR]),
        slice(0),
    )


def _load_wrench(dynamics: Dynamics, window: Window) -> FloatArray:
    """Return what unit mass and unit first moments at the tip read there, shape (6, 4).

    With the pose (R, p) of the tip a point x of the load, in the tip's frame, is at p + R x:
    summed over the load, force = m (p'' - g) + R'' (m c), and moment = R (m c) x (p'' - g) but for
    what is of the second order in x.
    """
    before, pose, after = (
        dynamics.forward_kinematics(
            window.position + time * window.velocity + 0.5 * time * time * window.acceleration
        )
        for time in (-DIFFERENCE, 0.0, DIFFERENCE)
    )
    second = (before - 2.0 * pose + after) / DIFFERENCE**2
    rotation = pose[:3, :3]
    upwards = second[:3, 3] - dynamics.gravity
    if window.base is not None:
        # A tilt is an acceleration against the constant gravity.
        upwards = upwards + window.base[BASE_MOTION - 3 :]
    lifted = rotation.T @ upwards
    result = np.zeros((6, 4))
    result[:3, 0] = lifted
    result[:3, 1:] = rotation.T @ second[:3, :3]
    # e_k x lifted, one column each.
    result[3:, 1:] = np.cross(np.eye(3), lifted).T
    return result


# ---- the fit


def _solve(equations: _Equations, robot: Robot) -> tuple[FloatArray, FloatArray, float]:
    """Return (m, m c) by weighted least squares, their covariance, and the misfit.

    What turns out large for its width shows that this was too small: it is widened.

    Raises
    ------
    PayloadError
        When what is left is larger than expected, and more than a part of what is explained, or
        the model would have to be wrong.
    """
    if not _is_finite(equations):
        raise PayloadError('expected finite efforts and readings that do not overflow')
    rows = np.concatenate([equations.load, equations.rest], axis=1)
    weight = 1.0 / (equations.deviation**2 * equations.repeats)
    width = np.concatenate([np.full(4, ANYTHING), equations.width])
    weighted = rows.T * weight
    normal, right = weighted @ rows, weighted @ equations.right
    for _ in range(PASSES):
        # In units of the widths the matrix is well scaled, whatever the units of the rest.
        inverse = np.linalg.inv(width[:, np.newaxis] * normal * width + np.eye(width.size))
        covariance = width[:, np.newaxis] * inverse * width
        solution = covariance @ right
        width[4:] = np.maximum(width[4:], WIDENING * np.abs(solution[4:]))
    left = (equations.right - rows @ solution) / equations.deviation
    explained = equations.load @ solution[:4] / equations.deviation
    misfit, size = (float(np.sqrt(np.mean(part * part))) for part in (left, explained))
    if not misfit <= max(LARGEST_MISFIT, LARGEST_REST * size):
        raise PayloadError(
            f'the fit leaves too much: {misfit:.2g} times what friction, noise and errors of the '
            f'model are expected to leave, where a load explains {size:.2g}; expected one load '
            'that does not change, nothing that touches the arm, and readings of the right '
            'meaning, sign and unit'
        )
    scales = solution[4:][equations.scales]
    if (np.abs(scales) > LARGEST_SCALE_ERROR).any():
        worst = int(np.abs(scales).argmax())
        name = robot.joint_names[worst % robot.n]
        raise PayloadError(
            f"a load fits only if the model's own effort of joint {name!r} is "
            f'off by {100.0 * scales[worst]:.0f} %; expected a model that is right within '
            f'{100.0 * LARGEST_SCALE_ERROR:.0f} %, and torques in N m or N'
        )
    return solution[:4], covariance[:4, :4] * max(1.0, misfit**2), misfit


def _is_finite(equations: _Equations) -> bool:
    """Return whether all numbers can be squared and summed."""
    return all(
        bool((np.abs(part) < LARGEST).all())
        for part in (equations.load, equations.rest, equations.right, equations.deviation)
    )


def _judge(
    found: FloatArray,
    covariance: FloatArray,
    link_name: str,
    source: Source,
    duration: float,
    misfit: float,
) -> PayloadEstimate:
    """Return what was found, or refuse what no body has or the windows do not tell."""
    mass, deviation = float(found[0]), math.sqrt(max(float(covariance[0, 0]), 0.0))
    if deviation > max(MASS_DEVIATION, MASS_SHARE * abs(mass)):
        raise PayloadError(
            f'the poses do not tell the mass: {mass:.3g} +- {deviation:.2g} kg; hold more and '
            'other poses, with the load far out, approached from both sides'
        )
    if mass < -SIGNIFICANT * deviation:
        raise PayloadError(
            f'a load of {mass:.3g} +- {deviation:.2g} kg cannot be: is the model too heavy (has '
            'a tool of it been taken off), a sign wrong, or does something carry the arm?'
        )
    if mass <= SIGNIFICANT * deviation:
        nothing = np.zeros(3)
        return PayloadEstimate(
            0.0, deviation, nothing, nothing, link_name, source, duration, misfit
        )
    center = found[1:] / mass
    # c = (m c) / m
    slope = np.column_stack([-center, np.eye(3)]) / mass
    spread = slope @ covariance @ slope.T
    distance = float(np.linalg.norm(center))
    if (
        distance - SIGNIFICANT * math.sqrt(max(float(np.linalg.eigvalsh(spread)[-1]), 0.0))
        > FARTHEST
    ):
        raise PayloadError(
            f'a centre of mass at ({_numbers(center)}) m of {link_name!r} is farther away than '
            f'{FARTHEST:g} m: does something touch the arm?'
        )
    unknown = _unknown_directions(spread, max(COM_DEVIATION, MOMENT_DEVIATION / mass))
    if unknown:
        raise PayloadError(
            f'the poses do not tell the centre of mass along {unknown} of {link_name!r}: hold '
            'poses with the flange turned otherwise against the vertical (the mass is known: '
            f'{mass:.3f} +- {deviation:.2g} kg)'
        )
    return PayloadEstimate(
        mass,
        deviation,
        center,
        np.sqrt(np.maximum(np.diag(spread), 0.0)),
        link_name,
        source,
        duration,
        misfit,
    )


def _unknown_directions(covariance: FloatArray, limit: float) -> str:
    """Return the directions in which a point is known worse than a limit [m], in words."""
    variances, directions = np.linalg.eigh(covariance)
    words = []
    for variance, direction in zip(variances, directions.T, strict=True):
        deviation = math.sqrt(max(float(variance), 0.0))
        if deviation <= limit:
            continue
        axis = int(np.abs(direction).argmax())
        if abs(direction[axis]) >= ALONG_AXIS:
            name = 'xyz'[axis]
        else:
            towards = direction * np.sign(direction[axis])
            name = f'({", ".join(f"{value:.2f}" for value in towards)})'
        words.append(f'{name} (+- {deviation:.2g} m)')
    return ' and '.join(words)
