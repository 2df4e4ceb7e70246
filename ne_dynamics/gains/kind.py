"""What a mode closes: when, with which velocities, around which arms; and its bounds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ne_dynamics.control import VelocitySettings, VelocitySource, velocity_filter
from ne_dynamics.gains.loop import JointGains, LoopTiming, Modes, elastic_modes, rigid_modes
from ne_dynamics.gains.margins import Margins
from ne_dynamics.gains.plants import Plants
from ne_dynamics.gains.request import GainMode, GainRequest
from ne_dynamics.gains.thresholds import GAINS
from ne_dynamics.model.rigid_body import FloatArray

RAW = 1e9
"""Cut-off of a filter that is none [Hz]."""


BY_MARGINS = 'margins'
BY_NOISE = 'encoder steps'
BY_EFFORT = 'effort limit'
BY_DRIVE = "drive's range"

BOUND_NAMES = (BY_NOISE, BY_EFFORT, BY_DRIVE, BY_DRIVE)


@dataclass(frozen=True, eq=False)
class LoopKind:
    """What a mode closes.

    Attributes
    ----------
    mode : GainMode
    timing : LoopTiming
    cutoff : float
        Of the node's velocity filter [Hz]; 0 where the node filters nothing.
    weights : array, shape (N, n, n), or None
        W in the poses of the plants.
    scale : array, shape (n,)
        What a natural frequency squared is multiplied by to be a gain.
    lightest, heaviest : float
        Ends of the eigenvalues of M^-1 W K over all arms, for K = scale.
    integral_share : float
        Corner of the integral, by the natural frequency of the heaviest direction.
    """

    mode: GainMode
    timing: LoopTiming
    cutoff: float
    weights: FloatArray | None
    scale: FloatArray
    lightest: float
    heaviest: float
    integral_share: float = 0.0

    @property
    def rate_per_step(self) -> float:
        """Velocity that one step of the encoder makes, by that step [1/s]."""
        velocity = self.timing.velocity
        return 1.0 / self.timing.period if velocity is None else velocity.d

    @property
    def corner_weights(self) -> FloatArray | None:
        """W in the poses of the light and then of the heavy arms, shape (2 N, n, n)."""
        return None if self.weights is None else np.concatenate((self.weights, self.weights))

    @property
    def has_integral(self) -> bool:
        """Whether there is an integral."""
        return self.integral_share > 0.0

    def gains(self, frequency: FloatArray, damping: FloatArray) -> JointGains:
        """Return the gains of natural frequencies [rad/s] and damping ratios, shape (n,)."""
        kp = frequency * frequency * self.scale
        corner = self.integral_share * frequency * np.sqrt(self.heaviest)
        return JointGains(kp, 2.0 * damping * frequency * self.scale, corner * kp)


class Choice(NamedTuple):
    """What was chosen for a mode.

    Attributes
    ----------
    kind : LoopKind
    frequency : array, shape (n,)
        Natural frequencies [rad/s].
    damping : array, shape (n,)
        Damping ratios.
    gains : JointGains
    active : tuple of n str
        Which constraint each joint has met.
    margins : Margins
        Of all joints at once in all poses, arrays of shape (2 N,), the light arms first.
    """

    kind: LoopKind
    frequency: FloatArray
    damping: FloatArray
    gains: JointGains
    active: tuple[str, ...]
    margins: Margins


def make_modes(
    plants: Plants,
    masses: FloatArray,
    slopes: FloatArray,
    request: GainRequest,
    factor: FloatArray,
) -> Modes:
    """Return the modes of B arms.

    By mass matrices and slopes of what gravity leaves uncompensated, shape (B, n, n) each, and the
    factor by which their rotors differ from those of the model, shape (B,).
    """
    stiffness = request.joint_stiffness(plants.joints)
    if stiffness is None:
        return rigid_modes(masses, slopes)
    rotors = factor[:, np.newaxis] * plants.rotors
    return elastic_modes(masses, slopes, rotors, stiffness, request.elastic_damping_ratio)


def corner_modes(mode: GainMode, plants: Plants, request: GainRequest) -> Modes:
    """Return the modes of the lightest and the heaviest arm in each pose."""
    u, count = request.uncertainty, len(plants.poses)
    factor = np.repeat((1.0 - u, 1.0 + u), count)
    slopes = plants.corner_slopes(request, is_compensated=mode is GainMode.COMPUTED_TORQUE)
    return make_modes(plants, plants.corners(), slopes, request, factor)


def loop_kind(
    mode: GainMode,
    plants: Plants,
    request: GainRequest,
    cutoff: float,
    integral_share: float = 0.0,
) -> LoopKind:
    """Return what a mode closes, with a cut-off frequency of the node's filter [Hz]."""
    is_measured = request.velocity_source is VelocitySource.MEASURED
    if mode is GainMode.MIT:
        period, dead_time = 1.0 / request.drive_rate, request.drive_dead_time
    else:
        period, dead_time = request.period, request.dead_time
    settings = request.velocity_settings(cutoff)
    if not mode.is_of_node:
        settings = VelocitySettings(source=VelocitySource.DIFFERENTIATED, cutoff_frequency=RAW)
    filtered = None if is_measured else velocity_filter(settings, period)
    if mode is GainMode.COMPUTED_TORQUE:
        weights: FloatArray | None = plants.model
        scale = np.ones(plants.poses.shape[1])
        inner = plants.model
    else:
        weights = None
        scale = plants.scale
        inner = np.broadcast_to(np.diag(scale), plants.model.shape)
    light = np.linalg.eigvals(np.linalg.solve(plants.light, inner)).real
    heavy = np.linalg.eigvals(np.linalg.solve(plants.heavy, inner)).real
    return LoopKind(
        mode,
        LoopTiming(period, dead_time, filtered),
        cutoff if mode.is_of_node and not is_measured else 0.0,
        weights,
        scale,
        float(light.max()),
        float(heavy.min()),
        integral_share,
    )


class GainBounds:
    """What encoders, motors and drives allow of gains."""

    def __init__(self, kind: LoopKind, plants: Plants, request: GainRequest) -> None:
        joints = plants.joints
        limits = request.limits(joints)
        diagonal = np.diagonal(plants.model, axis1=1, axis2=2).max(axis=0)
        weight = np.ones(len(joints)) if kind.weights is None else diagonal
        reserve = np.maximum(
            limits - plants.largest_gravity(request), GAINS.effort_reserve * limits
        )
        steps = request.position_steps(len(joints))
        is_drive = kind.mode is GainMode.MIT
        # Each row: kp a + kd b <= 1.
        self._kp = np.array(
            [
                weight * steps / (request.noise_share * limits),
                weight * request.largest_errors(joints) / reserve,
                np.full(len(joints), 1.0 / request.drive_kp_range[1] if is_drive else 0.0),
                np.zeros(len(joints)),
            ]
        )
        self._kd = np.zeros_like(self._kp)
        self._kd[0] = kind.rate_per_step * self._kp[0]
        self._kd[3] = 1.0 / request.drive_kd_range[1] if is_drive else 0.0

    def check(self, gains: JointGains) -> tuple[FloatArray, tuple[str, ...]]:
        """Return what is used of the narrowest bound of each joint, shape (n,), and its name."""
        used = self._kp * gains.kp + self._kd * gains.kd
        return used.max(axis=0), tuple(BOUND_NAMES[index] for index in used.argmax(axis=0))

    def largest_frequency(self, kind: LoopKind, damping: float) -> FloatArray:
        """Return the highest natural frequencies, shape (n,) [rad/s]."""
        # w^2 a + w b = 1
        a = self._kp * kind.scale
        b = 2.0 * damping * self._kd * kind.scale
        with np.errstate(divide='ignore', invalid='ignore'):
            # 1 / infinite where nothing bounds
            roots = 2.0 / (b + np.sqrt(b * b + 4.0 * a))
        return np.asarray(roots.min(axis=0), dtype=np.float64)
