"""``quat_xyzw`` of an ``origin``, which URDF has since version 1.1."""

from __future__ import annotations

import math

import numpy as np

from ne_dynamics.errors import ModelError
from ne_dynamics.model.orientation import quaternion_rotation, roll_pitch_yaw
from ne_dynamics.model.robot import ModelFinding
from ne_dynamics.model.urdf.xml_values import AXIS_TOLERANCE, LENGTH_ROUNDING, read_numbers

_HAS_QUATERNIONS = (1, 1)


def translate_quaternion(
    attributes: dict[str, str], version: tuple[int, int], what: str, findings: list[ModelFinding]
) -> None:
    """Replace ``quat_xyzw`` of an origin by ``rpy``, which the parser knows."""
    if version < _HAS_QUATERNIONS:
        shown = '.'.join(map(str, version))
        raise ModelError(
            f'{what}: expected rpy in a URDF of version {shown}, got quat_xyzw, which needs '
            '<robot version="1.1">'
        )
    if 'rpy' in attributes:
        raise ModelError(f'{what}: expected rpy or quat_xyzw, got both')
    text = attributes.pop('quat_xyzw')
    quaternion = np.array(read_numbers(text, 4, f'{what} quat_xyzw'))
    try:
        rotation = quaternion_rotation(quaternion)
    except ModelError as error:
        raise ModelError(f'{what} quat_xyzw: {error}') from error
    length = math.hypot(*quaternion.tolist())  # scaled on the way
    if not abs(length - 1.0) <= LENGTH_ROUNDING:
        element = what.removesuffix(': origin').removesuffix(': inertial')
        findings.append(
            ModelFinding(
                'warning' if not abs(length - 1.0) <= AXIS_TOLERANCE else 'info',
                'quaternion-normalised',
                element,
                f'{what} quat_xyzw: expected a quaternion of length 1, got '
                + (f'length {length:.9g}' if math.isfinite(length) else f'{text.strip()!r}')
                + '; normalised',
            )
        )
    attributes['rpy'] = ' '.join(map(repr, roll_pitch_yaw(rotation).tolist()))
