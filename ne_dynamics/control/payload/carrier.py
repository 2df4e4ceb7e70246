"""What carries a load, and by what the load is measured."""

from __future__ import annotations

import enum
from dataclasses import dataclass

import numpy as np

from ne_dynamics.control.payload.motion_windows import Window
from ne_dynamics.dynamics import Dynamics
from ne_dynamics.errors import PayloadError
from ne_dynamics.model.rigid_body import FloatArray, Inertia, Transform


class PayloadSource(str, enum.Enum):
    """Measurement that a payload is estimated from; the values are the words of the report."""

    EFFORT = 'measured efforts'
    COMMAND = 'commanded efforts'
    WRENCH = 'the wrist sensor'


@dataclass(frozen=True, eq=False)
class Carrier:
    """The arm that carries a payload.

    Attributes
    ----------
    dynamics : Dynamics
        Dynamics of the arm without the payload; has a tip. With a wrist sensor it ends there.
    link_name : str
        Link in whose frame the payload is described.
    link_to_tip : Transform
        Pose of that link in the frame of the dynamics' tip.
    tool : Inertia
        What the wrist sensor's reading contains besides the payload, in the tip's frame.
    """

    dynamics: Dynamics
    link_name: str
    link_to_tip: Transform
    tool: Inertia

    @classmethod
    def of_robot(cls, dynamics: Dynamics, link_name: str = '') -> Carrier:
        """Return the carrier of a payload at the tip (default), or at a link fixed to it.

        Raises
        ------
        PayloadError
            When the robot has no tip, or the link is not fixed to it.
        ModelError
            When there is no such link.
        """
        robot = dynamics.robot
        if robot.tip_link is None:
            raise PayloadError(
                f'robot {robot.name!r}: expected a tip link for the load to hang on, got none'
            )
        link = robot.link(link_name) if link_name else robot.tip
        if link.body != robot.tip.body:
            raise PayloadError(
                f'payload link {link_name!r}: expected one that does not move against the tip '
                f'{robot.tip.name!r}'
            )
        pose = robot.tip.pose_in_body.inverse() @ link.pose_in_body
        return cls(dynamics, link.name, pose, Inertia.zero())

    @property
    def first_moments_to_tip(self) -> FloatArray:
        """Matrix that transforms (m, m c) from the link's frame to the tip's, shape (4, 4)."""
        matrix = np.eye(4)
        matrix[1:, 1:] = self.link_to_tip.rotation
        matrix[1:, 0] = self.link_to_tip.translation
        return matrix


def measured_load_by(window: Window, source: PayloadSource) -> FloatArray | None:
    """Return what a window has of a source; None where it has nothing."""
    return {
        PayloadSource.EFFORT: window.effort,
        PayloadSource.COMMAND: window.command,
        PayloadSource.WRENCH: window.wrench,
    }[source]
