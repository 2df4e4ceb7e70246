"""Machine code kept on disk: shared safely, healed when damaged, trusted only when private."""

import os
import stat
import subprocess
import sys
import tempfile
import time

import numpy as np
import pytest
from fresh_python import output_of

import ne_dynamics as ned
from ne_dynamics.codegen import cache as cache_module
from ne_dynamics.codegen.cache import ObjectCache, default_folder
from ne_dynamics.codegen.llvm.processor import describe_machine

URDF = """<robot name="pendulum"><link name="base"/><link name="arm"><inertial>
<origin xyz="{com} 0 0.1"/><mass value="1.5"/>
<inertia ixx="0.02" iyy="0.03" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="hinge" type="continuous"><origin rpy="{roll} 0 0"/><parent link="base"/>
<child link="arm"/><axis xyz="0 1 0"/></joint></robot>"""

Q = [0.3]


def pendulum(com=0.2, roll=0.1):
    """Return a robot of one joint, compiled in no time."""
    return ned.load_urdf(URDF.format(com=com, roll=roll))


EXPECTED = ned.Dynamics(pendulum(), backend='python').gravity_torque(Q)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Name of a cache folder that is not there yet; code of earlier tests is not reused."""
    path = tmp_path / 'cache'
    monkeypatch.setenv('NE_DYNAMICS_CACHE', str(path))
    return path


@pytest.fixture
def forget(monkeypatch, compiler):
    """Return a function that makes this process forget the code it has loaded.

    What was loaded before stays alive, so that nothing that points to it dangles.
    """
    from ne_dynamics.codegen.llvm import compiler

    kept = []

    def function():
        kept.append(compiler._engines)
        monkeypatch.setattr(compiler, '_engines', {})

    function()
    _KEPT.append(kept)
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


@pytest.mark.parametrize(
    'changed',
    [
        {'robot': pendulum(com=0.2000000001)},
        {'gravity': (0.0, 0.0, -9.80664)},
        {'gravity': (0.0, 1e-9, -9.80665)},
        {'robot': pendulum(roll=1e-5), 'tolerance': 1e-12},
    ],
    ids=['model', 'gravity', 'tilt of gravity', 'roll'],
)
def test_another_model_or_gravity_is_another_file(changed, folder, forget):
    """A change of a number in model or gravity compiles anew and keeps both files."""
    used()
    assert not used(**changed)[1]
    assert len(list(folder.iterdir())) == 2
    forget()
    assert used()[1]
    assert used(**changed)[1]


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


# ---- damage


DAMAGES = {
    'empty': lambda data: b'',
    'truncated': lambda data: data[: len(data) // 2],
    'another version': lambda data: data.replace(b'object 3', b'object 0', 1),
    'checksum': lambda data: data[:25] + bytes([data[25] ^ 1]) + data[26:],
    'flipped last bit': lambda data: data[:-1] + bytes([data[-1] ^ 128]),
}


@pytest.mark.parametrize('damage', DAMAGES)
def test_a_damaged_file_is_replaced(damage, folder, forget):
    used()
    (file,) = folder.iterdir()
    good = file.read_bytes()
    assert len(good) > 2000
    bad = DAMAGES[damage](good)
    assert bad != good
    file.write_bytes(bad)
    assert not works(forget)
    assert list(folder.iterdir()) == [file]
    assert file.read_bytes() == good
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


def test_a_file_in_place_of_the_folder_leaves_everything_in_memory(folder, forget):
    folder.write_text('mine')
    assert not works(forget)
    assert not works(forget)
    assert folder.read_text() == 'mine'


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
def test_another_users_folder_leaves_everything_in_memory(tmp_path):
    """A process that may not even look into the folder works in memory."""
    folder = tmp_path / 'cache'
    folder.mkdir(mode=0o700)
    code = (
        'import os\n'
        'import ne_dynamics as ned\n'
        f'robot = ned.load_urdf({URDF.format(com=0.2, roll=0.1)!r})\n'
        'folder = os.environ.pop("NE_DYNAMICS_CACHE")\n'
        'os.environ["NE_DYNAMICS_CACHE"] = folder + "/not/used"\n'
        # All modules are loaded before the rights to read them are gone.
        'ned.Dynamics(robot).mass_matrix([0.3])\n'
        'os.environ["NE_DYNAMICS_CACHE"] = folder\n'
        'os.setuid(65534)\n'
        'dynamics = ned.Dynamics(robot)\n'
        'print(dynamics.backend, dynamics.gravity_torque([0.3])[0])\n'
    )
    pytest.importorskip('llvmlite', reason='llvmlite is not installed')
    backend, torque = output_of(code, NE_DYNAMICS_CACHE=str(folder)).split()
    assert backend == 'compiled'
    assert float(torque) == pytest.approx(EXPECTED[0], rel=1e-12)
    assert [path.name for path in folder.iterdir()] == ['not']


# ---- where it is


def test_the_folder_follows_the_environment(monkeypatch, tmp_path):
    """NE_DYNAMICS_CACHE comes first, then the user's cache folder, then ~/.cache."""
    monkeypatch.setenv('NE_DYNAMICS_CACHE', str(tmp_path / 'chosen'))
    monkeypatch.setenv('XDG_CACHE_HOME', str(tmp_path / 'xdg'))
    monkeypatch.setenv('HOME', str(tmp_path / 'home'))
    assert default_folder() == tmp_path / 'chosen'
    monkeypatch.setenv('NE_DYNAMICS_CACHE', '')
    assert default_folder() == tmp_path / 'xdg' / 'ne_dynamics'
    monkeypatch.delenv('NE_DYNAMICS_CACHE')
    assert default_folder() == tmp_path / 'xdg' / 'ne_dynamics'
    monkeypatch.setenv('XDG_CACHE_HOME', '')
    assert default_folder() == tmp_path / 'home' / '.cache' / 'ne_dynamics'
    monkeypatch.delenv('XDG_CACHE_HOME')
    assert default_folder() == tmp_path / 'home' / '.cache' / 'ne_dynamics'


# ---- trust


@pytest.mark.parametrize('mode', [0o720, 0o702])
def test_a_folder_that_others_can_write_is_neither_read_nor_written(mode, folder, forget):
    used()
    (file,) = folder.iterdir()
    folder.chmod(mode)
    assert not works(forget)
    file.unlink()
    assert not works(forget)
    assert list(folder.iterdir()) == []
    assert stat.S_IMODE(folder.stat().st_mode) == mode
    folder.chmod(0o700)
    assert not works(forget)
    assert works(forget)


@pytest.mark.parametrize('mode', [0o620, 0o602])
def test_a_file_that_others_can_write_is_replaced(mode, folder, forget):
    used()
    (file,) = folder.iterdir()
    file.chmod(mode)
    assert not works(forget)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert works(forget)


def test_a_folder_of_another_user_is_neither_read_nor_written(folder, forget, monkeypatch):
    used()
    (file,) = folder.iterdir()
    uid = os.getuid()
    with monkeypatch.context() as patch:
        patch.setattr(cache_module.os, 'getuid', lambda: uid + 1)
        assert not works(forget)
        file.unlink()
        assert not works(forget)
        assert list(folder.iterdir()) == []


def test_a_symbolic_link_to_code_is_replaced(folder, forget, tmp_path):
    used()
    (file,) = folder.iterdir()
    target = tmp_path / 'elsewhere'
    content = file.read_bytes()
    file.rename(target)
    file.symlink_to(target)
    assert not works(forget)
    assert not file.is_symlink()
    assert target.read_bytes() == content
    assert works(forget)


def test_a_folder_that_is_a_symbolic_link_is_not_trusted(folder, forget, tmp_path):
    (tmp_path / 'elsewhere').mkdir(mode=0o700)
    folder.symlink_to(tmp_path / 'elsewhere')
    assert not works(forget)
    assert not works(forget)
    assert list((tmp_path / 'elsewhere').iterdir()) == []


# ---- several processes


START = """
import sys, time
from pathlib import Path
import numpy as np
import ne_dynamics as ned
from ne_dynamics.shipped import shipped_file

robot = ned.load_urdf(shipped_file('six_axis_arm.urdf'))
python = ned.Dynamics(robot, backend='python')
dynamics = ned.Dynamics(robot, backend='numba')
from ne_dynamics.codegen.llvm.compiler import toolchain
toolchain()
q = np.linspace(0.1, 0.9, 6)
Path(sys.argv[1], sys.argv[2]).touch()
while not Path(sys.argv[1], 'go').exists():
    time.sleep(0.001)
for _ in range(3):
    assert np.allclose(dynamics.gravity_torque(q), python.gravity_torque(q), rtol=0, atol=1e-10)
print(dynamics._evaluator.load('gravity_torque').was_cached)
"""


def start_together(folder, signals, count=3):
    """Start processes that need the same code at the same moment; return what each says."""
    signals.mkdir()
    script = signals / 'start.py'
    script.write_text(START)
    processes = [
        subprocess.Popen(
            [sys.executable, str(script), str(signals), str(number)],
            env={**os.environ, 'NE_DYNAMICS_CACHE': str(folder)},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for number in range(count)
    ]
    try:
        deadline = time.monotonic() + 60.0
        while not all((signals / str(number)).exists() for number in range(count)):
            assert time.monotonic() < deadline, 'the processes did not start'
            assert all(process.poll() in (None, 0) for process in processes)
            time.sleep(0.01)
        (signals / 'go').touch()
        outputs = [process.communicate(timeout=60) for process in processes]
    finally:
        for process in processes:
            if process.poll() is None:
                process.kill()
                process.communicate()
    assert [process.returncode for process in processes] == [0] * count, outputs
    return [output.strip() for output, _ in outputs]


def test_processes_that_start_together_leave_one_good_file(folder, tmp_path, compiler):
    """Processes on an empty cache all compute right; one file remains, and no litter.

    Where a process can tell which compiler there is, what that said of the machine is another.
    """
    answers = start_together(folder, tmp_path / 'first')
    assert set(answers) <= {'True', 'False'}
    assert 'False' in answers
    files = sorted(folder.iterdir(), key=lambda path: path.stat().st_size)
    assert len(files) == 1 + bool(describe_machine())
    assert not any(file.name.startswith('new-') for file in files)
    assert all(ObjectCache(folder).read(file.name) is not None for file in files)
    # Damage met by several at once is healed as well.
    for file in files:
        file.write_bytes(file.read_bytes()[:-7])
    assert 'False' in start_together(folder, tmp_path / 'second', 2)
    assert set(folder.iterdir()) == set(files)
    assert all(ObjectCache(folder).read(file.name) is not None for file in files)


def test_a_reader_never_sees_half_a_file(tmp_path):
    folder = tmp_path / 'cache'
    cache = ObjectCache(folder)
    key = cache.key('x')
    codes = [bytes([number]) * (50_000 + number) for number in range(4)]
    code = (
        'import sys\n'
        'from pathlib import Path\n'
        'from ne_dynamics.codegen.cache import ObjectCache\n'
        f'cache = ObjectCache(Path({str(folder)!r}))\n'
        'for turn in range(400):\n'
        f'    cache.write({key!r}, bytes([turn % 4]) * (50_000 + turn % 4))\n'
    )
    assert cache.write(key, codes[0])
    writer = subprocess.Popen([sys.executable, '-c', code])
    seen = set()
    try:
        while writer.poll() is None:
            found = cache.read(key)
            assert found in codes
            seen.add(found)
    finally:
        if writer.poll() is None:
            writer.kill()
        writer.wait()
    assert writer.returncode == 0
    assert list(folder.iterdir()) == [folder / key]


# ---- what a file says of itself, and how many there are


def test_two_files_that_changed_places_are_compiled_anew(folder, forget):
    """A file is checked against its name too: equations of another robot are not run for it."""
    used()
    used(robot=pendulum(com=-0.2))
    one, other = sorted(folder.iterdir())
    first, second = one.read_bytes(), other.read_bytes()
    one.write_bytes(second)
    other.write_bytes(first)
    assert not works(forget)
    assert {one.read_bytes(), other.read_bytes()} != {first, second} or one.read_bytes() == first


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


def test_a_pipe_in_place_of_a_file_is_not_waited_for(folder, forget):
    """Only a regular file is read; what else has the name is replaced."""
    used()
    (file,) = folder.iterdir()
    file.unlink()
    os.mkfifo(file)
    assert not works(forget)
    assert file.is_file()
    assert works(forget)
