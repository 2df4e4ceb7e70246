"""Simulated arms with hidden errors, commissioned in one process: the same run without DDS."""

from dataclasses import replace

import numpy as np
import pytest
from small_arm import kept_folder, no_bar, perform_steps, simulated_small_arm, small_arm

pytest.importorskip('rclpy', reason='needs ROS 2 for Python')
pytest.importorskip('mujoco', reason='MuJoCo is not installed')

from ne_dynamics.commission.arm.one_process import OneProcessSession
from ne_dynamics.commission.arm_steps import ArmSteps, Motions
from ne_dynamics.commission.motions import PlannedMotion
from ne_dynamics.commission.node_settings import gentle_parameters
from ne_dynamics.commission.steps import Ending
from ne_dynamics.dynamics import Dynamics
from ne_dynamics.simulation.elastic_arm import ElasticArm
from ne_dynamics.simulation.hidden_errors import EffortMeaning, draw_hidden_errors
from ne_dynamics.simulation.mujoco_model import MujocoArm

SHORT = Motions(listen=0.5, excite=8.0, judge=4.0, test=4.0)


class Scene:
    """A small arm with hidden errors, and the work of a run of it in one process.

    Attributes
    ----------
    subject : CommissionedArm
    errors : HiddenErrors
    session : OneProcessSession
    folder : CommissionFolder
    work : ArmSteps
    """

    def __init__(
        self,
        path,
        seed,
        meaning=EffortMeaning.TORQUE,
        *,
        is_reversed=False,
        delay=0.004,
        bits=17,
        make_physics=None,
    ):
        self.subject = subject = small_arm(path / 'model')
        drawn = draw_hidden_errors(subject.robot, seed, meaning, is_reversed)
        self.errors = replace(drawn, delay=delay, encoder_bits=bits)
        self.true = self.errors.apply(subject.robot)
        self.folder = kept_folder(path / 'run', subject)
        simulated = simulated_small_arm(subject, self.errors, self.folder.path)
        physics = () if make_physics is None else (make_physics(self.true, simulated),)
        self.session = OneProcessSession(subject.robot, self.errors, simulated, *physics)
        self.work = ArmSteps(subject, self.folder, self.session, no_bar, SHORT)

    def perform(self, *names, but=()):
        """Do the steps of these names, or all but some; return the outcome."""
        chosen = names or [step.name for step in self.work.steps() if step.name not in but]
        return perform_steps(self.work, self.session, chosen)


@pytest.mark.kept(1)
@pytest.mark.parametrize(
    ('seed', 'meaning', 'is_reversed', 'delay', 'bits'),
    [
        (2, EffortMeaning.CURRENT, False, 0.004, 14),
        (1, EffortMeaning.TORQUE, True, 0.008, 17),
    ],
)
def test_an_arm_with_hidden_errors_follows_as_one_that_is_known(
    tmp_path, seed, meaning, is_reversed, delay, bits
):
    """Meaning, signs and delay are found, and the error is near that of the true model."""
    scene = Scene(tmp_path, seed, meaning, is_reversed=is_reversed, delay=delay, bits=bits)
    outcome = scene.perform(but=('test_before', 'report'))
    assert (outcome.ending, outcome.reason) == (Ending.COMPLETE, '')
    assert scene.session.now < 600.0
    results, file = scene.folder.results, scene.folder.file('true.urdf')
    scene.subject.write(file, scene.true)
    parameters = {**scene.work.after_parameters(), **scene.subject.parameters(file)}
    true = scene.work.test('test_true', parameters)
    efforts = results['identify']['efforts']
    assert efforts['meaning'] == meaning.value
    assert tuple(efforts['reversed_joints']) == scene.errors.reversed_joints
    assert results['tremble']['delay'] == pytest.approx(delay, abs=1e-3)
    assert 'fault' not in true, true['fault']
    assert results['test_after']['overall_rms_error'] <= 1.5 * true['overall_rms_error']


def test_a_motion_that_begins_beside_the_arm_is_gone_to_first(tmp_path):
    """Else its first interval makes up for the way, with efforts that nobody has planned."""
    scene = Scene(tmp_path, 3)
    subject, session = scene.subject, scene.session
    begin = session.position + 0.008
    still = np.zeros((2, begin.size))
    motion = PlannedMotion(np.array([0.0, 0.05]), np.array([begin, begin]), still, still)
    parameters = {
        **subject.parameters(None),
        **gentle_parameters(Dynamics(subject.robot), begin),
        'velocity_source': 'differentiated',
    }
    before = session.now
    with session.moving('beside', parameters, tmp_path / 'beside.node.yaml'):
        # Under brakes, and after their release.
        assert session.now - before == pytest.approx(0.3 + 0.5, abs=0.005)
        record = session.follow(motion, np.full(begin.size, 0.6))
        before = session.now
        again = session._follow(motion, np.full(begin.size, 0.6))
        # It begins a second after it is sent.
        assert again.times[0] - before == pytest.approx(1.0, abs=0.005)
    assert record.times[-1] - record.times[0] == pytest.approx(0.05 + 0.5, abs=0.005)
    desired = record.answered.desired
    np.testing.assert_allclose(desired, np.tile(begin, (len(desired), 1)), atol=1e-6)


@pytest.mark.parametrize(
    'reach_motors',
    [
        lambda effort: effort * [-1.0, 1.0, 1.0],
        lambda effort: effort * [1.0, -1.0, 1.0],
        lambda effort: effort[[0, 2, 1]],
        lambda effort: effort[[1, 0, 2]],
    ],
    ids=['turn-reversed', 'lift-reversed', 'lift-and-bend', 'turn-and-lift'],
)
def test_efforts_of_another_sign_or_joint_end_it_before_the_arm_is_far(tmp_path, reach_motors):
    """While it is held, or in the probe; whoever holds it by feedback would drive it on."""
    scene = Scene(tmp_path, 3)
    physics = scene.session._arm
    step, start, far = physics.step, physics.position.copy(), []

    def step_otherwise(effort, ripple):
        step(reach_motors(effort), ripple)
        far.append(np.abs(physics.position - start).max())

    physics.step = step_otherwise
    outcome = scene.perform('check', 'listen', 'hold', 'probe', 'excite')
    assert outcome.ending is Ending.FAILED
    assert outcome.step in ('hold', 'probe')
    assert 'sign' in outcome.reason
    # What was planned for the probe, and what it may go astray by.
    assert max(far) < 0.2 + 0.15


@pytest.mark.long
def test_a_hard_stop_ends_the_run_by_name(tmp_path):
    """A joint that the arm stops within the limits of its URDF: no model is written for that."""
    scene = Scene(tmp_path, 2)
    arm = scene.session
    start, stopped = arm.position, list(scene.true.joints)
    stopped[1] = replace(stopped[1], lower=start[1] - 2.0, upper=start[1] + 0.25)
    robot = replace(scene.true, joints=tuple(stopped))
    arm._arm = MujocoArm(robot, period=0.002, joint_limits=True)
    arm._arm.reset(start)
    outcome = scene.perform(but=('report',))
    assert outcome.ending is Ending.FAILED
    assert f'{robot.joint_names[1]} stopped at -0.3' in outcome.reason
    assert 'a hard stop?' in outcome.reason
    assert outcome.step in ('excite_again', 'judge')


@pytest.mark.long
def test_play_of_its_gears_is_told_by_the_first_fit(tmp_path):
    """Friction is what it is behind the play, and a step that fails later says so."""

    def with_play(true, simulated):
        start, period = simulated['initial_position'], 1.0 / simulated['rate']
        return ElasticArm(true, np.full(true.n, 40.0), start, period, damping_ratio=0.1, gap=0.005)

    scene = Scene(tmp_path, 2, make_physics=with_play)
    outcome = scene.perform(
        'check', 'listen', 'hold', 'probe', 'excite', 'roughly', 'excite_again'
    )
    assert outcome.step == 'excite_again'
    folder = scene.folder
    told = {cause['joints'][0]: cause['amount'] for cause in folder.causes}
    assert {cause['code'] for cause in folder.causes} == {'lost-motion'}
    # Weight keeps the gear of the joint that lifts on one side.
    assert set(told) == {'turn', 'bend'}
    fitted = scene.work.model('rough.urdf').robot
    for joint, real in zip(fitted.joints, scene.true.joints, strict=True):
        if joint.name not in told:
            continue
        level = joint.friction.hysteresis_friction
        assert real.coulomb_friction < 1.25 * level
        assert level < 1.25 * (real.friction.static_friction or real.coulomb_friction)
