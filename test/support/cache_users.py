"""What processes of their own do with the machine code that is kept: the targets of `spawn`."""

import numpy as np

import ne_dynamics as ned
from ne_dynamics.codegen.cache import ObjectCache
from ne_dynamics.shipped import shipped_file


def compute_with_others(barrier, answers):
    """Need code at the same moment as other processes; say whether it was there already."""
    robot = ned.load_urdf(shipped_file('six_axis_arm.urdf'))
    dynamics = ned.Dynamics(robot, backend='compiled')
    q = np.linspace(0.1, 0.9, 6)
    expected = ned.Dynamics(robot, backend='python').gravity_torque(q)
    barrier.wait(60)
    for _ in range(3):
        np.testing.assert_allclose(dynamics.gravity_torque(q), expected, rtol=0, atol=1e-10)
    answers.put(dynamics._evaluator.load('gravity_torque').was_cached)


def write_in_turns(folder, key, codes):
    """Keep one code after the other under one name."""
    for turn in range(400):
        ObjectCache(folder).write(key, codes[turn % len(codes)])
