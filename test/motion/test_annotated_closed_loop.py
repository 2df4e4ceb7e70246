"""A joint trajectory controller with effort on a simulated arm: annotated, and retimed, or not.

The errors in the table of `doc/joint_trajectory_controller.md` are those of JTC itself, where it
has been compiled (`test/support/real_jtc.py`), and those of its rules.
"""

from __future__ import annotations

import numpy as np
import pytest
import yaml
from document_tables import compare_errors
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

PAGE = 'joint_trajectory_controller.md'

JTC_ROWS = {
    'JTC, 100/20, without efforts': 'none',
    'JTC, 100/20, efforts at the nine points': 'at the waypoints',
    'JTC, 100/20, annotated': 'annotated',
}
SHIPPED_ROW = 'JTC, gains of `config/jtc_effort_controllers.yaml`, annotated'

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


def follow_by_jtc(process, robot, points, gains, *, period, tail):
    """Return a run by JTC itself, with its block of gains."""
    from rclpy.serialization import serialize_message

    from ne_dynamics.simulation.demo.node_messages import trajectory_message

    arm = MujocoArm(robot, period=period)
    arm.reset(points[0].positions)
    jtc = process.RealJtc(
        robot.joint_names,
        arm.position,
        shipped_file('six_axis_arm.urdf').read_text(encoding='utf-8'),
        period,
        100.0 - period,
        command_interfaces=['effort'],
        gains=gains,
    )
    jtc.update(100.0 - period, arm.position, arm.velocity)
    message = trajectory_message(robot.joint_names, points)
    assert jtc.receive(bytes(serialize_message(message)), 100.0 - period)

    def answer(reading):
        cycle = jtc.update(100.0 + reading.time, reading.position, reading.velocity)
        return Answer(cycle.command[0], cycle.desired[0])

    run = OneProcessLoop(arm, answer).run(points[-1].time_from_start + tail)
    jtc.close()
    return run


@pytest.fixture(scope='module')
def motion():
    """Return the motion of two seconds, which uses up to 0.8 of the efforts."""
    robot = load_arm()
    return excitation(robot, 2.0, Dynamics(robot, backend='python').inverse_dynamics)


@pytest.fixture(scope='module')
def trajectories(motion):
    """Return its points with the efforts that trajectories can carry, by kind."""
    robot = motion.robot
    dynamics = Dynamics(robot, backend='python')
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
    return {'none': plain, 'at the waypoints': sparse, 'annotated': annotated}


@pytest.fixture(scope='module')
def errors(trajectories):
    """Return the errors of runs with them, by kind."""
    return {
        kind: follow(load_arm(), points, (100.0, 20.0), period=0.002, tail=1.0).error
        for kind, points in trajectories.items()
    }


@pytest.fixture(scope='module')
def distances():
    """Return how far an arm with weak motors is from the path, at each state of two runs."""
    robot = load_arm()
    # Here it is the efforts that are not enough.
    robot = robot.with_joint_values('effort_limit', 0.35 * robot.limits('effort_limit'))
    robot = robot.with_joint_values('velocity_limit', np.full(6, 10.0))
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


@pytest.mark.parametrize('beginning', list(JTC_ROWS))
def test_the_page_has_the_errors_by_the_rules_of_jtc(errors, beginning) -> None:
    """They are those of JTC itself in all digits."""
    compare_errors(PAGE, beginning, errors[JTC_ROWS[beginning]])


@pytest.mark.parametrize('beginning', list(JTC_ROWS))
def test_the_page_has_the_errors_of_jtc(jtc_process, motion, trajectories, beginning) -> None:
    """With PD gains that are 100/s^2 and 20/s times the diagonal of the mass matrix."""
    robot = motion.robot
    diagonal = np.diag(Dynamics(robot, backend='python').mass_matrix(motion.positions[0]))
    gains = {
        name: {'p': 100.0 * float(inertia), 'd': 20.0 * float(inertia)}
        for name, inertia in zip(robot.joint_names, diagonal, strict=True)
    }
    points = trajectories[JTC_ROWS[beginning]]
    run = follow_by_jtc(jtc_process, robot, points, gains, period=0.002, tail=1.0)
    compare_errors(PAGE, beginning, run.error)


def test_the_page_has_the_errors_of_jtc_with_the_shipped_gains(
    jtc_process, motion, trajectories
) -> None:
    """They are those of the file for JTC."""
    file = yaml.safe_load(shipped_file('jtc_effort_controllers.yaml').read_text(encoding='utf-8'))
    gains = file['/**/effort_trajectory_controller']['ros__parameters']['gains']
    points = trajectories['annotated']
    run = follow_by_jtc(jtc_process, motion.robot, points, gains, period=0.002, tail=1.0)
    compare_errors(PAGE, SHIPPED_ROW, run.error)


def test_annotated_efforts_leave_little_to_the_gains(errors) -> None:
    """The same gains track 100 times better with annotated efforts than without any.

    Efforts at the sender's points alone, a quarter second apart, leave ten times the error.
    """
    rms = {kind: np.sqrt((values**2).mean(axis=0)) for kind, values in errors.items()}
    assert (rms['none'] > 100.0 * rms['annotated']).all()
    assert (rms['at the waypoints'] > 10.0 * rms['annotated']).all()


def test_the_arm_stays_on_the_path_in_the_new_times(distances) -> None:
    """Within 2 mrad, where the motion as it was sent leaves it by more than 50."""
    assert distances['retimed'].max() < 0.002
    assert distances['sent'].max() > 0.05
