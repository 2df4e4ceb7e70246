"""What ends a step, and what a motion may be, at its boundary: as doc/commission.md has it."""

import contextlib
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from small_arm import URDF, kept_folder, no_bar, small_arm

import ne_dynamics as ned
from ne_dynamics.commission import arm_steps as steps
from ne_dynamics.commission.arm.faults import ArmFault, StrayedArm
from ne_dynamics.commission.arm_steps import ArmSteps, Motions
from ne_dynamics.commission.motions import (
    plan_approach,
    plan_sines,
    plan_way,
    room_around,
    velocity_limits,
)
from ne_dynamics.commission.node_settings import gentle_parameters, longest_silence
from ne_dynamics.commission.record import Record

START = np.array([0.0, -0.8, 1.2])
ROBOT = ned.load_urdf(URDF)


@pytest.fixture
def work(tmp_path):
    """Return the steps of a run on a small arm that stands where it did."""
    subject = small_arm(tmp_path / 'model')
    session = SimpleNamespace(is_simulated=False, position=START, now=0.0)
    folder = kept_folder(tmp_path / 'run', subject)
    made = ArmSteps(subject, folder, session, no_bar, Motions(reach=0.1))
    listened = {'rate': 250.0, 'reports_velocity': False, 'position': START.tolist()}
    folder.finish('listen', listened)
    folder.finish('tremble', {'delay': 0.004})
    return made


def record(way):
    """Return a record of joints that go there and back, the first by a way."""
    there = np.sin(np.linspace(0.0, np.pi, 101))[:, np.newaxis]
    position = START + there * [way, 0.5, 0.5]
    return Record(ROBOT.joint_names, 0.01 * np.arange(101), *5 * (position,))


def hold(work, sag):
    work.session.position = np.add(START, [0.0, sag, 0.0])
    work._require_held(0.5)


def probe(work, way):
    work._follow = lambda *_: record(way)
    work.probe()


def judge(work, share):
    left = share * ROBOT.limits('effort_limit')
    work.judge_record = lambda *_: left
    work.judge()


@pytest.mark.parametrize(
    ('step', 'inside', 'outside', 'fault'),
    [
        (hold, 0.095, 0.105, StrayedArm),
        (hold, -0.095, -0.105, StrayedArm),
        (probe, 0.021, 0.019, ArmFault),
        (judge, 0.115, 0.125, ArmFault),
    ],
)
def test_a_step_ends_the_run_just_beyond_its_limit(
    work, monkeypatch, step, inside, outside, fault
):
    monkeypatch.setattr(steps, 'judge_record', lambda *given: work.judge_record(*given))
    monkeypatch.setattr(work, 'model', lambda name: work.given)
    monkeypatch.setattr(work, '_follow', lambda *_: record(0.1))
    step(work, inside)
    with pytest.raises(fault):
        step(work, outside)


def test_a_joint_is_held_for_a_second_with_each_part_of_its_effort(work):
    """Half, three quarters and all of it."""
    told = []
    session = work.session
    session.set_parameters = lambda values: told.append((session.now, values['effort_limits'][0]))

    def pass_time(until, look):
        session.now = until
        look(until)

    @contextlib.contextmanager
    def moving(name, parameters, file, look):
        told.append((session.now, parameters['effort_limits'][0]))
        yield

    session.pass_time, session.moving = pass_time, moving
    work.hold()
    assert told == [(0.0, 30.0), (1.0, 45.0), (2.0, 60.0)]
    assert session.now == 3.0


def test_a_probe_is_given_up_early(work):
    """Where a joint goes another way, and before the node's own limit of 0.6 rad is near."""
    given = []
    work._follow = lambda *arguments: given.append(arguments) or record(0.1)
    work.probe()
    _, parameters, _, _, astray = given[0]
    np.testing.assert_allclose(astray, 0.08)
    np.testing.assert_allclose(parameters['following_error.position'], 0.92 * 0.6)


@pytest.mark.parametrize(
    ('step', 'share'),
    [
        ('excite_again', 1.0),
        ('judge', 6.0 / 7.0),
        ('test_after', 5.0 / 7.0),
        ('tremble', 5.0 / 7.0),
    ],
)
def test_later_motions_stay_within_what_was_fitted(work, monkeypatch, step, share):
    """They reach as far as these parts of the excitation."""
    asked = []

    def follow(name, parameters, motion, label):
        asked.append(np.abs(motion.positions - START).max())
        raise ArmFault('seen')

    monkeypatch.setattr(work, 'model', lambda name: work.given)
    monkeypatch.setattr(work, '_calm', lambda name: {})
    monkeypatch.setattr(work, 'after_parameters', dict)
    monkeypatch.setattr(work, '_follow', follow)
    with pytest.raises(ArmFault, match='seen'):
        getattr(work, step)()
    assert asked[0] == pytest.approx(0.1 * share, rel=0.03)


def test_a_gentle_law_is_as_stiff_as_the_motors_are_strong():
    """A radian takes one and a half of the limit; the node gives a motion up at 1.5 rad."""
    dynamics = ned.Dynamics(ROBOT, backend='python')
    given = gentle_parameters(dynamics, START)
    limits = ROBOT.limits('effort_limit')
    kp, kv = (np.array(given[f'feedforward_pd.{name}']) for name in ('kp', 'kv'))
    np.testing.assert_allclose(kp, 1.5 * limits)
    inertia = np.diag(dynamics.mass_matrix(START)) + limits / 160.0
    damped = 1.4 * np.sqrt(kp * inertia)
    np.testing.assert_allclose(kv, np.maximum(0.1 * kp, damped))
    assert (kv > damped).any()
    assert (kv > 0.1 * kp).any()
    np.testing.assert_allclose(given['following_error.position'], 2.5 * 0.6)


@pytest.mark.parametrize(('rate', 'silence'), [(100.0, 0.2), (500.0, 0.1), (0.0, np.inf)])
def test_a_node_waits_for_twenty_states_or_a_tenth_of_a_second(rate, silence):
    assert longest_silence(rate) == silence


def test_what_is_taken_for_limits_that_a_model_lacks():
    """And how far motions keep off the ends of a range: a twentieth of it, 0.1 rad at most."""
    joints = [replace(joint, velocity_limit=np.inf) for joint in ROBOT.joints]
    joints[0] = replace(joints[0], lower=-0.5, upper=0.5)
    robot = replace(ROBOT, joints=tuple(joints))
    np.testing.assert_array_equal(velocity_limits(robot), 1.0)
    np.testing.assert_allclose(room_around(robot, np.zeros(3)), [0.45, 2.4, 2.4])


def test_a_motion_that_begins_within_a_millimetre_is_followed_from_where_the_arm_is():
    motion = plan_way(ROBOT, START, START + 0.1)
    assert plan_approach(ROBOT, START + 0.9e-3, motion) is None
    assert plan_approach(ROBOT, START + 1.1e-3, motion) is not None


def test_the_node_gets_twenty_points_a_second():
    motion = plan_sines(ned.Dynamics(ROBOT, backend='python'), START, 8.0, seed=1)
    np.testing.assert_allclose(np.diff(motion.times), 0.05)


def test_extras_stay_as_they_were_read_whatever_becomes_of_their_file(tmp_path):
    """A run takes hours: what it writes at its end is of what it began with."""
    extras = tmp_path / 'small.extras.yaml'
    extras.write_text('joints: {lift: {coulomb_friction: 2.0}}\n', encoding='utf-8')
    arm = small_arm(tmp_path)
    extras.write_text('not: yaml: any more\n', encoding='utf-8')
    written = arm.write(tmp_path / 'written.urdf', arm.robot)
    assert [joint.coulomb_friction for joint in written.joints] == [0.0, 2.0, 0.0]
    assert 'coulomb_friction: 2.0' in arm.texts
