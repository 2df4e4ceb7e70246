"""Models that xacro has to be run on first."""

import sys

import pytest

import ne_dynamics as ned
from ne_dynamics.errors import MissingDependencyError, ModelError
from ne_dynamics.model.urdf.xacro_file import is_xacro, process_xacro

TEXT = """<?xml version="1.0"?>
<robot name="arm" xmlns:xacro="http://www.ros.org/wiki/xacro">
  <xacro:arg name="mass" default="1.0"/>
  <link name="base"/>
  <link name="arm"><inertial><mass value="$(arg mass)"/>
    <inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link>
  <joint name="joint" type="continuous"><parent link="base"/><child link="arm"/></joint>
</robot>
"""


@pytest.fixture
def path(tmp_path):
    """Return a xacro file with one argument."""
    result = tmp_path / 'arm.urdf.xacro'
    result.write_text(TEXT, encoding='utf-8')
    return result


def test_arguments_are_handed_over(path):
    """An argument takes the place of its default, and what comes out is a URDF."""
    pytest.importorskip('xacro', reason='xacro is missing')
    assert is_xacro(path)
    assert ned.load_urdf(process_xacro(path, {})).bodies[0].inertia.mass == 1.0
    assert ned.load_urdf(process_xacro(path, {'mass': '2.5'})).bodies[0].inertia.mass == 2.5


def test_what_xacro_refuses_is_one_line(path):
    """A file that xacro cannot process, or that is not there, is named in one line."""
    pytest.importorskip('xacro', reason='xacro is missing')
    path.write_text(TEXT.replace('$(arg mass)', '${none}'), encoding='utf-8')
    with pytest.raises(ModelError, match=r'arm\.urdf\.xacro: expected .* xacro') as caught:
        process_xacro(path, {})
    assert '\n' not in str(caught.value)
    with pytest.raises(ModelError, match=r'none\.xacro'):
        process_xacro(path.with_name('none.xacro'), {})


def test_without_xacro(path, monkeypatch):
    """Where xacro is missing, one line says what to install, or to give the URDF."""
    monkeypatch.setitem(sys.modules, 'xacro', None)
    with pytest.raises(MissingDependencyError, match='pip install'):
        process_xacro(path, {})
