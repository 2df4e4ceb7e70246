"""Whoever stands by the arm: consent, brakes, a terminal that goes."""

import builtins
import sys
from types import SimpleNamespace

import numpy as np
import pytest
from small_arm import kept_folder, no_bar, small_arm

from ne_dynamics.commission.arm.faults import ArmFault, LostArm
from ne_dynamics.commission.arm.operator import Operator
from ne_dynamics.commission.arm_steps import ArmSteps, Motions
from ne_dynamics.commission.motions import plan_probe
from ne_dynamics.commission.offline_steps import IDENTIFIED
from ne_dynamics.commission.record import Record
from ne_dynamics.errors import InputError


@pytest.fixture
def terminal(monkeypatch):
    """A terminal that gives answers, one after the other, or goes."""
    given = SimpleNamespace(is_there=True, answers=[])

    def answer(prompt):
        if not given.answers:
            given.is_there = False
            raise OSError(5, 'Input/output error')
        first = given.answers.pop(0)
        if isinstance(first, BaseException):
            raise first
        return first

    monkeypatch.setattr(sys, 'stdin', SimpleNamespace(isatty=lambda: given.is_there))
    monkeypatch.setattr(builtins, 'input', answer)
    return given


NOT_TEXT = UnicodeDecodeError('utf-8', b'\xff', 0, 1, 'invalid start byte')


def test_brakes_are_asked_for_until_it_is_done(terminal):
    """Ctrl-D, and what is no text, are no answers."""
    operator = Operator()
    terminal.answers = [EOFError(), NOT_TEXT, '', 'left']
    assert operator.does('engage the brakes')
    assert terminal.answers == ['left']


def test_a_terminal_that_has_gone_answers_nothing(terminal):
    """Whether its end is read, or an error."""
    operator = Operator()
    assert not operator.does('engage the brakes')
    terminal.answers = [EOFError()]
    assert not operator.does('engage the brakes')
    assert not operator.consents(['it moves'])


def test_without_a_terminal_nobody_is_waited_for(terminal):
    """Lines are answers, and so is their end; consent is a line."""
    terminal.is_there = False
    operator = Operator()
    terminal.answers = ['', EOFError(), RuntimeError('input(): lost sys.stdin')]
    assert [operator.does('release the brakes') for _ in range(4)] == [True] * 4
    terminal.answers = ['Yes ', EOFError()]
    assert operator.consents(['it moves'])
    assert not operator.consents(['it moves'])


@pytest.mark.parametrize('answers', [True, False])
def test_an_arm_whose_brakes_nobody_engages_is_held_on(tmp_path, answers):
    """Then its node ends; and it is not moved when nobody releases them."""
    pytest.importorskip('rclpy', reason='needs ROS 2 for Python')
    from ne_dynamics.commission.arm.session import Session

    session = Session(small_arm(tmp_path).robot, None, lambda sentence: answers)
    done = []
    session.hold_on = done.append
    session.end_node = lambda: done.append('ended')
    session._is_released = True
    if answers:
        session.release()
    else:
        with pytest.raises(ArmFault, match='expected somebody who releases them'):
            session.release()
    session.rest()
    session.rest()
    assert done == ['ended', 'ended'] if answers else done == [600.0, 'ended', 'ended']


def work_of(path, **arm):
    """Return the steps of a run on a small arm, or on none."""
    subject = small_arm(path / 'model')
    session = SimpleNamespace(is_simulated=False, **arm)
    return ArmSteps(subject, kept_folder(path / 'run', subject), session, no_bar, Motions())


def test_what_says_nothing_of_the_given_model_is_no_result_of_it(tmp_path, monkeypatch):
    """States that stop end the run; a joint that is off its motion with that model does not."""
    work = work_of(tmp_path)
    work.folder.finish('listen', {'position': [0.0, -0.8, 1.2]})
    work.subject.write(work.folder.file(IDENTIFIED), work.robot)
    for fault in (ArmFault('off the motion'), LostArm('no joint_states for 5 s')):

        def fail(*_, raised=fault):
            raise raised

        monkeypatch.setattr(work, '_follow', fail)
        if isinstance(fault, LostArm):
            with pytest.raises(LostArm):
                work.test('test_before', {})
        else:
            assert work.test('test_before', {}) == {'fault': 'off the motion'}


def test_states_with_a_gap_are_not_what_a_run_begins_with(tmp_path):
    """The node would leave the arm at the next one."""
    stamps = np.concatenate([np.arange(0.0, 1.0, 0.01), np.arange(1.5, 2.0, 0.01)])
    table = np.zeros((stamps.size, 3))
    work = work_of(
        tmp_path,
        now=0.0,
        forget=lambda: None,
        pass_time=lambda until, progress: None,
        record=lambda: Record(('turn', 'lift', 'bend'), stamps, *5 * (table,)),
        receptions=[(round(1e9 * stamp) + 1, 0) for stamp in stamps],
    )
    with pytest.raises(ArmFault, match=r'no state for 0\.51 s .* expected gaps of at most 0\.2 s'):
        work.listen()


def test_where_an_arm_stood_is_as_many_numbers(tmp_path):
    """Whatever was written into the progress by hand."""
    work = work_of(tmp_path)
    for given in ('abc', [0.0], [0.0, float('nan'), 0.0], {'turn': 1.0}):
        work.folder.finish('listen', {'position': given})
        with pytest.raises(InputError, match='listen: position: expected 3 finite numbers'):
            _ = work.start


def test_a_joint_that_is_driven_away_in_its_probe_is_left(tmp_path, monkeypatch):
    """By the node, before the run has it held there with efforts of the wrong sign, or joint."""
    work = work_of(tmp_path)
    listened = {'rate': 250.0, 'reports_velocity': False}
    work.folder.finish('listen', {**listened, 'position': [0.0, -0.8, 1.2]})
    limits = []

    def fail(name, parameters, motion, label, astray):
        limits.append(np.array(parameters['following_error.position']))
        raise ArmFault('the node reports: following error: lift')

    monkeypatch.setattr(work, '_follow', fail)
    with pytest.raises(ArmFault, match='in the order turn, lift, bend, with the signs of the'):
        work.probe()
    assert (limits[0] < work.tolerance).all()
    probe = plan_probe(work.robot, work.start, trembles=False).positions
    assert (0.4 * limits[0] > np.abs(probe - work.start).max(axis=0)).all()
