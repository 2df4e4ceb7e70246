"""The core runs where there is no ROS and no optional package: each is blocked and proven."""

from pathlib import Path

import pytest
from fresh_python import run_script

import ne_dynamics as ned

PACKAGE = Path(ned.__file__).resolve().parent

ROS = (
    r'rclpy|rcl_\w+|rmw\w*|rosidl\w*|rpyutils|ament_\w+|launch\w*|tf2\w*'
    r'|\w+_msgs|\w+_srvs|\w+_interfaces'
)
OPTIONAL = 'numba|llvmlite|mujoco|matplotlib|pinocchio|scipy|roboticstoolbox'

PROBES = {
    ROS: ('rclpy', 'sensor_msgs', 'std_srvs', 'rcl_interfaces', 'builtin_interfaces'),
    OPTIONAL: ('numba', 'mujoco', 'matplotlib'),
}
"""Packages whose import must fail in the subprocess, or the block itself is broken."""

PROGRAM = """
import importlib.abc
import re
import sys

blocked = re.compile(sys.argv[1])


def is_blocked(name):
    return blocked.fullmatch(name.partition('.')[0]) is not None


class Block(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if is_blocked(name):
            raise ModuleNotFoundError(f'blocked: {name}', name=name)
        return None


sys.meta_path.insert(0, Block())
for module in sys.argv[2:]:  # the block itself works
    try:
        __import__(module)
    except ModuleNotFoundError as error:
        assert str(error) == f'blocked: {module}', error
    else:
        raise AssertionError(f'{module} was imported')

import ne_dynamics as ned

robot = ned.load_urdf('''
<robot name="pendulum">
  <link name="base"/>
  <link name="arm">
    <inertial>
      <origin xyz="0.5 0 0"/><mass value="2"/>
      <inertia ixx="0.01" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/>
    </inertial>
  </link>
  <joint name="hinge" type="continuous">
    <parent link="base"/><child link="arm"/><axis xyz="0 -1 0"/>
  </joint>
</robot>''')
dynamics = ned.Dynamics(robot, gravity=(0.0, 0.0, -10.0), backend='auto')
torque = float(dynamics.inverse_dynamics([0.0], [0.0], [1.0])[0])
assert abs(torque - (2 * 10.0 * 0.5 + 2 * 0.5**2 + 0.1)) < 1e-12, torque
for module in ('control.controller', 'motion.motion', 'codegen.evaluator', 'model.robot'):
    __import__(f'ne_dynamics.{module}')
print('computed', torque)
"""

NOTHING_BLOCKED_IS_LOADED = """
loaded = sorted(name for name in sys.modules if is_blocked(name))
assert not loaded, loaded
"""


def run_without(blocked, program, folder):
    """Run a program in a fresh interpreter in which some packages cannot be imported."""
    probes = [name for part in blocked for name in PROBES[part]]
    places = {'PYTHONPATH': str(PACKAGE.parent), 'XDG_CACHE_HOME': str(folder)}
    return run_script(program, '|'.join(blocked), *probes, folder=folder, **places)


@pytest.mark.parametrize(
    'blocked', [(ROS,), (OPTIONAL,), (ROS, OPTIONAL)], ids=['ros', 'optional', 'both']
)
def test_core_without(blocked, tmp_path):
    """The core imports and computes a torque with these packages blocked."""
    finished = run_without(blocked, PROGRAM + NOTHING_BLOCKED_IS_LOADED, tmp_path)
    assert finished.returncode == 0, finished.stderr
    assert finished.stdout.startswith('computed 10.6')


def test_no_module_of_the_core_imports_ros(tmp_path):
    # These may need what they stand on.
    edge = {'ros', 'simulation', 'identification', 'papers/studies', 'commission', 'cli'}
    edge |= {'report_page', 'logs', 'picture_file.py'}  # of the extras `report`, `cluster`, `plot`
    modules = [
        '.'.join(('ne_dynamics', *path.relative_to(PACKAGE).with_suffix('').parts))
        for path in sorted(PACKAGE.rglob('*.py'))
        if path.name != '__init__.py'
        and not any(path.is_relative_to(PACKAGE / each) for each in edge)
    ]
    assert modules
    imports = '\n'.join(f'import {module}' for module in modules)
    finished = run_without((ROS,), PROGRAM + imports + NOTHING_BLOCKED_IS_LOADED, tmp_path)
    assert finished.returncode == 0, finished.stderr
