"""A drive whose shaft turns with several joints, as in the wrists of many arms."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ne_dynamics.errors import ModelError
from ne_dynamics.model.friction import FrictionModel
from ne_dynamics.model.frozen import Frozen, checked_number
from ne_dynamics.model.rigid_body import FloatArray

NUMBER_KEYS = (
    'rotor_inertia',
    'gear_ratio',
    'viscous_friction',
    'coulomb_friction',
    'smoothing_velocity',
)
"""Numbers of a drive beside its ratios."""


@dataclass(frozen=True)
class CoupledDrive(Frozen):
    """A shaft that turns with several joints; it adds to the drives that the joints have.

    Its velocity is ``v = sum of ratio_j qd_j``, its effort, with the reflected inertia J =
    gear_ratio^2 rotor_inertia::

        e = J (sum of ratio_j qdd_j) + viscous_friction v + coulomb_friction s(v)
        s(v) = tanh(v / smoothing_velocity), or sign(v) when smoothing_velocity is 0

    and each of its joints needs ratio_j e beside what it needs without the drive: no power is
    lost or won in the coupling.

    Attributes
    ----------
    name : str
    joints : tuple of str
        Names of the joints that it turns with.
    ratios : tuple of float
        Turns of the shaft for each turn of a joint, other than 0 [rad/rad or rad/m].
    rotor_inertia : float
        Of the motor's rotor about its own axis [kg m^2].
    gear_ratio : float
        Turns of the motor for each turn of the shaft.
    viscous_friction : float
        [N m s/rad], at the shaft.
    coulomb_friction : float
        [N m], at the shaft.
    smoothing_velocity : float
        Width of the change of sign around rest [rad/s]; 0 for a step.

    Raises
    ------
    ModelError
        When a name is empty, there is no joint, a joint stands twice, a ratio is 0, a number is
        not finite, inertia, friction or smoothing velocity is negative, or the inertia overflows.

    Notes
    -----
    Corke and Armstrong-Helouvry 1994 (Puma 560); Gautier, Janot and Vandanjon 2013 (Staubli TX40:
    joint 6 with the three terms of ``qd5 + qd6``).
    """

    name: str
    joints: tuple[str, ...]
    ratios: tuple[float, ...]
    rotor_inertia: float = 0.0
    gear_ratio: float = 1.0
    viscous_friction: float = 0.0
    coulomb_friction: float = 0.0
    smoothing_velocity: float = 0.0

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name:
            raise ModelError(f'coupled drive: expected a name, got {self.name!r}')
        what = f'coupled drive {self.name!r}'
        object.__setattr__(self, 'joints', tuple(self.joints))
        self._check_joints(what)
        ratios = [
            checked_number(ratio, f'{what}: ratio of joint {joint!r}')
            for joint, ratio in zip(self.joints, self.ratios, strict=True)
        ]
        object.__setattr__(self, 'ratios', tuple(ratios))
        for joint, ratio in self.items:
            if ratio == 0.0:
                raise ModelError(f'{what}: ratio of joint {joint!r}: expected other than 0, got 0')
        for key in NUMBER_KEYS:
            value = checked_number(getattr(self, key), f'{what}: {key}')
            if value < 0.0 and key != 'gear_ratio':
                raise ModelError(f'{what}: {key}: expected >= 0, got {value:g}')
            object.__setattr__(self, key, value)
        self._check_sizes(what)

    def _check_joints(self, what: str) -> None:
        if not self.joints or len(self.joints) != len(tuple(self.ratios)):
            raise ModelError(
                f'{what}: expected joints with one ratio each, got {len(self.joints)} joints and '
                f'{len(tuple(self.ratios))} ratios'
            )
        if len(set(self.joints)) < len(self.joints):
            raise ModelError(
                f'{what}: expected each joint once, got {", ".join(map(str, self.joints))}'
            )

    def _check_sizes(self, what: str) -> None:
        try:
            _ = self.friction
        except ModelError as error:
            raise ModelError(f'{what}: {error}') from error
        if self.rotor_inertia > 0.0 and self.gear_ratio == 0.0:
            raise ModelError(
                f'{what}: gear_ratio: expected other than 0 with a rotor_inertia of '
                f'{self.rotor_inertia:g}, got 0'
            )
        largest = max(map(abs, self.ratios))
        sizes = (self.reflected_inertia, self.viscous_friction, self.coulomb_friction, 1.0)
        if not all(math.isfinite(size * largest * largest) for size in sizes):
            raise ModelError(
                f'{what}: expected ratios whose square times inertia and friction is finite, got '
                f'overflow with {largest:g}'
            )

    @property
    def items(self) -> tuple[tuple[str, float], ...]:
        """Each joint with its ratio."""
        return tuple(zip(self.joints, self.ratios, strict=True))

    @property
    def formula(self) -> str:
        """What the shaft turns with, e.g. 'joint_5 - 2 joint_6'."""
        text = ''
        for joint, ratio in self.items:
            sign = ('-' if ratio < 0.0 else '') if not text else f' {"-" if ratio < 0.0 else "+"} '
            text += sign + ('' if abs(ratio) == 1.0 else f'{abs(ratio):g} ') + joint
        return text

    @property
    def reflected_inertia(self) -> float:
        """Rotor inertia as the shaft feels it [kg m^2]."""
        return self.gear_ratio * self.gear_ratio * self.rotor_inertia

    @property
    def friction(self) -> FrictionModel:
        """What friction is beyond viscous and Coulomb friction."""
        return FrictionModel(smoothing_velocity=self.smoothing_velocity)

    def without_friction(self) -> CoupledDrive:
        """Return the drive with its inertia alone."""
        return replace(self.scaled(1.0, 0.0), smoothing_velocity=0.0)

    def scaled(self, inertia: float, friction: float) -> CoupledDrive:
        """Return the drive with its inertia and its friction multiplied by factors."""
        return replace(
            self,
            rotor_inertia=inertia * self.rotor_inertia,
            viscous_friction=friction * self.viscous_friction,
            coulomb_friction=friction * self.coulomb_friction,
        )

    def require_joints(self, joint_names: Sequence[str]) -> None:
        """Raise a ModelError where one of its joints is not among these."""
        for name in self.joints:
            if name not in joint_names:
                raise ModelError(
                    f'coupled drive {self.name!r}: no joint {name!r}; the joints are '
                    f'{", ".join(joint_names)}'
                )

    def find_row(self, joint_names: tuple[str, ...]) -> FloatArray:
        """Return the ratios in the order of joints, shape (n,); 0 for joints without one."""
        ratios = dict(self.items)
        return np.array([ratios.get(name, 0.0) for name in joint_names])

    def move_to_coordinates(self, motions: Mapping[str, tuple[str, float]]) -> CoupledDrive | None:
        """Return the drive over the coordinates that move its joints.

        Parameters
        ----------
        motions : mapping of str to (str, float)
            By joint its coordinate, and the multiplier that takes the coordinate's velocity to
            the joint's. A joint that is not in it does not move.

        Returns
        -------
        CoupledDrive or None
            None when nothing that moves turns the shaft.
        """
        ratios: dict[str, float] = {}
        for joint, ratio in self.items:
            if joint in motions:
                coordinate, multiplier = motions[joint]
                ratios[coordinate] = ratios.get(coordinate, 0.0) + ratio * multiplier
        kept = {name: ratio for name, ratio in ratios.items() if ratio != 0.0}
        if not kept:
            return None
        return replace(self, joints=tuple(kept), ratios=tuple(kept.values()))
