"""The same robot in Pinocchio, behind the names, joint order, frames and signs of ne_dynamics.

Mimic joints are free joints in the Pinocchio model; positions, velocities and accelerations are
spread over them and torques folded back here, by ``q_mimic = multiplier * q + offset`` read from
the URDF with the standard library's XML parser. Friction, which Pinocchio's algorithms leave
out, is folded the same way, so that power is preserved.
"""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass

import numpy as np
import pytest

pin = pytest.importorskip(
    'pinocchio', minversion='3', reason="needs Pinocchio 3 (pip install 'pin>=3')"
)


@dataclass(frozen=True)
class Mimic:
    """Position of a joint from that of another: ``multiplier * position + offset``."""

    source: str
    multiplier: float
    offset: float


class UrdfTopology:
    """Joints of a URDF text: who is whose parent, which joints move, who mimics whom."""

    def __init__(self, text):
        root = ElementTree.fromstring(text)
        self.links = [link.get('name') for link in root.findall('link')]
        self.joint_above = {}
        self.parent_link = {}
        self.moving = []
        self.mimics = {}
        self.friction = {}
        for joint in root.findall('joint'):
            name = joint.get('name')
            child = joint.find('child').get('link')
            self.joint_above[child] = name
            self.parent_link[child] = joint.find('parent').get('link')
            if joint.get('type') == 'fixed':
                continue
            self.moving.append(name)
            dynamics = joint.find('dynamics')
            if dynamics is not None:
                self.friction[name] = (
                    float(dynamics.get('damping', '0')),
                    float(dynamics.get('friction', '0')),
                )
            mimic = joint.find('mimic')
            if mimic is not None:
                self.mimics[name] = Mimic(
                    mimic.get('joint'),
                    float(mimic.get('multiplier', '1')),
                    float(mimic.get('offset', '0')),
                )
        (self.root,) = set(self.links) - set(self.joint_above)

    def joints_between(self, base_link, tip_link):
        """Return the moving joints on the way from one link down to another."""
        joints = []
        link = tip_link
        while link != base_link:
            joints.append(self.joint_above[link])
            link = self.parent_link[link]
        return [name for name in joints if name in self.moving]

    def joints_beyond(self, base_link):
        """Return the moving joints anywhere beyond a link."""
        beyond = []
        for link in self.links:
            above = link
            while above != self.root and above != base_link:
                above = self.parent_link[above]
            if above == base_link and link != base_link:
                beyond.append(self.joint_above[link])
        return [name for name in beyond if name in self.moving]


class PinocchioRobot:
    """A robot in Pinocchio, called as :class:`ne_dynamics.Dynamics` is.

    Parameters
    ----------
    urdf : str
        URDF text.
    coordinates : sequence of str
        Joints in the order of every joint array.
    gravity : array-like, shape (3,)
        Gravity in base axes [m/s^2].
    base_link, tip_link : str, optional
        Chain between two links; the whole tree without them.
    locked : dict, optional
        Positions of locked joints [rad or m]; joints off the chain lock at 0 by default.
    wrench_link : str, optional
        Link of the external wrench, the Jacobian and the forward kinematics (default: tip).
    floating : bool
        Root the tree in a free-flyer joint, for a moving base.
    """

    def __init__(
        self,
        urdf,
        coordinates,
        gravity,
        base_link=None,
        tip_link=None,
        locked=None,
        wrench_link=None,
        floating=False,
    ):
        topology = UrdfTopology(urdf)
        self.coordinates = list(coordinates)
        self.base_link = base_link or topology.root
        self.tip = wrench_link or tip_link
        self.floating = floating
        if floating:
            model = pin.buildModelFromXML(urdf, pin.JointModelFreeFlyer())
        else:
            model = pin.buildModelFromXML(urdf)
        positions = self._locked_positions(topology, tip_link, dict(locked or {}))
        if positions:
            reference = pin.neutral(model)
            for name, position in positions.items():
                self._set_position(model, reference, name, position)
            model = pin.buildReducedModel(
                model, [model.getJointId(name) for name in positions], reference
            )
        self.model = model
        self.data = model.createData()
        self._fold_mimics(topology)
        pin.framesForwardKinematics(model, self.data, pin.neutral(model))
        self._base_in_world = self.data.oMf[self._frame(self.base_link)].copy()
        self.gravity = np.array(gravity, dtype=float)
        model.gravity.linear = self._base_in_world.rotation @ self.gravity
        model.gravity.angular = np.zeros(3)

    def _locked_positions(self, topology, tip_link, locked):
        if tip_link is not None:
            free = topology.joints_between(self.base_link, tip_link)
        else:
            free = topology.joints_beyond(self.base_link)
        positions = {name: 0.0 for name in topology.moving if name not in free}
        positions.update(locked)
        for name, mimic in topology.mimics.items():
            if mimic.source in positions:
                positions[name] = mimic.multiplier * positions[mimic.source] + mimic.offset
            elif name in positions:
                raise ValueError(f'{name} is locked, but follows {mimic.source}, which moves')
        return positions

    @staticmethod
    def _set_position(model, configuration, name, position):
        joint = model.joints[model.getJointId(name)]
        if joint.nq == 2:  # continuous: cosine and sine
            configuration[joint.idx_q : joint.idx_q + 2] = np.cos(position), np.sin(position)
        else:
            configuration[joint.idx_q] = position

    def _fold_mimics(self, topology):
        """Set up: joint velocities = spread @ coordinate velocities; positions add offsets."""
        n = len(self.coordinates)
        self.spread = np.zeros((self.model.nv, n))
        self._positions = {}
        self._damping = np.zeros(self.model.nv)
        self._coulomb = np.zeros(self.model.nv)
        for index in range(1, self.model.njoints):
            name = self.model.names[index]
            if self.floating and index == 1:
                continue
            mimic = topology.mimics.get(name, Mimic(name, 1.0, 0.0))
            column = self.coordinates.index(mimic.source)
            row = self.model.joints[index].idx_v
            self.spread[row, column] = mimic.multiplier
            self._damping[row], self._coulomb[row] = topology.friction.get(name, (0.0, 0.0))
            self._positions[name] = (column, mimic.multiplier, mimic.offset)
        expected = [name for name in self._positions if name not in topology.mimics]
        assert sorted(expected) == sorted(self.coordinates), (
            f'coordinates {sorted(self.coordinates)}, the URDF moves {sorted(expected)}'
        )

    def _frame(self, link):
        return self.model.getFrameId(link, pin.FrameType.BODY)

    def add_payload(self, mass, center_of_mass, inertia_about_com):
        """Fix a load to the tip link, given in the tip's frame [kg, m, kg m^2]."""
        frame = self.model.frames[self._frame(self.tip)]
        load = pin.Inertia(mass, np.array(center_of_mass), np.array(inertia_about_com))
        self.model.appendBodyToJoint(frame.parentJoint, load, frame.placement)
        self.data = self.model.createData()

    def set_reflected_inertia(self, inertia):
        """Give each coordinate's own joint the inertia of its rotor, shape (n,) [kg m^2 or kg]."""
        armature = np.zeros(self.model.nv)
        for name, value in zip(self.coordinates, inertia, strict=True):
            armature[self._velocity_index(name)] = value
        self.model.armature = armature
        self.data = self.model.createData()

    def _velocity_index(self, joint):
        return self.model.joints[self.model.getJointId(joint)].idx_v

    @property
    def has_mimics(self):
        """True when a coordinate moves more than one joint."""
        return self.model.nv != len(self.coordinates)

    def _configuration(self, q):
        configuration = pin.neutral(self.model)
        for name, (column, multiplier, offset) in self._positions.items():
            position = multiplier * q[column] + offset
            self._set_position(self.model, configuration, name, position)
        return configuration

    def _call(self, function, q, *rates, then=()):
        """Return what a function of Pinocchio gives for positions and rates of the coordinates."""
        spread = (self.spread @ rate for rate in rates)
        return function(self.model, self.data, self._configuration(q), *spread, *then)

    def _whole(self, upper):
        """Return a symmetric matrix of which the upper half is given, shape (nv, nv)."""
        upper = np.triu(upper.reshape(self.model.nv, self.model.nv))
        return upper + np.triu(upper, 1).T

    def friction_torque(self, qd):
        """Return viscous plus Coulomb friction of all joints, folded, shape (n,)."""
        velocity = self.spread @ qd
        friction = self._damping * velocity + self._coulomb * np.sign(velocity)
        return self.spread.T @ friction

    def inverse_dynamics(self, q, qd, qdd, wrench=None, base_motion=None, external_wrenches=None):
        """Return the joint torques without friction, shape (n,).

        `external_wrenches` maps links to what acts on them, in their own frames.
        """
        velocity, acceleration = self.spread @ qd, self.spread @ qdd
        if base_motion is not None:
            assert self.floating, 'a moving base needs the free-flyer model'
            # Free flyer at the identity: base axes are world axes. The base has no linear
            # velocity, so its spatial acceleration is the classical one.
            velocity[3:6] = base_motion[0:3]
            acceleration[0:3] = base_motion[6:9]
            acceleration[3:6] = base_motion[3:6]
        forces = self._external_forces(wrench, external_wrenches)
        return self.spread.T @ self._call(pin.rnea, q, then=(velocity, acceleration, forces))

    def _external_forces(self, wrench, external_wrenches):
        """Force on the joints' bodies, given what the tip exerts on its environment.

        The environment exerts `external_wrenches` on the links that they name.
        """
        forces = pin.StdVec_Force()
        for _ in range(self.model.njoints):
            forces.append(pin.Force.Zero())
        on_links = list((external_wrenches or {}).items())
        if wrench is not None:
            on_links.append((self.tip, -np.asarray(wrench)))
        for link, on_link in on_links:
            frame = self.model.frames[self._frame(link)]
            force = pin.Force(np.array(on_link[:3]), np.array(on_link[3:]))
            forces[frame.parentJoint] += frame.placement.act(force)
        return forces

    def gravity_torque(self, q):
        """Return the torques that hold the robot still, shape (n,)."""
        return self.spread.T @ self._call(pin.computeGeneralizedGravity, q)

    def mass_matrix(self, q):
        """Return the mass matrix of the coordinates, shape (n, n)."""
        return self.spread.T @ self._whole(self._call(pin.crba, q)) @ self.spread

    def coriolis_torque(self, q, qd):
        """Return the torques quadratic in the velocities, shape (n,)."""
        return self.bias_torque(q, qd) - self.gravity_torque(q)

    def bias_torque(self, q, qd):
        """Return Coriolis, centrifugal and gravity torques, shape (n,)."""
        return self.spread.T @ self._call(pin.nonLinearEffects, q, qd)

    def kinetic_energy(self, q, qd):
        """Return the kinetic energy with the rotors' [J]."""
        # Pinocchio 4.1 leaves out the rotor of a continuous joint about a slanted axis.
        armature = self.model.armature.copy()
        self.model.armature = np.zeros(self.model.nv)
        links = self._call(pin.computeKineticEnergy, q, qd)
        self.model.armature = armature
        return links + armature @ (self.spread @ qd) ** 2 / 2.0

    @property
    def moving_mass(self):
        """Mass of all bodies that move [kg]."""
        return sum(inertia.mass for inertia in list(self.model.inertias)[1:])

    def potential_energy(self, q):
        """Return the energy in gravity, zero with the centre of mass level with the base [J]."""
        base = self._base_in_world.translation
        about_base = self.moving_mass * self.model.gravity.linear @ base
        return self._call(pin.computePotentialEnergy, q) + about_base

    def center_of_mass(self, q):
        """Return the centre of mass of what moves, in the base frame, shape (3,)."""
        return self._base_in_world.actInv(self._call(pin.centerOfMass, q))

    def center_of_mass_jacobian(self, q):
        """Return the velocity of the centre of mass by qd, in base axes, shape (3, n)."""
        jacobian = self._call(pin.jacobianCenterOfMass, q).reshape(3, self.model.nv)
        return self._base_in_world.rotation.T @ jacobian @ self.spread

    def centroidal_momentum_matrix(self, q):
        """Return the momenta by qd, in base axes, shape (6, n)."""
        return self._in_axes(self._call(pin.computeCentroidalMap, q), 'base')

    def centroidal_momentum(self, q, qd):
        """Return linear momentum, then angular momentum about the centre of mass, shape (6,)."""
        return self._in_base_axes(self._call(pin.computeCentroidalMomentum, q, qd).vector)

    def centroidal_momentum_rate(self, q, qd, qdd):
        """Return the time derivative of the centroidal momentum, shape (6,)."""
        rate = self._call(pin.computeCentroidalMomentumTimeVariation, q, qd, qdd)
        return self._in_base_axes(rate.vector)

    def kinetic_energy_regressor(self, q, qd, joints):
        """Return the kinetic energy's slopes, ten entries a joint in the order of `joints`."""
        row = self._call(pin.computeKineticEnergyRegressor, q, qd)
        return row.ravel()[self._parameter_columns(joints)]

    def potential_energy_regressor(self, q, joints):
        """Return the potential energy's slopes, zero height at the base frame's origin."""
        row = self._call(pin.computePotentialEnergyRegressor, q)
        columns = row.ravel()[self._parameter_columns(joints)]
        columns[::10] += self.model.gravity.linear @ self._base_in_world.translation
        return columns

    def joint_wrenches(self, q, qd, qdd, joints, wrench=None, external_wrenches=None):
        """Return force, then moment, onto each joint's body at the joint, shape (joints, 6)."""
        self._call(pin.rnea, q, qd, qdd, then=[self._external_forces(wrench, external_wrenches)])
        return np.array([self.data.f[self.model.getJointId(name)].vector for name in joints])

    def link_velocities(self, q, qd, links):
        """Return linear, then angular velocity of each link in its own axes, (links, 6)."""
        self._call(pin.forwardKinematics, q, qd)
        return self._of_frames(pin.getFrameVelocity, links)

    def link_accelerations(self, q, qd, qdd, links):
        """Return the spatial acceleration of each link in its own axes, (links, 6)."""
        self._call(pin.forwardKinematics, q, qd, qdd)
        return self._of_frames(pin.getFrameAcceleration, links)

    def _of_frames(self, function, links):
        frames = (self._frame(link) for link in links)
        rows = (function(self.model, self.data, frame, pin.LOCAL) for frame in frames)
        return np.array([row.vector for row in rows])

    def lagrangian_gradient(self, q, qd):
        """Return C^T qd - g with Pinocchio's C, whose sum with its transpose is dM/dt."""
        shape = self.model.nv, self.model.nv
        coriolis = self._call(pin.computeCoriolisMatrix, q, qd).reshape(shape)
        return self.spread.T @ (coriolis.T @ (self.spread @ qd)) - self.gravity_torque(q)

    def inverse_dynamics_derivatives(self, q, qd, qdd, wrench=None, external_wrenches=None):
        """Return dtau/dq, dtau/dqd, dtau/dqdd, shape (3, n, n); viscous friction added by hand.

        `wrench`, which the tip exerts, is constant in the tip's axes, `external_wrenches` on
        links in theirs.
        """
        forces = self._external_forces(wrench, external_wrenches)
        self._call(pin.computeRNEADerivatives, q, qd, qdd, then=[forces])
        shape = self.model.nv, self.model.nv
        by_q = self.data.dtau_dq.reshape(shape)
        by_qd = self.data.dtau_dv.reshape(shape) + np.diag(self._damping)
        parts = by_q, by_qd, self._whole(self.data.M)
        return np.array([self.spread.T @ part @ self.spread for part in parts])

    def forward_dynamics_derivatives(self, q, qd, tau):
        """Return dqdd/dq, dqdd/dqd, dqdd/dtau, shape (3, n, n); friction added by hand.

        Pinocchio knows them for free joints only: there are none with mimic joints.
        """
        assert not self.has_mimics, 'mimic joints are free joints here'
        columns = self.spread.T  # a permutation of Pinocchio's joints
        self._call(pin.computeABADerivatives, q, qd, tau - self.friction_torque(qd))
        shape = self.model.nv, self.model.nv
        inverse = self._whole(self.data.Minv)
        by_qd = self.data.ddq_dv.reshape(shape) - inverse * self._damping
        by_q = self.data.ddq_dq.reshape(shape)
        return np.array([columns @ part @ columns.T for part in (by_q, by_qd, inverse)])

    def forward_kinematics(self, q, link=None):
        """Return the pose of a link (default: the tip) in the base frame, shape (4, 4)."""
        self._call(pin.framesForwardKinematics, q)
        base = self.data.oMf[self._frame(self.base_link)]
        return (base.inverse() * self.data.oMf[self._frame(link or self.tip)]).homogeneous

    def jacobian(self, q, axes, link=None):
        """Return the Jacobian of a link or the tip, in base or its own axes, shape (6, n)."""
        where = self._frame(link or self.tip), self._reference(axes)
        return self._in_axes(self._call(pin.computeFrameJacobian, q, then=where), axes)

    def jacobian_rate(self, q, qd, link, axes):
        """Return the time derivative of a link's Jacobian, in base or its own axes, (6, n)."""
        self._call(pin.computeJointJacobiansTimeVariation, q, qd)
        pin.updateFramePlacements(self.model, self.data)
        where = self._frame(link), self._reference(axes)
        rate = pin.getFrameJacobianTimeVariation(self.model, self.data, *where)
        return self._in_axes(rate, axes)

    @staticmethod
    def _reference(axes):
        frames = {'tip': pin.LOCAL, 'base': pin.LOCAL_WORLD_ALIGNED, 'world': pin.WORLD}
        return frames[axes]

    def _in_axes(self, jacobian, axes):
        jacobian = jacobian.reshape(6, self.model.nv)
        if axes == 'base':
            jacobian = self._in_base_axes(jacobian)
        if axes == 'world':
            jacobian = self._base_in_world.actionInverse @ jacobian
        return jacobian @ self.spread

    def _in_base_axes(self, vectors):
        """Turn two vectors of world axes, or two rows of them, shape (6,) or (6, m)."""
        world_to_base = self._base_in_world.rotation.T
        return np.concatenate([world_to_base @ vectors[:3], world_to_base @ vectors[3:]])

    def regressor(self, q, qd, qdd, joints):
        """Return the regressor, ten columns a joint in the order of `joints`."""
        matrix = self._call(pin.computeJointTorqueRegressor, q, qd, qdd)
        matrix = matrix.reshape(self.model.nv, -1)
        return (self.spread.T @ matrix)[:, self._parameter_columns(joints)]

    def _parameter_columns(self, joints):
        """Return where the ten parameters of each joint's body stand."""
        return [
            10 * (self.model.getJointId(name) - 1) + parameter
            for name in joints
            for parameter in range(10)
        ]
