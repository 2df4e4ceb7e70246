"""Which backend is taken where the compiler is missing, too old, or does not work."""

import pytest
from fresh_python import output_of

import ne_dynamics as ned
from ne_dynamics.errors import BackendError
from ne_dynamics.shipped import shipped_file

SCRIPT = """
import sys, types, warnings
SETUP
import ne_dynamics as ned
from ne_dynamics.errors import BackendError
from ne_dynamics.shipped import shipped_file
robot = ned.load_urdf(shipped_file('six_axis_arm.urdf'))
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter('always')
    for _ in range(3):
        dynamics = ned.Dynamics(robot)
        print(dynamics.backend, dynamics.gravity_torque([0.0] * 6).shape)
for warning in caught:
    print(warning.category.__name__, warning.message)
for backend in ('compiled', 'numba'):
    try:
        ned.Dynamics(robot, backend=backend)
    except BackendError as error:
        print('BackendError', error)
"""

# A compiler that, as LLVM 14 does, knows no opaque pointers.
OLD = """
package, binding = types.ModuleType('llvmlite'), types.ModuleType('llvmlite.binding')
def parse_assembly(text, context=None):
    raise RuntimeError("LLVM IR parsing error\\n<string>:1:8: error: expected type\\n")
binding.parse_assembly = parse_assembly
binding.create_pass_builder = binding.initialize_native_target = lambda *_: None
binding.initialize_native_asmprinter = lambda: None
package.__version__, package.binding = '0.42.0', binding
package.__path__ = []
sys.modules['llvmlite'], sys.modules['llvmlite.binding'] = package, binding
"""

# A compiler without the passes that are used.
OTHER = OLD.replace('    raise RuntimeError', '    return None\n    raise RuntimeError').replace(
    'binding.create_pass_builder = ', ''
)

MISSING = """
class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.split('.')[0] in ('llvmlite', 'numba'):
            raise ModuleNotFoundError(f'No module named {name!r}')
sys.meta_path.insert(0, Missing())
"""


@pytest.mark.parametrize('setup', [OLD, OTHER], ids=['no opaque pointers', 'no pass builder'])
def test_a_compiler_that_is_too_old_is_named_once_and_left_alone(setup):
    """'auto' computes in Python and says once why; 'compiled' says what it found and needs."""
    lines = output_of(SCRIPT.replace('SETUP', setup)).splitlines()
    assert lines[:3] == ['python (6,)'] * 3
    needed = 'expected llvmlite 0.45 (numba 0.62) or newer, got llvmlite 0.42.0'
    (warning,) = (line for line in lines if line.startswith('RuntimeWarning'))
    assert needed in warning
    assert "backend 'auto' runs Python" in warning
    errors = [line for line in lines if line.startswith('BackendError')]
    assert len(errors) == 2
    assert all(needed in error for error in errors)


def test_without_a_compiler_auto_is_python_in_silence():
    """Where the extra is not installed nobody is warned of it; who asks for it is told how."""
    lines = output_of(SCRIPT.replace('SETUP', MISSING)).splitlines()
    assert lines[:3] == ['python (6,)'] * 3
    assert not any('Warning' in line for line in lines)
    assert all('pip install "ne_dynamics[fast]"' in line for line in lines[3:])
    assert len(lines) == 5


def test_numba_is_an_alias_of_compiled(compiler):
    robot = ned.load_urdf(shipped_file('six_axis_arm.urdf'))
    assert {ned.Dynamics(robot, backend=name).backend for name in ('numba', 'compiled')} == {
        'compiled'
    }


@pytest.mark.parametrize('name', ['cuda', 'Numba', '', None, 3])
def test_an_unknown_backend_is_named_in_the_error(name):
    robot = ned.load_urdf(shipped_file('six_axis_arm.urdf'))
    with pytest.raises(BackendError, match=f'auto, python, compiled, numba, got {name!r}'):
        ned.Dynamics(robot, backend=name)
