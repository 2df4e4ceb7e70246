"""What `import ne_dynamics` and a first inverse dynamics load."""

import importlib.util
import json
from pathlib import Path

import pytest
from fresh_python import output_of

from ne_dynamics.codegen.llvm.object_loader import is_supported
from ne_dynamics.shipped import shipped_file

ROOT = Path(__file__).resolve().parents[1]

LINES_OF_THE_IMPORT = 10_000
LINES_OF_THE_FIRST_RESULT = 12_700
"""Lines of all loaded modules but those of the interpreter and of other packages, at most; 18,000
would be all of the package but the tools. Rows and methods of all functions are among them."""

NEVER = (
    'algorithms.control_law',
    'algorithms.disturbance_residual',
    'algorithms.energy',
    'algorithms.forward',
    'algorithms.hysteresis',
    'algorithms.inertia_map',
    'algorithms.kinematics',
    'algorithms.link_motion',
    'algorithms.profiles',
    'algorithms.regressor',
    'algorithms.scalars.rounding',
    'algorithms.scalars.sensitivity',
    'algorithms.terms',
    'codegen.array_function',
    'codegen.assembly',
    'codegen.c',
    'codegen.description',
    'codegen.differentiation',
    'codegen.exported_text',
    'codegen.llvm.exponential',
    'codegen.llvm.functions_of_nodes',
    'codegen.run_time_parameters',
    'codegen.llvm.thread_pool',
    'control',
    'motion',
    'dynamics.compensation',
    'kinematics',
    'model.checks',
    'model.dh',
    'model.extras_text',
    'model.files',
    'model.urdf.rotors',
    'model.yaml_text',
    'model.yaml_values',
)
"""Modules that this arm's inverse dynamics does not need, on no backend."""

OF_PYTHON = ('codegen.python_kernel', 'codegen.source')
OF_MACHINE_CODE = ('codegen.llvm',)
OF_COMPILATION = ('llvmlite', 'tempfile')
OF_OTHERS = (
    'tempfile',
    'concurrent.futures',
    'llvmlite',
    'lxml',
    'numpy.ma',
    'scipy',
    'urdf_parser_py',
    'yaml',
)

SCRIPT = """
import json, sys
import numpy
before = set(sys.modules)

def look():
    known = {*sys.stdlib_module_names, *before, 'llvmlite', 'urdf_parser_py', 'yaml'}
    known |= {name for name in sys.modules if name.startswith('_sysconfigdata')}
    own = {name: module.__file__ for name, module in list(sys.modules.items())
           if name.partition('.')[0] not in known
           and (getattr(module, '__file__', None) or '').endswith('.py')}
    lines = 0
    for file in own.values():
        with open(file, encoding='utf-8') as text:
            lines += sum(1 for _ in text)
    peak = 0
    if sys.platform == 'linux':
        with open('/proc/self/status', encoding='ascii') as status:
            peak = next(1024 * int(line.split()[1]) for line in status if line.startswith('VmHWM'))
    return {'lines': lines, 'modules': sorted(sys.modules), 'peak': peak}

import ne_dynamics as ned
imported = look()
robot = ned.load_urdf(sys.argv[1])
dynamics = ned.Dynamics(robot, backend=sys.argv[2])
zeros = [0.0] * robot.n
dynamics.inverse_dynamics(zeros, zeros, zeros)
print(json.dumps([sorted(before), imported, look()]))
"""


@pytest.fixture(scope='module', params=['python', 'compiled'])
def starts(request, tmp_path_factory):
    """Return the backend, and what two fresh processes had loaded: cache cold, cache warm."""
    if request.param == 'compiled':
        pytest.importorskip('llvmlite', reason='llvmlite is not installed')
    cache = str(tmp_path_factory.mktemp('cache'))
    places = {'NE_DYNAMICS_CACHE': cache, 'PYTHONPATH': str(ROOT)}
    arm = shipped_file('six_axis_arm.urdf')
    found = []
    for _ in range(2):
        before, *moments = json.loads(output_of(SCRIPT, arm, request.param, **places))
        for moment in moments:
            moment['modules'] = [name for name in moment['modules'] if name not in before]
        found.append(moments)
    return request.param, found


def find_loaded(moment, names):
    """Return which of these modules, or modules below them, are loaded."""
    return [
        loaded
        for loaded in moment['modules']
        if any(loaded == name or loaded.startswith(f'{name}.') for name in names)
    ]


def test_the_modules_that_are_not_loaded_exist():
    for name in of_package(NEVER, OF_PYTHON, OF_MACHINE_CODE):
        assert importlib.util.find_spec(name) is not None, name


def of_package(*groups):
    """Return names of modules of the package in full."""
    return [f'ne_dynamics.{name}' for group in groups for name in group]


def test_the_import_loads_no_backend_and_nothing_that_is_asked_for_later(starts):
    names = [*of_package(NEVER, OF_PYTHON, OF_MACHINE_CODE), *OF_OTHERS]
    for imported, _ in starts[1]:
        assert find_loaded(imported, names) == []


def test_the_first_result_loads_only_what_its_backend_needs(starts):
    """After an inverse dynamics, other functions and the other backend are not there.

    The compiler is there only where something was compiled.
    """
    backend, processes = starts
    others = OF_MACHINE_CODE if backend == 'python' else OF_PYTHON
    for (_, first), is_cold in zip(processes, (True, False), strict=True):
        # The reader of URDFs brings yaml along.
        libraries = [name for name in OF_OTHERS if name not in ('urdf_parser_py', 'yaml')]
        if is_cold and backend == 'compiled':
            libraries = [name for name in libraries if name not in OF_COMPILATION]
        elif is_supported():
            libraries += of_package(['codegen.llvm.library'])
        else:
            libraries.remove('llvmlite')
        assert find_loaded(first, [*of_package(NEVER, others), *libraries]) == []


def test_the_loaded_lines_stay_few(starts):
    for imported, first in starts[1]:
        assert imported['lines'] <= LINES_OF_THE_IMPORT
        assert first['lines'] <= LINES_OF_THE_FIRST_RESULT


def test_names_that_are_loaded_later_are_there():
    import ne_dynamics as ned

    assert set(ned.__all__) <= set(dir(ned))
    assert all(getattr(ned, name) is not None for name in ned.__all__)
    with pytest.raises(AttributeError, match='no attribute'):
        _ = ned.nothing_of_this_name


def test_a_cached_process_takes_little_memory(starts):
    cached = starts[1][1][1]
    if not is_supported():
        pytest.skip('a process of Linux on x86-64 is missing: LLVM links')
    assert cached['peak'] < 60e6
