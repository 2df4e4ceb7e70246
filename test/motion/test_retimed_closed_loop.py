"""A joint trajectory controller on a simulated arm whose motors have limits: sent and retimed."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from jtc_interpolation import NANO, JointTrajectoryController

from ne_dynamics import Dynamics, load_urdf
from ne_dynamics.motion.annotated.annotation import annotate
from ne_dynamics.motion.time_scaling.retiming import retime
from ne_dynamics.motion.waypoints import TrajectoryPoint, Waypoints
from ne_dynamics.shipped import shipped_file

pytest.importorskip('mujoco', reason='MuJoCo is not installed')

from ne_dynamics.simulation.mujoco_model import MujocoArm
from ne_dynamics.simulation.one_process_loop import Answer, OneProcessLoop

PERIOD = 0.001
KP, KV = 400.0, 40.0
"""Times the diagonal of the mass matrix: gains of the controller's PID."""

START = np.array([0.2, -0.9, 1.1, -0.4, 0.6, 0.1])
END = np.array([1.4, 0.1, 0.5, 0.4, 0.1, 1.1])


@pytest.fixture(scope='module')
def distances():
    """Return how far the arm is from the path, at each state of two runs."""
    robot = load_urdf(shipped_file('six_axis_arm.urdf'), tip_link='tcp')
    # Here it is the efforts that are not enough.
    weaker = [
        replace(joint, effort_limit=0.35 * joint.effort_limit, velocity_limit=10.0)
        for joint in robot.joints
    ]
    robot = replace(robot, joints=tuple(weaker))
    dynamics = Dynamics(robot, backend='python')
    rest = np.zeros(6)
    points = [TrajectoryPoint(0.0, START, rest, rest), TrajectoryPoint(0.3, END, rest, rest)]
    sent = Waypoints.from_points(robot.joints, robot.joint_names, points)
    diagonal = np.diag(dynamics.mass_matrix(START))
    most = robot.limits('effort_limit')

    def follow(waypoints):
        points = annotate(dynamics, robot.joint_names, waypoints).points
        controller = JointTrajectoryController(points)
        arm = MujocoArm(robot, period=PERIOD)
        arm.reset(START)
        step = round(PERIOD * NANO)

        def answer(reading):
            now = round(reading.time * NANO)
            q, v, _, _ = controller.sample(now)
            feedback = diagonal * (KP * (q - reading.position) + KV * (v - reading.velocity))
            effort = feedback + controller.sample(now + step)[3]
            return Answer(np.clip(effort, -most, most), q)

        run = OneProcessLoop(arm, answer).run(controller.times[-1] / NANO + 0.5)
        # The path is the straight line in the space of the joints.
        way = END - START
        share = np.clip((run.position - START) @ way / (way @ way), 0.0, 1.0)
        return np.abs(run.position - START - share[:, np.newaxis] * way).max(axis=1)

    return {'sent': follow(sent), 'retimed': follow(retime(dynamics, sent).waypoints)}


def test_the_arm_stays_on_the_path_in_the_new_times(distances) -> None:
    """Within 2 mrad, where the motion as it was sent leaves it by more than 50."""
    assert distances['retimed'].max() < 0.002
    assert distances['sent'].max() > 0.05
