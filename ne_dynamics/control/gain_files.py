"""Gains as files that their programs read: parameters in YAML."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import yaml

from ne_dynamics.control.gain_request import GainMode
from ne_dynamics.errors import InputError

if TYPE_CHECKING:
    from ne_dynamics.control.gain_design import GainDesign

KINDS = ('node', 'jtc', 'mit')
"""What there is a file of."""

FILE_NAMES: Mapping[str, str] = {
    'node': 'computed_torque.params.yaml',
    'jtc': 'jtc_gains.yaml',
    'mit': 'drives.params.yaml',
}

NODE = '/**/computed_torque'
CONTROLLER = 'effort_trajectory_controller'
"""Name of the controller in the file of gains for joint_trajectory_controller."""


def list_kinds(design: GainDesign) -> list[str]:
    """Return of what there are gains."""
    return [kind for kind in KINDS if _has(design, kind)]


def _has(design: GainDesign, kind: str) -> bool:
    if kind == 'node':
        return any(mode.is_of_node for mode in design.modes)
    return GainMode(kind) in design.modes


def as_yaml(design: GainDesign, kind: str, controller: str = CONTROLLER) -> str:
    """Return a file of parameters.

    Parameters
    ----------
    design : GainDesign
    kind : str
        'node': of the first mode of the node that there are gains for, the gains of the other one
        beside it; 'jtc': the block `gains`; 'mit': of the node that feeds drives.
    controller : str
        Name of the joint_trajectory_controller.

    Raises
    ------
    InputError
        When there are no gains of this kind: why.
    """
    if kind not in KINDS:
        raise InputError(f'expected one of {", ".join(KINDS)}, got {kind!r}')
    header = _header(design, kind)
    if kind == 'jtc':
        content: dict[str, Any] = {
            f'/**/{controller}': {'ros__parameters': {'gains': design.jtc_gains()}}
        }
    else:
        content = {NODE: {'ros__parameters': _nested(_node_parameters(design, kind))}}
    text = yaml.safe_dump(content, sort_keys=False, default_flow_style=None, width=96)
    return f'{header}{text}'


def _node_parameters(design: GainDesign, kind: str) -> dict[str, Any]:
    if kind == 'mit':
        return design.node_parameters(GainMode.MIT)
    modes = [mode for mode in design.modes if mode.is_of_node]
    if not modes:
        refused = [text for mode, text in design.refusals.items() if mode.is_of_node]
        raise InputError('; '.join(refused) or 'modes: expected one of the node')
    return design.node_parameters(modes[0])


def _header(design: GainDesign, kind: str) -> str:
    request = design.request
    lines = [
        f'Gains by `ne_dynamics gains` for {request.rate:g} Hz, a dead time of '
        f'{1e3 * request.dead_time:.4g} ms, masses within {100.0 * request.uncertainty:g} %.',
    ]
    if kind == 'jtc':
        lines += [
            'Clamps are those of ros2_controllers from 5.2, and of late 4.x: older ones have one',
            'i_clamp, to be given the same number. Those of the output are the effort limits.',
        ]
    if kind == 'mit':
        lines += ['kp and kd go to the drives with every command; doc/command.md.']
    return ''.join(f'# {line}\n' for line in lines)


def _nested(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return dotted names as blocks."""
    tree: dict[str, Any] = {}
    for name, value in parameters.items():
        *path, last = name.split('.')
        place = tree
        for part in path:
            place = place.setdefault(part, {})
        place[last] = value
    return tree
