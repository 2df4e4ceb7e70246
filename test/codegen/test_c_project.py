"""The C library of an export builds without a warning and computes what Python does."""

import re
import shutil
import subprocess
import sys
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from compiled_c import run_text
from coupled_robots import couple
from hostile_names import HOSTILE, rename
from random_robots import random_tree
from urdf_text import joint_xml, limit_xml, link_xml, robot_xml

import ne_dynamics as ned
from ne_dynamics.codegen.c.c_project import make_prefix
from ne_dynamics.codegen.c.export_folder import write_folder
from ne_dynamics.codegen.functions import FUNCTIONS, WEIGHTED_BY_MASS
from ne_dynamics.errors import InputError, ModelError
from ne_dynamics.model.robot import JointType
from ne_dynamics.shipped import shipped_file

STRICT = ('-Wall', '-Wextra', '-Werror', '-pedantic', '-O0')
C99 = (*STRICT, '-std=c99')

RUBS = '<dynamics damping="12" friction="7"/>'
GANTRY = robot_xml(
    'rail',
    link_xml('beam', 9, '0.2 0.1 0', moments=(0.4, 0.5, 0.6), products=(0.01, 0.02, 0.03)),
    link_xml('column', 4, '0 0.1 0.3', moments=(0.2, 0.2, 0.1), products=(0.01, 0, 0.02)),
    link_xml('hand', 1, '0.1 0 0.02', moments=(0.01, 0.02, 0.01), products=(0, 0.001, 0)),
    joint_xml('along', 'rail', 'beam', 'prismatic', limit_xml() + RUBS, axis='1 0 0'),
    joint_xml('up', 'beam', 'column', 'prismatic', xyz='0 0.2 0.1', rpy='0.1 0.2 0.3'),
    joint_xml('turn', 'column', 'hand', xyz='0 0 0.4', rpy='1 0 0', axis='0 0.6 0.8'),
    name='gantry',
)


@cache
def gantry_dynamics():
    """Return the dynamics of the gantry."""
    return ned.Dynamics(ned.load_urdf(GANTRY), backend='python')


FEW = ('gravity_torque', 'inverse_dynamics', 'mass_matrix')
"""Functions that are written where it does not matter which."""


TREE = random_tree(2, 8)
assert {'mimic', 'prismatic'} <= set(TREE.kinds)
ROBOTS = {
    'arm': lambda: ned.load_urdf(shipped_file('six_axis_arm.urdf'), tip_link='tcp'),
    'puma': lambda: ned.load_dh(shipped_file('puma560_standard_dh.yaml')),
    'tree with mimic joints': lambda: replace(ned.load_urdf(TREE.urdf), tip_link=TREE.tip),
    'tree with coupled drives': lambda: couple(
        replace(ned.load_urdf(TREE.urdf), tip_link=TREE.tip)
    ),
    'gantry without a tip': lambda: replace(ned.load_urdf(GANTRY), tip_link=None),
}
"""What builds each robot."""


PAIR = (('left', 'arm'), ('right', 'gantry without a tip'))
"""Prefix and name of two robots in one program."""


def run(*command, cwd=None):
    """Run a command and return what it printed; an error shows that."""
    words = [str(word) for word in command]
    result = subprocess.run(words, cwd=cwd, capture_output=True, text=True, check=False)
    assert result.returncode == 0, f'{" ".join(words)}\n{result.stdout}\n{result.stderr}'
    return result.stdout


def find_cmake():
    """Return a cmake, that of the interpreter's own environment first, or skip the test."""
    own = shutil.which('cmake', path=str(sys.prefix) + '/bin')
    found = own or shutil.which('cmake')
    if found is None:
        pytest.skip('cmake is missing: it is in the extra `test`')
    return found


@pytest.fixture(scope='module')
def compilers():
    """Skip a test that needs gcc and g++ when they are missing."""
    for name in ('gcc', 'g++'):
        if shutil.which(name) is None:
            pytest.skip(f'{name} is missing')


class Export:
    """An export of a robot: its dynamics, its folder, and the object file of its source."""

    def __init__(self, robot, folder):
        self.dynamics = ned.Dynamics(robot, backend='python')
        self.folder = folder
        self.prefix = make_prefix(robot.name)
        self.files = self.dynamics.source_files('c')
        write_folder(folder, self.files)
        self.library = f'{self.prefix}_dynamics'
        self.object = folder.with_suffix('.o')
        run('gcc', *C99, '-c', folder / f'{self.library}.c', '-o', self.object)

    def text(self, suffix):
        """Return the text of the header '.h', the source '.c' or the test '_test.c'."""
        return self.files[f'{self.library}{suffix}']

    def run_test(self, source, cwd):
        """Compile a test with the library, run it, return the result."""
        program = source.with_suffix('')
        run('gcc', *C99, '-I', self.folder, source, self.object, '-o', program, '-lm')
        return subprocess.run([program], cwd=cwd, capture_output=True, text=True, check=False)


@pytest.fixture(scope='module')
def export(compilers, tmp_path_factory):
    """Return a function that exports a robot once, and compiles it."""

    @cache
    def get(name):
        return Export(ROBOTS[name](), tmp_path_factory.mktemp('export') / 'robot')

    return get


@pytest.mark.kept(1)
@pytest.mark.parametrize('name', ROBOTS)
def test_the_library_builds_without_a_warning_and_its_test_passes(name, export, tmp_path):
    """A strict C99 compiler takes all three texts; the test compares every function."""
    library = export(name)
    result = library.run_test(library.folder / f'{library.library}_test.c', tmp_path)
    assert result.returncode == 0, result.stdout
    compared = re.findall(r'^ok (\w+): ', result.stdout, flags=re.MULTILINE)
    assert compared == list(library.dynamics.operation_counts())
    assert f'0 of {len(compared)} functions failed' in result.stdout


def test_the_test_fails_when_a_sample_is_altered(export, tmp_path):
    """One digit of one entry, and the test names function, sample and entry."""
    library = export('gantry without a tip')
    text = library.text('_test.c')
    before, name, samples = text.partition('expected_gravity_torque[SAMPLES][3]')
    row = re.findall(r'\{([^{}]*)\}', samples)[17]
    entry = 2  # of the others the effort is the same in all samples
    value = row.split(',')[entry].strip()
    path = tmp_path / 'altered.c'
    other = repr(float(value) * (1.0 + 1e-9))
    path.write_text(before + name + samples.replace(value, other, 1))
    result = library.run_test(path, tmp_path)
    assert result.returncode == 1
    failed = [line for line in result.stdout.splitlines() if line.startswith('FAILED')]
    assert failed[0].startswith(f'FAILED gravity_torque: sample 17, entry {entry}: expected ')
    assert failed[1] == f'FAILED gravity_torque: 1 of {3 * 100} entries'
    assert len(failed) == 2
    path.write_text(before + name + samples.replace(value, '(0.0/0.0)', 1))
    assert library.run_test(path, tmp_path).returncode == 1


@pytest.mark.kept(1)
@pytest.mark.parametrize('name', ROBOTS)
def test_the_object_has_no_data_and_calls_nothing_but_functions_of_numbers(name, export):
    """No variable that can be written to, no allocation, no call of its own functions.

    Tangents smooth friction of the laws, and roundings find the nearest turn: where there is any.
    """
    library = export(name)
    symbols = [line.split()[-2:] for line in run('nm', library.object).splitlines()]
    defined = {symbol for kind, symbol in symbols if kind == 'T'}
    names = library.dynamics.operation_counts()
    assert defined == {f'{library.prefix}_{function}' for function in names}
    outside = {symbol for kind, symbol in symbols if kind in 'Uw'}
    joints = library.dynamics.robot.joints
    allowed = {'sin', 'cos', 'sincos', '_GLOBAL_OFFSET_TABLE_'}
    if any(joint.coulomb_friction for joint in joints):
        allowed.add('tanh')
    if any(joint.type is JointType.CONTINUOUS for joint in joints):
        allowed.add('rint')
    assert outside <= allowed
    # The rest is local code and the literals: neither 'b' nor 'd', which can be written to.
    assert {kind for kind, _ in symbols} - {'T', 'U', 'w'} <= {'t', 'r'}
    text = library.text('.c')
    assert re.findall(r'#include.*', text)[1:] == ['#include <math.h>']
    for function in names:
        assert text.count(f'{library.prefix}_{function}(') == 1, function


def test_cmake_builds_tests_and_installs(compilers, tmp_path):
    """CTest runs the test; a C++ project finds what was installed, and links it into a plugin."""
    cmake = find_cmake()
    ctest = shutil.which('ctest', path=cmake.rpartition('/')[0])
    folder, build, prefix = tmp_path / 'gantry', tmp_path / 'build', tmp_path / 'installed'
    write_folder(folder, gantry_dynamics().source_files('c', functions=FEW))
    flags = '-DCMAKE_C_FLAGS=-Wall -Wextra -Werror -pedantic'
    run(cmake, '-S', folder, '-B', build, '-DCMAKE_BUILD_TYPE=Release', flags)
    run(cmake, '--build', build)
    assert re.search('100% tests passed.* out of 1', run(ctest, cwd=build))
    run(cmake, '--install', build, '--prefix', prefix)
    installed = {path.name for path in prefix.rglob('*') if path.is_file()}
    assert {
        'gantry_dynamics.h',
        'libgantry_dynamics.a',
        'gantry_dynamicsConfig.cmake',
    } <= installed
    user = tmp_path / 'user'
    user.mkdir()
    (user / 'CMakeLists.txt').write_text(
        """
cmake_minimum_required(VERSION 3.14)
project(user LANGUAGES CXX)
find_package(gantry_dynamics REQUIRED)
add_library(plugin MODULE plugin.cpp)
target_link_libraries(plugin PRIVATE gantry_dynamics::gantry_dynamics)
add_executable(user main.cpp)
target_link_libraries(user PRIVATE gantry_dynamics::gantry_dynamics)
target_link_options(user PRIVATE -Wl,--gc-sections)
"""
    )
    (user / 'plugin.cpp').write_text(
        '#include <gantry_dynamics.h>\n'
        'void plugin(const double *q, double *tau) { gantry_gravity_torque(q, tau); }\n'
    )
    (user / 'main.cpp').write_text(
        '#include <gantry_dynamics.h>\n#include <cstdio>\n'
        'int main() { double q[GANTRY_JOINTS] = {0.1, 0.2, 0.3}, tau[GANTRY_JOINTS];\n'
        'gantry_gravity_torque(q, tau); for (double x : tau) std::printf("%.17g ", x); }\n'
    )
    out = tmp_path / 'user_build'
    run(cmake, '-S', user, '-B', out, f'-DCMAKE_PREFIX_PATH={prefix}')
    run(cmake, '--build', out)
    expected = gantry_dynamics().gravity_torque([0.1, 0.2, 0.3])
    linked = re.findall(r' T (gantry_\w+)', run('nm', out / 'user'))
    assert linked == ['gantry_gravity_torque']  # what nobody calls is left out
    values = [float(word) for word in run(out / 'user').split()]
    np.testing.assert_allclose(values, expected, rtol=1e-12, atol=1e-12)


def test_two_robots_in_one_cmake_project_of_cpp(compilers, tmp_path):
    """Two exports as subdirectories: both headers in C++, both in one link, no test of theirs."""
    cmake = find_cmake()
    user, build = tmp_path / 'user', tmp_path / 'build'
    user.mkdir()
    robots = {prefix: ned.Dynamics(ROBOTS[name](), backend='python') for prefix, name in PAIR}
    for prefix, dynamics in robots.items():
        functions = (*FEW, 'forward_dynamics')
        write_folder(user / prefix, dynamics.source_files('c', prefix, functions))
    (user / 'CMakeLists.txt').write_text(
        """
cmake_minimum_required(VERSION 3.14)
project(user LANGUAGES C CXX)
enable_testing()
add_subdirectory(left)
add_subdirectory(right)
add_executable(user main.cpp)
target_link_libraries(user PRIVATE
  left_dynamics::left_dynamics right_dynamics::right_dynamics)
"""
    )
    (user / 'main.cpp').write_text(
        """
#include <left_dynamics.h>
#include <right_dynamics.h>
#include <left_dynamics.h>
#include <cstdio>

static_assert(LEFT_JOINTS == 6 && RIGHT_MASS_MATRIX_SIZE == 9, "sizes");

int main()
{
    const double q[] = {0.1, -0.2, 0.3, -0.4, 0.5, -0.6}, qd[] = {1, 2, -3, 4, -5, 6};
    double first[LEFT_JOINTS] = {0.5, -1, 1.5, 2, -2.5, 3}, second[RIGHT_JOINTS] = {0.5, -1, 1.5};
    left_inverse_dynamics(q, qd, first, first);  // results over arguments
    right_forward_dynamics(q, qd, second, second);
    for (double value : first) std::printf("%.17g\\n", value);
    for (double value : second) std::printf("%.17g\\n", value);
}
"""
    )
    run(cmake, '-S', user, '-B', build)
    run(cmake, '--build', build)
    values = [float(word) for word in run(build / 'user').split()]
    q, qd = [0.1, -0.2, 0.3, -0.4, 0.5, -0.6], [1.0, 2.0, -3.0, 4.0, -5.0, 6.0]
    last = [0.5, -1.0, 1.5, 2.0, -2.5, 3.0]
    expected = robots['left'].inverse_dynamics(q, qd, last)
    np.testing.assert_allclose(values[:6], expected, rtol=1e-12, atol=1e-12)
    expected = robots['right'].forward_dynamics(q[:3], qd[:3], last[:3])
    np.testing.assert_allclose(values[6:], expected, rtol=1e-12, atol=1e-10)
    assert not list(build.rglob('*_test*'))


def without_comments(text):
    """Return a C text, or one of CMake, without the comments of C."""
    return re.sub(r'/\*.*?\*/', '', text, flags=re.DOTALL)


@pytest.mark.kept(8)
@pytest.mark.parametrize('name', HOSTILE.values(), ids=HOSTILE)
def test_names_of_a_model_file_reach_comments_only(name, compilers, tmp_path):
    """Whatever robot, joints and links are called, code and CMake project are the same."""
    hostile = rename(ned.load_urdf(GANTRY), name)
    files = ned.Dynamics(hostile, backend='python').source_files('c', 'gantry', FEW)
    expected = gantry_dynamics().source_files(functions=FEW)
    assert list(files) == list(expected)
    for file, text in files.items():
        assert text.isascii()
        assert without_comments(text) == without_comments(expected[file])
    write_folder(tmp_path / 'robot', files)
    run('gcc', *C99, '-trigraphs', '-fsyntax-only', tmp_path / 'robot' / 'gantry_dynamics.c')
    assert re.fullmatch(r'[a-z][a-z0-9_]*', make_prefix(name))


@pytest.mark.parametrize(
    ('name', 'prefix'),
    [
        ('six_axis_arm', 'six_axis_arm'),
        ('UR-5e (left)', 'ur_5e_left'),
        ('7axis', 'robot_7axis'),
        ('__a__b__', 'a_b'),
        ('\u00e4\U0001f916', 'robot'),
        ('', 'robot'),
        ('../../x', 'x'),
        ('\u212aelvin\u0130', 'kelvini'),
        ('n' * 5000, 'n' * 40),
        (f'{"n" * (39)} m', 'n' * (39)),
    ],
)
def test_prefix_is_an_identifier(name, prefix):
    """A prefix is lower case, begins with a letter and has no two underscores in a row."""
    dynamics = ned.Dynamics(replace(ned.load_urdf(GANTRY), name=name), backend='python')
    assert list(dynamics.source_files('python', functions=FEW)) == [f'{prefix}_dynamics.py']


@pytest.mark.parametrize('prefix', ['', 'a-b', 'Arm', '1a', '_a', 'a__b', 'a_', 'a/b', 'a\n', 'ä'])
def test_a_bad_prefix_is_an_error(prefix):
    """A prefix that was given is taken as it is or refused."""
    dynamics = gantry_dynamics()
    for language in ('c', 'numpy'):
        with pytest.raises(InputError, match=r'prefix: expected .* lower-case letters.*, got '):
            dynamics.source_files(language, prefix)


NO_EFFORT_DETERMINES = (
    'forward_dynamics',
    'forward_dynamics_with_wrench',
    'forward_dynamics_derivatives',
    'forward_dynamics_derivatives_with_wrench',
)
LACKING = {
    'a hand without mass': ('hand', NO_EFFORT_DETERMINES),
    'no mass at all': ('beam|column|hand', (*NO_EFFORT_DETERMINES, *WEIGHTED_BY_MASS)),
}


@pytest.mark.kept(1)
@pytest.mark.parametrize(('links', 'lacking'), LACKING.values(), ids=LACKING)
def test_functions_that_a_robot_lacks_are_left_out(links, lacking, compilers, tmp_path):
    """The header says which and why, the rest builds and is right; asked alone, it is an error."""
    text = re.sub(
        rf'<link name="({links})">.*?</link>', r'<link name="\1"/>', GANTRY, flags=re.DOTALL
    )
    exported = Export(ned.load_urdf(text), tmp_path / 'gantry')
    dynamics, header = exported.dynamics, exported.text('.h')
    assert tuple(dynamics.missing_functions()) == lacking
    for name, reason in dynamics.missing_functions().items():
        with pytest.raises(ModelError, match=r'expected that it moves mass|got 0 kg'):
            dynamics.source(name)
        assert f'void gantry_{name}(' not in header
        (line,) = [each for each in header.splitlines() if 'left out:' in each and reason in each]
        assert re.search(rf'\b{name}\b', line)
    present = set(dynamics.operation_counts())
    assert {'inverse_dynamics', 'forward_dynamics_in_full', 'mass_matrix'} <= present
    assert not set(lacking) & present
    result = exported.run_test(exported.folder / 'gantry_dynamics_test.c', tmp_path)
    assert f'0 of {len(present)} functions failed' in result.stdout
    ((_, module),) = dynamics.source_files('numpy').items()
    assert f'left out: {", ".join(NO_EFFORT_DETERMINES)}: ' in module
    assert 'def forward_dynamics(' not in module


def test_the_header_tells_sizes_units_frames_and_signs():
    """Each function has its arguments with sizes and units; what makes no difference is said."""
    robot = ned.load_urdf(GANTRY)
    functions = ('mass_matrix', 'jacobian', 'kinetic_energy', 'forward_dynamics_in_full')

    def write_header(robot, functions):
        files = ned.Dynamics(robot, backend='python').source_files('c', functions=functions)
        return files['gantry_dynamics.h']

    def comment_of(function, header):
        return header[header.index(f'/* {function}: ') :].partition('*/')[0]

    header = write_header(robot, functions)
    assert write_header(robot, functions) == header
    for text in (
        ' *   0  along [m], effort [N]\n',
        ' *   2  turn [rad], effort [N m]\n',
        ' * tip link: hand\n',
        ' * gravity in base axes [m/s^2]: 0.0, 0.0, -9.80665\n',
        'positive along the\n * positive direction of the joint',
    ):
        assert text in header
    for name, shape in (('mass_matrix', '3 x 3'), ('jacobian', '6 x 3'), ('kinetic_energy', '1')):
        pattern = rf'\* +q +3: rad or m.*\n(.*\n)?.*result +{shape}: '
        assert re.search(pattern, comment_of(name, header)), name
    assert header.count('/* forward_dynamics_in_full: ') == 1
    full = comment_of('forward_dynamics_in_full', header)
    assert 'wrench   6: force [N], moment [N m] of the last link on the environment' in full
    assert 'makes no difference' not in full
    header = write_header(replace(robot, tip_link=None), functions[3:])
    full = comment_of('forward_dynamics_in_full', header)
    assert full.count('; makes no difference for this robot') == 2  # wrench and payload


@pytest.mark.parametrize('language', ['python', 'numpy', 'array-api'])
def test_modules_compute_what_the_methods_do(language, tmp_path):
    """One module has all functions and needs nothing of this package."""
    dynamics = gantry_dynamics()
    ((name, text),) = dynamics.source_files(language).items()
    assert name == 'gantry_dynamics.py'
    assert 'ne_dynamics.' not in text
    assert all(f'def {function}(' in text for function in dynamics.operation_counts())
    rng = np.random.default_rng(0)
    given = {key: rng.uniform(-2.0, 2.0, (2, 3)) for key in ('q', 'qd', 'qdd', 'tau')}
    given['wrench'] = rng.uniform(-5.0, 5.0, (2, 6))
    for function in (
        'inverse_dynamics',
        'inverse_dynamics_with_wrench',
        'mass_matrix',
        'forward_dynamics',
        'kinetic_energy',
        'link_poses',
        'jacobian',
        'regressor',
    ):
        names = [argument.name for argument in FUNCTIONS[function].arguments]
        method = getattr(dynamics, function.removesuffix('_with_wrench'))
        arguments = [given[name] for name in names]
        expected = np.reshape(method(*arguments), (2, -1))
        found = run_text(text, language, function, arguments, expected.shape[1], tmp_path)
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)
