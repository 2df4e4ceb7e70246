"""What the record of a motion tells of why it was not followed: hard stops and vibrations."""

import contextlib
from dataclasses import replace

import numpy as np
import pytest
import yaml
from small_arm import kept_folder, no_bar, perform_steps, small_arm

from ne_dynamics.commission.arm.faults import ArmFault
from ne_dynamics.commission.arm_steps import ArmSteps, Motions
from ne_dynamics.commission.fits.fitting import acting_log
from ne_dynamics.commission.folder import PROGRESS
from ne_dynamics.commission.forgotten_load import find_forgotten_load
from ne_dynamics.commission.hard_stop import find_hard_stops
from ne_dynamics.commission.record import Record
from ne_dynamics.commission.steps import Ending
from ne_dynamics.commission.tilted_base import find_tilted_base
from ne_dynamics.commission.vibration import find_vibrations
from ne_dynamics.dynamics import Dynamics
from ne_dynamics.logs import Finding

TIMES = 0.002 * np.arange(2000)
LENGTHS = np.ones(2)


def record(position, desired, command):
    """Return a record of two joints, of which the second stands."""
    rows = [np.column_stack([values, np.zeros_like(TIMES)]) for values in (position, desired)]
    nothing = np.full_like(rows[0], np.nan)
    effort = np.column_stack([command, np.zeros_like(TIMES)])
    return Record(('turn', 'lift'), TIMES, rows[0], nothing, nothing, effort, rows[1])


def sent():
    """Return a way to 0.5 rad and back, twice."""
    return 0.25 * (1.0 - np.cos(np.pi * TIMES))


def held_at(place, side=1.0):
    """Return a motion to one side that ends at a place."""
    return record(side * np.minimum(sent(), place), side * sent(), sent())


@pytest.mark.parametrize('side', [1.0, -1.0])
def test_a_place_that_a_joint_does_not_pass_is_a_hard_stop(side):
    """On either side."""
    (found,) = find_hard_stops(held_at(0.3, side), LENGTHS, [held_at(0.31, side)])
    assert (found.code, found.joints, found.amount) == ('hard-stop', ('turn',), side * 0.3)


@pytest.mark.parametrize('side', [1.0, -1.0])
def test_a_place_that_it_has_passed_in_another_motion_is_none(side):
    """The joint stuck there."""
    assert not find_hard_stops(held_at(0.3, side), LENGTHS, [held_at(0.4, side)])
    assert find_hard_stops(held_at(0.3, side), LENGTHS, [held_at(0.4, -side)])


def test_a_joint_that_is_as_far_behind_elsewhere_sticks():
    """Its friction is more than is fed forward; a stop is one place."""
    sticks = np.minimum(sent(), 0.3)
    sticks[:1000] = np.maximum(sent()[:1000] - 0.15, 0.0)
    sticks[:1000] = np.minimum(sticks[:1000], 0.3)
    behind = record(sticks, sent(), sent())
    assert not find_hard_stops(behind, LENGTHS)
    assert find_hard_stops(held_at(0.3), LENGTHS)


def shaken(frequency, amplitude, is_sent):
    """Return a motion with a swing, sent there or not, that takes 100 N m a radian."""
    swing = amplitude * np.sin(2.0 * np.pi * frequency * TIMES)
    return record(sent() + swing, sent() + is_sent * swing, 10.0 * sent() + 100.0 * swing)


def test_a_joint_that_swings_where_it_was_not_sent_vibrates():
    """Its frequency is told; a swing that was planned is none, nor a small one."""
    limits = np.array([40.0, 40.0])
    (found,) = find_vibrations(shaken(12.0, 0.1, False), limits)
    assert (found.code, found.joints) == ('vibration', ('turn',))
    assert found.amount == pytest.approx(12.0, abs=0.5)
    assert not find_vibrations(shaken(12.0, 0.1, True), limits)
    assert not find_vibrations(shaken(12.0, 0.02, False), limits)
    assert not find_vibrations(shaken(1.0, 0.3, False), limits)
    swing = 0.1 * np.sin(2.0 * np.pi * 11.0 * TIMES)
    late = 0.1 * np.sin(2.0 * np.pi * 11.0 * TIMES - 1.0)
    for moved in (0.0 * swing, 0.5 * late, late):  # a tremble that is not followed
        trembling = record(sent() + moved, sent() + swing, 10.0 * sent() + 100.0 * swing)
        assert not find_vibrations(trembling, limits)
    short = shaken(12.0, 0.1, False).part(slice(50))
    assert not find_vibrations(short, limits)
    silent = replace(short, command=np.full_like(short.command, np.nan))
    assert not find_vibrations(silent, limits)


def test_a_vibration_that_has_only_begun_is_told():
    """One that grows to the effort limit soon ends a motion; a jerk at the end is none."""
    grown = np.minimum(2.0 * np.exp((TIMES - TIMES[-1]) / 0.05), 0.4)
    swing = grown * np.sin(2.0 * np.pi * 55.0 * TIMES)
    limits = np.array([40.0, 40.0])
    shaking = record(sent() + swing, sent(), 10.0 * sent() + 100.0 * swing)
    (found,) = find_vibrations(shaking, limits)
    assert found.joints == ('turn',)
    assert found.amount == pytest.approx(55.0, abs=2.0)
    assert not find_vibrations(record(sent() + grown, sent(), 100.0 * grown), limits)


class ShakingSession:
    """Stands for an arm that vibrates in every motion, and is given up."""

    is_simulated = True

    def __init__(self, found):
        self.found = found

    def record(self):
        """Return what was heard of it."""
        return self.found

    @contextlib.contextmanager
    def moving(self, name, parameters, file, look=None):
        """Hold it."""
        yield

    def follow(self, motion, tolerance, progress=None, astray=None):
        """Give up."""
        raise ArmFault('a joint is off its motion')

    def rest(self):
        """Do nothing."""


def small_work(path, found):
    """Return the work on an arm of three joints up to its delay, and its session."""
    subject = small_arm(path / 'model')
    session = ShakingSession(found)
    work = ArmSteps(subject, kept_folder(path / 'run', subject), session, no_bar, Motions())
    listened = {'rate': 500.0, 'reports_velocity': False, 'position': [0.1, -0.5, 1.0]}
    work.folder.finish('listen', listened)
    work.folder.finish('tremble', {'delay': 0.004})
    return work, session


def of_small_arm(two):
    """Return a record of two joints as one of three, of which the last stands."""
    kinds = ('position', 'velocity', 'effort', 'command', 'desired')
    rows = {kind: np.column_stack([getattr(two, kind), 0.0 * TIMES]) for kind in kinds}
    return replace(two, joint_names=('turn', 'lift', 'bend'), **rows)


def progress(work):
    """Return what the folder says of the run."""
    return yaml.safe_load((work.folder.path / PROGRESS).read_text())


def test_a_motion_that_is_given_up_tells_what_its_record_explains(tmp_path):
    """In the reason, and by a code in the folder; once the step is done there is no cause."""
    work, session = small_work(tmp_path, of_small_arm(shaken(12.0, 0.2, False)))
    outcome = perform_steps(work, session, ['excite'])
    assert (outcome.ending, outcome.step) == (Ending.FAILED, 'excite')
    assert outcome.reason.startswith('a joint is off its motion; turn vibrates at 12 Hz')
    (cause,) = progress(work)['causes']
    assert (cause['code'], cause['joints']) == ('vibration', ['turn'])
    session.follow = lambda *args: session.found
    assert perform_steps(work, session, ['excite']).ending is Ending.COMPLETE
    assert progress(work)['causes'] == []


def test_any_step_that_fails_tells_what_the_newest_fit_has_found(tmp_path):
    """Friction that no model has may be why there are no gains."""
    work, session = small_work(tmp_path, None)
    for step, code in (('roughly', 'lost-motion'), ('closely', 'uneven-friction')):
        found = Finding(code, ('bend',), 'is as it is', 0.02, remedy='Look at it')
        work.folder.finish(step, {'friction': [found.as_json()]})
    outcome = perform_steps(work, session, ['gains'])
    assert outcome.ending is Ending.FAILED
    assert outcome.reason.endswith('; bend is as it is. Look at it')
    assert [cause['code'] for cause in progress(work)['causes']] == ['uneven-friction']
    assert '&' not in (work.folder.path / PROGRESS).read_text()


def held(work, way, command):
    """Return a record of an arm that gives way while it is held."""
    start = np.array([work.start] * 200)
    part = np.linspace(0.0, 1.0, 200)[:, np.newaxis]
    nothing = np.full_like(start, np.nan)
    position = start + part * way
    efforts = np.zeros_like(start) + command
    names = work.robot.joint_names
    return Record(names, TIMES[:200], position, nothing, nothing, efforts, start)


def test_a_joint_that_gives_way_to_weight_tells_of_a_load(tmp_path):
    """Its mass by the effort that did not suffice; no weight pulls upwards, or turns a column."""
    work, _ = small_work(tmp_path, None)
    payload = np.array([2.0, *np.zeros(9)])
    still, allowed = np.zeros(3), np.full(3, 0.1)
    holds = work.given.inverse_dynamics(work.start, still, still, payload=payload)
    falls = -0.1 * np.sign(holds[1])
    fallen = [work.start[0], work.start[1] + falls, work.start[2]]
    holds = work.given.inverse_dynamics(fallen, still, still, payload=payload)
    gives_way = held(work, [0.0, falls, 0.0], holds)
    (found,) = find_forgotten_load(work.given, gives_way, work.start, allowed)
    assert (found.code, found.joints) == ('forgotten-load', ('lift',))
    assert found.amount == pytest.approx(2.0, rel=0.01)
    for way in ([0.0, -falls, 0.0], [0.1, 0.0, 0.0], [0.0, 0.1 * falls, 0.0]):
        other = held(work, way, holds)
        assert not find_forgotten_load(work.given, other, work.start, allowed)
    moves = replace(gives_way, desired=gives_way.position)
    assert not find_forgotten_load(work.given, moves, work.start, allowed)


def on_a_base(robot, degrees):
    """Return a record of an arm on a base that is tilted, with friction and noise."""
    times = 0.004 * np.arange(5000)
    rates = np.array([1.1, 1.7, 2.3])
    angles = times[:, None] * rates
    place = np.array([0.1, -0.5, 1.0]) + 0.5 * np.sin(angles)
    motion = place, 0.5 * rates * np.cos(angles), -0.5 * rates**2 * np.sin(angles)
    down = 9.80665 * np.array([np.sin(np.radians(degrees)), 0.0, -np.cos(np.radians(degrees))])
    effort = Dynamics(robot, down, 'python').inverse_dynamics(*motion)
    command = effort + 2.0 * np.sign(motion[1])
    command += 0.05 * np.random.default_rng(0).standard_normal(command.shape)
    return Record(robot.joint_names, times, place, motion[1], effort, command, place)


def test_a_tilted_base_ends_the_fit_by_name(tmp_path):
    """Its joint about the vertical bears a weight then, which no inertia explains."""
    work, session = small_work(tmp_path, None)
    for name in ('excite_again', 'excite', 'tremble'):
        on_a_base(work.robot, 6.0).write(work.folder.file(f'{name}.csv'))
    outcome = perform_steps(work, session, ['identify'])
    (cause,) = progress(work)['causes']
    assert (cause['code'], cause['joints']) == ('base-tilted', [])
    assert cause['amount'] == pytest.approx(np.radians(6.0), abs=0.03)
    assert outcome.ending is Ending.FAILED
    assert '; the base is tilted by ' in outcome.reason


def test_a_level_base_is_not_called_tilted(tmp_path):
    """Nor one that stands askew by what floors do."""
    work, _ = small_work(tmp_path, None)
    for degrees in (0.0, 1.0):
        log = acting_log(on_a_base(work.robot, degrees), 0.004)
        assert not find_tilted_base(work.given, log)
