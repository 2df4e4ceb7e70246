"""Torques on a base whose motion an IMU measures, against Pinocchio with a free-flyer root.

Pinocchio reads the same URDF, with the sensor on it, says what a sensor there measures, and what
the joints take. Nothing of the sensor's place, the motion or gravity is shared with it.
"""

import numpy as np
import pytest

import ne_dynamics as ned
from ne_dynamics.control.sensors.imu import BaseImu, ImuSettings
from ne_dynamics.control.sensors.low_pass import LowPass
from ne_dynamics.shipped import shipped_file

pin = pytest.importorskip('pinocchio', reason='needs Pinocchio (pip install pin)')

SENSOR = """
  <joint name="imu_joint" type="fixed">
    <parent link="pedestal"/>
    <child link="imu"/>
    <origin xyz="0.31 -0.22 0.17" rpy="0.7 -1.1 2.3"/>
  </joint>
  <link name="imu"/>
</robot>"""
GRAVITY = 9.80665


class Carried:
    """The shipped arm with an IMU on its pedestal, on a base that is carried about."""

    def __init__(self, seed):
        urdf = shipped_file('six_axis_arm.urdf').read_text().replace('</robot>', SENSOR)
        self.robot = ned.load_urdf(urdf)
        self.dynamics = ned.Dynamics(self.robot, (0.0, 0.0, -GRAVITY), backend='python')
        self.model = pin.buildModelFromXML(urdf, pin.JointModelFreeFlyer())
        self.model.gravity.linear = np.array([0.0, 0.0, -GRAVITY])
        self.data = self.model.createData()
        rng = np.random.default_rng(seed)
        quaternion = rng.normal(size=4)
        quaternion /= np.linalg.norm(quaternion)
        place = rng.uniform(-3.0, 3.0, 3)
        self.joints = rng.uniform(-2.0, 2.0, (3, 6))
        self.q = np.concatenate((place, quaternion, self.joints[0]))
        self.v = np.concatenate((rng.uniform(-2.0, 2.0, 6), self.joints[1]))
        self.a = np.concatenate((rng.uniform(-4.0, 4.0, 6), self.joints[2]))

    def rest(self):
        """Stop the base where it stands."""
        self.v[:6] = self.a[:6] = 0.0

    def reading(self):
        """Return what Pinocchio says an IMU measures: w, f, orientation, and its w'."""
        pin.forwardKinematics(self.model, self.data, self.q, self.v, self.a)
        pin.updateFramePlacements(self.model, self.data)
        frame = self.model.getFrameId('imu')
        local = pin.ReferenceFrame.LOCAL
        velocity = pin.getFrameVelocity(self.model, self.data, frame, local)
        motion = pin.getFrameClassicalAcceleration(self.model, self.data, frame, local)
        rotation = self.data.oMf[frame].rotation
        upwards = rotation.T @ [0.0, 0.0, GRAVITY]
        orientation = pin.Quaternion(rotation).coeffs()
        return velocity.angular, motion.linear + upwards, orientation, motion.angular

    def expected(self):
        """Return Pinocchio's torques of the joints, their friction added."""
        rigid = pin.rnea(self.model, self.data, self.q, self.v, self.a)[6:]
        return rigid + self.dynamics.friction_torque(self.joints[1])

    def computed(self, imu):
        """Return our torques, with the base's motion from the sensor."""
        return self.dynamics.inverse_dynamics(*self.joints, base_motion=imu.at(0.0))


@pytest.mark.parametrize('seed', range(3))
def test_the_measured_motion_of_a_base_is_its_motion(seed, monkeypatch):
    """Rate and specific force of a sensor anywhere on the base give the torques of its motion."""
    carried = Carried(seed)
    # Without a filter, after a reading at rest: a sensor that has never shown gravity is not one.
    imu = BaseImu(
        carried.robot,
        carried.dynamics.gravity,
        ImuSettings(max_acceleration=np.inf, cutoff_frequency=0.0),
    )
    at_rest = Carried(seed)
    at_rest.rest()
    imu.update('imu', *at_rest.reading()[:2], None, -0.001)
    rate, force, _, angular = carried.reading()
    # In the place of the filter's difference of two rates, what that would be without an error.
    mounted = (
        carried.data.oMi[1].rotation.T @ carried.data.oMf[carried.model.getFrameId('imu')].rotation
    )
    change = np.concatenate((mounted @ angular, np.zeros(3)))
    monkeypatch.setattr(LowPass, 'derivative', lambda self: change)
    imu.update('imu', rate, force, None, 0.0)
    expected = carried.expected()
    error = np.abs(carried.computed(imu) - expected).max()
    assert error <= 1e-9 * max(1.0, np.abs(expected).max())


@pytest.mark.parametrize('source', ['acceleration', 'orientation'])
@pytest.mark.parametrize('seed', range(3))
def test_the_measured_tilt_of_a_base_is_its_tilt(seed, source):
    """On a base at rest in any attitude both sources give the torques, and gravity itself."""
    carried = Carried(100 + seed)
    carried.rest()
    imu = BaseImu(
        carried.robot,
        carried.dynamics.gravity,
        ImuSettings(max_acceleration=np.inf, source=source),
    )
    rate, force, orientation, _ = carried.reading()
    if source == 'acceleration':
        orientation = None
    else:
        force = None
    imu.update('imu', rate, force, orientation, 0.0)
    expected = carried.expected()
    error = np.abs(carried.computed(imu) - expected).max()
    assert error <= 1e-9 * max(1.0, np.abs(expected).max())
    pin.framesForwardKinematics(carried.model, carried.data, carried.q)
    down = carried.data.oMi[1].rotation.T @ [0.0, 0.0, -GRAVITY]
    np.testing.assert_allclose(imu.gravity_at(0.0), down, atol=1e-12)
    np.testing.assert_allclose(imu.resting_at(0.0), imu.at(0.0), atol=1e-12)
