"""The same Denavit-Hartenberg arm in Pinocchio, from the definition of the convention."""

import numpy as np
import pytest

pin = pytest.importorskip('pinocchio', reason='needs Pinocchio (pip install pin)')


class PinocchioArm:
    """An :class:`~ne_dynamics.papers.forms.Arm` in Pinocchio; only its numbers are read.

    Parameters
    ----------
    arm : Arm
    gravity : sequence of 3 float
        In the base link's axes [m/s^2].
    floating : bool
        Root the arm in a free flyer, for a moving base.
    """

    def __init__(self, arm, gravity, floating=False):
        self.floating = floating
        self.model = pin.Model()
        self.model.gravity.linear = np.array(gravity, dtype=float)
        parent = 0
        if floating:
            identity = pin.SE3.Identity()
            parent = self.model.addJoint(0, pin.JointModelFreeFlyer(), identity, 'base')
        before = pin.SE3(arm.base.rotation, arm.base.translation)
        for link in arm.links:
            slides = link.type.value == 'prismatic'
            turn = link.theta + (0.0 if slides else link.offset)
            shift = link.d + (link.offset if slides else 0.0)
            along_z = self._screw(2, turn, shift)
            along_x = self._screw(0, link.alpha, link.a)
            standard = arm.convention == 'standard'
            # What the joint adds commutes with the rest of the screw about z.
            placement = before * along_z if standard else before * along_x * along_z
            to_frame = along_x if standard else pin.SE3.Identity()
            kind = pin.JointModelPZ() if slides else pin.JointModelRZ()
            parent = self.model.addJoint(parent, kind, placement, link.name)
            inertia = link.inertia
            self.model.appendBodyToJoint(
                parent,
                pin.Inertia(inertia.mass, inertia.center_of_mass, inertia.inertia_about_com),
                to_frame,
            )
            before = to_frame
        self._tip = before * pin.SE3(arm.tool.rotation, arm.tool.translation)
        self._viscous = np.array([link.viscous_friction for link in arm.links])
        self.data = self.model.createData()

    @staticmethod
    def _screw(axis, turn, shift):
        direction = np.eye(3)[axis]
        return pin.SE3(pin.AngleAxis(turn, direction).matrix(), shift * direction)

    def _forces(self, wrench):
        forces = pin.StdVec_Force()
        for _ in range(self.model.njoints):
            forces.append(pin.Force.Zero())
        if wrench is not None:
            on_environment = pin.Force(np.array(wrench[:3]), np.array(wrench[3:]))
            forces[self.model.njoints - 1] = -self._tip.act(on_environment)
        return forces

    def inverse_dynamics(self, q, qd, qdd, wrench=None, base_motion=None):
        """Return the joint efforts with friction, shape (n,)."""
        friction = self._viscous * np.array(qd)
        q, qd, qdd = (np.array(value, dtype=float) for value in (q, qd, qdd))
        if base_motion is not None:
            w, wd, a = np.array(base_motion).reshape(3, 3)
            q = np.concatenate([pin.neutral(self.model)[:7], q])
            # No linear velocity: the base's spatial acceleration is the classical one.
            qd = np.concatenate([np.zeros(3), w, qd])
            qdd = np.concatenate([a, wd, qdd])
        efforts = pin.rnea(self.model, self.data, q, qd, qdd, self._forces(wrench))
        return np.array(efforts)[6 if self.floating else 0 :] + friction
