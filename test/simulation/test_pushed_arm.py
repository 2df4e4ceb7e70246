"""An arm that is pushed comes to rest: controller and MuJoCo in one process, one command a state.

No friction, in the arm or in the model: what brings it to rest is the feedback alone.
"""

from __future__ import annotations

import re

import numpy as np
import pytest

from ne_dynamics.control.slew import needed_slew
from ne_dynamics.control.stages.limits import EffortLimiter
from ne_dynamics.control.thresholds import COMMAND
from ne_dynamics.errors import NeDynamicsError, ParameterError
from ne_dynamics.ros.settings.configuration import make_controller, make_tuning
from ne_dynamics.ros.settings.controlled_arm import controlled_arm
from ne_dynamics.ros.settings.parameters import PARAMETERS
from ne_dynamics.shipped import shipped_file

pytest.importorskip('mujoco', reason='MuJoCo is not installed')

from ne_dynamics import load_model
from ne_dynamics.simulation.altered_robot import with_hung_mass
from ne_dynamics.simulation.mujoco_model import MujocoArm
from ne_dynamics.simulation.one_process_loop import OneProcessLoop, external_push

MODEL = load_model(shipped_file('six_axis_arm.urdf'), tip_link='tcp').without_friction()
LOWER, UPPER = MODEL.limits('lower'), MODEL.limits('upper')
LIMITS = MODEL.limits('effort_limit')
POSTURE = np.array([0.3, -1.0, 1.2, 0.4, -0.5, 0.2])
UNGUARDED = {'following_error.position': (np.inf,), 'following_error.velocity': (np.inf,)}
"""Soft gains and heavy pushes lead far away, where the node stops: here it is about the loop."""

ARM = controlled_arm(PARAMETERS.changed({'backend': 'python'}), MODEL)
START, PUSH_TIME = 0.1, 0.2
"""When the push begins, and how long it lasts [s]."""

QUIET, AT_REST = 0.2, 0.02
"""At rest is who has no joint faster than this [rad/s] for so long [s]."""

LARGEST_ACCELERATION = 150.0
"""No push accelerates the joint more than this [rad/s^2]: half the motor's torque on a wrist of
0.002 kg m^2 would be 13000."""


class RateLimitedMotors:
    """A controller without a rate limit, and motors that have one: the same loop."""

    def __init__(self, controller, effort_limits, effort_rate, period) -> None:
        self._controller = controller
        self._limiter = EffortLimiter(effort_limits, np.array([effort_rate]))
        self._period = period

    def __call__(self, reading):
        """Return what the motors make of the command."""
        command = self._controller.update(reading.position, reading.velocity, reading.time)
        return self._limiter.apply(command.effort, self._period).effort


def pushed(values, push, posture=POSTURE, rate=500.0, patience=2.0, motor_rate=0.0):
    """Push a held arm; return when it was at rest again [s after the push], or None.

    `push` is added to the joints' effort for `PUSH_TIME` [N m]; `values` are parameters of the
    node; `motor_rate` limits the effort's rate where the node knows nothing of it [N m/s]. None
    also when the motion grew beyond all bounds, or beyond what is believed of states.
    """
    chosen = PARAMETERS.changed({**UNGUARDED, **values})
    tuning, _ = make_tuning(chosen, ARM)
    robot = MODEL
    if chosen.payload.mass:
        robot = with_hung_mass(MODEL, chosen.payload.mass, chosen.payload.com, 'tcp')
    arm = MujocoArm(robot, period=1.0 / rate, substeps=max(1, round(1000.0 / rate)))
    arm.reset(posture)
    law = make_controller(ARM, tuning)
    if motor_rate:
        law = RateLimitedMotors(law, tuning.effort_limits, motor_rate, 1.0 / rate)
    loop = OneProcessLoop(arm, law, disturbances=[external_push(push, START, PUSH_TIME)])
    quiet = 0.0
    for _ in range(round((START + PUSH_TIME + patience) * rate)):
        now = arm.time
        try:
            command = loop.step().effort
        except NeDynamicsError:
            return None
        assert (np.abs(command) <= tuning.effort_limits).all()
        speed = np.abs(arm.velocity).max()
        if speed > 1000.0:
            return None
        quiet = quiet + 1.0 / rate if now > START + PUSH_TIME and speed < AT_REST else 0.0
        if quiet > QUIET:
            return now - START - PUSH_TIME
    return None


def stiff(rate_limit):
    """Return the parameters of a stiff arm."""
    return {
        'computed_torque.kp': (400.0,),
        'computed_torque.kv': (40.0,),
        'effort_rate_limit': rate_limit,
    }


@pytest.mark.kept(1)
@pytest.mark.parametrize('joint', [0, 1, 2])
def test_a_rate_limit_that_lets_the_arm_swing_is_warned_of(joint: int) -> None:
    """With a rate limit that is too slow for a hard push the same arm never comes to rest; the
    node says so.
    """
    rate_limit = 1100.0
    values = stiff((rate_limit,))
    assert pushed(values, 100.0 * np.eye(6)[joint]) is None
    _, (remark,) = make_tuning(PARAMETERS.changed(values), ARM)
    assert remark.startswith('effort_rate_limit: too slow for the gains')
    assert f'joint_{joint + 1} {rate_limit:g} (expected >= ' in remark


@pytest.mark.kept(1)
@pytest.mark.parametrize('joint', [0, 1, 2])
def test_a_rate_limit_that_lets_the_arm_swing_after_a_moderate_push_is_refused(joint: int) -> None:
    """The arm that never comes to rest after 30 N m does not get its rate limit; with the gains
    that the message names it does, and comes to rest.
    """
    push = 30.0 * np.eye(6)[joint]
    assert pushed(stiff(()), push, motor_rate=386.0) is None
    with pytest.raises(ParameterError, match=r'effort_rate_limit: .* too slow') as e:
        make_tuning(PARAMETERS.changed(stiff((386.0,))), ARM)
    kp, kv = map(float, re.search(r'\(([\d.]+) and ([\d.]+)\)', str(e.value)).groups())
    assert kp == pytest.approx(kv * kv / 4.0, rel=0.02)
    slower = stiff((386.0,)) | {'computed_torque.kp': (kp,), 'computed_torque.kv': (kv,)}
    assert pushed(slower, push, patience=4.0) is not None


@pytest.mark.kept(1)
@pytest.mark.parametrize('seed', range(10))
def test_a_rate_limit_that_is_refused_lets_the_arm_swing(seed: int) -> None:
    """Random gains: at nine tenths of the slowest rate that is taken, an arm that is pushed by as
    much as the criterion says does not come to rest.
    """
    rng = np.random.default_rng(seed)
    frequency, damping = np.exp(rng.uniform(np.log(5.0), np.log(35.0))), rng.uniform(0.5, 1.5)
    joint = int(rng.integers(2))
    gains = {
        'computed_torque.kp': (frequency**2,),
        'computed_torque.kv': (2.0 * damping * frequency,),
    }

    def is_taken(rate):
        try:
            make_tuning(PARAMETERS.changed(gains | {'effort_rate_limit': (rate,)}), ARM)
        except ParameterError:
            return False
        return True

    low, high = 1.0, 1e5
    while high > 1.02 * low:
        middle = np.sqrt(low * high)
        low, high = (low, middle) if is_taken(middle) else (middle, high)
    push = COMMAND.refused_push_share * LIMITS.max() * np.eye(6)[joint]
    assert pushed(gains, push, patience=4.0, motor_rate=0.9 * high) is None


def random_setting(seed: int):
    """Return parameters, a push, a posture and a rate of the states, all at random."""
    rng = np.random.default_rng(seed)
    mode = ('computed_torque', 'computed_torque', 'feedforward_pd')[seed % 3]
    if mode == 'computed_torque':
        frequency, damping = np.exp(rng.uniform(np.log(3.0), np.log(35.0))), rng.uniform(0.5, 1.5)
    else:
        # Of the lightest joint there is: elsewhere both are lower, and gravity must not win.
        frequency, damping = rng.uniform(25.0, 45.0), rng.uniform(1.5, 3.0)
    scale = np.ones(6) if mode == 'computed_torque' else 1.0 / ARM.inverse_inertia
    values = {
        'mode': mode,
        f'{mode}.kp': tuple(frequency**2 * scale),
        f'{mode}.kv': tuple(2.0 * damping * frequency * scale),
        'effort_limits': tuple(rng.choice([1.0, 0.7]) * LIMITS),
    }
    if rng.random() < 0.4:
        values |= {'payload.mass': rng.uniform(0.5, 5.0), 'payload.com': (0.0, 0.0, 0.05)}
    if seed % 2:
        tuning, _ = make_tuning(PARAMETERS.changed(values), ARM)
        needed = needed_slew(tuning.law, tuning.effort_limits, ARM.inverse_inertia)
        values['effort_rate_limit'] = tuple(needed * rng.uniform(1.0, 2.0))
    joint = rng.integers(6)
    limits = np.array(values['effort_limits'])
    largest = min(0.5 * limits[joint], LARGEST_ACCELERATION / ARM.inverse_inertia[joint])
    push = np.zeros(6)
    push[joint] = rng.choice([-1.0, 1.0]) * rng.uniform(0.2, 1.0) * largest
    posture = rng.uniform(np.maximum(LOWER, -2.0), np.minimum(UPPER, 2.0))
    patience = 15.0 if mode == 'feedforward_pd' else 1.0 + 60.0 / frequency
    return values, push, posture, float(rng.choice([250.0, 500.0, 1000.0])), patience


@pytest.mark.kept(3)
@pytest.mark.parametrize('seed', range(20))
def test_whatever_is_accepted_without_a_remark_comes_to_rest(seed: int) -> None:
    """Gains, load, limits, pose, mode and rate of the states at random, every second arm with a
    rate limit: pushes up to half the motor's limit end where the node has nothing to remark.
    """
    values, push, posture, rate, patience = random_setting(seed)
    _, remarks = make_tuning(PARAMETERS.changed(values), ARM)
    assert not remarks
    assert pushed(values, push, posture, rate, patience) is not None
