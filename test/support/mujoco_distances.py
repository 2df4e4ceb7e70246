"""Distances between links of a URDF as MuJoCo places and measures them."""

import mujoco
import numpy as np


class Geometry:
    """A URDF with primitive shapes, one a link, in MuJoCo.

    Parameters
    ----------
    urdf : str
        Its base's frame is the world's; the base keeps its shape.
    """

    def __init__(self, urdf):
        keep = '<mujoco><compiler fusestatic="false" discardvisual="false"/></mujoco>'
        self.model = mujoco.MjModel.from_xml_string(urdf.replace('</robot>', keep + '</robot>'))
        self.model.opt.gravity[:] = (0.0, 0.0, -9.80665)
        self.data = mujoco.MjData(self.model)

    def _find(self, link):
        body = mujoco.mj_name2id(self.model, mujoco.mjtObj.mjOBJ_BODY, link)
        body = max(body, 0)  # the base is the world
        (geom,) = np.flatnonzero(self.model.geom_bodyid == body)
        return int(geom)

    def _place(self, pose):
        self.data.qpos[:] = pose
        mujoco.mj_kinematics(self.model, self.data)
        mujoco.mj_comPos(self.model, self.data)

    def measure(self, pose, first, second):
        """Return the distance of two links [m]; below 0 where they overlap."""
        self._place(pose)
        return mujoco.mj_geomDistance(
            self.model, self.data, self._find(first), self._find(second), 10.0, None
        )

    def measure_plane(self, pose, link, normal, distance):
        """Return how far a link is in front of a plane [m]."""
        self._place(pose)
        geom = self._find(link)
        size, kind = self.model.geom_size[geom], self.model.geom_type[geom]
        rotation = self.data.geom_xmat[geom].reshape(3, 3)
        along = rotation.T @ normal
        kinds = mujoco.mjtGeom
        if kind == kinds.mjGEOM_SPHERE:
            reach = size[0]
        elif kind == kinds.mjGEOM_BOX:
            reach = np.abs(along) @ size
        else:
            reach = abs(along[2]) * size[1] + size[0] * np.hypot(along[0], along[1])
        return float(self.data.geom_xpos[geom] @ normal) - reach - distance

    def compute_efforts(self, position, velocity, acceleration):
        """Return the efforts of MuJoCo's inverse dynamics, damping included, shape (N, n)."""
        efforts = []
        for q, qd, qdd in zip(position, velocity, acceleration, strict=True):
            self.data.qpos[:], self.data.qvel[:], self.data.qacc[:] = q, qd, qdd
            mujoco.mj_inverse(self.model, self.data)
            efforts.append(self.data.qfrc_inverse.copy())
        return np.array(efforts)
