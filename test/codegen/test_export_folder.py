"""An export is written whole or not at all, and over nothing that is not its own."""

import os
import stat

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


def test_a_new_and_an_empty_folder(tmp_path):
    """Both hold the files and nothing else, with the permissions of any other file."""
    (tmp_path / 'empty').mkdir()
    for name in ('new', 'empty'):
        folder = tmp_path / name
        assert write_folder(folder, FIRST) == [folder / file for file in FIRST]
        assert read(folder) == FIRST
    mask = os.umask(0)
    os.umask(mask)
    assert stat.S_IMODE((tmp_path / 'new').stat().st_mode) == 0o777 & ~mask
    assert stat.S_IMODE((tmp_path / 'new' / 'a.c').stat().st_mode) == 0o666 & ~mask
    assert sorted(path.name for path in tmp_path.iterdir()) == ['empty', 'new']


def test_an_earlier_export_is_replaced_and_other_files_stay(tmp_path):
    """Files of the earlier export go, a build folder and a file beside them stay."""
    write_folder(tmp_path / 'robot', FIRST)
    (tmp_path / 'robot' / 'build').mkdir()
    (tmp_path / 'robot' / 'notes.txt').write_text('mine')
    write_folder(tmp_path / 'robot', SECOND)
    assert read(tmp_path / 'robot') == {**SECOND, 'build': 'folder', 'notes.txt': 'mine'}


@pytest.mark.parametrize('kind', ['file', 'folder', 'link', 'binary', 'hidden'])
def test_what_is_in_the_way_is_named(kind, tmp_path):
    """A folder without an export must be empty; the message names what is in it."""
    name = '.git' if kind == 'hidden' else 'a.c'
    thing = tmp_path / name
    if kind in ('folder', 'hidden'):
        thing.mkdir()
    elif kind == 'link':
        (tmp_path.parent / f'{tmp_path.name}.c').write_text(FIRST['a.c'])
        thing.symlink_to(f'../{tmp_path.name}.c')
    else:
        thing.write_bytes(bytes(range(256)) if kind == 'binary' else b'int mine;')
    message = f"expected an empty folder or an earlier export, but '{name}' is in the way"
    before = sorted(os.listdir(tmp_path))
    with pytest.raises(InputError, match=message):
        write_folder(tmp_path, FIRST)
    assert sorted(os.listdir(tmp_path)) == before


def test_a_file_of_somebody_else_is_not_overwritten(tmp_path):
    write_folder(tmp_path, FIRST)
    (tmp_path / 'b.c').write_text('int mine;')
    with pytest.raises(InputError, match=r"but 'b\.c' is in the way"):
        write_folder(tmp_path, SECOND)
    assert read(tmp_path) == {**FIRST, 'b.c': 'int mine;'}


@pytest.mark.parametrize('is_new', [True, False])
def test_an_error_on_the_way_leaves_everything_as_it_was(is_new, tmp_path, monkeypatch):
    folder = tmp_path / 'robot'
    if not is_new:
        write_folder(folder, FIRST)
    rename, unlink = os.rename, os.unlink
    failures = 0
    for count in range(1 if is_new else len(FIRST) + len(SECOND)):
        left = [count]

        def fail(source, target, left=left):
            left[0] -= 1
            if left[0] == -1:
                raise OSError(28, 'No space left on device', str(target))
            rename(source, target)

        monkeypatch.setattr(os, 'rename', fail)
        with pytest.raises(OSError, match='No space left'):
            write_folder(folder, SECOND)
        failures += 1
        assert os.unlink is unlink
        assert list(tmp_path.iterdir()) == ([] if is_new else [folder])
        if not is_new:
            assert read(folder) == FIRST
    assert failures
    monkeypatch.setattr(os, 'rename', rename)
    write_folder(folder, SECOND)
    assert read(folder) == SECOND
