"""A drive whose shaft turns with several joints, as in the wrists of many arms."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ne_dynamics.errors import ModelError
from ne_dynamics.model.friction import FrictionModel
from ne_dynamics.model.frozen import Frozen, checked_number, settle_drive
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
    """A drive whose shaft velocity combines several joints, in addition to the joints' own drives.

    The shaft velocity is ``v = sum of ratio_j qd_j``; with the reflected inertia J = gear_ratio^2
    rotor_inertia, the shaft effort is::

        e = J (sum of ratio_j qdd_j) + viscous_friction v + coulomb_friction s(v)
        s(v) = tanh(v / smoothing_velocity), or sign(v) when smoothing_velocity is 0

    Each of its joints needs the additional effort ratio_j e: the coupling conserves power.

    Attributes
    ----------
    name : str
    joints : tuple of str
        Names of the joints that are coupled to the shaft.
    ratios : tuple of float
        Shaft turns per turn of each joint, not 0 [rad/rad or rad/m].
    rotor_inertia : float
        Inertia of the motor's rotor about its own axis [kg m^2].
    gear_ratio : float
        Motor turns per shaft turn.
    viscous_friction : float
        At the shaft [N m s/rad].
    coulomb_friction : float
        At the shaft [N m].
    smoothing_velocity : float
        Velocity range around rest over which friction changes its sign [rad/s]; 0 for a step.

    Raises
    ------
    ModelError
        When a name is empty, there is no joint, a joint is named twice, a ratio is 0, a number is
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
        settle_drive(self, NUMBER_KEYS, what)
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
        largest = max(map(abs, self.ratios))
        sizes = (self.reflected_inertia, self.viscous_friction, self.coulomb_friction, 1.0)
        if not all(math.isfinite(size * largest * largest) for size in sizes):
            raise ModelError(
                f'{what}: expected ratios whose square times inertia and friction is finite, got '
                f'overflow with {largest:g}'
            )

    @property
    def items(self) -> tuple[tuple[str, float], ...]:
        """Pairs of joint name and ratio."""
        return tuple(zip(self.joints, self.ratios, strict=True))

    @property
    def formula(self) -> str:
        """The shaft's motion as text, e.g. 'joint_5 - 2 joint_6'."""
        text = ''
        for joint, ratio in self.items:
            sign = ('-' if ratio < 0.0 else '') if not text else f' {"-" if ratio < 0.0 else "+"} '
            text += sign + ('' if abs(ratio) == 1.0 else f'{abs(ratio):g} ') + joint
        return text

    @property
    def reflected_inertia(self) -> float:
        """Rotor inertia reflected to the shaft [kg m^2]."""
        return self.gear_ratio * self.gear_ratio * self.rotor_inertia

    @property
    def friction(self) -> FrictionModel:
        """The smoothing of its Coulomb friction as a :class:`FrictionModel`."""
        return FrictionModel(smoothing_velocity=self.smoothing_velocity)

    def without_friction(self) -> CoupledDrive:
        """Return the drive with its inertia only."""
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
        """Raise a ModelError if a joint of the drive is not among these names."""
        for name in self.joints:
            if name not in joint_names:
                raise ModelError(
                    f'coupled drive {self.name!r}: no joint {name!r}; the joints are '
                    f'{", ".join(joint_names)}'
                )

    def find_row(self, joint_names: tuple[str, ...]) -> FloatArray:
        """Return the ratios in the order of `joint_names`, shape (n,); 0 for other joints."""
        ratios = dict(self.items)
        return np.array([ratios.get(name, 0.0) for name in joint_names])

    def move_to_coordinates(self, motions: Mapping[str, tuple[str, float]]) -> CoupledDrive | None:
        """Return the drive expressed in coordinates: locked joints dropped, mimic joints resolved.

        Parameters
        ----------
        motions : mapping of str to (str, float)
            Joint name to the name of its coordinate, and the ratio of the joint's velocity to the
            coordinate's. A joint that is missing does not move.

        Returns
        -------
        CoupledDrive or None
            None when no coordinate moves the shaft.
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
