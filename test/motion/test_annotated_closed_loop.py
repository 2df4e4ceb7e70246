"""A joint trajectory controller with effort, on a simulated arm, with and without annotation."""

from __future__ import annotations

import numpy as np
import pytest
from jtc_interpolation import NANO, JointTrajectoryController

from ne_dynamics import Dynamics, load_urdf
from ne_dynamics.motion.annotated.annotation import annotate
from ne_dynamics.motion.waypoints import TrajectoryPoint
from ne_dynamics.shipped import shipped_file

pytest.importorskip('mujoco', reason='MuJoCo is not installed')

from ne_dynamics.simulation.demo.motion import excitation
from ne_dynamics.simulation.mujoco_model import MujocoArm
from ne_dynamics.simulation.one_process_loop import Answer, OneProcessLoop

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

    def answer(reading):
        now = round(reading.time * NANO)
        q, v, _, _ = controller.sample(now)
        # The gains act on the present error, the effort is that of the next cycle.
        feedback = gains[0] * (q - reading.position) + gains[1] * (v - reading.velocity)
        return Answer(feedback + controller.sample(now + step)[3], q)

    return OneProcessLoop(arm, answer).run(controller.times[-1] / NANO + TAIL).error


@pytest.fixture(scope='module')
def errors():
    """Return the errors of runs with the efforts that trajectories can carry, by kind."""
    robot = load_urdf(shipped_file('six_axis_arm.urdf'), tip_link='tcp')
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
    diagonal = np.diag(dynamics.mass_matrix(plain[0].positions))
    gains = KP * diagonal, KV * diagonal
    kinds = {'none': plain, 'at the waypoints': sparse, 'annotated': annotated}
    return {kind: follow(robot, points, gains) for kind, points in kinds.items()}


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
