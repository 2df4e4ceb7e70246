"""The printed controller in a firmware's place: C, in closed loop with MuJoCo's arm."""

from __future__ import annotations

import ctypes
import shutil
import subprocess

import numpy as np
import pytest

import ne_dynamics as ned
from ne_dynamics.shipped import shipped_file

pytest.importorskip('mujoco', reason='MuJoCo is not installed')

from motion_loop import MotionLoop, demo_motion

from ne_dynamics.control.laws import Mode
from ne_dynamics.simulation.demo.arm import fair_gains
from ne_dynamics.simulation.mujoco_model import MujocoArm
from ne_dynamics.simulation.one_process_loop import OneProcessLoop

KP, KV = 400.0, 40.0
ARMS = {'six_axis_arm.urdf': 'tcp', 'puma560_standard_dh.yaml': None}


def compile_law(dynamics, law, folder):
    """Return a printed law as a function of arrays, the last of which takes the efforts."""
    compiler = shutil.which('cc') or shutil.which('gcc') or shutil.which('clang')
    if compiler is None:
        pytest.skip('no C compiler (cc, gcc or clang) is installed')
    (folder / 'law.c').write_text(dynamics.source(law, 'c'))
    words = [compiler, '-std=c99', '-O2', '-shared', '-fPIC', 'law.c', '-o', 'law.so', '-lm']
    subprocess.run(words, cwd=folder, check=True)
    function = ctypes.CDLL(str(folder / 'law.so'))[law]
    function.restype = None

    def compute(*arrays):
        function(*[ctypes.c_void_p(np.ascontiguousarray(a).ctypes.data) for a in arrays])

    return compute


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
    compute = compile_law(ned.Dynamics(robot, backend='python'), mode.value, tmp_path)
    effort = np.empty(n)

    def firmware(reading):
        desired = loop.answers.command.desired
        compute(reading.position, reading.velocity, *desired, kp, kv, limits, smoothing, effort)
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
