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
    """What the friction of a joint is beyond viscous and Coulomb friction. All off by default.

    With v the velocity of the joint, and viscous and Coulomb friction as
    :class:`~ne_dynamics.model.robot.Joint` has them, the drive has to add::

        s(v) = tanh(v / smoothing_velocity), or sign(v) when smoothing_velocity is 0
        level(v) = coulomb_friction + load_coefficient |load|
            + (static_friction - coulomb_friction) exp(-(v / stribeck_velocity)^2)
            + hysteresis_friction / 2
        effort = viscous_friction v + level(v) s(v) + friction_asymmetry s(v)^2 + friction_offset
            + square_root_friction v / (v^2 + w^2)^(1/4) + cubic_friction v^3

    w is smoothing_velocity, and at least 1e-6 rad/s or m/s, so that the square-root term is
    smooth at rest. The load is the effort that links, payload, base motion and wrenches, at the
    tip and on links, ask of the joint while no joint accelerates, without friction: the effort
    stays linear in the acceleration.

    Hysteresis is friction that turns round with the joint only gradually. Its state z, between -1
    and 1, follows the position, at any velocity::

        dz = (sign(dq) - z) |dq| / hysteresis_displacement

    and the effort is hysteresis_friction z. What knows no more than a position and a velocity
    takes half of it in the direction of the motion, as above; who knows the path adds
    hysteresis_friction (z - s(v) / 2), by :mod:`ne_dynamics.algorithms.hysteresis`.

    Attributes
    ----------
    static_friction : float or None
        Friction at the beginning of a motion (break-away) [N m or N]; None: that of Coulomb,
        without Stribeck effect.
    stribeck_velocity : float
        Velocity at which it has fallen to 37 % of the way to Coulomb friction [rad/s or m/s];
        greater than 0 with a static friction.
    smoothing_velocity : float
        Width of the change of sign around rest [rad/s or m/s]; 0 for a step.
    load_coefficient : float
        Part of the magnitude of the load that is added to Coulomb friction.
    friction_asymmetry : float
        Half the difference of the friction in positive and in negative direction [N m or N].
    friction_offset : float
        Effort that is there at any velocity, at rest too [N m or N].
    square_root_friction : float
        [N m (s/rad)^0.5 or N (s/m)^0.5]
    cubic_friction : float
        [N m (s/rad)^3 or N (s/m)^3]
    hysteresis_friction : float
        Friction that builds up with the displacement after a turn [N m or N].
    hysteresis_displacement : float
        After which 63 % of the way from what it was to what it becomes is gone [rad or m]; greater
        than 0 with hysteresis.

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
        """Whether there is nothing but viscous friction and a step of Coulomb friction."""
        return self == FrictionModel()

    @property
    def depends_on_load(self) -> bool:
        """Whether the load of the joint enters."""
        return self.load_coefficient != 0.0

    @property
    def has_hysteresis(self) -> bool:
        """Whether the path by which the joint has come enters."""
        return self.hysteresis_friction != 0.0
