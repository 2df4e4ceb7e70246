"""Gains as files that their programs read: parameters in YAML."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from ne_dynamics.errors import InputError
from ne_dynamics.gains.request import GainMode

if TYPE_CHECKING:
    from ne_dynamics.gains.designed_gains import GainDesign

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


CONTROLLER_NAME = re.compile(r'[A-Za-z_][A-Za-z0-9_]*(/[A-Za-z_][A-Za-z0-9_]*)*')
"""Names of nodes in ROS 2, behind namespaces or not."""

ARRAYS = ('kp', 'kv', 'kd')
"""Parameters of the node that have one value a joint."""

JOINTS = 'gain_joints'
"""Parameter of the node: the joints that gains were written for, in their order."""


def require_controller_name(name: str) -> None:
    """Raise an InputError if a name is not a valid name of a controller."""
    if not CONTROLLER_NAME.fullmatch(name):
        raise InputError(
            'controller: expected a name in ROS 2, of letters, digits and _, not beginning with a '
            f'digit, got {name!r}'
        )


def order_joints(own: Sequence[str], wanted: Sequence[str] | None) -> list[int]:
    """Return the index of the model's joint at each place of an order.

    Parameters
    ----------
    own : sequence of str
        Joint names in the order of the model.
    wanted : sequence of str or None
        Joint names in the order of the gains; None: that of the model.

    Raises
    ------
    InputError
        When they are not the same joints.
    """
    names = list(own if wanted is None else wanted)
    if sorted(names) != sorted(own):
        raise InputError(f"joints: expected the model's in any order, {list(own)}, got {names}")
    return [list(own).index(name) for name in names]


def _has(design: GainDesign, kind: str) -> bool:
    if kind == 'node':
        return any(mode.is_of_node for mode in design.modes)
    return GainMode(kind) in design.modes


def list_kinds(design: GainDesign) -> list[str]:
    """Return the kinds of files, see :func:`as_yaml`, for which the design has gains."""
    return [kind for kind in KINDS if _has(design, kind)]


def make_files(
    design: GainDesign,
    folder: Path | None,
    single: Sequence[tuple[str, str]],
    controller: str = CONTROLLER,
    joints: Sequence[str] | None = None,
) -> list[tuple[Path, str]]:
    """Return files and their texts: those with a kind and a name, and all kinds in a folder.

    The rest is as for :func:`as_yaml`.
    """
    files = [(kind, Path(name)) for kind, name in single]
    if folder is not None:
        files += [(kind, folder / FILE_NAMES[kind]) for kind in list_kinds(design)]
    return [(path, as_yaml(design, kind, controller, joints)) for kind, path in files]


def as_yaml(
    design: GainDesign,
    kind: str,
    controller: str = CONTROLLER,
    joints: Sequence[str] | None = None,
) -> str:
    """Return the text of a YAML parameter file with the gains.

    Parameters
    ----------
    design : GainDesign
    kind : str
        'node': parameters of the node for its first mode with gains, with the gains of its other
        mode; 'jtc': the block `gains` of joint_trajectory_controller; 'mit': parameters of the
        node for drives that close the loop.
    controller : str
        Name of the joint_trajectory_controller in the file.
    joints : sequence of str, optional
        Order of arrays in the node's files, that of its parameter of this name; default: that of
        the model.

    Raises
    ------
    InputError
        When there are no gains of this kind, the controller's name is invalid, or the joints are
        not the model's.
    """
    if kind not in KINDS:
        raise InputError(f'expected one of {", ".join(KINDS)}, got {kind!r}')
    require_controller_name(controller)
    own = [joint.name for joint in design.joints]
    order = order_joints(own, joints)
    header = _header(design, kind)
    if kind == 'jtc':
        content: dict[str, Any] = {
            f'/**/{controller}': {'ros__parameters': {'gains': design.jtc_gains()}}
        }
    else:
        parameters = {JOINTS: [own[index] for index in order]}
        for name, value in _node_parameters(design, kind).items():
            is_array = name.rpartition('.')[2] in ARRAYS
            parameters[name] = [value[index] for index in order] if is_array else value
        content = {NODE: {'ros__parameters': nest_names(parameters)}}
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
    else:
        lines += [
            'One value a joint, in the order of gain_joints: the node is not configured where its',
            'own `joints` (default: order of the model) are in another one.',
        ]
    if kind == 'mit':
        lines += ['kp and kd go to the drives with every command; doc/command.md.']
    return ''.join(f'# {line}\n' for line in lines)


def nest_names(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return dotted names as blocks, tuples as lists: what YAML knows."""
    tree: dict[str, Any] = {}
    for name, value in parameters.items():
        *path, last = name.split('.')
        place = tree
        for part in path:
            place = place.setdefault(part, {})
        place[last] = list(value) if isinstance(value, tuple) else value
    return tree
