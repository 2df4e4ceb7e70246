"""A joint trajectory controller with effort, on a simulated arm, with and without annotation."""

from __future__ import annotations

import numpy as np
import pytest
from jtc_interpolation import NANO, JointTrajectoryController

from ne_dynamics import Dynamics, load_urdf
from ne_dynamics.control.annotation import annotate
from ne_dynamics.control.trajectory import Waypoints
from ne_dynamics.shipped import shipped_file

pytest.importorskip('mujoco', reason='MuJoCo is not installed')

from ne_dynamics.simulation.demo_motion import excitation
from ne_dynamics.simulation.mujoco_model import MujocoArm

PERIOD = 0.002
KP, KV = 100.0, 20.0
"""Times the diagonal of the mass matrix: gains of the controller's PID."""

TAIL = 1.0
"""Time after the last point in which the arm is to be held [s]."""


def follow(robot, points, gains):
    """Return the position errors of a run: PID and effort, by the command interface `effort`."""
    controller = JointTrajectoryController(points)
    arm = MujocoArm(robot, period=PERIOD)
    arm.reset(points[0].positions)
    step = round(PERIOD * NANO)
    errors = []
    for now in range(0, controller.times[-1] + round(TAIL * NANO), step):
        q, v, _, _ = controller.sample(now)
        errors.append(q - arm.position)
        # The gains act on the present error, the effort is that of the next cycle.
        feedback = gains[0] * errors[-1] + gains[1] * (v - arm.velocity)
        arm.step(feedback + controller.sample(now + step)[3])
    return np.array(errors)


def test_annotated_efforts_leave_little_to_the_gains() -> None:
    """With annotated efforts the same gains track 50 times better, and hold the arm at the end."""
    robot = load_urdf(shipped_file('six_axis_arm.urdf'), tip_link='tcp')
    dynamics = Dynamics(robot, backend='python')
    points = list(excitation(robot, 2.0, dynamics.inverse_dynamics).points())
    diagonal = np.diag(dynamics.mass_matrix(points[0].positions))
    gains = KP * diagonal, KV * diagonal
    waypoints = Waypoints.from_points(robot.joints, robot.joint_names, points)
    fine = annotate(dynamics, robot.joint_names, waypoints, effort_tolerance=0.1)
    sparse = [
        point._replace(
            effort=dynamics.inverse_dynamics(
                point.positions, point.velocities, point.accelerations
            )
        )
        for point in points
    ]
    rms = {}
    for name, given in (('none', points), ('at waypoints', sparse), ('annotated', fine.points)):
        errors = follow(robot, given, gains)
        rms[name] = np.sqrt((errors**2).mean(axis=0))
        print(name, len(given), (1e3 * rms[name]).round(4), 'last', 1e3 * np.abs(errors[-1]).max())
        if name == 'annotated':
            assert np.abs(errors[-1]).max() < 1e-3
    assert (rms['none'] > 50.0 * rms['annotated']).all()
    assert (rms['at waypoints'] > rms['annotated']).all()
