"""Read what turns behind the gears: rotor inertias and reductions of a URDF.

URDF itself has no rotor inertia. What is read, and from where:

- ``drake:rotor_inertia`` and ``drake:gear_ratio``, the elements of Drake with the attribute
  ``value``, in the ``actuator`` of a ``transmission`` or of a ``joint``.
- ``mechanicalReduction``, the text of an element in the ``transmission`` (as the PR2 has it), in
  its ``actuator`` or in its ``joint`` (as ros_control has it). ``drake:gear_ratio`` goes before
  it, and without both the reduction is 1.

Units: a rotor inertia is about the rotor's own axis [kg m^2], a reduction is turns of the motor
per turn of the joint, for a prismatic joint the motor's angle per travel [rad/m]. (The pair that
Drake documents for a prismatic joint, [kg] and 1, gives the same.) A negative reduction turns the
direction round; its square counts.

A transmission without rotor inertia adds nothing, and faults in it are warnings. Beside a rotor
inertia they are errors. Rotors in a transmission with several joints or actuators are left out,
with a warning, but for those of a differential transmission, which
:mod:`~ne_dynamics.model.urdf.differentials` reads.
"""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator, Mapping

from ne_dynamics.errors import ModelError
from ne_dynamics.model.robot import ModelFinding
from ne_dynamics.model.urdf.rotor_elements import (
    DRAKE,
    GEAR_RATIO,
    ROTOR_INERTIA,
    RotorDescription,
    has_rotor,
    is_differential,
)
from ne_dynamics.model.urdf.xml_values import get_required, quote, read_numbers

REDUCTION = 'mechanicalReduction'
"""Name of the element with a reduction."""

_SHOWN = 3
_WITHOUT_COORDINATE = ('fixed', 'floating', 'planar')


def read_rotors(
    root: ElementTree.Element, joint_types: Mapping[str, str], findings: list[ModelFinding]
) -> dict[str, RotorDescription]:
    """Return the rotor of every joint that has one.

    Parameters
    ----------
    root : Element
        The ``robot``, with the tags of Drake in :data:`DRAKE`.
    joint_types : mapping of str to str
        The types of the joints by their names.
    findings : list of ModelFinding
        What is noticed is added.

    Returns
    -------
    dict of str to RotorDescription
        By the name of the joint.

    Raises
    ------
    ModelError
        When a rotor inertia is no number or negative, its reduction is no number or 0 or stands
        twice with different values, its joint does not exist, or a joint has two.
    """
    rotors: dict[str, RotorDescription] = {}
    # Reductions that stand without a rotor inertia, with where they stand.
    bare: dict[str, dict[float, str]] = {}
    for transmission in root.findall('transmission'):
        if transmission.find(f'actuator/{ROTOR_INERTIA}') is None:
            _note_bare_reduction(transmission, joint_types, bare, findings)
        elif not is_differential(transmission):
            _read_transmission(transmission, joint_types, rotors, findings)
        findings.extend(_find_misplaced(transmission))
    for joint in root.findall('joint'):
        _read_joint_actuator(joint, rotors, bare, findings)
        findings.extend(_find_misplaced(joint))
    for name in [name for name in rotors if joint_types[name] in _WITHOUT_COORDINATE]:
        findings.append(
            ModelFinding(
                'warning',
                'rotor-inertia-unused',
                quote('joint', name),
                f'{rotors.pop(name).source}: expected a rotor inertia at a joint with one '
                f'coordinate, got one at a {joint_types[name]} joint: left out',
            )
        )
    findings.extend(_check_bare_reductions(rotors, bare, joint_types))
    return rotors


def _read_joint_actuator(
    joint: ElementTree.Element,
    rotors: dict[str, RotorDescription],
    bare: dict[str, dict[float, str]],
    findings: list[ModelFinding],
) -> None:
    """Add the rotor of an ``actuator`` inside a joint, with the reduction of its transmission."""
    name = joint.get('name', '')
    what = quote('joint', name)
    actuators = [child for child in joint if has_rotor(child)]
    if len(actuators) > 1:
        raise ModelError(f'{what}: expected one <actuator>, got several')
    for actuator in actuators:
        source = f'{what}, {quote_named(actuator)}'
        if actuator.find(ROTOR_INERTIA) is None:
            _add_bare_reduction(bare, name, actuator, [actuator], source, what, findings)
            continue
        rotor = read_rotor(actuator, [actuator], source, what, findings)
        given = bare.get(name, {})
        if actuator.find(GEAR_RATIO) is None and actuator.find(REDUCTION) is None and given:
            if len(given) > 1:
                raise ModelError(
                    f'{source}: expected one reduction beside a rotor inertia, got '
                    + ' and '.join(f'{value:g} in {where}' for value, where in given.items())
                )
            ratio, where = next(iter(given.items()))
            rotor = RotorDescription(rotor.inertia, ratio, f'{source}, and {where}')
        _add_rotor(rotors, name, rotor)


def _find_misplaced(holder: ElementTree.Element) -> Iterator[ModelFinding]:
    """Yield what stands in a joint or transmission where nobody reads it, or without its prefix.

    Each is said once for each element that it stands in.
    """
    for parent in holder.iter():
        is_read = parent.tag == 'actuator' and any(child is parent for child in holder)
        for tag in dict.fromkeys(str(child.tag) for child in parent):
            name = tag.removeprefix(DRAKE)
            if DRAKE + name not in (ROTOR_INERTIA, GEAR_RATIO) or (is_read and tag != name):
                continue
            got = 'it' if tag != name else f'{name} without prefix'
            place = f'<{parent.tag}>'
            if parent is not holder and parent.tag != 'actuator':
                place += f' of the <{holder.tag}>'
            elif parent is not holder:
                place = quote_named(parent)
            yield ModelFinding(
                'warning',
                'rotor-inertia-unused',
                quote_named(holder),
                f'expected drake:{name} in the <actuator> of a <transmission>, got {got} in '
                f'the {place}: left out',
            )


def _check_bare_reductions(
    rotors: Mapping[str, RotorDescription],
    bare: Mapping[str, Mapping[float, str]],
    joint_types: Mapping[str, str],
) -> Iterator[ModelFinding]:
    """Yield what to know of the reductions that stand without a rotor inertia."""
    geared: list[str] = []
    for name, given in bare.items():
        values = [value for value in given if abs(value) != 1.0]
        if name in rotors:
            others = [value for value in values if value != rotors[name].gear_ratio]
            if others:
                yield ModelFinding(
                    'warning',
                    'gear-ratio-ambiguous',
                    quote('joint', name),
                    f'expected one reduction, got {rotors[name].gear_ratio:g} in '
                    f'{rotors[name].source}, which counts, and {others[0]:g} in '
                    f'{given[others[0]]}',
                )
        elif len(given) > 1:
            yield ModelFinding(
                'warning',
                'gear-ratio-ambiguous',
                quote('joint', name),
                'expected one reduction, got '
                + ' and '.join(f'{value:g} in {where}' for value, where in given.items()),
            )
        elif values and joint_types[name] != 'fixed':
            geared.append(f'{name} {values[0]:g}')
    if geared:
        more = f' and {len(geared) - _SHOWN} more' if len(geared) > _SHOWN else ''
        yield ModelFinding(
            'info',
            'rotor-inertia-missing',
            'robot',
            'expected rotor inertias (drake:rotor_inertia) beside the reductions of '
            f'{", ".join(geared[:_SHOWN])}{more}, got none: what the rotors add is not in the '
            'model',
        )


def _add_rotor(rotors: dict[str, RotorDescription], name: str, rotor: RotorDescription) -> None:
    if name in rotors:
        raise ModelError(
            f'joint {name!r}: expected one rotor inertia, got two: in {rotors[name].source}, and '
            f'in {rotor.source}'
        )
    rotors[name] = rotor


def quote_named(element: ElementTree.Element) -> str:
    """Return how messages call an element that need not have a name."""
    name = element.get('name')
    return quote(str(element.tag), name) if name else f'<{element.tag}>'


def _read_transmission(
    transmission: ElementTree.Element,
    joint_types: Mapping[str, str],
    rotors: dict[str, RotorDescription],
    findings: list[ModelFinding],
) -> None:
    """Add the rotor of a transmission that has one."""
    what = quote_named(transmission)
    joints, actuators = transmission.findall('joint'), transmission.findall('actuator')
    if len(joints) != 1 or len(actuators) != 1:
        findings.append(
            ModelFinding(
                'warning',
                'rotor-inertia-unused',
                what,
                'expected one <joint> and one <actuator> beside a rotor inertia, got '
                f'{len(joints)} and {len(actuators)}: left out; rotors of several joints come '
                'from the <type> transmission_interface/DifferentialTransmission, or from '
                'coupled_drives of the extras',
            )
        )
        return
    name = get_required(joints[0], 'name', f'{what}: joint')
    if name not in joint_types:
        raise ModelError(
            f'{what}: joint: expected a joint of the robot, got {name!r}, which does not exist'
        )
    source = f'{what}, {quote_named(actuators[0])}'
    holders = [*actuators, transmission, *joints]
    _add_rotor(rotors, name, read_rotor(actuators[0], holders, source, what, findings))


def read_rotor(
    actuator: ElementTree.Element,
    holders: list[ElementTree.Element],
    source: str,
    element: str,
    findings: list[ModelFinding],
) -> RotorDescription:
    """Return the rotor of an actuator.

    Parameters
    ----------
    actuator : Element
    holders : list of Element
        Where its reduction may stand.
    source, element : str
        What errors and findings are about.
    findings : list of ModelFinding
        What is noticed is added.

    Raises
    ------
    ModelError
        When the rotor inertia is no number or negative, or the reduction is none or 0.
    """
    inertia = _read_drake(actuator, ROTOR_INERTIA, source)
    if inertia is None or inertia < 0.0:
        raise ModelError(f'{source}: drake:rotor_inertia: expected >= 0, got {inertia}')
    ratio = _read_reduction(actuator, holders, source, element, findings)
    return RotorDescription(inertia, ratio, source)


def _read_drake(actuator: ElementTree.Element, tag: str, source: str) -> float | None:
    """Return the number of an element of Drake; None where there is none."""
    shown = f'drake:{tag.removeprefix(DRAKE)}'
    elements = actuator.findall(tag)
    if len(elements) > 1:
        raise ModelError(f'{source}: expected one <{shown}>, got several')
    if not elements:
        return None
    text = get_required(elements[0], 'value', f'{source}: {shown}')
    return read_numbers(text, 1, f'{source}: {shown} value')[0]


def _read_reduction(
    actuator: ElementTree.Element,
    holders: list[ElementTree.Element],
    source: str,
    element: str,
    findings: list[ModelFinding],
) -> float:
    """Return the reduction between an actuator and its joint."""
    mechanical = {
        read_numbers(child.text or '', 1, f'{source}: {REDUCTION}')[0]: None
        for holder in holders
        for child in holder.findall(REDUCTION)
    }
    if len(mechanical) > 1:
        raise ModelError(
            f'{source}: {REDUCTION}: expected one value, got '
            f'{", ".join(f"{value:g}" for value in mechanical)}'
        )
    ratio = _read_drake(actuator, GEAR_RATIO, source)
    shown = REDUCTION if ratio is None else 'drake:gear_ratio'
    reduction = next(iter(mechanical), 1.0)
    if ratio is None:
        ratio = reduction
    elif abs(reduction) != 1.0 and reduction != ratio:
        findings.append(
            ModelFinding(
                'warning',
                'gear-ratio-ambiguous',
                element,
                f'expected one reduction, got drake:gear_ratio {ratio:g} and {REDUCTION} '
                f'{reduction:g}: the first counts',
            )
        )
    if ratio == 0.0:
        raise ModelError(f'{source}: {shown}: expected a reduction other than 0, got 0')
    return ratio


def _note_bare_reduction(
    transmission: ElementTree.Element,
    joint_types: Mapping[str, str],
    bare: dict[str, dict[float, str]],
    findings: list[ModelFinding],
) -> None:
    """Note the reduction of a transmission without rotor inertia, or what is wrong with it."""
    what = quote_named(transmission)
    joints, actuators = transmission.findall('joint'), transmission.findall('actuator')
    unknown = [joint.get('name') for joint in joints if joint.get('name') not in joint_types]
    if unknown:
        findings.append(
            ModelFinding(
                'warning',
                'transmission-joint-unknown',
                what,
                f'expected a joint of the robot, got {unknown[0]!r}, which does not exist',
            )
        )
    elif len(joints) == len(actuators) == 1:
        holders = [*actuators, transmission, *joints]
        name = str(joints[0].get('name'))
        _add_bare_reduction(bare, name, actuators[0], holders, what, what, findings)


def _add_bare_reduction(
    bare: dict[str, dict[float, str]],
    joint_name: str,
    actuator: ElementTree.Element,
    holders: list[ElementTree.Element],
    source: str,
    element: str,
    findings: list[ModelFinding],
) -> None:
    """Add the reduction of a joint, or what is wrong with it to the findings."""
    try:
        ratio = _read_reduction(actuator, holders, source, element, findings)
    except ModelError as error:
        findings.append(ModelFinding('warning', 'reduction-unusable', element, str(error)))
    else:
        bare.setdefault(joint_name, {}).setdefault(ratio, source)
