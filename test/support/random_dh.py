"""Random chains in Denavit-Hartenberg parameters: as YAML for us, joint by joint in Pinocchio."""

import numpy as np
import pytest
import yaml

pin = pytest.importorskip('pinocchio', reason='needs Pinocchio (pip install pin)')


def random_dh(seed, n_joints, convention):
    """Return a random chain as the mapping that a DH file holds.

    Parameters
    ----------
    seed : int
    n_joints : int
    convention : str
        'standard' or 'modified'.

    Returns
    -------
    dict
        Every key of the format is used by some joint: all three joint types, general twist
        angles, offsets, full inertia tensors, friction, rotors behind gears, base and tool.
    """
    rng = np.random.default_rng([seed, n_joints, convention == 'standard'])
    unit = 'deg' if seed % 2 else 'rad'

    def angle():
        quarter = rng.random() < 0.3
        radians = rng.choice([-0.5, 0.0, 0.5, 1.0]) if quarter else rng.uniform(-1.0, 1.0)
        return float(radians * (180.0 if unit == 'deg' else np.pi))

    def pose():
        return {
            'xyz': [float(value) for value in rng.uniform(-0.5, 0.5, 3)],
            'rpy': [angle() for _ in range(3)],
        }

    joints = []
    for index in range(n_joints):
        kind = str(rng.choice(['revolute', 'continuous', 'prismatic'], p=[0.5, 0.2, 0.3]))
        mass = float(rng.uniform(0.1, 5.0))
        spread_x, spread_y, spread_z = mass * rng.uniform(0.01, 0.3, size=3) ** 2
        principal = np.diag([spread_y + spread_z, spread_x + spread_z, spread_x + spread_y])
        axes, _ = np.linalg.qr(rng.normal(size=(3, 3)))
        tensor = axes @ principal @ axes.T
        tensor = 0.5 * (tensor + tensor.T)
        if rng.random() < 0.5:
            inertia = [[float(value) for value in row] for row in tensor]
        else:
            inertia = {
                f'i{"xyz"[row]}{"xyz"[column]}': float(tensor[row, column])
                for row in range(3)
                for column in range(row, 3)
            }
        joints.append(
            {
                'name': f'axis_{index}',
                'type': kind,
                'theta': angle(),
                'd': float(rng.uniform(-0.5, 0.5)),
                'a': float(rng.uniform(-0.5, 0.5)),
                'alpha': angle(),
                'offset': float(rng.uniform(-1.0, 1.0)) if kind == 'prismatic' else angle(),
                'mass': mass,
                'center_of_mass': [float(value) for value in rng.uniform(-0.3, 0.3, 3)],
                'inertia': inertia,
                'viscous_friction': float(rng.uniform(0.0, 2.0)),
                'coulomb_friction': float(rng.uniform(0.0, 2.0)),
                'rotor_inertia': float(rng.uniform(0.0, 1e-3)),
                'gear_ratio': float(rng.uniform(-80.0, 80.0)),
            }
        )
    return {
        'name': f'random_{seed}',
        'convention': convention,
        'angle_unit': unit,
        'base': pose(),
        'tool': pose(),
        'joints': joints,
    }


def write_dh(description, folder):
    """Write the mapping as a YAML file and return its path."""
    path = folder / f'{description["name"]}.yaml'
    path.write_text(yaml.safe_dump(description, sort_keys=False))
    return path


class PinocchioDh:
    """A DH chain in Pinocchio, built from the definition of its convention."""

    def __init__(self, description, gravity):
        degrees = description['angle_unit'] == 'deg'
        self._to_radians = np.pi / 180.0 if degrees else 1.0
        self.model = pin.Model()
        self.model.gravity.linear = np.array(gravity, dtype=float)
        standard = description['convention'] == 'standard'
        parent, parent_frame = 0, self._pose(description['base'])
        for joint in description['joints']:
            slides = joint['type'] == 'prismatic'
            turn = joint['theta'] + (0.0 if slides else joint['offset'])
            shift = joint['d'] + (joint['offset'] if slides else 0.0)
            along_z = self._screw('z', turn, shift)
            along_x = self._screw('x', joint['alpha'], joint['a'])
            # The joint's own motion commutes with the rest of the screw about z. Standard: the
            # screw about x follows it and ends in frame i. Modified: it comes first.
            placement = parent_frame if standard else parent_frame * along_x * along_z
            to_frame = along_z * along_x if standard else pin.SE3.Identity()
            kind = pin.JointModelPZ() if slides else pin.JointModelRZ()
            parent = self.model.addJoint(parent, kind, placement, joint['name'])
            inertia = pin.Inertia(
                joint['mass'], np.array(joint['center_of_mass']), self._tensor(joint['inertia'])
            )
            self.model.appendBodyToJoint(parent, inertia, to_frame)
            parent_frame = to_frame
        self._tip = parent_frame * self._pose(description['tool'])
        joints = description['joints']
        self.model.armature = np.array(
            [joint['gear_ratio'] ** 2 * joint['rotor_inertia'] for joint in joints]
        )
        self._viscous = np.array([joint['viscous_friction'] for joint in joints])
        self._coulomb = np.array([joint['coulomb_friction'] for joint in joints])
        self.data = self.model.createData()

    def _pose(self, pose):
        rpy = np.array(pose['rpy']) * self._to_radians
        return pin.SE3(pin.rpy.rpyToMatrix(rpy), np.array(pose['xyz']))

    def _screw(self, axis, turn, shift):
        radians = turn * self._to_radians
        direction = np.array([axis == 'x', axis == 'y', axis == 'z'], dtype=float)
        return pin.SE3(pin.AngleAxis(radians, direction).matrix(), shift * direction)

    @staticmethod
    def _tensor(inertia):
        if isinstance(inertia, list):
            return np.array(inertia)
        return np.array(
            [
                [inertia['ixx'], inertia['ixy'], inertia['ixz']],
                [inertia['ixy'], inertia['iyy'], inertia['iyz']],
                [inertia['ixz'], inertia['iyz'], inertia['izz']],
            ]
        )

    def friction_torque(self, qd):
        """Return viscous plus Coulomb friction, shape (n,)."""
        return self._viscous * qd + self._coulomb * np.sign(qd)

    def inverse_dynamics(self, q, qd, qdd, wrench=None):
        """Return the joint torques with rotors, without friction, shape (n,)."""
        forces = pin.StdVec_Force()
        for _ in range(self.model.njoints):
            forces.append(pin.Force.Zero())
        if wrench is not None:
            on_environment = pin.Force(np.array(wrench[:3]), np.array(wrench[3:]))
            forces[self.model.njoints - 1] = -self._tip.act(on_environment)
        return np.array(pin.rnea(self.model, self.data, q, qd, qdd, forces))

    def forward_kinematics(self, q):
        """Return the pose of the tip in the base frame, shape (4, 4)."""
        pin.forwardKinematics(self.model, self.data, q)
        return (self.data.oMi[self.model.njoints - 1] * self._tip).homogeneous

    def mass_matrix(self, q):
        """Return the mass matrix with rotors, shape (n, n)."""
        n = self.model.nv
        upper = np.triu(np.reshape(pin.crba(self.model, self.data, q), (n, n)))
        return upper + np.triu(upper, 1).T
