"""Inverse kinematics by Levenberg-Marquardt: one solution or all branches; pose errors.

Gives :func:`inverse_kinematics` and :func:`inverse_kinematics_branches`; forward kinematics and
Jacobians are methods of :class:`ne_dynamics.Dynamics`. Begin with ``inverse.py``.
"""

from typing import TYPE_CHECKING

from ne_dynamics.loaded_later import load_later

if TYPE_CHECKING:
    from ne_dynamics.kinematics.inverse import inverse_kinematics, inverse_kinematics_branches
    from ne_dynamics.kinematics.pose import compute_pose_errors
    from ne_dynamics.kinematics.pose_solutions import PoseSolutions

__all__ = [
    'PoseSolutions',
    'compute_pose_errors',
    'inverse_kinematics',
    'inverse_kinematics_branches',
]

if not TYPE_CHECKING:
    __getattr__, __dir__ = load_later(__name__)
