"""A URDF and its extras are written together, or neither."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import ne_dynamics as ned
from ne_dynamics.errors import ModelError
from ne_dynamics.identification.writing.model_files import (
    extras_path,
    require_own_extras,
    write_model,
)

URDF = (
    '<robot name="{name}"><link name="base"/><link name="a"><inertial><mass value="1"/>'
    '<inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link>'
    '<joint name="j" type="continuous"><parent link="base"/><child link="a"/></joint></robot>'
)
EXTRAS = 'joints:\n  j:\n    rotor_inertia: {inertia}\n'
OLD = {'arm.urdf': URDF.format(name='old'), 'arm.extras.yaml': EXTRAS.format(inertia=1.0)}
NEW = {'arm.urdf': URDF.format(name='new'), 'arm.extras.yaml': EXTRAS.format(inertia=2.0)}


@pytest.fixture
def urdf(tmp_path):
    """Return the path of a URDF with extras beside it."""
    for name, text in OLD.items():
        (tmp_path / name).write_text(text, encoding='utf-8')
    return tmp_path / 'arm.urdf'


def contents(folder):
    """Return what is in a folder."""
    return {path.name: path.read_text(encoding='utf-8') for path in folder.iterdir()}


def write_new(urdf):
    """Write the new model."""
    return write_model(urdf, NEW['arm.urdf'].encode(), NEW['arm.extras.yaml'])


def test_both_are_written(urdf):
    """After writing there are the two new files and nothing else."""
    assert write_new(urdf) == extras_path(urdf)
    assert contents(urdf.parent) == NEW


def test_both_are_written_where_nothing_was(tmp_path):
    """The same in an empty folder; without extras there is the URDF alone."""
    write_new(tmp_path / 'arm.urdf')
    assert contents(tmp_path) == NEW
    assert write_model(tmp_path / 'other.urdf', b'<x/>', '') is None
    assert contents(tmp_path) == NEW | {'other.urdf': '<x/>'}


def test_old_extras_do_not_stay_beside_a_new_urdf(urdf):
    """Where the new URDF needs no extras those that were there say nothing any more."""
    write_model(urdf, NEW['arm.urdf'].encode(), '')
    robot = ned.load_urdf(urdf)
    assert (robot.name, robot.joints[0].rotor_inertia) == ('new', 0.0)
    assert sorted(contents(urdf.parent)) == ['arm.extras.yaml', 'arm.urdf']


@pytest.mark.parametrize('step', range(3))
@pytest.mark.parametrize('failure', [OSError(28, 'No space left on device'), KeyboardInterrupt()])
@pytest.mark.parametrize('there', [True, False])
def test_a_failure_leaves_both_as_they_were(step, failure, there, urdf, monkeypatch):
    """Whichever of the renames fails, both files are the old ones and no other is left."""
    if not there:
        for name in OLD:
            (urdf.parent / name).unlink()
    before = contents(urdf.parent)
    rename, count = Path.replace, []

    def fail(path, target):
        count.append(path)
        if len(count) == step + 1:
            raise failure
        return rename(path, target)

    monkeypatch.setattr(Path, 'replace', fail)
    with pytest.raises((ModelError, KeyboardInterrupt)) as caught:
        write_new(urdf)
    if isinstance(failure, OSError):
        assert 'No space left on device; both are as they were' in str(caught.value)
    assert contents(urdf.parent) == before


@pytest.mark.parametrize('step', range(4))
@pytest.mark.parametrize('there', [True, False])
def test_a_process_that_dies_never_leaves_two_files_that_contradict(step, there, urdf):
    """Killed before any rename: the old model, the new one, or one that is refused; no mix."""
    if not there:
        (urdf.parent / 'arm.extras.yaml').unlink()
    process = os.fork()
    if process == 0:
        rename, count = Path.replace, []

        def die(path, target):
            count.append(path)
            if len(count) == step + 1:
                os._exit(0)
            return rename(path, target)

        Path.replace = die
        write_new(urdf)
        os._exit(0)
    os.waitpid(process, 0)
    if step in (1, 2):
        with pytest.raises(ModelError, match='whose writing was interrupted'):
            ned.load_urdf(urdf)
        kept = contents(urdf.parent)
        assert kept['arm.urdf.before'] == OLD['arm.urdf']
        assert not there or kept['arm.extras.yaml.before'] == OLD['arm.extras.yaml']
        with pytest.raises(ModelError, match='which is what an interrupted writing leaves'):
            write_new(urdf)
        return
    robot = ned.load_urdf(urdf)
    assert robot.name == ('new' if step == 3 else 'old')
    rotor = {'old': 1.0 if there else 0.0, 'new': 2.0}
    assert robot.joints[0].rotor_inertia == rotor[robot.name]


def test_a_folder_in_the_place_of_a_file_is_refused(tmp_path):
    """What cannot be written is an error that names the file, and nothing is written."""
    (tmp_path / 'arm.urdf').mkdir()
    with pytest.raises(
        ModelError, match=r'arm\.urdf: cannot write it and arm\.extras\.yaml beside it'
    ):
        write_new(tmp_path / 'arm.urdf')
    assert [path.name for path in tmp_path.iterdir()] == ['arm.urdf']
    with pytest.raises(ModelError, match='No such file or directory; both are as they were'):
        write_new(tmp_path / 'nowhere' / 'arm.urdf')


def test_an_output_that_takes_the_extras_of_the_model_is_refused(urdf, tmp_path):
    """Two models of one stem share their extras: only the model itself may be written over."""
    extras = extras_path(urdf)
    require_own_extras(urdf, urdf, extras)
    require_own_extras(tmp_path / 'other.urdf', urdf, extras)
    require_own_extras(tmp_path / 'arm.xml', urdf, None)
    with pytest.raises(ModelError, match='a name whose extras are not those of'):
        require_own_extras(tmp_path / 'arm.xml', urdf, extras)


def test_what_a_killed_process_of_the_same_number_left_does_not_matter(urdf):
    """In a container the next process often has the number of the one that was killed."""
    for kind in ('urdf', 'extras', 'mark'):
        (urdf.parent / f'.ne_dynamics.{os.getpid()}.{kind}').write_text('left')
    write_new(urdf)
    assert NEW.items() <= contents(urdf.parent).items()
