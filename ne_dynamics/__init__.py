"""Recursive Newton-Euler dynamics: computed-torque feed-forward for robot arms."""

from typing import TYPE_CHECKING

from ne_dynamics.dynamics import Dynamics
from ne_dynamics.errors import InputError, InverseKinematicsError, ModelError, NeDynamicsError
from ne_dynamics.loaded_later import load_later
from ne_dynamics.model.robot import Robot
from ne_dynamics.model.urdf.tree import load_urdf

if TYPE_CHECKING:
    from ne_dynamics.algorithms.profiles import cubic_profile, quintic_profile, trapezoidal_profile
    from ne_dynamics.kinematics.inverse import inverse_kinematics, inverse_kinematics_branches
    from ne_dynamics.model.dh import load_dh
    from ne_dynamics.model.files import load_model

__version__ = '0.1.0'

__all__ = [
    'Dynamics',
    'InputError',
    'InverseKinematicsError',
    'ModelError',
    'NeDynamicsError',
    'Robot',
    '__version__',
    'cubic_profile',
    'inverse_kinematics',
    'inverse_kinematics_branches',
    'load_dh',
    'load_model',
    'load_urdf',
    'quintic_profile',
    'trapezoidal_profile',
]

if not TYPE_CHECKING:
    # An inverse dynamics needs none of them.
    __getattr__, __dir__ = load_later(__name__)
