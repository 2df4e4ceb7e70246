"""What a published form covers."""

from __future__ import annotations

from dataclasses import dataclass

from ne_dynamics.papers.forms.arm import Arm, DHLink, Triple


@dataclass(frozen=True)
class Covers:
    """Features of an arm that a formulation covers.

    Every form takes a tip wrench, viscous friction and a base that moves, where its document does
    not give them with what this package added; none takes Coulomb friction or rotors.

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
    """

    convention: str
    prismatic: bool = True
    products_of_inertia: bool = True
    any_center_of_mass: bool = True

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
            for value, what in (
                (link.coulomb_friction, 'Coulomb friction'),
                (link.reflected_inertia, 'rotor inertia'),
            ):
                if value != 0.0:
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
