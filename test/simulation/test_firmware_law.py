"""The printed controller in a firmware's place: C, in closed loop with MuJoCo's arm."""

import numpy as np
import pytest

import ne_dynamics as ned
from ne_dynamics.shipped import shipped_file

pytest.importorskip('mujoco', reason='MuJoCo is not installed')

from compiled_c import call_c, compile_c
from motion_loop import MotionLoop, demo_motion

from ne_dynamics.control.laws import Mode
from ne_dynamics.simulation.demo.arm import fair_gains
from ne_dynamics.simulation.mujoco_model import MujocoArm
from ne_dynamics.simulation.one_process_loop import OneProcessLoop

KP, KV = 400.0, 40.0
ARMS = {'six_axis_arm.urdf': 'tcp', 'puma560_standard_dh.yaml': None}


@pytest.mark.parametrize('backend', ['python', 'auto'])
@pytest.mark.parametrize('mode', [Mode.COMPUTED_TORQUE, Mode.FEEDFORWARD_PD])
@pytest.mark.parametrize(('model', 'tip'), ARMS.items())
def test_a_firmware_moves_the_arm_as_the_controller_does(model, tip, mode, backend, tmp_path):
    """Two arms, one moved by the controller, one by the printed C: they stay together, and follow.

    Friction is that of the model, Coulomb friction included, as a step.
    """
    robot = ned.load_model(shipped_file(model), tip_link=tip)
    motion = demo_motion(robot)
    loop = MotionLoop(robot, motion, mode=mode, kp=KP, kv=KV, backend=backend)
    n = robot.n
    given = fair_gains(robot, motion, KP, KV) if mode is Mode.FEEDFORWARD_PD else (KP, KV)
    kp, kv = (np.array(np.broadcast_to(gain, n), dtype=float) for gain in given)
    limits, smoothing = robot.limits('effort_limit'), np.zeros(1)
    text = ned.Dynamics(robot, backend='python').source(mode.value, 'c')
    compute = compile_c(text, tmp_path, flags=('-std=c99', '-O2'))[mode.value]
    effort = np.empty(n)

    def firmware(reading):
        states = reading.position, reading.velocity, *loop.answers.command.desired
        call_c(compute, *map(np.ascontiguousarray, (*states, kp, kv, limits, smoothing)), effort)
        return effort.copy()

    arm = MujocoArm(robot, period=loop.arm.period, integrator='implicitfast')
    arm.reset(motion.positions[0])
    other = OneProcessLoop(arm, firmware)
    loop.follow()
    for _ in range(round(motion.duration / loop.arm.period)):
        loop.step()
        other.step()
    assert loop.answers.faults == []
    moved, moved_by_firmware = loop.recording(), other.recording()
    assert np.abs(moved.position - moved_by_firmware.position).max() < 1e-9
    assert 0.0 < np.abs(moved.desired - moved_by_firmware.position).max() < 0.01
