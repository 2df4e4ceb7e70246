"""Machine code in processes that fork, pickle, and build many robots."""

import gc
import os
import pickle
import subprocess
import sys
import textwrap
import weakref

import numpy as np
import pytest
from fresh_python import output_of

import ne_dynamics as ned
from ne_dynamics.shipped import shipped_file

pytestmark = pytest.mark.usefixtures('compiler')

PREPARED = """
import gc, os, pickle, signal, sys, threading, time
import multiprocessing
import numpy as np
import ne_dynamics as ned
from ne_dynamics.codegen.llvm import thread_pool
from ne_dynamics.codegen.llvm import compiler
from ne_dynamics.shipped import shipped_file

robot = ned.load_urdf(shipped_file('six_axis_arm.urdf'), tip_link='tcp')
python = ned.Dynamics(robot, backend='python')
q = np.linspace(0.1, 0.9, 6)

def wait_for(child):
    # A child that hangs is ended by its own alarm.
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status)
"""


def run_script(code, *arguments):
    """Run a script that starts with :data:`PREPARED`; return its output."""
    return output_of(PREPARED + textwrap.dedent(code), *arguments)


# ---- pickles


@pytest.mark.parametrize(
    ('method', 'count'),
    [
        ('inverse_dynamics', 3),
        ('mass_matrix', 1),
        ('forward_kinematics', 1),
        ('friction_torque', 1),
    ],
)
def test_a_method_can_be_pickled_before_and_after_calls(method, count):
    robot = ned.load_urdf(shipped_file('six_axis_arm.urdf'), tip_link='tcp')
    dynamics = ned.Dynamics(robot, gravity=(0.1, 0.2, -9.0), tolerance=1e-11, threads=2)
    arguments = [np.linspace(0.1, 0.9, 6)] * count
    expected = getattr(ned.Dynamics(robot, (0.1, 0.2, -9.0), 'python', 1e-11), method)(*arguments)
    for _ in range(3):
        copied = pickle.loads(pickle.dumps(getattr(dynamics, method)))
        for _ in range(2):
            np.testing.assert_allclose(copied(*arguments), expected, rtol=1e-11, atol=1e-12)
        assert copied.__name__ == method
        getattr(dynamics, method)(*arguments)


class Renamed(ned.Dynamics):
    """A subclass with a constructor, a method and an attribute of its own."""

    def __init__(self, robot, note):
        super().__init__(robot, gravity=(0.0, 0.0, -5.0))
        self.note = note

    def mass_matrix(self, q):
        """Return twice the mass matrix."""
        return 2.0 * super().mass_matrix(q)


@pytest.mark.parametrize('kind', ['pickle', 'copy', 'deepcopy', 'method'])
def test_a_subclass_stays_what_it_is(kind):
    import copy

    q = np.linspace(0.1, 0.9, 6)
    dynamics = Renamed(ned.load_urdf(shipped_file('six_axis_arm.urdf')), ['a note'])
    dynamics.gravity_torque(q)
    expected = dynamics.mass_matrix(q), dynamics.gravity_torque(q)
    if kind == 'method':
        # The builtin stands for the dynamics that it belongs to.
        copied = pickle.loads(pickle.dumps(dynamics.gravity_torque.__self__))
    else:
        clone = {
            'pickle': lambda thing: pickle.loads(pickle.dumps(thing)),
            'copy': copy.copy,
            'deepcopy': copy.deepcopy,
        }[kind]
        copied = clone(dynamics)
    assert type(copied) is Renamed
    assert copied.note == ['a note']
    for _ in range(2):
        np.testing.assert_allclose(copied.mass_matrix(q), expected[0], rtol=1e-12)
        np.testing.assert_array_equal(copied.gravity_torque(q), expected[1])


class Slotted(ned.Dynamics):
    """A subclass with slots, one of them private."""

    __slots__ = ('__hidden', 'extra')

    def hide(self, value):
        """Set the private slot."""
        self.__hidden = value
        return self

    def hidden(self):
        """Return the private slot."""
        return self.__hidden


def test_slots_of_a_subclass_come_along_to_other_parameters():
    """As what it keeps in attributes does."""
    dynamics = Slotted(ned.load_urdf(shipped_file('six_axis_arm.urdf'))).hide(3)
    dynamics.extra, dynamics.other = [5], 6
    changed = dynamics.with_parameters(viscous_friction=np.full(dynamics.n, 0.5))
    assert (changed.hidden(), changed.extra, changed.other) == (3, [5], 6)


@pytest.mark.kept(1)
@pytest.mark.parametrize('start', ['fork', 'spawn', 'forkserver'])
@pytest.mark.parametrize('calls', [0, 2])
def test_a_pool_of_processes_computes_a_method(start, calls, tmp_path):
    """``Pool.map(dyn.gravity_torque, rows)`` returns, however its processes are started."""
    script = tmp_path / 'pooled.py'
    script.write_text(
        PREPARED
        + textwrap.dedent(
            """
            if __name__ == '__main__':
                dynamics = ned.Dynamics(robot)
                for _ in range(int(sys.argv[2])):
                    dynamics.gravity_torque(q)
                rows = np.random.default_rng(0).uniform(-1.0, 1.0, (40, 6))
                with multiprocessing.get_context(sys.argv[1]).Pool(2) as pool:
                    results = pool.map_async(dynamics.gravity_torque, list(rows)).get(100)
                expected = python.gravity_torque(rows)
                np.testing.assert_allclose(results, expected, rtol=1e-10, atol=1e-12)
                print('same')
            """
        )
    )
    result = subprocess.run(
        [sys.executable, str(script), start, str(calls)],
        capture_output=True,
        text=True,
        timeout=200,
        check=False,
    )
    assert result.stdout == 'same\n', result.stderr[-2000:]


# ---- forks


def test_a_child_forked_after_a_threaded_batch_computes_batches():
    """The threads of the parent are not there in the child, which starts its own."""
    output = run_script("""
        dynamics = ned.Dynamics(robot, threads=2)
        rows = np.random.default_rng(0).uniform(-1.0, 1.0, (60_000, 6))
        expected = dynamics.gravity_torque(rows)
        assert thread_pool._executor is not None, 'no threads were at work'
        # Again and again: whatever the threads are doing meanwhile.
        for _ in range(5):
            child = os.fork()
            if child == 0:
                signal.alarm(60)
                same = np.array_equal(dynamics.gravity_torque(rows), expected)
                os._exit(0 if same else 1)
            dynamics.gravity_torque(rows)
            print(wait_for(child))
    """)
    assert output.split() == ['0'] * 5


def test_a_child_forked_while_another_thread_compiles_can_compile(tmp_path):
    """A fork waits until the compiler is at rest; nothing is locked for ever in the child."""
    output = run_script(
        """
        os.environ['NE_DYNAMICS_CACHE'] = sys.argv[1]
        stop = threading.Event()
        started = threading.Event()

        def compile_on():
            gravity = 1.0
            while not stop.is_set():
                gravity += 1.0
                ned.Dynamics(robot, (0.0, 0.0, -gravity), 'compiled').gravity_torque(q)
                started.set()

        worker = threading.Thread(target=compile_on)
        worker.start()
        started.wait()
        for number in range(6):
            child = os.fork()
            if child == 0:
                signal.alarm(60)
                gravity = (0.0, 0.0, 0.5 + number)
                new = ned.Dynamics(robot, gravity, 'compiled').gravity_torque(q)
                old = ned.Dynamics(robot, gravity, 'python').gravity_torque(q)
                os._exit(0 if np.allclose(new, old, rtol=1e-10, atol=1e-12) else 1)
            print(wait_for(child))
        stop.set()
        worker.join()
        """,
        str(tmp_path / 'cache'),
    )
    assert output.split() == ['0'] * 6


def test_nothing_that_computes_waits_for_a_lock_that_a_fork_may_leave_held():
    """Before Python 3.12 all cached properties share one, which no fork waits for."""
    output = run_script("""
        from functools import cached_property

        dynamics = ned.Dynamics(robot, backend='compiled')
        for method in ('gravity_torque', 'mass_matrix', 'forward_kinematics', 'jacobian'):
            getattr(dynamics, method)(q)
        for method in ('inverse_dynamics', 'forward_dynamics', 'regressor'):
            getattr(dynamics, method)(q, q, q)
        modules = [
            module for name, module in sys.modules.items() if name.startswith('ne_dynamics.')
        ]
        print(len(modules) > 30)
        for module in modules:
            for kind in vars(module).values():
                if isinstance(kind, type):
                    for name, attribute in vars(kind).items():
                        if isinstance(attribute, cached_property):
                            print(module.__name__, kind.__name__, name)
    """)
    assert output.splitlines() == ['True']


# ---- memory


def test_code_is_unloaded_with_the_last_dynamics_that_use_it(monkeypatch, tmp_path):
    """No collection of cycles is needed, and who still uses the same code keeps it."""
    from ne_dynamics.codegen.llvm import compiler

    monkeypatch.setenv('NE_DYNAMICS_CACHE', str(tmp_path))
    robot = ned.load_urdf(shipped_file('six_axis_arm.urdf'), tip_link='tcp')
    q = np.linspace(0.1, 0.9, 6)
    gc.collect()
    gc.disable()
    try:
        before = len(compiler._engines)
        first, second = (ned.Dynamics(robot, (0.0, 0.1, -3.21)) for _ in range(2))
        for dynamics in (first, second):
            for _ in range(3):
                dynamics.inverse_dynamics(q, q, q)
                dynamics.inverse_dynamics(q, q, q, q)
                dynamics.inverse_dynamics(q, q, q, payload=np.ones(10))
                dynamics.jacobian(q, 'forearm' if 'forearm' in robot._links_by_name else None)
        engines = [weakref.ref(engine) for engine in compiler._engines.values()]
        assert len(compiler._engines) == before + 4
        expected = first.inverse_dynamics(q, q, q)
        del first
        np.testing.assert_array_equal(second.inverse_dynamics(q, q, q), expected)
        kept = second.inverse_dynamics
        del second, dynamics
        assert len(compiler._engines) >= before + 3  # the method that is still there
        np.testing.assert_array_equal(kept(q, q, q), expected)
        del kept
        assert len(compiler._engines) == before
        assert sum(engine() is not None for engine in engines) == before
    finally:
        gc.enable()


SWEEP = """
    import ctypes
    # What glibc keeps for later is no loss, and comes and goes by hundreds of kilobytes.
    give_back = getattr(ctypes.CDLL(None), 'malloc_trim', lambda pad: 0)

    def count_maps():
        with open('/proc/self/maps') as file:
            return sum(1 for _ in file)

    def read_resident():
        gc.collect()
        give_back(0)
        with open('/proc/self/statm') as file:
            return int(file.read().split()[1]) * os.sysconf('SC_PAGE_SIZE')

    text = open(shipped_file('six_axis_arm.urdf')).read()
    from ne_dynamics.model.robot import Robot
    from dataclasses import replace

    # Three joints: what a function leaves behind does not depend on its size.
    robot = ned.load_urdf(shipped_file('six_axis_arm.urdf'), tip_link='upper_arm')
    q, wrench = q[:robot.n], np.ones(6)

    def use(number):
        links = [
            replace(link, inertia=replace(link.inertia, mass=link.inertia.mass * (1 + number)))
            for link in robot.links
        ]
        dynamics = ned.Dynamics(robot.with_links(links), backend='compiled')
        for _ in range(2):
            dynamics.inverse_dynamics(q, q, q)
            dynamics.inverse_dynamics(q, q, q, wrench)
            dynamics.inverse_dynamics(q, q, q, payload=np.ones(10))
            for method in ('gravity_torque', 'mass_matrix', 'forward_kinematics', 'jacobian'):
                getattr(dynamics, method)(q)
            for method in ('coriolis_matrix', ):
                getattr(dynamics, method)(q, q)
            dynamics.forward_dynamics(q, q, q)
            dynamics.forward_dynamics(q, q, q, wrench)
            dynamics.regressor(q, q, q)
            dynamics.jacobian(q, axes='tip')
            dynamics.gravity_torque(np.tile(q, (20, 1)))

    robots, first = int(sys.argv[2]), int(sys.argv[3])
    os.environ['NE_DYNAMICS_CACHE'] = sys.argv[1]
    for number in range(robots):
        use(1e-3 * number)
        if number + 1 == first:
            before = read_resident(), count_maps()
    after = read_resident(), count_maps()
    more = robots - first
    print((after[0] - before[0]) / more / 1024, (after[1] - before[1]) / more)
"""


@pytest.mark.long
@pytest.mark.skipif(not os.path.exists('/proc/self/maps'), reason='needs the /proc of Linux')
def test_a_sweep_of_robots_keeps_neither_maps_nor_memory(tmp_path):
    """Robots used and dropped leave less than 40 KiB each behind, and no memory map."""
    kilobytes, maps = map(float, run_script(SWEEP, str(tmp_path / 'cache'), '20', '10').split())
    assert maps < 0.5
    assert kilobytes < 40.0


def test_too_many_functions_at_once_are_a_clear_error(monkeypatch):
    """Before the system runs out of memory maps, a backend error says what to do."""
    from ne_dynamics.codegen.llvm import compiler
    from ne_dynamics.errors import BackendError

    robot = ned.load_urdf(shipped_file('six_axis_arm.urdf'))
    dynamics = ned.Dynamics(robot, (0.0, 0.0, -1.25), backend='compiled')
    monkeypatch.setattr(compiler, '_most', 0)
    with pytest.raises(BackendError, match='expected at most 0 functions in use at a time'):
        dynamics.gravity_torque(np.zeros(6))
    monkeypatch.undo()
    assert dynamics.gravity_torque(np.zeros(6)).shape == (6,)


STACK = """
    from ne_dynamics.papers.robots import chain

    small = int(sys.argv[1]) * 1024
    faults = []
    for count in (6, 50):
        some = chain(count)
        dynamics = ned.Dynamics(some, backend='compiled')
        q = np.full(count, 0.1)
        rows = np.full((21, count), 0.1)
        calls = [('inverse_dynamics', 3)]
        if count <= 10:
            calls += [('mass_matrix', 1), ('coriolis_matrix', 2), ('forward_dynamics', 3)]
            calls += [('regressor', 3)]
        for name, arguments in calls:
            getattr(dynamics, name)(*[q] * arguments)  # compiled here, with all the stack
            method = getattr(dynamics, name)

            def work():
                try:
                    one = method(*[q] * arguments)
                    many = method(*[rows] * arguments)
                    if not np.allclose(many, one, rtol=1e-9, atol=1e-9):
                        faults.append((count, name))
                except BaseException as error:
                    faults.append((count, name, repr(error)))

            threading.stack_size(small)
            worker = threading.Thread(target=work)
            worker.start()
            worker.join()
            threading.stack_size(0)
    print(faults)
"""


@pytest.mark.long
def test_a_thread_with_a_small_stack_computes_everything():
    """Half of what the smallest systems give a thread is enough, for large robots too."""
    assert run_script(STACK, '96') == '[]\n'
