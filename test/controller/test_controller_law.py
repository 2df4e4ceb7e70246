"""The controller that is written for an arm commands what the node commands."""

from __future__ import annotations

import numpy as np
import pytest
from controller_bench import ControllerBench, write_package
from example_robots import load_arm
from test_friction import TERMS, random_robot

import ne_dynamics as ned
from ne_dynamics.control.stages.limits import clamp_effort
from ne_dynamics.model.robot import JointType
from ne_dynamics.motion.waypoints import DesiredState
from ne_dynamics.ros.settings.configuration import make_tuning
from ne_dynamics.ros.settings.controlled_arm import controlled_arm
from ne_dynamics.ros.settings.parameters import PARAMETERS
from ne_dynamics.shipped import shipped_file

DH = {
    'puma560_standard_dh.yaml': 'standard DH',
    'puma560_modified_dh.yaml': 'modified DH',
}
TREES = {
    'one joint': ({}, 1, 1),
    'friction with the load': (TERMS['load'], 9, 8),
    'friction at rest': (TERMS['offset'], 3, 5),
    'friction of every kind': (TERMS['all'], 5, 8),
    '14 joints': ({}, 7, 18),
}
ARMS = ('six_axis_arm', 'UR5', 'Panda, fingers locked', 'Kinova j2s6s200 (continuous)', 'xArm7')
ROBOTS = [*ARMS, *DH, *TREES]
SAMPLES = 24


def load(name):
    """Return one of the robots."""
    if name in TREES:
        return random_robot(*TREES[name])
    return ned.load_dh(shipped_file(name)) if name in DH else load_arm(name)


def random_values(robot, inertias, seed):
    """Return parameters: each mode, terms, gains and loads."""
    rng = np.random.default_rng([seed, robot.n])
    n, friction = robot.n, [joint.friction for joint in robot.joints]
    values = {
        'mode': ('computed_torque', 'feedforward_pd', 'gravity_compensation')[seed % 3],
        'computed_torque.kp': rng.uniform(50.0, 90.0, n),
        'computed_torque.kv': rng.uniform(10.0, 20.0, n),
        'feedforward_pd.kp': inertias * rng.uniform(0.0, 90.0, n),
        'feedforward_pd.kv': inertias * rng.uniform(5.0, 20.0, n),
        'terms.gravity': bool(rng.random() < 0.7) or any(one.depends_on_load for one in friction),
        'terms.friction': bool(rng.random() < 0.5) or any(one.friction_offset for one in friction),
        'terms.coriolis': bool(rng.random() < 0.7),
        'terms.inertia': bool(rng.random() < 0.7),
        'friction.smoothing_velocity': (0.0, 1e-3, 0.2)[seed % 4 % 3],
        'effort_limits': rng.uniform(5.0, 400.0, n),
        'payload.mass': 0.0,
        'payload.com': (0.0, 0.0, 0.0),
        'payload.inertia': (0.0,) * 6,
    }
    if seed % 2:
        values |= {
            'payload.mass': 3.0,
            'payload.com': rng.uniform(-0.2, 0.2, 3),
            'payload.inertia': (0.02, 0.003, -0.002, 0.03, 0.001, 0.025),
        }
    listed = {name: np.atleast_1d(value) for name, value in values.items()}
    return {
        name: tuple(listed[name].tolist()) if np.ndim(value) else value
        for name, value in values.items()
    }


def random_motion(robot, seed):
    """Return a measured and a desired state, turns away where a joint has no end."""
    rng = np.random.default_rng([seed, robot.n, 1])
    q, qd, q_desired, qd_desired, qdd = rng.uniform(-3.0, 3.0, (5, robot.n))
    for index, joint in enumerate(robot.joints):
        if joint.type is JointType.CONTINUOUS:
            q_desired[index] += 2.0 * np.pi * rng.integers(-3, 4)
    if seed % 3 == 0:
        qd_desired[0] = 0.0
    return q, qd, DesiredState(q_desired, qd_desired, qdd)


@pytest.mark.kept(1)
@pytest.mark.parametrize('name', ROBOTS)
def test_the_controller_commands_what_the_node_commands(name, tmp_path, programs, folder):
    """In each mode, with terms left out, a payload and limits, to 1e-12 of the largest effort."""
    robot = load(name)
    inertias = write_package(robot, tmp_path / 'arm').least_inertias
    arm = controlled_arm(PARAMETERS.defaults, robot)
    package = folder if name == ROBOTS[0] else tmp_path / 'arm'
    with ControllerBench(
        programs.compile(package),
        robot.n,
        transition_time=0.0,
        jump_velocity=[0.0],
        state_effort='ignore',
    ) as bench:
        bench.states(np.zeros(robot.n))
        assert bench.activate()
        bench.follow(np.zeros(robot.n))
        for seed in range(SAMPLES):
            values = random_values(robot, inertias, seed)
            assert not bench.set(values)
            tuning, _ = make_tuning(PARAMETERS.changed(values), arm)
            q, qd, desired = random_motion(robot, seed)
            wanted = tuning.law.effort(q, qd, desired)
            expected = clamp_effort(wanted, tuning.effort_limits)
            bench.states(q, qd)
            found = bench.follow(*desired)
            scale = np.abs(wanted).max()
            np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12 * scale)
