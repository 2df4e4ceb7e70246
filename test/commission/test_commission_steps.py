"""The row of steps and its folder: consent, failures, interruptions, going on."""

import os
import signal

import numpy as np
import pytest
import yaml

from ne_dynamics.commission.folder import EARLIER, PROGRESS, CommissionFolder, only_run
from ne_dynamics.commission.record import Record
from ne_dynamics.commission.steps import Ending, Step, perform
from ne_dynamics.errors import InputError, NeDynamicsError

SUBJECT = {'model': 'arm.urdf'}


class Run:
    """Three steps of which the second moves; each can be made to fail."""

    def __init__(self, path, subject=SUBJECT):
        self.done = []
        self.asked = []
        self.was_made_safe = 0
        self.failures = {}
        self.agrees = True
        self.folder = CommissionFolder(path, subject)

    def step(self, name, motion=''):
        def run():
            if name in self.failures:
                raise self.failures[name]
            self.done.append(name)
            return {'found': name}

        return Step(name, f'do {name}', motion, run)

    def perform(self):
        def consent(step):
            self.asked.append(step.name)
            return self.agrees

        def make_safe():
            self.was_made_safe += 1

        steps = self.step('look'), self.step('move', 'it moves'), self.step('write')
        return perform(steps, self.folder, consent, lambda step, is_done: None, make_safe)

    def progress(self):
        return yaml.safe_load((self.folder.path / PROGRESS).read_text())


def test_all_steps_are_done_once_and_their_results_are_kept(tmp_path):
    run = Run(tmp_path)
    assert run.perform().ending is Ending.COMPLETE
    assert run.done == ['look', 'move', 'write']
    assert run.progress()['state'] == 'complete'
    again = Run(tmp_path)
    assert again.perform().ending is Ending.COMPLETE
    assert again.done == []
    assert again.folder.results['move'] == {'found': 'move'}


def test_nothing_moves_without_consent(tmp_path):
    run = Run(tmp_path)
    run.agrees = False
    outcome = run.perform()
    assert (outcome.ending, outcome.step) == (Ending.DECLINED, 'move')
    assert run.asked == ['move']
    assert run.done == ['look']
    assert run.progress()['next_step'] == 'move'


@pytest.mark.parametrize(
    ('failure', 'ending'),
    [
        (KeyboardInterrupt(), Ending.INTERRUPTED),
        (NeDynamicsError('the arm fell silent'), Ending.FAILED),
        (OSError(28, 'No space left on device', 'probe.csv'), Ending.FAILED),
    ],
)
def test_a_run_that_ends_in_a_step_is_made_safe_and_goes_on_there(tmp_path, failure, ending):
    run = Run(tmp_path)
    run.failures = {'move': failure}
    outcome = run.perform()
    assert (outcome.ending, outcome.step) == (ending, 'move')
    assert run.was_made_safe == 1
    progress = run.progress()
    assert (progress['state'], progress['next_step']) == ('stopped', 'move')
    assert progress['reason'] == outcome.reason
    again = Run(tmp_path)
    assert again.perform().ending is Ending.COMPLETE
    assert again.done == ['move', 'write']


def test_a_folder_of_something_else_is_refused(tmp_path):
    Run(tmp_path).perform()
    with pytest.raises(InputError, match=r"model: expected 'other.urdf' as asked for"):
        Run(tmp_path, {'model': 'other.urdf'})


@pytest.mark.parametrize(
    'text',
    [
        '',
        '{',
        '- 1',
        'version: 2',
        'version: 1\nsubject: {}',
        'version: 1\nsubject: null\nsteps: {}',
        'version: 1\nsubject: 3\nsteps: {}',
        'version: 1\nsubject: {model: arm.urdf}\nsteps: {look: 1}',
    ],
)
def test_progress_that_cannot_be_read_is_one_error(tmp_path, text):
    (tmp_path / PROGRESS).write_text(text)
    with pytest.raises(NeDynamicsError, match=r'progress\.yaml'):
        CommissionFolder(tmp_path, SUBJECT)


def test_a_result_without_what_is_asked_of_it_is_one_error(tmp_path):
    """With the step, and what can be done."""
    run = Run(tmp_path)
    run.perform()
    file = tmp_path / PROGRESS
    file.write_text(file.read_text().replace('found: look', 'fond: look'))
    damaged = CommissionFolder(tmp_path, SUBJECT)
    with pytest.raises(InputError, match=r"progress\.yaml: look: expected 'found', got 'fond'"):
        damaged.results['look']['found']
    assert damaged.results['move']['found'] == 'move'


def test_a_folder_that_cannot_be_written_is_refused_before_anything_moves(tmp_path):
    (tmp_path / 'file').write_text('')
    with pytest.raises(InputError, match='expected a folder that can be written'):
        CommissionFolder(tmp_path / 'file' / 'run', SUBJECT)


def test_a_disk_without_room_is_refused_before_anything_moves(tmp_path, monkeypatch):

    class Usage:
        free = 5 * 2**20

    monkeypatch.setattr('shutil.disk_usage', lambda path: Usage)
    with pytest.raises(InputError, match='expected 100 MiB of room for logs, got 5 MiB'):
        CommissionFolder(tmp_path, SUBJECT)


def test_a_disk_that_becomes_full_hides_nothing(tmp_path, monkeypatch):
    """What came first is told, and that the folder does not say so."""

    def full(file, text):
        raise OSError(28, 'No space left on device', str(file))

    def fail():
        monkeypatch.setattr('ne_dynamics.commission.folder.write_whole', full)
        raise NeDynamicsError('the arm fell silent')

    outcome = perform(
        [Step('move', 'do move', '', fail)],
        CommissionFolder(tmp_path, SUBJECT),
        lambda step: True,
        lambda step, is_done: None,
        lambda: None,
    )
    assert outcome.ending is Ending.FAILED
    assert 'the arm fell silent; ' in outcome.reason
    assert 'No space left on device' in outcome.reason


def test_what_a_step_did_not_mean_to_raise_is_noted_too(tmp_path):
    """The arm is made safe, progress.yaml says why, and the traceback is left to be seen."""
    run = Run(tmp_path)
    run.failures = {'move': ZeroDivisionError('division by zero')}
    with pytest.raises(ZeroDivisionError):
        run.perform()
    assert run.was_made_safe == 1
    progress = run.progress()
    assert (progress['state'], progress['next_step']) == ('stopped', 'move')
    assert progress['reason'] == 'ZeroDivisionError: division by zero'


def test_ctrl_c_disturbs_neither_the_arm_nor_its_folder(tmp_path):
    """While the arm is made safe; and between two steps the run ends as in one."""
    run = Run(tmp_path)
    run.failures = {'move': NeDynamicsError('the arm fell silent')}

    def perform_disturbed(announce, make_safe):
        steps = run.step('look'), run.step('move', 'it moves')
        return perform(steps, run.folder, lambda step: True, announce, make_safe)

    outcome = perform_disturbed(
        lambda step, is_done: None, lambda: os.kill(os.getpid(), signal.SIGINT)
    )
    assert (outcome.ending, run.progress()['reason']) == (Ending.FAILED, 'the arm fell silent')

    def interrupt(step, is_done):
        raise KeyboardInterrupt

    outcome = perform_disturbed(interrupt, lambda: None)
    assert (outcome.ending, run.progress()['reason']) == (Ending.INTERRUPTED, 'interrupted')


ROW = {'look': (), 'move': ('move.csv',), 'write': ('report.html',)}


def take_out(path, *steps):
    """Take steps out of the progress, as by hand."""
    document = yaml.safe_load((path / PROGRESS).read_text())
    for step in steps:
        del document['steps'][step]
    (path / PROGRESS).write_text(yaml.safe_dump(document))


@pytest.fixture
def complete(tmp_path):
    """The folder of a run that was done, with what its steps have written."""
    Run(tmp_path).perform()
    for names in ROW.values():
        for name in names:
            (tmp_path / name).write_text(name)
    return tmp_path


def check_row(path):
    """Return the folder of a run that goes on, checked."""
    folder = CommissionFolder(path, SUBJECT)
    folder.check_row(ROW, ('report.html',))
    return folder


def test_a_step_that_is_taken_out_takes_those_after_it_along(complete):
    """They go by what it had found."""
    take_out(complete, 'move')
    with pytest.raises(InputError, match=r"'move' is not done, and 'write' after it: .* too"):
        check_row(complete)
    take_out(complete, 'write')
    assert list(check_row(complete).results) == ['look']


def test_a_step_that_is_not_known_is_refused(complete):
    """As of a version to come, or misspelt."""
    progress = complete / PROGRESS
    progress.write_text(progress.read_text().replace('  look:', '  lok:'))
    with pytest.raises(InputError, match=r"steps: expected look, move, write, got 'lok'"):
        check_row(complete)


def test_what_a_step_has_written_is_missed_before_anything_moves(complete):
    """But for what the run was made for, and does not go on with."""
    (complete / 'report.html').unlink()
    check_row(complete)
    (complete / 'move.csv').unlink()
    with pytest.raises(
        InputError, match=r"move\.csv: is gone, .* take 'move' and the steps after"
    ):
        check_row(complete)


def test_a_report_of_an_earlier_pass_does_not_pose_as_that_of_this_one(complete):
    """It is kept by another name."""
    take_out(complete, 'move', 'write')
    check_row(complete)
    assert not (complete / 'report.html').exists()
    assert (complete / f'{EARLIER}report.html').read_text() == 'report.html'


def test_files_of_somebody_else_are_not_overwritten(tmp_path):
    """A new run in a folder of something else; others beside it do no harm."""
    (tmp_path / 'arm.urdf').write_text('<robot/>')
    check_row(tmp_path)
    (tmp_path / 'report.html').write_text('mine')
    with pytest.raises(InputError, match=r'without progress\.yaml in which report\.html would be'):
        check_row(tmp_path)
    assert (tmp_path / 'report.html').read_text() == 'mine'


def test_two_runs_do_not_work_in_one_folder(tmp_path):
    """The second is refused; when the first has ended, it is not."""
    pytest.importorskip('fcntl', reason='needs locks of POSIX')
    path = tmp_path / 'new' / 'run'
    second = pytest.raises(InputError, match='expected no other run in it')
    with only_run(path), second, only_run(path):
        pytest.fail('it began')
    with only_run(path):
        assert list(path.iterdir()) == []


def test_a_log_is_there_whole_or_not_at_all(tmp_path, monkeypatch):
    """A disk that becomes full leaves the one before, and is named with the file."""
    file = tmp_path / 'probe.csv'
    table = np.full((2, 1), 0.5)
    record = Record(('turn',), np.array([1.0, 2.0]), *5 * (table,))
    record.write(file)
    before = file.read_text()
    assert np.array_equal(Record.read(file, ('turn',)).desired, table)

    def full(number):
        raise OSError(28, 'No space left on device')

    monkeypatch.setattr('os.fsync', full)
    with pytest.raises(OSError, match=r'cannot be written: No space left .*probe\.csv'):
        record.part(slice(1)).write(file)
    assert file.read_text() == before
