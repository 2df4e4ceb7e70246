"""An export is written whole or not at all, and over nothing that is not its own."""

import os

import pytest

from ne_dynamics.codegen.c.export_folder import write_folder
from ne_dynamics.codegen.description import MARK
from ne_dynamics.errors import InputError

FIRST = {name: f'# {MARK}\nfirst {name}\n' for name in ('a.h', 'a.c', 'CMakeLists.txt')}
SECOND = {name: f'# {MARK}\nsecond {name}\n' for name in ('b.h', 'b.c', 'CMakeLists.txt')}


def read(folder):
    """Return the content of a folder, links and folders included."""
    return {
        path.name: os.readlink(path)
        if path.is_symlink()
        else (path.read_text() if path.is_file() else 'folder')
        for path in folder.iterdir()
    }


def test_an_earlier_export_is_replaced_and_other_files_stay(tmp_path):
    """Files of the earlier export go, a build folder and a file beside them stay."""
    folder = tmp_path / 'robot'
    write_folder(folder, FIRST)
    (folder / 'build').mkdir()
    (folder / 'notes.txt').write_text('mine')
    (folder / 'b.c').write_text('int mine;')
    with pytest.raises(InputError, match=r"but 'b\.c' is in the way"):
        write_folder(folder, SECOND)
    assert read(folder) == {**FIRST, 'build': 'folder', 'notes.txt': 'mine', 'b.c': 'int mine;'}
    (folder / 'b.c').unlink()
    write_folder(folder, SECOND)
    assert read(folder) == {**SECOND, 'build': 'folder', 'notes.txt': 'mine'}


@pytest.mark.parametrize(
    ('name', 'make'),
    [
        ('a.c', lambda path: path.write_text('int mine;')),
        ('a.c', lambda path: path.write_bytes(bytes(range(256)))),
        ('a.c', lambda path: path.mkdir()),
        ('.git', lambda path: path.mkdir()),
        ('a.c', lambda path: path.symlink_to('../elsewhere.c')),
    ],
    ids=['file', 'binary', 'folder', 'hidden', 'link'],
)
def test_what_is_in_the_way_is_named(name, make, tmp_path):
    """A folder without an export must be empty; the message names what is in it."""
    (tmp_path / 'elsewhere.c').write_text(FIRST['a.c'])
    (tmp_path / 'robot').mkdir()
    make(tmp_path / 'robot' / name)
    message = f"expected an empty folder or an earlier export, but '{name}' is in the way"
    with pytest.raises(InputError, match=message):
        write_folder(tmp_path / 'robot', FIRST)
    assert os.listdir(tmp_path / 'robot') == [name]


@pytest.mark.parametrize('is_new', [True, False])
def test_an_error_on_the_way_leaves_everything_as_it_was(is_new, tmp_path, monkeypatch):
    """At whatever file the disk is full."""
    folder = tmp_path / 'robot'
    if not is_new:
        write_folder(folder, FIRST)
    rename = os.rename
    for good in range(1 if is_new else len(FIRST) + len(SECOND)):
        left = [rename] * good

        def move(source, target, left=left):
            if not left:
                left.extend([rename] * 99)  # what is put back finds room
                raise OSError(28, 'No space left on device', str(target))
            left.pop()(source, target)

        monkeypatch.setattr(os, 'rename', move)
        with pytest.raises(OSError, match='No space left'):
            write_folder(folder, SECOND)
        assert list(tmp_path.iterdir()) == ([] if is_new else [folder])
        assert is_new or read(folder) == FIRST
    monkeypatch.undo()
    write_folder(folder, SECOND)
    assert read(folder) == SECOND
