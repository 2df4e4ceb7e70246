"""What makes an arm harder to commission than one that its URDF describes wrongly.

Each kind changes the simulated arm, its URDF, or what it reports; the run knows nothing of it.
"""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ne_dynamics.model.rigid_body import FloatArray, Inertia
from ne_dynamics.model.robot import Robot
from ne_dynamics.simulation import ElasticArm, HiddenErrors, MujocoArm
from ne_dynamics.simulation.friction_levels import FrictionLevels

Physics = Callable[[Robot, FloatArray, float], MujocoArm]
"""The true robot, its first position and the period of its states: the simulated arm."""


def rigid_arm(robot: Robot, start: FloatArray, period: float) -> MujocoArm:
    """Return a rigid arm on a level base, without ends of its joints."""
    return _begin(MujocoArm(robot, period=period), start)


def _begin(arm: MujocoArm, start: FloatArray) -> MujocoArm:
    arm.reset(start)
    return arm


def _unchanged(robot: Robot, start: FloatArray) -> Robot:
    return robot


@dataclass(frozen=True)
class Kind:
    """A kind of harder arm.

    Attributes
    ----------
    title : str
    physics : Physics
    true_robot : callable
        Robot with hidden errors and first position: the robot that it is.
    given_text : callable
        The URDF: the one that the run begins with.
    first_position : callable
        Given robot and usual first position: the first position.
    reports : callable
        Hidden errors and robot: the errors, with what the arm reports.
    gravity : tuple of 3 floats
        In the axes of the base [m/s^2].
    """

    title: str
    physics: Physics = rigid_arm
    true_robot: Callable[[Robot, FloatArray], Robot] = _unchanged
    given_text: Callable[[str], str] = lambda text: text
    first_position: Callable[[Robot, FloatArray], FloatArray] = lambda robot, start: start
    reports: Callable[[HiddenErrors, Robot], HiddenErrors] = lambda errors, robot: errors
    gravity: tuple[float, ...] = (0.0, 0.0, -9.80665)


USUAL = Kind('hidden errors alone')

# ---- joints that give


def _with_play(robot: Robot, start: FloatArray, period: float) -> MujocoArm:
    rates = np.full(robot.n, 60.0)
    return ElasticArm(robot, rates, start, period, damping_ratio=0.1, gap=np.radians(0.1))


def _elastic(robot: Robot, start: FloatArray, period: float) -> MujocoArm:
    return ElasticArm(robot, np.full(robot.n, 12.0), start, period)


# ---- friction by position

WAVE, CYCLES = 0.4, 5.0
"""Part by which it is more or less than in the mean, and waves a turn."""


@dataclass(frozen=True, eq=False)
class PlaceFriction:
    """Friction whose level goes up and down with the position of its joint.

    Attributes
    ----------
    levels : FrictionLevels
    position : callable
        Of the joints, shape (n,) [rad or m].
    share : float
        By which it is more or less.
    cycles : float
        A turn (a metre).
    """

    levels: FrictionLevels
    position: Callable[[], FloatArray]
    share: float
    cycles: float

    @property
    def offset(self) -> FloatArray:
        """As the levels have it [N m or N]."""
        return self.levels.offset

    def at(self, velocity: FloatArray) -> FloatArray:
        """Return the level at a velocity, shape (n,) [N m or N]."""
        wave = np.sin(self.cycles * self.position() + np.arange(velocity.size))
        level: FloatArray = self.levels.at(velocity) * (1.0 + self.share * wave)
        return level


class PlaceFrictionArm(MujocoArm):
    """A :class:`MujocoArm` with :class:`PlaceFriction`."""

    def __init__(self, robot: Robot, **options: Any) -> None:
        super().__init__(robot, **options)
        levels = FrictionLevels.of(robot.joints)
        if levels is not None:
            self._friction: Any = PlaceFriction(levels, lambda: self.position, WAVE, CYCLES)


def _uneven(robot: Robot, start: FloatArray, period: float) -> MujocoArm:
    return _begin(PlaceFrictionArm(robot, period=period), start)


def _less_friction(robot: Robot, start: FloatArray) -> Robot:
    """Return the robot with so much less friction that the most of it is what was drawn."""
    joints = []
    for joint in robot.joints:
        model = joint.friction
        less = replace(
            model,
            static_friction=(model.static_friction or 0.0) / (1.0 + WAVE),
            friction_asymmetry=model.friction_asymmetry / (1.0 + WAVE),
        )
        coulomb = joint.coulomb_friction / (1.0 + WAVE)
        joints.append(replace(joint, coulomb_friction=coulomb, friction=less))
    return replace(robot, joints=tuple(joints))


# ---- what the URDF does not say


def _loaded(robot: Robot, start: FloatArray) -> Robot:
    """Return the robot with 3 kg at its tip, as a part of the last link that has a mass."""
    links = list(robot.links)
    carrier = max(
        place
        for place, link in enumerate(links)
        if link.body == robot.tip.body and link.inertia.mass > 0.0
    )
    link = links[carrier]
    to_link = link.pose_in_body.inverse() @ robot.tip.pose_in_body
    payload = Inertia(3.0, np.array([0.0, 0.0, 0.05]), 0.005 * np.eye(3)).transformed(to_link)
    links[carrier] = replace(link, inertia=link.inertia + payload)
    return robot.with_links(links)


_TILT = np.radians(5.0)
TILTED = (9.80665 * np.sin(_TILT), 0.0, -9.80665 * np.cos(_TILT))


def _tilted(robot: Robot, start: FloatArray, period: float) -> MujocoArm:
    return _begin(MujocoArm(robot, period=period, gravity=TILTED), start)


def _per_mille(errors: HiddenErrors, robot: Robot) -> HiddenErrors:
    """Return an arm that reports thousandths of its rated torques, half of the limits each."""
    joints = {
        joint.name: replace(
            errors.joints[joint.name], effort_per_reading=0.5 * joint.effort_limit / 1000.0
        )
        for joint in robot.joints
    }
    return replace(errors, joints=joints)


def _with_ends(robot: Robot, start: FloatArray, period: float) -> MujocoArm:
    return _begin(MujocoArm(robot, period=period, joint_limits=True), start)


def _widened(text: str) -> str:
    """Return a URDF whose limits of positions, velocities and efforts allow a fifth more."""
    root = ElementTree.fromstring(text)
    for limit in root.iterfind('joint/limit'):
        values = {key: float(value) for key, value in limit.attrib.items()}
        for key in ('velocity', 'effort'):
            if key in values:
                values[key] *= 1.2
        if {'lower', 'upper'} <= values.keys():
            more = 0.1 * (values['upper'] - values['lower'])
            values['lower'] -= more
            values['upper'] += more
        limit.attrib.update({key: repr(value) for key, value in values.items()})
    return ElementTree.tostring(root, encoding='unicode')


def _true_limits(robot: Robot, start: FloatArray) -> Robot:
    """Return the robot with limits that its URDF has made wider."""
    joints = []
    for joint in robot.joints:
        less = (joint.upper - joint.lower) / 12.0
        joints.append(
            replace(
                joint,
                lower=joint.lower + less,
                upper=joint.upper - less,
                velocity_limit=joint.velocity_limit / 1.2,
                effort_limit=joint.effort_limit / 1.2,
            )
        )
    return replace(robot, joints=tuple(joints))


def _near_an_end(robot: Robot, start: FloatArray) -> FloatArray:
    """Return a position 0.15 rad from the true end of the first joint, by its wider limits."""
    joint = robot.joints[0]
    begin = start.copy()
    if np.isfinite(joint.upper):
        begin[0] = joint.upper - (joint.upper - joint.lower) / 12.0 - 0.15
    return begin


def _stopped(robot: Robot, start: FloatArray) -> Robot:
    """Return an arm whose second joint comes to a stop 0.3 rad above where it begins."""
    joints = [replace(joint, lower=-np.inf, upper=np.inf) for joint in robot.joints]
    joints[1] = replace(joints[1], lower=start[1] - 3.0, upper=start[1] + 0.3)
    return replace(robot, joints=tuple(joints))


KINDS = {
    'backlash': Kind('backlash of 0.1 degrees', _with_play),
    'elastic': Kind('elastic joints, 12 Hz', _elastic),
    'friction': Kind('friction by position, +-40 %, 5 waves a turn', _uneven, _less_friction),
    'payload': Kind('forgotten payload of 3 kg', true_robot=_loaded),
    'tilt': Kind('base tilted by 5 degrees', _tilted, gravity=TILTED),
    'per_mille': Kind('efforts in per mille of rated torque', reports=_per_mille),
    'limits': Kind(
        'URDF limits too wide by 20 %',
        _with_ends,
        _true_limits,
        given_text=_widened,
        first_position=_near_an_end,
    ),
    'stop': Kind('hard stop inside the URDF limits', _with_ends, true_robot=_stopped),
}
"""The kinds by the names that the command line takes."""
