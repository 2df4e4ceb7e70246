"""Whether a URDF says anything of rotors; :mod:`~ne_dynamics.model.urdf.rotors` then reads it."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass

DRAKE = '{http://drake.mit.edu}'
"""Start of the tags of Drake, whatever namespace a file gives its prefix."""

ROTOR_INERTIA = f'{DRAKE}rotor_inertia'
GEAR_RATIO = f'{DRAKE}gear_ratio'


@dataclass(frozen=True)
class RotorDescription:
    """What turns with a joint behind its gear.

    Attributes
    ----------
    inertia : float
        About the rotor's own axis [kg m^2].
    gear_ratio : float
        Turns of the motor per turn of the joint; prismatic: [rad/m].
    source : str
        Where it stands, for messages.
    """

    inertia: float
    gear_ratio: float
    source: str


def has_rotor(element: ElementTree.Element) -> bool:
    """Return whether an element is an actuator with something of Drake's that is read here."""
    return element.tag == 'actuator' and any(
        child.tag in (ROTOR_INERTIA, GEAR_RATIO) for child in element
    )


def is_differential(transmission: ElementTree.Element) -> bool:
    """Return whether a transmission with rotors turns two motors with two joints."""
    kind = (transmission.findtext('type') or '').strip()
    return kind.endswith('/DifferentialTransmission') and (
        transmission.find(f'actuator/{ROTOR_INERTIA}') is not None
    )


def mentions_rotors(root: ElementTree.Element) -> bool:
    """Return whether there is a transmission, or a joint with a tag of rotors, prefixed or not."""
    tags = {tag.removeprefix(DRAKE) for tag in (ROTOR_INERTIA, GEAR_RATIO)}
    return root.find('transmission') is not None or any(
        str(element.tag).removeprefix(DRAKE) in tags
        for joint in root.findall('joint')
        for element in joint.iter()
    )
