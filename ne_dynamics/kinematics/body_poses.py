"""Where the bodies of a robot are, which is not always where the frames of their links are."""

from __future__ import annotations

import numpy as np

from ne_dynamics.dynamics import Dynamics
from ne_dynamics.model.rigid_body import FloatArray


def compute_body_poses(dynamics: Dynamics, position: FloatArray) -> FloatArray:
    """Return the frames of all bodies in base axes, shape (N, b, 4, 4).

    Parameters
    ----------
    dynamics : Dynamics
    position : array, shape (N, n)
        [rad or m]
    """
    robot = dynamics.robot
    links = [dynamics.link_names.index(body.name) for body in robot.bodies]
    # With standard DH parameters the frame of a link is at its far end, its body's is not.
    link_to_body = [robot.links[place].pose_in_body.inverse().matrix for place in links]
    poses: FloatArray = dynamics.link_poses(position)[:, links] @ np.array(link_to_body)
    return poses
