"""Whether the efforts of a resting arm bear out the weight that the model gives it.

With s for the efforts that the joint states report, h for those that hold the arm at rest by the
model, both as shares of the effort limits (of `weakest_limit` of the largest of them, where
one is less), and k for the joint with the largest share in h:

- Where |h_k| is small nothing is said: friction at rest may turn its sign.
- The weight is mirrored where s is about -h: its part along h, s.h / h.h, is at most
  -`mirrored_part`, its direction is that of -h, s.h <= -`mirrored_alignment` |s| |h|, and s_k
  differs from h_k by more than friction and a load would explain. Then gravity, as the model has
  it, points the wrong way, or the efforts have the other sign.
- It is far off where s_k differs from h_k by more than `far_part` of h_k, and by more than
  friction explains.

What moves is not checked, nor an arm whose efforts are all zero: brakes hold it, or nobody
measures. Words such as `mirrored_part` are fields of :class:`~.limits.GuardLimits`.
"""

from __future__ import annotations

import enum
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ne_dynamics.control.controller import Controller
from ne_dynamics.control.guards.limits import GUARD_LIMITS
from ne_dynamics.control.sensors.state_effort import StateEffort
from ne_dynamics.control.sensors.thresholds import SENSORS
from ne_dynamics.control.tuning import Tuning
from ne_dynamics.dynamics import Dynamics
from ne_dynamics.errors import InputError
from ne_dynamics.model.rigid_body import FloatArray
from ne_dynamics.motion.joint_limits import sample_positions
from ne_dynamics.motion.waypoints import resting_state


class Weight(enum.Enum):
    """What the efforts of a resting arm say of the model's weight."""

    UNKNOWN = enum.auto()
    """Nothing: there are none, the arm moves, or its weight is too small in this pose."""
    CONFIRMED = enum.auto()
    FAR_OFF = enum.auto()
    MIRRORED = enum.auto()


class WeightFinding(NamedTuple):
    """What was found, and in words the joint with what was expected and got."""

    weight: Weight
    text: str = ''


NOTHING_FOUND = WeightFinding(Weight.UNKNOWN)


class RestingState(NamedTuple):
    """A state with the efforts of its message.

    Attributes
    ----------
    time : float
        Stamp [s].
    position : array, shape (n,)
        [rad or m]
    velocity : array, shape (n,), or None
        [rad/s or m/s]; where there is none the arm is taken to be at rest.
    effort : array, shape (n,), or None
        As the joint states report it.
    """

    time: float
    position: FloatArray
    velocity: FloatArray | None
    effort: FloatArray | None


@dataclass(frozen=True)
class WeightCheck:
    """Compares measured efforts with the weight by the model.

    Attributes
    ----------
    limit_share : float
        What of the effort limits counts; see :func:`find_limit_share`.
    """

    limit_share: float = 1.0

    def is_telling(self, controller: Controller, state: RestingState) -> bool:
        """Return whether the efforts of a state can be compared with the weight."""
        effort, velocity, imu = state.effort, state.velocity, controller.sense.imu
        if effort is None or not effort.any():
            return False
        if controller.tuning.state_effort is not StateEffort.TORQUE:
            return False
        if imu is not None and imu.at(state.time) is None:
            # Nobody knows yet how the base stands.
            return False
        return velocity is None or float(np.abs(velocity).max()) < GUARD_LIMITS.resting_velocity

    def compare(
        self,
        effort: FloatArray,
        weight: FloatArray,
        limits: FloatArray,
        coulomb_friction: FloatArray,
        joint_names: Sequence[str],
    ) -> WeightFinding:
        """Compare the efforts of a resting arm with its weight.

        All of shape (n,) [N m or N]: measured efforts, what holds the arm by the model, effort
        limits, infinite for none, and Coulomb friction of the model.
        """
        bounds = GUARD_LIMITS
        scale = self._scale_of(limits, weight)
        share, measured = weight / scale, effort / scale
        joint = int(np.abs(share).argmax())
        largest = abs(float(share[joint]))
        if not largest >= bounds.weight_least or abs(weight[joint]) < SENSORS.effort_rounding:
            return NOTHING_FOUND
        text = (
            f'joint {joint_names[joint]!r}: expected about {weight[joint]:.3g} N m or N at rest '
            f'by the model, got {effort[joint]:.3g}'
        )
        off, friction = abs(effort[joint] - weight[joint]), coulomb_friction[joint]
        along, size = float(measured @ share), float(np.linalg.norm(share))
        if (
            along <= -bounds.mirrored_part * size**2
            and along <= -bounds.mirrored_alignment * size * float(np.linalg.norm(measured))
            and off > bounds.mirrored_share * scale[joint] + friction
        ):
            return WeightFinding(Weight.MIRRORED, text)
        friction += bounds.weight_friction * scale[joint]
        if off > max(bounds.far_part * abs(weight[joint]), friction):
            return WeightFinding(Weight.FAR_OFF, text)
        return WeightFinding(Weight.CONFIRMED)

    def find(self, controller: Controller, state: RestingState) -> WeightFinding:
        """Check the weight by the efforts of a state where the controller commands gravity."""
        tuning = controller.tuning
        if state.effort is None or not self.is_telling(controller, state):
            return NOTHING_FOUND
        if not tuning.law.terms.gravity:
            return NOTHING_FOUND
        try:
            weight = find_weight(controller, state)
        except InputError:
            # The law will say so of itself.
            return NOTHING_FOUND
        joints = tuning.law.joints
        return self.compare(
            state.effort,
            weight,
            self.limit_share * find_limits(tuning),
            np.array([joint.coulomb_friction for joint in joints])
            + tuning.law.dynamics.robot.coupled_friction,
            [joint.name for joint in joints],
        )

    def check_payload(self, controller: Controller, tuning: Tuning, state: RestingState) -> str:
        """Return what of the measured efforts contradicts a tuning of another load, or ''."""
        if state.effort is None or not self.is_telling(controller, state):
            return ''
        base = controller.sense.resting_base(state.time)
        try:
            before, after = (
                one.hold_law.compensation.gravity(state.position, base)
                for one in (controller.tuning, tuning)
            )
        except InputError:
            return ''
        change = after - before
        share = np.abs(change) / self._scale_of(self.limit_share * find_limits(tuning), before)
        joint = int(share.argmax())
        described = tuning.law.joints[joint]
        if share[joint] < GUARD_LIMITS.weight_least:
            return ''
        coupled = float(tuning.law.dynamics.robot.coupled_friction[joint])
        if abs(change[joint]) < 2.0 * (described.coulomb_friction + coupled):
            return ''
        part = (state.effort[joint] - before[joint]) / change[joint]
        if part >= GUARD_LIMITS.payload_confirmed:
            return ''
        return (
            f'payload: joint {described.name!r} exerts {state.effort[joint]:.3g} N m or N at '
            f'rest; the model expects {before[joint]:.3g} without this change and '
            f'{after[joint]:.3g} with it: does the arm carry this load?'
        )

    def _scale_of(self, limits: FloatArray, weight: FloatArray) -> FloatArray:
        """Return what efforts are shares of, shape (n,) [N m or N].

        The effort limits, in place of one that is infinite the largest weight. None is less than
        a part of the largest.
        """
        heaviest = max(float(np.abs(weight).max(initial=0.0)), SENSORS.effort_rounding)
        scale = np.where(np.isinf(limits), heaviest, limits)
        least = GUARD_LIMITS.weakest_limit * scale.max(initial=0.0)
        shares_of: FloatArray = np.maximum(scale, least)
        return shares_of


def find_limit_share(dynamics: Dynamics, limits: FloatArray) -> float:
    """Return what of the effort limits motors for this arm would have, at most 1.

    Less where the limits are more than `largest_limit` times the weight in each of
    `random_poses` poses, for all joints.
    """
    position = sample_positions(dynamics.robot, GUARD_LIMITS.random_poses)
    still = np.zeros_like(position)
    weight = dynamics.without_friction().inverse_dynamics(position, still, still)
    largest = float((np.abs(weight) / limits).max(initial=0.0))
    return min(1.0, GUARD_LIMITS.largest_limit * largest) if largest > 0.0 else 1.0


def find_weight(controller: Controller, state: RestingState) -> FloatArray:
    """Return the effort that holds the arm at rest, shape (n,) [N m or N].

    By the terms that are in use, and with what the wrist sensor feels.
    """
    position, sense = state.position, controller.sense
    wrench, base = sense.wrench_at(state.time), sense.resting_base(state.time)
    desired = resting_state(position)
    return controller.tuning.hold_law.effort(position, None, desired, wrench, base)


def find_limits(tuning: Tuning) -> FloatArray:
    """Return the effort limits of the model, or those that are set where it has none, shape (n,).

    Friction is a matter of the motors, not of what they are allowed.
    """
    model = np.array([joint.effort_limit for joint in tuning.law.joints])
    return np.where((model > 0.0) & np.isfinite(model), model, tuning.effort_limits)
