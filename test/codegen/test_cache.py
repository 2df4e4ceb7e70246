"""Machine code kept on disk: shared safely, healed when damaged, trusted only when private."""

import multiprocessing
import os
import stat
import tempfile

import numpy as np
import pytest
from cache_users import compute_with_others, write_in_turns
from fresh_python import output_of
from urdf_text import joint_xml, link_xml, robot_xml

import ne_dynamics as ned
from ne_dynamics.codegen import cache as cache_module
from ne_dynamics.codegen.cache import ObjectCache, default_folder
from ne_dynamics.codegen.llvm.processor import describe_machine


def pendulum(com=0.2, roll=0.1):
    """Return a robot of one joint, compiled in no time."""
    return ned.load_urdf(
        robot_xml(
            'base',
            link_xml('arm', 1.5, f'{com} 0 0.1', moments=(0.02, 0.03, 0.01)),
            joint_xml('hinge', 'base', 'arm', 'continuous', rpy=f'{roll} 0 0', axis='0 1 0'),
            name='pendulum',
        )
    )


Q = [0.3]

SPAWN = multiprocessing.get_context('spawn')
"""Makes processes that have nothing of this one."""


EXPECTED = ned.Dynamics(pendulum(), backend='python').gravity_torque(Q)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Name of a cache folder that is not there yet; code of earlier tests is not reused."""
    path = tmp_path / 'cache'
    monkeypatch.setenv('NE_DYNAMICS_CACHE', str(path))
    return path


@pytest.fixture
def forget(monkeypatch, compiler):
    """Return a function that makes this process forget the code it has loaded."""
    from ne_dynamics.codegen.llvm import compiler

    def function():
        # What was loaded stays alive, so that nothing that points to it dangles.
        _KEPT.append(compiler._engines)
        monkeypatch.setattr(compiler, '_engines', {})

    function()
    return function


_KEPT = []


def used(**keywords):
    """Build dynamics, use them, and return whether the machine code was on disk already."""
    keywords.setdefault('robot', pendulum())
    dynamics = ned.Dynamics(backend='numba', **keywords)
    result = dynamics.gravity_torque(Q)
    if len(keywords) == 1 and keywords['robot'].name == 'pendulum':
        np.testing.assert_allclose(dynamics.gravity_torque([Q] * 9), [result] * 9, rtol=1e-12)
    return dynamics, dynamics._evaluator.load('gravity_torque').was_cached


def works(forget):
    """Assert that fresh dynamics compute the right thing; return whether from disk."""
    forget()
    dynamics, was_cached = used()
    for _ in range(2):
        np.testing.assert_allclose(dynamics.gravity_torque(Q), EXPECTED, rtol=1e-12)
    return was_cached


# ---- keeping


def test_code_is_read_back_and_computes_the_same_bits(folder, forget):
    """The first use compiles and keeps one file; the next process would read just that."""
    first, was_cached = used()
    assert not was_cached
    (file,) = folder.iterdir()
    content = file.read_bytes()
    forget()
    second, was_cached = used()
    assert was_cached
    np.testing.assert_array_equal(first.gravity_torque(Q), second.gravity_torque(Q))
    rows = np.linspace(-3.0, 3.0, 50)[:, None]
    np.testing.assert_array_equal(first.gravity_torque(rows), second.gravity_torque(rows))
    assert list(folder.iterdir()) == [file]
    assert file.read_bytes() == content


def test_folder_and_files_are_private(folder, forget):
    """Whatever the umask, only the user can read or write folder and files."""
    before = os.umask(0)
    try:
        used()
    finally:
        os.umask(before)
    (file,) = folder.iterdir()
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


# ---- what the key depends on


def test_code_for_another_processor_is_not_used(folder, forget, monkeypatch):
    """The identity of the machine is part of the key: a shared home folder is no danger."""
    from ne_dynamics.codegen.llvm import compiler

    used()
    tools = compiler.toolchain()
    for part in (tools.cpu, *filter(None, [tools.features])):
        assert part in tools.identity
    monkeypatch.setattr(tools, 'identity', tools.identity.replace(tools.cpu, 'another'))
    forget()
    assert not works(forget)
    assert len(list(folder.iterdir())) == 2


# ---- damage and trust


def link_elsewhere(file):
    """Put a link in the place of a file, to another that holds the same."""
    file.rename(file.parent.parent / 'elsewhere')
    file.symlink_to(file.parent.parent / 'elsewhere')


def become_pipe(file):
    """Put a pipe, which nobody writes to, in the place of a file."""
    file.unlink()
    os.mkfifo(file)


SPOILT = {
    'empty': lambda file: file.write_bytes(b''),
    'truncated': lambda file: os.truncate(file, 1000),
    'another version': lambda file: file.write_bytes(
        file.read_bytes().replace(b'object 3', b'object 0', 1)
    ),
    'written by the group': lambda file: file.chmod(0o620),
    'written by others': lambda file: file.chmod(0o602),
    'a link': link_elsewhere,
    'a pipe': become_pipe,
}


@pytest.mark.parametrize('spoil', SPOILT.values(), ids=SPOILT)
def test_a_file_that_cannot_be_trusted_is_replaced(spoil, folder, forget):
    """Damaged, open to others, or no regular file: it is compiled anew, and kept again."""
    used()
    (file,) = folder.iterdir()
    good = file.read_bytes()
    assert len(good) > 2000
    spoil(file)
    assert not works(forget)
    assert list(folder.iterdir()) == [file]
    assert file.is_file()
    assert not file.is_symlink()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert file.read_bytes() == good
    assert works(forget)
    elsewhere = folder.parent / 'elsewhere'
    assert not elsewhere.exists() or elsewhere.read_bytes() == good


@pytest.mark.parametrize('kind', ['written by the group', 'written by others', 'of another user'])
def test_a_folder_that_is_not_private_is_neither_read_nor_written(
    kind, folder, forget, monkeypatch
):
    used()
    (file,) = folder.iterdir()
    mode = {'written by the group': 0o720, 'written by others': 0o702}.get(kind, 0o700)
    folder.chmod(mode)
    uid = os.getuid() + (kind == 'of another user')
    with monkeypatch.context() as patch:
        patch.setattr(cache_module.os, 'getuid', lambda: uid)
        assert not works(forget)
        file.unlink()
        assert not works(forget)
    assert list(folder.iterdir()) == []
    assert stat.S_IMODE(folder.stat().st_mode) == mode
    folder.chmod(0o700)
    assert not works(forget)
    assert works(forget)


def test_every_flipped_byte_is_noticed(tmp_path):
    cache = ObjectCache(tmp_path / 'cache')
    key = cache.key('x')
    assert cache.write(key, b'machine code' * 20)
    path = tmp_path / 'cache' / key
    good = path.read_bytes()
    for position in range(len(good)):
        path.write_bytes(good[:position] + bytes([good[position] ^ 255]) + good[position + 1 :])
        assert cache.read(key) is None
    path.write_bytes(good)
    assert cache.read(key) == b'machine code' * 20


# ---- nowhere to write


@pytest.mark.parametrize('step', ['mkdir', 'mkstemp', 'fdopen', 'replace'])
def test_a_disk_that_refuses_leaves_everything_in_memory(step, folder, forget, monkeypatch):
    """A read-only or full disk is no error at any step, and leaves no temporary file."""

    def refuse(*arguments, **keywords):
        raise OSError(30, 'Read-only file system')

    if step != 'mkdir':
        folder.mkdir(mode=0o700)
    target = {
        'mkdir': (cache_module.Path, 'mkdir'),
        'mkstemp': (tempfile, 'mkstemp'),
        'fdopen': (cache_module.os, 'fdopen'),
        'replace': (cache_module.os, 'replace'),
    }[step]
    with monkeypatch.context() as patch:
        patch.setattr(*target, refuse)
        assert not works(forget)
    assert not folder.exists() or list(folder.iterdir()) == []
    assert not works(forget)
    assert works(forget)


@pytest.mark.skipif(
    not hasattr(os, 'getuid') or os.getuid() != 0,
    reason='root is missing: only root can become another user',
)
def test_another_users_folder_leaves_everything_in_memory(tmp_path, compiler):
    """A process that may not even look into the folder works in memory."""
    folder = tmp_path / 'cache'
    folder.mkdir(mode=0o700)
    code = """
import os, sys
import ne_dynamics as ned
from ne_dynamics.shipped import shipped_file
robot = ned.load_urdf(shipped_file('six_axis_arm.urdf'))
folder = os.environ.pop('NE_DYNAMICS_CACHE')
os.environ['NE_DYNAMICS_CACHE'] = folder + '/not/used'
# All modules are loaded before the rights to read them are gone.
ned.Dynamics(robot).mass_matrix([0.3] * 6)
expected = ned.Dynamics(robot, backend='python').gravity_torque([0.3] * 6)
os.environ['NE_DYNAMICS_CACHE'] = folder
os.setuid(65534)
dynamics = ned.Dynamics(robot)
print(dynamics.backend, abs(dynamics.gravity_torque([0.3] * 6) - expected).max() < 1e-9)
"""
    assert output_of(code, NE_DYNAMICS_CACHE=str(folder)) == 'compiled True\n'
    assert [path.name for path in folder.iterdir()] == ['not']


# ---- where it is


@pytest.mark.parametrize(
    ('chosen', 'xdg', 'place'),
    [
        ('chosen', 'xdg', 'chosen'),
        ('', 'xdg', 'xdg/ne_dynamics'),
        (None, 'xdg', 'xdg/ne_dynamics'),
        (None, '', 'home/.cache/ne_dynamics'),
        (None, None, 'home/.cache/ne_dynamics'),
    ],
)
def test_the_folder_follows_the_environment(chosen, xdg, place, monkeypatch, tmp_path):
    """NE_DYNAMICS_CACHE comes first, then the user's cache folder, then ~/.cache."""
    monkeypatch.setenv('HOME', str(tmp_path / 'home'))
    for name, value in (('NE_DYNAMICS_CACHE', chosen), ('XDG_CACHE_HOME', xdg)):
        if value is None:
            monkeypatch.delenv(name, raising=False)
        else:
            monkeypatch.setenv(name, value and str(tmp_path / value))
    assert default_folder() == tmp_path / place


# ---- several processes


def start_together(count):
    """Start processes that need the same code at the same moment; return what each says."""
    answers = SPAWN.SimpleQueue()
    arguments = SPAWN.Barrier(count), answers
    processes = [
        SPAWN.Process(target=compute_with_others, args=arguments, daemon=True)
        for _ in range(count)
    ]
    for process in processes:
        process.start()
    for process in processes:
        process.join(60)
    assert [process.exitcode for process in processes] == [0] * count
    return {answers.get() for _ in processes}


def test_processes_that_start_together_leave_one_good_file(folder, compiler):
    """Processes on an empty cache all compute right; one file remains, and no litter.

    Where a process can tell which compiler there is, what that said of the machine is another.
    """
    assert False in start_together(3)
    files = sorted(folder.iterdir())
    assert len(files) == 1 + bool(describe_machine())
    assert all(ObjectCache(folder).read(file.name) is not None for file in files)
    # Damage met by several at once is healed as well.
    for file in files:
        file.write_bytes(file.read_bytes()[:-7])
    assert False in start_together(2)
    assert sorted(folder.iterdir()) == files
    assert all(ObjectCache(folder).read(file.name) is not None for file in files)


def test_a_reader_never_sees_half_a_file(tmp_path):
    folder = tmp_path / 'cache'
    cache = ObjectCache(folder)
    key = cache.key('x')
    codes = [bytes([number]) * (50_000 + number) for number in range(4)]
    assert cache.write(key, codes[0])
    writer = SPAWN.Process(target=write_in_turns, args=(folder, key, codes), daemon=True)
    writer.start()
    while writer.is_alive():
        assert cache.read(key) in codes
    assert writer.exitcode == 0
    assert list(folder.iterdir()) == [folder / key]


# ---- what a file says of itself, and how many there are


def test_the_folder_keeps_to_its_size_and_drops_what_was_not_used(tmp_path):
    """Beyond the largest size the files go that were not read for the longest time."""
    folder = tmp_path / 'cache'
    cache = ObjectCache(folder, largest=100_000)
    keys = [cache.key(str(number)) for number in range(9)]
    for age, key in enumerate(keys):
        assert cache.write(key, bytes(10_000))
        os.utime(folder / key, (1000.0 + age, 1000.0 + age))
    assert cache.read(keys[0]) is not None  # used just now
    (folder / 'notes.txt').write_text('of the user' * 1000)
    assert cache.write(cache.key('last'), bytes(10_000))
    names = {path.name for path in folder.iterdir()}
    assert {keys[0], cache.key('last'), 'notes.txt'} <= names
    assert not {keys[1], keys[2]} & names
    assert keys[8] in names
    for number in range(200):
        cache.write(cache.key(f'more {number}'), bytes(3_000))
        size = sum(path.stat().st_size for path in folder.iterdir() if path.suffix == '')
        assert size <= 100_000
    assert (folder / 'notes.txt').exists()


@pytest.mark.parametrize(
    ('text', 'size'),
    [('', 256e6), ('10', 10e6), ('0.5', 0.5e6), ('0', 0), ('-3', 0), ('much', 256e6), ('nan', 0)],
)
def test_the_size_is_a_setting_in_megabytes(text, size, monkeypatch):
    """NE_DYNAMICS_CACHE_SIZE says how much is kept; what is no number counts as not given."""
    monkeypatch.setenv('NE_DYNAMICS_CACHE_SIZE', text)
    assert ObjectCache().largest == size
