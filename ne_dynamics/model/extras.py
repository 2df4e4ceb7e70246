"""Friction and drives of joints from a YAML file beside the URDF, which has no place for them.

For ``arm.urdf`` it is called ``arm.extras.yaml``:

.. code-block:: yaml

    joints:
      joint_1:
        viscous_friction: 9.5
        coulomb_friction: 12.0
        rotor_inertia: 3.3e-5
        gear_ratio: 101
        static_friction: 15.0
        stribeck_velocity: 0.05
        smoothing_velocity: 0.01
    coupled_drives:
      wrist:
        ratios: {joint_5: 1, joint_6: 1}
        rotor_inertia: 1.2e-5
        gear_ratio: 45
        viscous_friction: 2.0
        coulomb_friction: 3.0

A number that is given takes the place of the one in the URDF; what is not given stays. The keys
are ``viscous_friction``, ``coulomb_friction``, ``rotor_inertia`` and ``gear_ratio`` of
:class:`~ne_dynamics.model.robot.Joint`, and the attributes of
:class:`~ne_dynamics.model.friction.FrictionModel`. A coupled drive adds to what its joints have,
and its keys are the attributes of :class:`~ne_dynamics.model.coupled_drive.CoupledDrive`.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, TypeGuard

from ne_dynamics.errors import ModelError
from ne_dynamics.model.description_file import looks_like_xml, read_file
from ne_dynamics.model.robot import Joint, ModelFinding, Robot
from ne_dynamics.model.robot_parts import JOINT_KEYS, replace_numbers

if TYPE_CHECKING:
    from ne_dynamics.model.coupled_drive import CoupledDrive

Extras: TypeAlias = 'str | os.PathLike[str] | Mapping[str, Any] | None'
"""File name, or what would be in the file; None: the file beside the URDF if there is one."""

NO_EXTRAS: Mapping[str, Any] = {}
"""Switches the file beside the URDF off."""

NONE = 'none'
"""Word of options and parameters for :data:`NO_EXTRAS`; a file of that name is ``./none``."""

SUFFIX = '.extras.yaml'
"""Of the file beside a URDF, after the name without its last ending."""

LARGEST_EXTRAS_FILE = 2**20
"""Largest file that is read [bytes]; a joint takes about 400."""


@dataclass(frozen=True)
class ModelExtras:
    """Numbers of joints, and coupled drives, beside the URDF.

    Attributes
    ----------
    joints : mapping of str to mapping of str to float
        By name of the joint: numbers by key, of :data:`JOINT_KEYS`.
    source : str
        Name of the file, or 'extras'.
    drives : tuple of CoupledDrive
        As the file has them, over joints that may follow others or not move.
    """

    joints: Mapping[str, Mapping[str, float]]
    source: str
    drives: tuple[CoupledDrive, ...] = ()

    def numbers(self, joint_name: str) -> Mapping[str, float]:
        """Return the numbers of a joint."""
        return self.joints.get(joint_name, {})

    def make_joint_error(self, name: str, kind: str, known: Iterable[str]) -> ModelError:
        """Return the error for a joint that has no friction and no drive.

        Parameters
        ----------
        name : str
        kind : str
            Its type; '' when there is no such joint.
        known : iterable of str
            Names of the joints that can move.
        """
        got = f'which is {kind}' if kind else 'which does not exist'
        section = 'joints'
        if name not in self.joints:
            section = next(
                f'coupled drive {drive.name!r}' for drive in self.drives if name in drive.joints
            )
        return ModelError(
            f'{self.source}: {section}: expected a joint that can move, got {name!r}, {got}; '
            f'the joints are {", ".join(sorted(known))}'
        )

    def describe(self, moving: Iterable[str]) -> Iterator[ModelFinding]:
        """Yield what was read, and what has no effect.

        Parameters
        ----------
        moving : iterable of str
            Names of the joints that move in the robot.
        """
        present = set(moving)
        used = [name for name, numbers in self.joints.items() if name in present and numbers]
        if used:
            yield ModelFinding(
                'info',
                'extras-read',
                'robot',
                f'friction and drives of {", ".join(used)} are those of {self.source}',
            )
        for name in self.joints:
            if name not in present:
                yield ModelFinding(
                    'info',
                    'extras-not-used',
                    f'joint {name!r}',
                    f'does not move: what {self.source} says of it has no effect',
                )
        for drive in self.drives:
            still = [name for name in drive.joints if name not in present]
            yield ModelFinding(
                'info',
                'coupled-drive',
                f'coupled drive {drive.name!r}',
                f'{self.source}: its shaft turns with {drive.formula}'
                + (f', of which {", ".join(still)} does not move' if still else ''),
            )

    @property
    def joint_names(self) -> tuple[str, ...]:
        """Names of all joints that something is said of."""
        names = [*self.joints, *(name for drive in self.drives for name in drive.joints)]
        return tuple(dict.fromkeys(names))

    def apply_to(self, joint: Joint, keys: Iterable[str] = JOINT_KEYS) -> Joint:
        """Return a joint with the numbers that are given for it, of these keys.

        Raises
        ------
        ModelError
            When the numbers do not go together.
        """
        wanted = set(keys)
        numbers = {key: value for key, value in self.numbers(joint.name).items() if key in wanted}
        return replace_numbers(joint, numbers, f'{self.source}: ')


def choose_extras(text: str) -> Extras:
    """Return the extras that an option names: a file, :data:`NONE`, or '' for the default."""
    return NO_EXTRAS if text == NONE else text or None


def find_extras(path: str | os.PathLike[str]) -> Path | None:
    """Return the file of extras beside a URDF; None when there is none."""
    beside = Path(path)
    beside = beside.with_name(beside.stem + SUFFIX)
    # A link to nothing is no absence: reading it says what is wrong.
    return beside if beside.exists() or beside.is_symlink() else None


def find_misnamed_extras(path_or_xml: object) -> Iterator[ModelFinding]:
    """Yield what stands beside a URDF under a name that nobody reads.

    Parameters
    ----------
    path_or_xml : str, path or bytes
        The URDF; beside XML there is nothing.
    """
    if not _is_file_name(path_or_xml):
        return
    path = Path(path_or_xml)
    expected = path.stem + SUFFIX
    for name in (f'{path.stem}.extras.yml', f'{path.name}{SUFFIX}', f'{path.name}.extras.yml'):
        if name != expected and path.with_name(name).exists():
            yield ModelFinding(
                'warning',
                'extras-misnamed',
                'robot',
                f'expected friction and drives of the joints in {expected}, got {name} beside '
                f'{path.name}: it is not read',
            )


def _is_file_name(path_or_xml: object) -> TypeGuard[str | os.PathLike[str]]:
    """Return whether a URDF is given by its name, and not as text."""
    return isinstance(path_or_xml, os.PathLike) or (
        isinstance(path_or_xml, str)
        and '\n' not in path_or_xml
        and not looks_like_xml(path_or_xml)
    )


def read_extras(extras: Extras, path_or_xml: object = None) -> ModelExtras | None:
    """Return the numbers of joints beside a URDF.

    Parameters
    ----------
    extras : str, path, mapping or None
        File name, or what would be in the file; None: the file beside the URDF.
    path_or_xml : str, path or bytes
        The URDF; beside XML there is no file.

    Returns
    -------
    ModelExtras or None
        None when there is nothing to read.

    Raises
    ------
    ModelError
        When the file cannot be read or is malformed, a key is unknown, or a number is wrong. The
        message names file, joint and key, and what was expected.
    """
    if extras is None:
        if not _is_file_name(path_or_xml):
            return None
        extras = find_extras(path_or_xml)
        if extras is None:
            return None
    if isinstance(extras, Mapping):
        return _read_document(extras, 'extras') if extras else None
    if not isinstance(extras, (str, os.PathLike)) or not os.fspath(extras):
        raise ModelError(
            'extras: expected a file name, a mapping or None, got '
            f'{type(extras).__name__ if extras != "" else "an empty text"}'
        )
    source = os.fspath(extras)
    data = read_file(extras, 'the extras of a model')
    if len(data) > LARGEST_EXTRAS_FILE:
        raise ModelError(
            f'{source}: expected at most {LARGEST_EXTRAS_FILE} bytes, got {len(data)}'
        )
    if looks_like_xml(data):
        raise ModelError(f'{source}: expected extras of a model (YAML), got XML')
    return _read_document(data, source)


def _read_document(given: bytes | Mapping[str, Any], source: str) -> ModelExtras:
    # YAML takes a tenth of the import of this package, and most URDFs have no file beside them.
    from ne_dynamics.model.extras_document import read_document

    joints, drives = read_document(given, source)
    return ModelExtras(joints, source, drives)


def with_extras(robot: Robot, extras: ModelExtras | None) -> Robot:
    """Return a robot with extras of its joints, and with coupled drives.

    Raises
    ------
    ModelError
        When there is no such joint, or the numbers do not go together.
    """
    if extras is None:
        return robot
    for name in extras.joint_names:
        if name not in robot.joint_names:
            raise extras.make_joint_error(name, '', robot.joint_names)
    return replace(
        robot,
        joints=tuple(extras.apply_to(joint) for joint in robot.joints),
        findings=(*robot.findings, *extras.describe(robot.joint_names)),
        coupled_drives=extras.drives,
    )
