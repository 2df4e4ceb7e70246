"""What a simulated arm is that its model does not say, drawn by a seed: a real arm's secrets.

    errors = draw_hidden_errors(robot, seed=3, effort_meaning=EffortMeaning.CURRENT)
    true_robot = errors.apply(robot)                  # masses, centres, rotors, friction
    errors.write(Path('hidden.yaml'))                 # the simulated robot's `hidden_errors_file`

Drawn are, each evenly between its bounds:

============================ ===================================================================
mass, inertia of each link   0.7 to 1.3 of the model's
centre of mass, by component 0.7 to 1.3 of the model's
reflected rotor inertia      0.004 to 0.012 kg m^2 (kg) a N m (N) of the effort limit
friction at rest             0.04 to 0.26 of the effort limit
Coulomb friction, mean       0.6 to 0.85 of that
difference of directions     up to 0.15 of Coulomb friction to either side
Stribeck velocity            0.03 to 0.12 of the velocity limit, 0.12 rad/s (m/s) at most
viscous friction             at half the velocity limit 0.02 to 0.1 of the effort limit
delay                        2, 4, 6 or 8 ms; encoders of 14 to 19 bits
============================ ===================================================================

Friction in each direction and at rest stays within 0.3 of the effort limit.
"""

from __future__ import annotations

import enum
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from ne_dynamics.errors import InputError
from ne_dynamics.model.friction import FrictionModel
from ne_dynamics.model.rigid_body import FloatArray, Inertia
from ne_dynamics.model.robot import Joint, Link, Robot
from ne_dynamics.model.yaml_text import parse_yaml
from ne_dynamics.prepared_file import write_whole
from ne_dynamics.simulation.thresholds import SIMULATION

DELAYS = (0.002, 0.004, 0.006, 0.008)
ENCODER_BITS = (14, 19)
SCALES = (0.7, 1.3)


class EffortMeaning(str, enum.Enum):
    """Quantity that the arm reports as effort.

    torque: motor torque. torque_without_gravity: motor torque minus the gravity torque.
    current: motor torque in a unit of each joint's own. nothing: the array is empty.
    """

    TORQUE = 'torque'
    TORQUE_WITHOUT_GRAVITY = 'torque_without_gravity'
    CURRENT = 'current'
    NOTHING = 'nothing'


@dataclass(frozen=True)
class HiddenLink:
    """Factors on what the model says of a link.

    Attributes
    ----------
    mass : float
        On mass and inertia.
    center_of_mass : tuple of 3 floats
        By component, in the frame of the link.
    """

    mass: float = 1.0
    center_of_mass: tuple[float, ...] = (1.0, 1.0, 1.0)


@dataclass(frozen=True)
class HiddenJoint:
    """What a joint is, in place of what the model says.

    Attributes
    ----------
    rotor_inertia : float
        Reflected to the joint [kg m^2 or kg].
    viscous_friction : float
        [N m s/rad or N s/m]
    coulomb_friction, static_friction, friction_asymmetry : float
        As in :class:`~ne_dynamics.model.friction.FrictionModel` [N m or N].
    stribeck_velocity : float
        [rad/s or m/s]
    effort_per_reading : float
        Effort over what is reported for it [N m, or N, a unit of the reading]; negative for a
        reversed sign.
    """

    rotor_inertia: float = 0.0
    viscous_friction: float = 0.0
    coulomb_friction: float = 0.0
    static_friction: float = 0.0
    friction_asymmetry: float = 0.0
    stribeck_velocity: float = 0.05
    effort_per_reading: float = 1.0


@dataclass(frozen=True)
class HiddenErrors:
    """Errors of a simulated arm that its model does not have.

    Attributes
    ----------
    links : mapping of str to HiddenLink
        Links that differ from the model, by name.
    joints : mapping of str to HiddenJoint
        Joints that differ from the model, by name.
    delay : float
        Delay of commands, in addition to one period [s].
    encoder_bits : int
        Bits of an encoder per turn or metre.
    reports_velocity : bool
    torque_ripple : float
        See `model_error.torque_ripple` of the simulated robot.
    effort_meaning : EffortMeaning
    """

    links: Mapping[str, HiddenLink]
    joints: Mapping[str, HiddenJoint]
    delay: float = 0.0
    encoder_bits: int = 0
    reports_velocity: bool = True
    torque_ripple: float = 0.0
    effort_meaning: EffortMeaning = EffortMeaning.TORQUE

    def apply(self, robot: Robot) -> Robot:
        """Return the robot with the inertias, rotors and friction of the simulated arm.

        Raises
        ------
        InputError
            When a link or joint is named that the robot does not have.
        """
        _require_known('link', self.links, [link.name for link in robot.links])
        _require_known('joint', self.joints, robot.joint_names)
        links = tuple(self._true_link(link) for link in robot.links)
        joints = tuple(self._true_joint(joint) for joint in robot.joints)
        return replace(robot.with_links(links), joints=joints)

    def _true_link(self, link: Link) -> Link:
        factor = self.links.get(link.name)
        if factor is None:
            return link
        given = link.inertia
        inertia = Inertia(
            factor.mass * given.mass,
            np.array(factor.center_of_mass) * given.center_of_mass,
            factor.mass * given.inertia_about_com,
        )
        return replace(link, inertia=inertia)

    def _true_joint(self, joint: Joint) -> Joint:
        hidden = self.joints.get(joint.name)
        if hidden is None:
            return joint
        return replace(
            joint,
            viscous_friction=hidden.viscous_friction,
            coulomb_friction=hidden.coulomb_friction,
            rotor_inertia=hidden.rotor_inertia,
            gear_ratio=1.0,
            friction=FrictionModel(
                static_friction=hidden.static_friction,
                stribeck_velocity=hidden.stribeck_velocity,
                friction_asymmetry=hidden.friction_asymmetry,
            ),
        )

    def reported_effort(
        self, joint_names: tuple[str, ...], effort: FloatArray, gravity: FloatArray
    ) -> FloatArray:
        """Return the effort that the arm reports, shape (n,) or (0,).

        Parameters
        ----------
        joint_names : tuple of str
        effort, gravity : array, shape (n,)
            Effort of the motors, and the gravity torque [N m or N].
        """
        if self.effort_meaning is EffortMeaning.NOTHING:
            return np.empty(0)
        if self.effort_meaning is EffortMeaning.TORQUE_WITHOUT_GRAVITY:
            effort = effort - gravity
        usual = HiddenJoint()
        per_reading = [self.joints.get(name, usual).effort_per_reading for name in joint_names]
        return np.asarray(effort / np.array(per_reading))

    @property
    def reversed_joints(self) -> tuple[str, ...]:
        """Names of the joints whose effort is reported with the wrong sign."""
        return tuple(name for name, joint in self.joints.items() if joint.effort_per_reading < 0.0)

    def write(self, file: Path) -> None:
        """Write the YAML file that the simulated robot reads."""
        document = {**asdict(self), 'effort_meaning': self.effort_meaning.value}
        text = yaml.safe_dump(document, sort_keys=False, allow_unicode=True)
        write_whole(file, text)


def read_hidden_errors(file: Path) -> HiddenErrors:
    """Read what :meth:`HiddenErrors.write` has written.

    Raises
    ------
    InputError
        When the file cannot be read or has something else in it; the message says where.
    """
    try:
        document = dict(parse_yaml(file.read_bytes(), str(file)))
        links = {
            str(name): HiddenLink(float(item['mass']), tuple(map(float, item['center_of_mass'])))
            for name, item in document.pop('links').items()
        }
        joints = {
            str(name): HiddenJoint(**{key: float(value) for key, value in item.items()})
            for name, item in document.pop('joints').items()
        }
        meaning = EffortMeaning(document.pop('effort_meaning'))
        return HiddenErrors(links, joints, effort_meaning=meaning, **document)
    except (OSError, KeyError, TypeError, ValueError, AttributeError) as error:
        raise InputError(
            f'{file}: expected hidden errors as they are written, got: {error}'
        ) from error


def draw_hidden_errors(
    robot: Robot,
    seed: int,
    effort_meaning: EffortMeaning = EffortMeaning.TORQUE,
    reversed_joint: bool = False,
    friction: float = 0.3,
) -> HiddenErrors:
    """Return random hidden errors of an arm; the same for the same seed.

    Parameters
    ----------
    robot : Robot
    seed : int
    effort_meaning : EffortMeaning
    reversed_joint : bool
        Whether one random joint reports its effort with the wrong sign.
    friction : float
        Largest friction, as a part of the effort limit; more than 0.05.

    Raises
    ------
    InputError
        When `friction` is out of range.
    """
    if not 0.05 < friction <= 1.0:
        raise InputError(f'friction: expected a part more than 0.05 and up to 1, got {friction}')
    rng = np.random.default_rng(seed)
    links = {
        link.name: HiddenLink(
            float(rng.uniform(*SCALES)), tuple(rng.uniform(*SCALES, size=3).tolist())
        )
        for link in robot.links
        if link.inertia.mass > 0.0
    }
    joints = {joint.name: _draw_joint(joint, rng, friction) for joint in robot.joints}
    if effort_meaning is EffortMeaning.CURRENT:
        joints = {
            name: replace(joint, effort_per_reading=float(rng.uniform(5.0, 15.0)))
            for name, joint in joints.items()
        }
    turned = robot.joint_names[int(rng.integers(robot.n))]
    if reversed_joint:
        hidden = joints[turned]
        joints[turned] = replace(hidden, effort_per_reading=-hidden.effort_per_reading)
    return HiddenErrors(
        links,
        joints,
        delay=float(rng.choice(DELAYS)),
        encoder_bits=int(rng.integers(ENCODER_BITS[0], ENCODER_BITS[1] + 1)),
        reports_velocity=False,
        torque_ripple=0.02,
        effort_meaning=effort_meaning,
    )


def _draw_joint(joint: Joint, rng: np.random.Generator, friction: float) -> HiddenJoint:
    effort, speed = joint.effort_limit, joint.velocity_limit
    effort = effort if 0.0 < effort < math.inf else SIMULATION.usual_effort
    speed = speed if 0.0 < speed < math.inf else SIMULATION.usual_velocity
    most = SIMULATION.hidden_asymmetry
    static = float(rng.uniform(0.05, friction)) * effort / (1.0 + most)
    coulomb = float(rng.uniform(0.6, 0.85)) * static
    asymmetry = float(rng.uniform(-most, most)) * coulomb
    return HiddenJoint(
        rotor_inertia=float(rng.uniform(0.004, 0.012)) * effort,
        viscous_friction=float(rng.uniform(0.02, 0.1)) * effort / (0.5 * speed),
        coulomb_friction=coulomb,
        static_friction=static,
        friction_asymmetry=asymmetry,
        stribeck_velocity=min(float(rng.uniform(0.03, 0.12)) * speed, 0.12),
    )


def _require_known(kind: str, named: Mapping[str, object], known: Any) -> None:
    unknown = [name for name in named if name not in known]
    if unknown:
        raise InputError(
            f'hidden errors: expected {kind}s of {", ".join(known)}, got {", ".join(unknown)}'
        )
