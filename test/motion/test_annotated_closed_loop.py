"""A joint trajectory controller with effort on a simulated arm: annotated, and retimed, or not."""

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

from ne_dynamics.simulation.demo.motion import excitation
from ne_dynamics.simulation.mujoco_model import MujocoArm
from ne_dynamics.simulation.one_process_loop import Answer, OneProcessLoop

START = np.array([0.2, -0.9, 1.1, -0.4, 0.6, 0.1])
END = np.array([1.4, 0.1, 0.5, 0.4, 0.1, 1.1])


def load_arm():
    """Return the shipped arm as a chain."""
    return load_urdf(shipped_file('six_axis_arm.urdf'), tip_link='tcp')


def follow(robot, points, gains, *, period, tail, most=np.inf):
    """Return a run by PID and effort, together up to `most` [N m], until `tail` [s] after its end.

    The gains, on position and velocity, are times the diagonal of the mass matrix at the begin.
    """
    controller = JointTrajectoryController(points)
    arm = MujocoArm(robot, period=period)
    arm.reset(points[0].positions)
    diagonal = np.diag(Dynamics(robot, backend='python').mass_matrix(points[0].positions))
    step = round(period * NANO)

    def answer(reading):
        now = round(reading.time * NANO)
        q, v, _, _ = controller.sample(now)
        # The gains act on the present error, the effort is that of the next cycle.
        wanted = gains[0] * (q - reading.position) + gains[1] * (v - reading.velocity)
        effort = diagonal * wanted + controller.sample(now + step)[3]
        return Answer(np.clip(effort, -most, most), q)

    return OneProcessLoop(arm, answer).run(controller.times[-1] / NANO + tail)


@pytest.fixture(scope='module')
def errors():
    """Return the errors of runs with the efforts that trajectories can carry, by kind."""
    robot = load_arm()
    dynamics = Dynamics(robot, backend='python')
    motion = excitation(robot, 2.0, dynamics.inverse_dynamics)
    rows = (motion.positions, motion.velocities, motion.accelerations)
    times = motion.times.tolist()
    plain = [
        TrajectoryPoint(round(time, 9), *values)
        for time, *values in zip(times, *rows, strict=True)
    ]
    efforts = dynamics.inverse_dynamics(*rows)
    sparse = [point._replace(effort=effort) for point, effort in zip(plain, efforts, strict=True)]
    annotated = annotate(
        dynamics, robot.joint_names, motion.waypoints(), effort_tolerance=0.1
    ).points
    kinds = {'none': plain, 'at the waypoints': sparse, 'annotated': annotated}
    return {
        kind: follow(robot, points, (100.0, 20.0), period=0.002, tail=1.0).error
        for kind, points in kinds.items()
    }


@pytest.fixture(scope='module')
def distances():
    """Return how far an arm with weak motors is from the path, at each state of two runs."""
    robot = load_arm()
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
    most = robot.limits('effort_limit')

    def measure(waypoints):
        points = annotate(dynamics, robot.joint_names, waypoints).points
        run = follow(robot, points, (400.0, 40.0), period=0.001, tail=0.5, most=most)
        # The path is the straight line in the space of the joints.
        way = END - START
        share = np.clip((run.position - START) @ way / (way @ way), 0.0, 1.0)
        return np.abs(run.position - START - share[:, np.newaxis] * way).max(axis=1)

    return {'sent': measure(sent), 'retimed': measure(retime(dynamics, sent).waypoints)}


def test_annotated_efforts_leave_little_to_the_gains(errors) -> None:
    """The same gains track 100 times better with annotated efforts than without any."""
    rms = {kind: np.sqrt((values**2).mean(axis=0)) for kind, values in errors.items()}
    assert (rms['none'] > 100.0 * rms['annotated']).all()


def test_efforts_at_the_waypoints_alone_are_not_enough(errors) -> None:
    """Efforts at the sender's points alone, a quarter second apart, leave ten times the error."""
    rms = {kind: np.sqrt((values**2).mean(axis=0)) for kind, values in errors.items()}
    assert (rms['at the waypoints'] > 10.0 * rms['annotated']).all()


def test_the_last_effort_holds_the_arm(errors) -> None:
    """A second after the last point the arm stands where it is to; without efforts it sags."""
    assert np.abs(errors['annotated'][-1]).max() < 1e-4
    assert np.abs(errors['none'][-1]).max() > 0.1


def test_the_arm_stays_on_the_path_in_the_new_times(distances) -> None:
    """Within 2 mrad, where the motion as it was sent leaves it by more than 50."""
    assert distances['retimed'].max() < 0.002
    assert distances['sent'].max() > 0.05
