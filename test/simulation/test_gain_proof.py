"""Gains that were computed, closed around random arms in MuJoCo."""

import math
from dataclasses import replace
from functools import cache
from types import SimpleNamespace

import numpy as np
import pytest
from geared_arm import geared_arm

from ne_dynamics.control.feedback_gains import Gains
from ne_dynamics.control.laws import ControlLaw
from ne_dynamics.control.sensors.velocity_source import PositionVelocity, VelocitySource
from ne_dynamics.dynamics import Dynamics
from ne_dynamics.errors import InputError
from ne_dynamics.gains import GainMode
from ne_dynamics.gains.design import design_gains
from ne_dynamics.gains.request import GainRequest
from ne_dynamics.motion.waypoints import DesiredState
from ne_dynamics.simulation import gain_proof
from ne_dynamics.simulation.gain_proof import draw_arm, prove_gains
from ne_dynamics.simulation.mujoco_model import MujocoArm
from ne_dynamics.simulation.one_process_loop import Answer, OneProcessLoop

TRIALS = 3
REQUEST = GainRequest(
    poses=5, delay=0.003, payload=3.0, position_step=2.0 * math.pi / 2**18, modes=('jtc',)
)
VARIANTS = {
    'usual': REQUEST,
    'measured': replace(REQUEST, velocity_source='measured', modes=('computed_torque',), poses=2),
    'slow': replace(REQUEST, rate=200.0, delay=0.004, uncertainty=0.2),
    'fast': replace(REQUEST, rate=1000.0, delay=0.0015, delay_jitter=0.0005),
    'elastic': replace(REQUEST, stiffness=(3e4, 3e4, 1.5e4), uncertainty=0.15, payload=1.0),
}


@pytest.fixture(scope='module')
def dynamics():
    """Return the dynamics of an arm of three joints with rotors."""
    return Dynamics(geared_arm('forearm'), backend='python')


@pytest.fixture(scope='module')
def design_of(dynamics):
    """Return a function that designs gains, each variant once."""
    return cache(lambda name: design_gains(dynamics, VARIANTS[name]))


@pytest.mark.kept(1)
@pytest.mark.parametrize('name', VARIANTS)
def test_arms_settle_and_beyond_the_margin_they_do_not(dynamics, design_of, name):
    request, design = VARIANTS[name], design_of(name)
    for mode, one in design.modes.items():
        proof = prove_gains(design, dynamics, mode, TRIALS)
        assert proof.count('settled') == TRIALS, mode
        assert proof.settled_share <= 1.05, mode
        assert proof.overshoot_share <= 1.05, mode
        # Not far from it either: what is predicted is not just large.
        assert proof.settled_share > 0.02, mode
        if request.stiffness is None:
            # One arm, that with the least margin. Springs of the simulation damp by themselves.
            factor = 1.5 * float(one.choice.margins.gain.min())
            beyond = prove_gains(design, dynamics, mode, 1, factor=factor)
            assert beyond.count('settled') == 0, mode


@pytest.mark.long
@pytest.mark.parametrize('mode', ['computed_torque', 'feedforward_pd'])
def test_errors_of_a_motion_are_those_that_were_predicted(dynamics, mode):
    request = replace(
        REQUEST,
        delay=0.002,
        position_step=0.0,
        modes=(mode,),
        poses=3,
        velocity_cutoff_frequency=80.0,
    )
    design = design_gains(dynamics, request)
    one, motion = design.of(mode), design.motion
    gains, cutoff = one.choice.gains, one.choice.kind.cutoff
    found = []
    for factor in (0.7, 1.3):
        robot, _ = draw_arm(dynamics.robot, request, np.random.default_rng(0), factor)
        coulomb = factor * dynamics.robot.joint_values('coulomb_friction')
        robot = robot.with_joint_values('coulomb_friction', coulomb)
        arm = MujocoArm(robot, period=request.period)
        arm.reset(motion.position[0])
        law = ControlLaw(dynamics, mode, Gains.from_values(gains.kp, gains.kd, robot.n))
        velocity = PositionVelocity(robot.joints, VelocitySource.DIFFERENTIATED, cutoff)

        def answer(reading, law=law, velocity=velocity):
            index = round(reading.time * request.rate)
            desired = DesiredState(
                motion.position[index], motion.velocity[index], motion.acceleration[index]
            )
            used = velocity.update(reading.position, reading.time)
            return Answer(law.effort(reading.position, used, desired), desired.position)

        found.append(OneProcessLoop(arm, answer, delay=1).run(motion.duration).rms_error)
    ratio = np.max(found, axis=0) / one.motion.rms
    # What moves little beside what it errs by is not predicted better than that.
    assert (ratio < 1.5).all()
    assert 0.7 < np.median(ratio) < 1.2


def test_arms_that_are_drawn_are_within_the_uncertainty(dynamics):
    rng = np.random.default_rng(0)
    robot = dynamics.robot
    factors, payloads = [], []
    for _ in range(20):
        arm, payload = draw_arm(robot, REQUEST, rng)
        payloads.append(payload)
        for link, other in zip(robot.links, arm.links, strict=False):
            if link.inertia.mass:
                factors.append(other.inertia.mass / link.inertia.mass)
    assert min(factors) == pytest.approx(0.7)
    assert max(factors) == pytest.approx(1.3)
    assert min(payloads) == 0.0
    assert max(payloads) == 3.0


def test_trials_that_cannot_be_run_are_refused(dynamics):
    design = design_gains(dynamics, replace(REQUEST, poses=1, modes=('mit',)))
    with pytest.raises(InputError, match='trials: expected at least 1, got 0'):
        prove_gains(design, dynamics, 'mit', 0)
    elastic = replace(design, request=replace(design.request, rate=300.0, stiffness=1e4))
    stiff = replace(elastic, request=replace(elastic.request, drive_rate=700.0))
    kind = replace(
        design.of('mit').choice.kind,
        timing=design.of('mit').choice.kind.timing._replace(period=1.0 / 700.0),
    )
    one = replace(design.of('mit'), choice=design.of('mit').choice._replace(kind=kind))
    odd = replace(stiff, modes={next(iter(design.modes)): one})
    with pytest.raises(InputError, match=r'multiples of 0.25 ms to simulate elastic joints'):
        prove_gains(odd, dynamics, 'mit', 1)


def test_trials_begin_and_end_where_they_should(dynamics):
    """Sizes of a trial: its first error, its time, and by how much a settled arm may vary."""
    kind = SimpleNamespace(weights=None)
    strong, weak = Gains.from_values(3000.0, 1.0, 3), Gains.from_values(10.0, 1.0, 3)
    limits = np.full(3, 100.0)
    for gains, offset in ((strong, 0.3 * 100.0 / 3000.0), (weak, 0.02)):
        one = SimpleNamespace(choice=SimpleNamespace(kind=kind, gains=gains))
        found = gain_proof._largest_offset(one, dynamics, np.zeros(3), limits)
        np.testing.assert_allclose(found, offset)
    for settling, seconds in ((0.1, 0.6), (1.0, 1.6), (4.0, 5.0), (np.inf, 5.0)):
        one = SimpleNamespace(steps=SimpleNamespace(settling_time=np.array([0.05, settling])))
        assert gain_proof._duration(one) == pytest.approx(seconds)
    ones = np.ones(1)
    for place, (swing, noise) in enumerate(((0.15, 0.0), (4.0, 0.0), (0.0, 0.05), (0.0, 6.0))):
        given = [ones * (place == other) for other in range(4)]
        assert np.allclose(gain_proof._bound_unrest(*given), ((swing,), (noise,)))


def test_errors_that_are_none_are_a_tenth_of_a_millimetre():
    """What is predicted of a joint is at least 1e-4 rad."""
    trial = SimpleNamespace(error=np.zeros((2, 1)))
    assert gain_proof._not_zero(np.zeros(1), trial) == pytest.approx(1e-4)


@pytest.mark.parametrize(
    ('row', 'sway', 'outcome'),
    [
        pytest.param(70, 1.0, 'settled', id='trial_last_part'),
        pytest.param(80, 1.0, 'swings', id='the last quarter'),
        pytest.param(50, 9.9, 'settled', id='diverged_times'),
        pytest.param(50, 10.1, 'diverged', id='beyond them'),
    ],
)
def test_a_trial_is_judged_by_its_last_quarter_and_tenfold_errors(
    dynamics, design_of, monkeypatch, row, sway, outcome
):
    """An arm that is back by then has settled; one whose error grows tenfold has not."""
    design = design_of('measured')
    one = design.of('computed_torque')
    monkeypatch.setattr(gain_proof, '_duration', lambda one: 100 * one.choice.kind.timing.period)
    period = one.choice.kind.timing.period

    class Arm(MujocoArm):
        @property
        def position(self):
            sizes = {0: first, row: sway * (first + one.sag)}
            return pose - sizes.get(int(self.time / period + 1e-9), np.zeros_like(pose))

    monkeypatch.setattr(gain_proof, 'MujocoArm', Arm)
    pose = design.plants.poses[0]
    monkeypatch.setattr(gain_proof, '_largest_offset', lambda *_: first)
    first = np.full(dynamics.n, 0.01)
    rng = SimpleNamespace(choice=lambda ends, n: np.ones(n))
    trial = gain_proof.run_trial(
        design, dynamics, GainMode.COMPUTED_TORQUE, pose, dynamics.robot, 0.0, rng
    )
    assert trial.outcome == outcome
