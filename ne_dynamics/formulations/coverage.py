"""What a published formulation covers, and the refusal of what it does not."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ne_dynamics.errors import InputError, ModelError
from ne_dynamics.formulations.arm import Arm

HALF_WAY_TOLERANCE = 1e-12
"""How far a centre of mass may be from the middle of its link vector, relative to its length."""


@dataclass(frozen=True)
class Covers:
    """Features of an arm or a request that a formulation covers.

    Attributes
    ----------
    convention : str
        Denavit-Hartenberg convention, 'standard' or 'modified'.
    prismatic : bool
        Joints that slide.
    products_of_inertia : bool
        Inertia tensors that are not diagonal in the link's frame.
    any_center_of_mass : bool
        Centres of mass elsewhere than half-way along the link vector.
    wrench : bool
        A wrench at the tip: f_{n+1}, n_{n+1}.
    viscous_friction, coulomb_friction, rotor_inertia : bool
    moving_base : bool
    added : tuple of str
        Which of these the document does not give and this package added, e.g. 'wrench'.
    """

    convention: str
    prismatic: bool = True
    products_of_inertia: bool = True
    any_center_of_mass: bool = True
    wrench: bool = True
    viscous_friction: bool = True
    coulomb_friction: bool = False
    rotor_inertia: bool = False
    moving_base: bool = False
    added: tuple[str, ...] = ()

    def missing(self, arm: Arm) -> list[str]:
        """Return what the arm has and the formulation does not cover, one phrase each."""
        if arm.convention != self.convention:
            return [f'expected {self.convention} Denavit-Hartenberg frames, got {arm.convention}']
        phrases = []
        for index, link in enumerate(arm.links):
            joint, body = f'joint {link.name!r}', f'link {index + 1}'
            if link.is_prismatic and not self.prismatic:
                phrases.append(f'{joint}: expected a revolute joint, got a prismatic one')
            if not link.has_principal_axes and not self.products_of_inertia:
                phrases.append(
                    f'{body}: expected axial moments of inertia only, got products of inertia'
                )
            if not self.any_center_of_mass and not is_half_way(arm, index):
                phrases.append(
                    f'{body}: expected the centre of mass half-way back along the link vector, '
                    f'got {list(link.center_of_mass)}'
                )
            for covered, value, what in (
                (self.viscous_friction, link.viscous_friction, 'viscous friction'),
                (self.coulomb_friction, link.coulomb_friction, 'Coulomb friction'),
                (self.rotor_inertia, link.reflected_inertia, 'rotor inertia'),
            ):
                if value != 0.0 and not covered:
                    phrases.append(f'{joint}: expected no {what}, got {value}')
        return phrases


def is_half_way(arm: Arm, index: int) -> bool:
    """Return whether link `index` of a standard arm has its mass centre where 000 puts it."""
    link = arm.links[index]
    cosine, sine = link.cos_sin_alpha
    vector = (link.a, link.constant_shift * sine, link.constant_shift * cosine)
    limit = HALF_WAY_TOLERANCE * max(1.0, *(abs(value) for value in vector))
    return not link.is_prismatic and all(
        abs(value + 0.5 * along) <= limit
        for value, along in zip(link.center_of_mass, vector, strict=True)
    )


@dataclass(frozen=True)
class Formulation:
    """One published form of the inverse dynamics.

    Attributes
    ----------
    name : str
    document : str
        Number of the source document and what it is.
    equations : str
        The document's equation numbers.
    function : callable
        ``function(arm, q, qd, qdd, *, gravity, wrench=None, base_motion=None)``, which returns a
        list of n scalars.
    covers : Covers
    """

    name: str
    document: str
    equations: str
    function: Callable[..., list[Any]]
    covers: Covers


def check_request(
    name: str,
    covers: Covers,
    arm: Arm,
    *,
    wrench: Sequence[Any] | None = None,
    base_motion: Sequence[Any] | None = None,
    gravity: Sequence[Any] | None = None,
    **joint_values: Sequence[Any],
) -> None:
    """Refuse what a formulation does not cover, and arguments that are not as expected.

    Parameters
    ----------
    name : str
        Of the formulation.
    covers : Covers
    arm : Arm
    wrench, base_motion, gravity : sequence of 6, 9, 3 scalars, optional
    **joint_values : sequence of n scalars
        By name, e.g. ``q=q``.

    Raises
    ------
    ModelError
        When the arm has something that the formulation does not cover.
    InputError
        When an argument is of the wrong length, not finite, or not covered.
    """
    missing = covers.missing(arm)
    if missing:
        raise ModelError(f'{name}: {"; ".join(missing)}')
    if wrench is not None and not covers.wrench:
        raise InputError(f'{name}: wrench: expected none, got one; the form has no tip wrench')
    if base_motion is not None and not covers.moving_base:
        raise InputError(
            f'{name}: base_motion: expected none, got one; the form is for a fixed base'
        )
    for key, values, count in (
        *((key, values, arm.n) for key, values in joint_values.items()),
        ('gravity', gravity, 3),
        ('wrench', wrench, 6),
        ('base_motion', base_motion, 9),
    ):
        if values is None:
            continue
        if len(values) != count:
            raise InputError(f'{name}: {key}: expected {count} numbers, got {len(values)}')
        for index, value in enumerate(values):
            if not _is_finite(value):
                raise InputError(
                    f'{name}: {key}: expected finite numbers, got {value} at index {index}'
                )


def _is_finite(value: Any) -> bool:
    if isinstance(value, (float, int)):
        return math.isfinite(value)
    if isinstance(value, (np.ndarray, np.generic)):
        return bool(np.isfinite(value).all())
    return True  # symbols and counting scalars


def with_viscous_friction(arm: Arm, efforts: Sequence[Any], qd: Sequence[Any]) -> list[Any]:
    """Return the efforts plus b_i qd_i (000 equation 2.39), where there is friction."""
    return [
        effort + link.viscous_friction * rate if link.viscous_friction != 0.0 else effort
        for link, effort, rate in zip(arm.links, efforts, qd, strict=True)
    ]
