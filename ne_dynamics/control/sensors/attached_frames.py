"""The frames in which readings of a sensor may come."""

from __future__ import annotations

from ne_dynamics.model.rigid_body import Transform
from ne_dynamics.model.robot import Robot


class AttachedFrames:
    """The links that are rigidly attached to a link.

    Parameters
    ----------
    robot : Robot
    link_name : str

    Attributes
    ----------
    poses : dict of str to Transform
        Of these links in the frame of that link, which is one of them.

    Raises
    ------
    ModelError
        When the link is unknown.
    """

    def __init__(self, robot: Robot, link_name: str) -> None:
        link = robot.link(link_name)
        body_to_link = link.pose_in_body.inverse()
        self.poses: dict[str, Transform] = {
            each.name: body_to_link @ each.pose_in_body
            for each in robot.links
            if each.body == link.body
        }
        self._link_name = link_name
        self._other_links = frozenset(each.name for each in robot.links) - self.poses.keys()

    def describe_fault(self, frame_id: str) -> str:
        """Return why no reading may come in a frame, in words."""
        expected = f'expected a link rigidly attached to {self._link_name!r}: {sorted(self.poses)}'
        if not frame_id:
            return f'header.frame_id: got an empty one; {expected}'
        if frame_id in self._other_links:
            return f'header.frame_id: {frame_id!r} is elsewhere on the robot; {expected}'
        return f'header.frame_id: no link {frame_id!r}; {expected}'
