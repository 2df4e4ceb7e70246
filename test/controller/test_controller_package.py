"""`ne_dynamics controller` writes a package that ros2_control can load, or nothing."""

import ast
import re
import shutil
import subprocess
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
import yaml
from controller_bench import (
    HERE,
    WARNINGS,
    ControllerBench,
    run,
    write_package,
)
from example_robots import example_robots_folder

import ne_dynamics as ned
from ne_dynamics.bring_up.controller import DECLARED
from ne_dynamics.cli.main import main
from ne_dynamics.ros.settings.parameter_file import read_parameters
from ne_dynamics.ros.settings.parameters import PARAMETERS
from ne_dynamics.shipped import shipped_file

ARM = Path(shipped_file('six_axis_arm.urdf'))
ARMS = {
    'UR5': ('ur_description/urdf/ur5_robot.urdf', ['--tip-link', 'tool0']),
    'Panda': (
        'panda_description/urdf/panda.urdf',
        [
            *('--tip-link', 'panda_hand_tcp', '--lock', 'panda_finger_joint1=0.03'),
            *('--rate', '1000'),
        ],
    ),
}
HOSTILE = 'j: "1" </a> \\ {{ 7 * 7 }} # é \u2028x: [\x85 \x9f ?'
OWN = {'reference_timeout', 'wrench.sensor_name'}


@pytest.fixture(params=ARMS)
def written(request, tmp_path, capsys):
    """Return the package of an arm, its robot and its rate."""
    file, options = ARMS[request.param]
    model, folder = example_robots_folder() / file, tmp_path / 'my_arm_controller'
    assert main(['controller', '--model', str(model), *options, '-o', str(folder)]) == 0
    assert 'colcon build --packages-select my_arm_controller' in capsys.readouterr().out
    given = dict(zip(options[::2], options[1::2], strict=True))
    locked = {'panda_finger_joint1': 0.03} if request.param == 'Panda' else None
    robot = ned.load_urdf(model, None, given['--tip-link'], locked)
    return folder, robot, int(given.get('--rate', 500))


def test_the_controllers_of_the_package_fit_together(written):
    """JTC commands what the controller has as references, in the order of the model."""
    folder, robot, rate = written
    names = list(robot.joint_names)
    content = yaml.safe_load((folder / 'config/controllers.yaml').read_text())
    blocks = {name.split('/')[-1]: block['ros__parameters'] for name, block in content.items()}
    manager, jtc = blocks['controller_manager'], blocks['joint_trajectory_controller']
    assert manager['update_rate'] == rate
    assert manager['my_arm_controller'] == {'type': 'my_arm_controller/Controller'}
    assert jtc['joints'] == names
    assert jtc['command_joints'] == [f'my_arm_controller/{name}' for name in names]
    assert jtc['command_interfaces'] == ['position', 'velocity', 'acceleration']
    plugin = ElementTree.parse(folder / 'my_arm_controller.xml').getroot()
    assert plugin.get('path') == 'my_arm_controller'
    assert plugin.find('class').get('type') == 'my_arm_controller_plugin::Controller'
    launch = ast.parse((folder / 'launch/controllers.launch.py').read_text())
    assert any(getattr(one, 'name', '') == 'generate_launch_description' for one in launch.body)


def test_parameters_have_the_names_and_defaults_of_the_node(written):
    """Of the file each one is a parameter of the controller, and its value the node's default."""
    folder, _, _ = written
    values = read_parameters(folder / 'config/controllers.yaml', '/my_arm_controller')
    declared = re.findall(
        r'declare_parameter\("([^"]+)"', (folder / 'src/settings.cpp').read_text()
    )
    assert set(declared) == {*DECLARED, *OWN}
    assert set(values) <= set(declared)
    for name in set(values) - OWN:
        default = PARAMETERS.find(name).default
        assert PARAMETERS.find(name).check(values[name]) == default, name


# ---- CMake, with stand-ins of the packages that it finds

AMENT = """
macro(ament_package)
endmacro()
include(CTest)
"""
PLUGINLIB = """
macro(pluginlib_export_plugin_description_file base file)
  if(NOT EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/${file})
    message(FATAL_ERROR "no ${file}")
  endif()
endmacro()
"""
LIBRARY = """
add_library(@name@::@name@ INTERFACE IMPORTED)
target_include_directories(@name@::@name@ INTERFACE @include@)
"""
VERSION = """
set(PACKAGE_VERSION @version@)
set(PACKAGE_VERSION_COMPATIBLE TRUE)
"""


def write_cmake_packages(folder, version):
    """Write what CMake finds of ros2_control in its place."""
    for name in (
        *('ament_cmake', 'controller_interface', 'hardware_interface', 'pluginlib'),
        *('rclcpp', 'rclcpp_lifecycle'),
    ):
        text = LIBRARY.replace('@name@', name).replace('@include@', str(HERE / 'interfaces'))
        text = AMENT if name == 'ament_cmake' else text
        text += PLUGINLIB if name == 'pluginlib' else ''
        place = folder / name
        place.mkdir(parents=True)
        (place / f'{name}Config.cmake').write_text(text)
        (place / f'{name}ConfigVersion.cmake').write_text(VERSION.replace('@version@', version))


@pytest.mark.parametrize('version', ['4.43.0', '5.12.0', '6.4.0'])
def test_an_older_ros2_control_is_told_at_once(folder, tmp_path, version):
    """CMake says which version it expects."""
    result = configure(folder, tmp_path, version)
    assert result.returncode != 0
    said = ' '.join(result.stderr.split())
    assert f'controller_interface: expected 4.44, 5.13, 6.5 or newer, got {version}' in said


@pytest.mark.long
def test_cmake_builds_the_library_and_the_test_of_the_equations(folder, tmp_path):
    """The test compares the C with samples of ne_dynamics."""
    result = configure(folder, tmp_path, '4.46.0')
    assert result.returncode == 0, result.stderr
    build = tmp_path / 'build'
    subprocess.run(['cmake', '--build', build], check=True, capture_output=True)
    assert (build / 'libarm_controller.so').is_file()
    tested = subprocess.run(['ctest'], cwd=build, capture_output=True, text=True, check=False)
    assert tested.returncode == 0, tested.stdout
    assert 'dynamics' in tested.stdout


def configure(folder, tmp_path, version):
    """Return how CMake configured the package of the shipped arm."""
    if shutil.which('cmake') is None:
        pytest.skip('CMake is not installed')
    write_cmake_packages(tmp_path / 'found', version)
    words = ['cmake', '-S', folder, '-B', tmp_path / 'build', '-DBUILD_TESTING=ON']
    found = f'-DCMAKE_PREFIX_PATH={tmp_path / "found"}'
    return subprocess.run([*words, found], capture_output=True, text=True, check=False)


# ---- names, numbers, options


def test_names_from_outside_stay_names(tmp_path, programs):
    """A joint name with the marks of C++, YAML, XML and templates comes back from the program."""
    text = ARM.read_text(encoding='utf-8')
    robot = ned.load_urdf(
        text.replace('"joint_1"', f"'{HOSTILE.replace('<', '&lt;')}'"), tip_link='tcp'
    )
    folder = tmp_path / 'arm'
    write_package(robot, folder)
    with ControllerBench(programs.compile(folder), robot.n) as bench:
        commands, _, references, _ = bench.ask('names').split('\f')
        assert commands.split('\t')[0] == f'{HOSTILE}/effort'
        assert references.split('\t')[0] == f'controller/{HOSTILE}/position'
    content = yaml.safe_load((folder / 'config/controllers.yaml').read_text(encoding='utf-8'))
    assert content['/**/joint_trajectory_controller']['ros__parameters']['joints'][0] == HOSTILE
    ElementTree.parse(folder / 'package.xml')


@pytest.mark.kept(1)
@pytest.mark.parametrize('name', ['class', 'index', 'linux', 'std'])
def test_a_package_may_have_any_name(name, tmp_path):
    """Of C++, of its library or of the compiler, as CMake compiles it: with GNU's extensions."""
    folder = tmp_path / name
    write_package(ned.load_urdf(ARM, tip_link='tcp'), folder)
    if shutil.which('g++') is None:
        pytest.skip('no C++ compiler (g++) is installed')
    includes = ['-I', HERE / 'interfaces', '-I', folder / 'dynamics']
    for source in (folder / 'src').glob('*.cpp'):
        run('g++', '-std=gnu++17', '-fsyntax-only', *WARNINGS, *includes, source)


def test_parameters_of_the_node_are_taken_over(tmp_path, capsys):
    """In the order of the model, with a word on those that the controller does not have."""
    names = [f'joint_{number}' for number in (6, 5, 4, 3, 2, 1)]
    file = tmp_path / 'node.params.yaml'
    values = {
        'joints': names,
        'computed_torque.kp': [6.0, 5.0, 4.0, 3.0, 2.0, 1.0],
        'payload.mass': 2.5,
        'effort_rate_limit': [5000.0],
        'observer.mode': 'estimate',
    }
    file.write_text(yaml.safe_dump({'/**/computed_torque': {'ros__parameters': values}}))
    folder = tmp_path / 'arm'
    words = ['controller', str(ARM), '--tip-link', 'tcp', '--params', str(file)]
    assert main([*words, '-o', str(folder)]) == 0
    assert 'not of the controller: observer.mode' in capsys.readouterr().out
    found = read_parameters(folder / 'config/controllers.yaml', '/arm')
    assert found['computed_torque.kp'] == [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]
    assert found['payload.mass'] == 2.5
    assert found['effort_rate_limit'] == [5000.0]


def test_the_bounds_that_are_written_are_those_of_the_controller(tmp_path, programs, folder):
    """Gains just below them are taken, and just above are not.

    The program of the arm is the same for any rate.
    """
    robot = ned.load_urdf(ARM, tip_link='tcp')
    controller = write_package(robot, tmp_path / 'arm', rate=1000)
    kp, kv = controller.find_largest_kp(20.0), controller.largest_kv
    inertia = controller.least_inertias
    effort_kv = kv * inertia[3]
    with ControllerBench(programs.compile(folder), robot.n, 1000) as bench:
        for share, is_taken in ((0.999, True), (1.001, False)):
            only = np.where(np.arange(6) == 3, share * effort_kv, 0.0)
            for values in (
                {'computed_torque.kp': [share * kp], 'computed_torque.kv': [20.0]},
                {'computed_torque.kp': [100.0], 'computed_torque.kv': [share * kv]},
                {'mode': 'feedforward_pd', 'feedforward_pd.kv': only},
            ):
                given = {'mode': 'computed_torque'} | values
                assert (bench.set(given) == '') == is_taken, values
    text = (tmp_path / 'arm/config/controllers.yaml').read_text()
    assert f'kv = {kv:.4g} /s. With kv = 20 /s, kp may be\n    # {kp:.4g} /s^2' in text


ERRORS = {
    'no one tip': (['--model', 'TREE'], '--tip-link: expected one of'),
    'a name that is none': (['-o', 'My-Arm'], 'package name: expected'),
    'a name that is taken': (['-o', 'joint_trajectory_controller'], 'that is not taken, got'),
    'a rate that is none': (['--rate', '0'], 'rate: expected a number > 0'),
    'a rate that no machine has': (
        ['--rate', '2147483648'],
        'rate: expected a number > 0 and of at most 100000 [Hz], got 2147483648',
    ),
    'a link without a sensor': (['--sensor-link', 'ft_sensor'], 'expected --sensor beside it'),
    'no such link': (['--sensor', 'ft', '--sensor-link', 'nowhere'], 'nowhere'),
}
PARAMETERS_THAT_CANNOT_BE = {
    'no feedback': ({'mode': 'feedforward', 'feedforward.robot_closes_loop': True}, 'mode: the'),
    'too stiff': ({'computed_torque.kv': [400.0]}, 'expected kv * delay of at most 1'),
    'too stiff somewhere': (
        {'mode': 'feedforward_pd', 'feedforward_pd.kv': [2e4]},
        'expected kv * delay of at most 1',
    ),
    'a full matrix': (
        {'feedforward_pd.kp': (100.0 * np.eye(6)).ravel().tolist()},
        'feedforward_pd.kp: expected one number for each joint, got 36',
    ),
    'a sensor without a name': ({'wrench.enabled': True}, '--sensor: expected the name'),
    'a load elsewhere': ({'payload.link': 'flange'}, "payload.link: expected the tip, 'tcp'"),
    'a negative gain': ({'computed_torque.kp': [-1.0]}, 'computed_torque.kp'),
}


@pytest.mark.parametrize('kind', [*ERRORS, *PARAMETERS_THAT_CANNOT_BE, 'a folder in the way'])
def test_what_cannot_be_is_an_error_and_nothing_is_written(kind, tmp_path, capsys, monkeypatch):
    """The message says what was expected, and there is no package."""
    monkeypatch.chdir(tmp_path)
    words = {'--model': str(ARM), '--tip-link': 'tcp', '-o': 'arm'}
    expected = "expected a new or empty folder, got 'arm'"
    if kind in ERRORS:
        given, expected = ERRORS[kind]
        words |= dict(zip(given[::2], given[1::2], strict=True))
    elif kind in PARAMETERS_THAT_CANNOT_BE:
        values, expected = PARAMETERS_THAT_CANNOT_BE[kind]
        content = {'/computed_torque': {'ros__parameters': values}}
        Path('node.yaml').write_text(yaml.safe_dump(content))
        words['--params'] = 'node.yaml'
    else:
        Path('arm').mkdir()
        Path('arm/mine.txt').write_text('mine')
    if words['--model'] == 'TREE':
        words['--model'] = str(example_robots_folder() / 'panda_description/urdf/panda.urdf')
        del words['--tip-link']
    before = sorted(tmp_path.rglob('*'))
    assert main(['controller', *(word for pair in words.items() for word in pair)]) == 1
    assert expected in capsys.readouterr().err
    assert sorted(tmp_path.rglob('*')) == before
