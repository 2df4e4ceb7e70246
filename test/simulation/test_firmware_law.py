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

from one_process_loop import OneProcessLoop, demo_motion

from ne_dynamics.control.laws import Mode
from ne_dynamics.simulation.demo_arm import fair_gains
from ne_dynamics.simulation.mujoco_model import MujocoArm

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
    loop = OneProcessLoop(robot, motion, mode=mode, kp=KP, kv=KV, backend=backend)
    n = robot.n
    given = fair_gains(robot, motion, KP, KV) if mode is Mode.FEEDFORWARD_PD else (KP, KV)
    kp, kv = (np.array(np.broadcast_to(gain, n), dtype=float) for gain in given)
    limits, smoothing = robot.limits('effort_limit'), np.zeros(1)
    compute = compile_law(ned.Dynamics(robot, backend='python'), mode.value, tmp_path)
    other = MujocoArm(robot, period=loop.period, integrator='implicitfast')
    other.reset(motion.positions[0])
    loop.follow()
    largest_error = largest_distance = 0.0
    effort = np.empty(n)
    for _ in range(round(motion.times[-1] / loop.period)):
        arm = loop.arm
        command = loop.controller.update(
            arm.position.copy(), arm.velocity.copy(), arm.time, arm.time
        )
        arm.step(command.effort)
        state = other.position.copy(), other.velocity.copy()
        compute(*state, *command.desired, kp, kv, limits, smoothing, effort)
        other.step(effort)
        distance = np.abs(other.position - arm.position).max()
        largest_distance = max(largest_distance, distance)
        error = np.abs(command.desired.position - state[0]).max()
        largest_error = max(largest_error, error)
    assert largest_distance < 1e-9
    assert 0.0 < largest_error < 0.01
