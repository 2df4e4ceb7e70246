"""The written controller in closed loop with a MuJoCo arm that loses its reference."""

import numpy as np
import pytest
from controller_arm import load_arm
from controller_bench import ControllerBench

from ne_dynamics.dynamics import Dynamics

pytest.importorskip('mujoco', reason='MuJoCo is not installed')

from ne_dynamics.simulation.demo.motion import excitation
from ne_dynamics.simulation.mujoco_model import MujocoArm
from ne_dynamics.simulation.one_process_loop import Answer, OneProcessLoop

PERIOD = 0.002
LOST, END = 0.9, 4.9
"""When the reference is lost, in full motion, and when the run ends [s]."""


@pytest.mark.parametrize('kind', ['no number', 'stale', 'jump'])
def test_an_arm_whose_reference_is_lost_comes_to_rest_and_stays(programs, folder, kind):
    """It is braked at the velocity limit in 0.1 s, and held within 2 mrad of where that ends."""
    robot = load_arm()
    dynamics = Dynamics(robot, backend='python')
    motion = excitation(robot, 2.0, dynamics.inverse_dynamics)
    arm = MujocoArm(robot, period=PERIOD)
    arm.reset(motion.positions[0])
    with ControllerBench(programs.compile(folder), robot.n) as bench:
        start, times = motion.positions[0], np.arange(0.0, END + PERIOD, PERIOD)
        wanted = motion.sample(np.minimum(times, LOST))
        bench.states(start, np.zeros(robot.n), dynamics.gravity_torque(start))
        assert bench.activate()

        def answer(reading):
            bench.states(reading.position, reading.velocity, reading.effort)
            position, *rates = (row[round(reading.time / PERIOD)] for row in wanted)
            if reading.time > LOST and kind != 'stale':
                position = position + (np.nan if kind == 'no number' else 0.3)
            return Answer(bench.follow(position, *rates), position)

        run = OneProcessLoop(arm, answer).run(END)
    silent = 0.1 if kind == 'stale' else 0.0
    lost = motion.sample([LOST])
    lost = lost._replace(position=lost.position[0], velocity=lost.velocity[0])
    assert np.abs(lost.velocity).max() > 0.5
    braking = robot.limits('velocity_limit') / 0.1
    # While it is not known to be stale, the reference stands still.
    way = 0.5 * lost.velocity**2 / braking * np.sign(lost.velocity)
    times = np.arange(len(run.position)) * PERIOD
    moved = run.position[times > LOST] - lost.position
    assert (np.abs(moved) <= 0.02 + np.abs(lost.velocity) * (0.03 + silent)).all()
    late = run.position[-100:]
    np.testing.assert_allclose(late - late[-1], 0.0, atol=2e-4)
    np.testing.assert_allclose(late[-1], lost.position + way, atol=2e-3)
