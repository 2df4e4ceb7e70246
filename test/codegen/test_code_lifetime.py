"""Machine code in processes that fork, pickle, and build many robots."""

import copy
import gc
import multiprocessing
import os
import pickle
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
from ne_dynamics.shipped import shipped_file

robot = ned.load_urdf(shipped_file('six_axis_arm.urdf'), tip_link='tcp')
python = ned.Dynamics(robot, backend='python')
q = np.linspace(0.1, 0.9, 6)

def run_in_child(work):
    # A child that hangs is ended by its own alarm.
    child = os.fork()
    if child == 0:
        signal.alarm(60)
        os._exit(0 if work() else 1)
    return child

def wait_for(child):
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
"""


def run_script(code, *arguments):
    """Run a script that starts with :data:`PREPARED`; return its output."""
    return output_of(PREPARED + textwrap.dedent(code), *arguments)


# ---- pickles


class Doubled(ned.Dynamics):
    """A subclass with a constructor, a method, an attribute and a private slot of its own."""

    __slots__ = ('__hidden', 'extra')

    def __init__(self, robot, note):
        super().__init__(robot, gravity=(0.0, 0.0, -5.0))
        self.note, self.extra, self.__hidden = note, [5], 3

    def mass_matrix(self, q):
        """Return twice the mass matrix."""
        return 2.0 * super().mass_matrix(q)

    def hidden(self):
        """Return the private slot."""
        return self.__hidden


@pytest.mark.parametrize('is_changed', [False, True], ids=['of its robot', 'of other parameters'])
@pytest.mark.parametrize(
    'clone',
    [
        lambda dynamics: pickle.loads(pickle.dumps(dynamics)),
        # The builtin stands for the dynamics that it belongs to.
        lambda dynamics: pickle.loads(pickle.dumps(dynamics.gravity_torque.__self__)),
        copy.copy,
        copy.deepcopy,
        lambda dynamics: dynamics.with_parameters(rotor_inertia=np.zeros(6)),
    ],
    ids=['pickle', 'pickled builtin', 'copy', 'deepcopy', 'without rotors'],
)
def test_a_subclass_stays_what_it_is(clone, is_changed):
    """It computes the same, can be changed on, and keeps its class and what is set on it."""
    q = np.linspace(0.1, 0.9, 6)
    dynamics = Doubled(ned.load_urdf(shipped_file('six_axis_arm.urdf')), ['a note'])
    if is_changed:
        dynamics = dynamics.with_parameters(inertial=1.5 * dynamics.inertial_parameters())
    for _ in range(2):
        dynamics.gravity_torque(q)
    copied = clone(dynamics)
    assert type(copied) is Doubled
    assert (copied.note, copied.extra, copied.hidden()) == (['a note'], [5], 3)
    again, expected = (
        each.with_parameters(viscous_friction=np.ones(6)) for each in (copied, dynamics)
    )
    for one, other in ((copied, dynamics), (again, expected)) * 2:
        for method, arguments in (
            ('mass_matrix', (q,)),
            ('gravity_torque', (q,)),
            ('inverse_dynamics', (q, q, q)),
        ):
            found, right = (getattr(each, method)(*arguments) for each in (one, other))
            np.testing.assert_allclose(found, right, rtol=1e-12, atol=1e-12)


@pytest.mark.kept(3)
@pytest.mark.parametrize('start', ['fork', 'spawn', 'forkserver'])
@pytest.mark.parametrize('calls', [0, 2])
def test_a_pool_of_processes_computes_a_method(start, calls, tmp_path):
    """``Pool.map(dyn.gravity_torque, rows)`` returns, however its processes are started."""
    dynamics = ned.Dynamics(ned.load_urdf(shipped_file('six_axis_arm.urdf')))
    rows = np.random.default_rng(0).uniform(-1.0, 1.0, (40, 6))
    for _ in range(calls):
        dynamics.gravity_torque(rows[0])
    expected = ned.Dynamics(dynamics.robot, backend='python').gravity_torque(rows)
    with multiprocessing.get_context(start).Pool(2) as pool:
        results = pool.map_async(dynamics.gravity_torque, list(rows)).get(100)
    np.testing.assert_allclose(results, expected, rtol=1e-10, atol=1e-12)


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
            child = run_in_child(lambda: np.array_equal(dynamics.gravity_torque(rows), expected))
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

        def compile_another():
            found, expected = (
                ned.Dynamics(robot, (0.0, 0.0, 0.5 + number), backend).gravity_torque(q)
                for backend in ('compiled', 'python')
            )
            return np.allclose(found, expected, rtol=1e-10, atol=1e-12)

        worker = threading.Thread(target=compile_on)
        worker.start()
        started.wait()
        for number in range(6):
            print(wait_for(run_in_child(compile_another)))
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
        names = [name for name in sys.modules if name.startswith('ne_dynamics.')]
        kinds = [kind for name in names for kind in vars(sys.modules[name]).values()]
        print(len(names) > 30)
        for kind in kinds:
            if isinstance(kind, type):
                for attribute in vars(kind).values():
                    if isinstance(attribute, cached_property):
                        print(kind)
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
    from dataclasses import replace
    # What glibc keeps for later is no loss, and comes and goes by hundreds of kilobytes.
    give_back = getattr(ctypes.CDLL(None), 'malloc_trim', lambda pad: 0)

    def measure():
        gc.collect()
        give_back(0)
        with open('/proc/self/maps') as maps, open('/proc/self/statm') as pages:
            kilobytes = int(pages.read().split()[1]) * os.sysconf('SC_PAGE_SIZE') / 1024
            return np.array([kilobytes, sum(1 for _ in maps)])

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
            for method in ('gravity_torque', 'mass_matrix', 'forward_kinematics', 'jacobian'):
                getattr(dynamics, method)(q)
            dynamics.coriolis_matrix(q, q)
            for method in ('inverse_dynamics', 'forward_dynamics', 'regressor'):
                getattr(dynamics, method)(q, q, q)
            dynamics.inverse_dynamics(q, q, q, wrench)
            dynamics.inverse_dynamics(q, q, q, payload=np.ones(10))
            dynamics.forward_dynamics(q, q, q, wrench)
            dynamics.jacobian(q, axes='tip')
            dynamics.gravity_torque(np.tile(q, (20, 1)))

    os.environ['NE_DYNAMICS_CACHE'] = sys.argv[1]
    for number in range(20):
        use(1e-3 * number)
        if number == 9:
            before = measure()
    print(*(measure() - before) / 10)
"""


@pytest.mark.long
@pytest.mark.skipif(not os.path.exists('/proc/self/maps'), reason='needs the /proc of Linux')
def test_a_sweep_of_robots_keeps_neither_maps_nor_memory(tmp_path):
    """Robots used and dropped leave less than 40 KiB each behind, and no memory map."""
    kilobytes, maps = map(float, run_script(SWEEP, str(tmp_path / 'cache')).split())
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

    faults = []

    def work():
        try:
            one = method(*[q] * arguments)
            many = method(*[rows] * arguments)
            if not np.allclose(many, one, rtol=1e-9, atol=1e-9):
                faults.append((count, name))
        except BaseException as error:
            faults.append((count, name, repr(error)))

    small = [('mass_matrix', 1), ('coriolis_matrix', 2), ('forward_dynamics', 3), ('regressor', 3)]
    for count, calls in ((6, small), (50, [])):
        dynamics = ned.Dynamics(chain(count), backend='compiled')
        q, rows = np.full(count, 0.1), np.full((21, count), 0.1)
        for name, arguments in [('inverse_dynamics', 3), *calls]:
            getattr(dynamics, name)(*[q] * arguments)  # compiled here, with all the stack
            method = getattr(dynamics, name)
            threading.stack_size(int(sys.argv[1]) * 1024)
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
