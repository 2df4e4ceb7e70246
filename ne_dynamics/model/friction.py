"""Friction of a joint beyond its viscous and Coulomb friction."""

from __future__ import annotations

from dataclasses import dataclass, fields

from ne_dynamics.errors import ModelError
from ne_dynamics.model.frozen import Frozen, checked_number

LEAST_ROOT_VELOCITY = 1e-6
"""Width at rest of the square-root friction [rad/s or m/s], which has no slope there without."""

LEAST_VELOCITY = 1e-12
"""Smallest smoothing or Stribeck velocity, or displacement, that is not zero [SI]."""

LARGEST = 1e100
"""Largest magnitude of a number of friction [SI]: products of them are still finite."""

HYSTERESIS_WITHOUT_PATH = 0.5
"""Part of the hysteresis that is taken where only a velocity is known."""

_WIDTHS = ('stribeck_velocity', 'smoothing_velocity', 'hysteresis_displacement')


@dataclass(frozen=True)
class FrictionModel(Frozen):
    """Friction of a joint beyond viscous and Coulomb friction; all terms are off by default.

    With v the velocity of the joint, and viscous and Coulomb friction as in
    :class:`~ne_dynamics.model.robot.Joint`, the drive has to add::

        s(v) = tanh(v / smoothing_velocity), or sign(v) when smoothing_velocity is 0
        level(v) = coulomb_friction + load_coefficient |load|
            + (static_friction - coulomb_friction) exp(-(v / stribeck_velocity)^2)
            + hysteresis_friction / 2
        effort = viscous_friction v + level(v) s(v) + friction_asymmetry s(v)^2 + friction_offset
            + square_root_friction v / (v^2 + w^2)^(1/4) + cubic_friction v^3

    w is smoothing_velocity, but at least 1e-6 rad/s or m/s, so that the square-root term is
    smooth at rest. The load is the inverse dynamics at zero acceleration without friction, with
    payload, base motion and wrenches; the effort stays linear in the acceleration.

    Hysteresis is friction that reverses gradually after the joint reverses. Its state z, between
    -1 and 1, follows the position, at any velocity::

        dz = (sign(dq) - z) |dq| / hysteresis_displacement

    and the effort is hysteresis_friction z. Functions that know only position and velocity use
    half of it in the direction of the motion, as above; functions that know the path add
    hysteresis_friction (z - s(v) / 2), see :mod:`ne_dynamics.algorithms.hysteresis`.

    Attributes
    ----------
    static_friction : float or None
        Break-away friction at the start of a motion [N m or N]; None: equal to Coulomb friction,
        no Stribeck effect.
    stribeck_velocity : float
        Velocity at which the excess of static over Coulomb friction has fallen to 37 % [rad/s or
        m/s]; greater than 0 with a static friction.
    smoothing_velocity : float
        Velocity range around rest over which friction changes its sign [rad/s or m/s]; 0 for a
        step.
    load_coefficient : float
        Ratio of the additional Coulomb friction to the magnitude of the load.
    friction_asymmetry : float
        Half the difference of the friction in positive and in negative direction [N m or N].
    friction_offset : float
        Constant effort at any velocity, at rest too [N m or N].
    square_root_friction : float
        [N m (s/rad)^0.5 or N (s/m)^0.5]
    cubic_friction : float
        [N m (s/rad)^3 or N (s/m)^3]
    hysteresis_friction : float
        Friction that builds up with the displacement after a reversal [N m or N].
    hysteresis_displacement : float
        Displacement after which 63 % of the change is complete [rad or m]; greater than 0 with
        hysteresis.

    Raises
    ------
    ModelError
        When a number is not finite or larger than 1e100, a velocity, a static friction, the load
        coefficient or a number of the hysteresis is negative, a velocity or the displacement is
        between 0 and 1e-12, or there is a static friction without Stribeck velocity or a
        hysteresis without displacement.

    Notes
    -----
    Stribeck's exponential: Armstrong-Helouvry, Dupont and Canudas de Wit 1994; Olsson et al. 1998;
    Bona and Indri 2005. Load: Hamon, Gautier and Garrec 2010. Hysteresis: Dahl 1968 and 1976,
    with exponent 1.
    """

    static_friction: float | None = None
    stribeck_velocity: float = 0.0
    smoothing_velocity: float = 0.0
    load_coefficient: float = 0.0
    friction_asymmetry: float = 0.0
    friction_offset: float = 0.0
    square_root_friction: float = 0.0
    cubic_friction: float = 0.0
    hysteresis_friction: float = 0.0
    hysteresis_displacement: float = 0.0

    def __post_init__(self) -> None:
        for item in fields(self):
            value = getattr(self, item.name)
            if value is None and item.name == 'static_friction':
                continue
            number = checked_number(value, item.name)
            if abs(number) > LARGEST:
                raise ModelError(
                    f'{item.name}: expected at most {LARGEST:g} in magnitude, got {number:g}'
                )
            object.__setattr__(self, item.name, number)
        for key in ('static_friction', 'load_coefficient', 'hysteresis_friction', *_WIDTHS):
            number = getattr(self, key) or 0.0
            if number < 0.0:
                raise ModelError(f'{key}: expected >= 0, got {number:g}')
            if key in _WIDTHS and 0.0 < number < LEAST_VELOCITY:
                raise ModelError(
                    f'{key}: expected 0 or at least {LEAST_VELOCITY:g}, got {number:g}'
                )
        if self.static_friction is not None and self.stribeck_velocity == 0.0:
            raise ModelError(
                f'stribeck_velocity: expected > 0 with static_friction {self.static_friction:g}, '
                'got 0'
            )
        if self.has_hysteresis and self.hysteresis_displacement == 0.0:
            raise ModelError(
                'hysteresis_displacement: expected > 0 with hysteresis_friction '
                f'{self.hysteresis_friction:g}, got 0'
            )

    @property
    def is_off(self) -> bool:
        """Whether there is only viscous friction and Coulomb friction with a step at rest."""
        return self == _NO_FRICTION

    @property
    def depends_on_load(self) -> bool:
        """Whether friction depends on the load of the joint."""
        return self.load_coefficient != 0.0

    @property
    def has_hysteresis(self) -> bool:
        """Whether friction depends on the path of the joint."""
        return self.hysteresis_friction != 0.0


_NO_FRICTION = FrictionModel()
