"""What a published form covers."""

from __future__ import annotations

from dataclasses import dataclass

from ne_dynamics.papers.forms.arm import Arm, DHLink, Triple
from ne_dynamics.papers.forms.generic_scalars import Scalar, Scalars


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
            if not self.any_center_of_mass and not is_half_way(link):
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


def half_way_center(link: DHLink) -> Triple:
    """Return the middle of a revolute link's vector, in frame i [m] (000 3.26)."""
    cosine, sine = link.cos_sin_alpha
    shift = link.constant_shift
    return -0.5 * link.a, -0.5 * shift * sine, -0.5 * shift * cosine


def is_half_way(link: DHLink) -> bool:
    """Return whether a standard link turns and has its mass centre where 000 puts it."""
    middle = half_way_center(link)
    limit = 1e-12 * max(1.0, *(2.0 * abs(value) for value in middle))
    return not link.is_prismatic and all(
        abs(value - half) <= limit for value, half in zip(link.center_of_mass, middle, strict=True)
    )


def with_viscous_friction(arm: Arm, efforts: Scalars, qd: Scalars) -> list[Scalar]:
    """Return the efforts plus b_i qd_i (000 equation 2.39), where there is friction."""
    return [
        effort + link.viscous_friction * rate if link.viscous_friction != 0.0 else effort
        for link, effort, rate in zip(arm.links, efforts, qd, strict=True)
    ]
