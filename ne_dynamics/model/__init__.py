"""Robots: the model that a URDF or a DH file describes, with what is known beyond it.

Gives :class:`Robot` with its joints, links and inertias, immutable and checked, from
:func:`load_urdf`, :func:`load_dh` or :func:`load_model`, which recognizes either by content.
Errors in a file are reported with their place; missing values are not guessed. `extras`
(rotors, friction, limits) come from a file beside the URDF.

Begin with ``robot.py``; then ``urdf/tree.py`` (from the elements of a URDF to a Robot) and
``dh.py``; ``checks.py`` is `ne_dynamics check`. Depends on :mod:`ne_dynamics.errors` alone.
"""

from typing import TYPE_CHECKING

from ne_dynamics.loaded_later import load_later

if TYPE_CHECKING:
    from ne_dynamics.model.coupled_drive import CoupledDrive
    from ne_dynamics.model.dh import load_dh
    from ne_dynamics.model.files import load_model
    from ne_dynamics.model.friction import FrictionModel
    from ne_dynamics.model.orientation import angular_velocity_of_axes
    from ne_dynamics.model.rigid_body import FloatArray, Inertia, Transform
    from ne_dynamics.model.robot import Joint, JointType, Link, Robot
    from ne_dynamics.model.urdf.tree import load_urdf

__all__ = [
    'CoupledDrive',
    'FloatArray',
    'FrictionModel',
    'Inertia',
    'Joint',
    'JointType',
    'Link',
    'Robot',
    'Transform',
    'angular_velocity_of_axes',
    'load_dh',
    'load_model',
    'load_urdf',
]

if not TYPE_CHECKING:
    __getattr__, __dir__ = load_later(__name__)
