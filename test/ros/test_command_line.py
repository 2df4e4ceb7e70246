"""The command line of the executables: what cannot be is one line and an exit code."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys

import pytest

pytest.importorskip('rclpy', reason='rclpy is missing')

from ne_dynamics.errors import CommandLineError
from ne_dynamics.ros.running.command_line import (
    check_arguments,
    readable_parameters,
    start_rclpy,
)
from ne_dynamics.ros.running.private_domain import private_domain


@pytest.fixture(params=['ros.node', 'simulation.simulated_robot'])
def module(request) -> str:
    """Return an executable, by its module below the package."""
    if 'simulated_robot' in request.param:
        pytest.importorskip('mujoco', reason='mujoco is missing')
    return f'ne_dynamics.{request.param}'


@pytest.mark.parametrize(
    ('arguments', 'content', 'reason'),
    [
        # A parameter file with an open list, of two types, without parameters; none.
        (['--params-file', '{file}'], 'it: {ros__parameters: {mode: [1, a', 'params file.*{file}'),
        (['--params-file', '{file}'], 'it: {ros__parameters: {mode: [1, a]}}', '.*{file}'),
        (['--params-file', '{file}'], 'it:\n  mode: feedforward\n', '.*{file}'),
        (['--params-file', '/nowhere.yaml'], '', '/nowhere.yaml'),
        (['--log-level', 'loud'], '', '--log-level loud'),
        (['--bogus'], '', r"unknown ROS arguments: \['--bogus'\]"),
        (['-p', 'mode'], '', '-p mode'),
        (['-p', 'mode:=[1'], '', r'-p mode:=\[1'),
        (['-r', 'joint_states'], '', '-r joint_states'),
        (['-r', '__ns:=a-b'], '', '-r __ns:=a-b'),
        (['--enclave', 'bad'], '', 'Enclave name is not valid'),
    ],
)
def test_what_ros_cannot_read_is_named(tmp_path, arguments, content: str, reason: str) -> None:
    """The argument that is at fault is in the reason, the places in ROS's sources are not."""
    file = tmp_path / 'node.yaml'
    file.write_text(content)
    arguments = [argument.replace('{file}', str(file)) for argument in arguments]
    with pytest.raises(CommandLineError, match=reason.replace('{file}', str(file))) as error:
        start_rclpy(['--ros-args', *arguments])
    assert '.c:' not in str(error.value)
    assert '\n' not in str(error.value)


@pytest.mark.parametrize('arguments', [['stray'], ['-p', 'mode:=a'], ['--ros-args', '--', 'b']])
def test_what_is_not_for_ros_is_refused(capsys, arguments) -> None:
    """A word too many, or a parameter without --ros-args before it: exit code 2."""
    with pytest.raises(SystemExit) as end:
        check_arguments('computed_torque', 'It does.', arguments)
    assert end.value.code == 2
    error = capsys.readouterr().err
    assert 'what comes after --ros-args' in error
    assert arguments[-1] in error


def test_help_is_given_and_nothing_started(capsys, module: str) -> None:
    """--help says what the executable takes, and ends with exit code 0."""
    with pytest.raises(SystemExit) as end:
        importlib.import_module(module).main(['--help'])
    assert end.value.code == 0
    text = capsys.readouterr().out
    assert '--params-file FILE' in text
    assert '--log-level LEVEL' in text


def test_a_parameter_of_rclpy_itself_is_named(bench) -> None:
    """`use_sim_time` is declared by rclpy: a number there is its exception, and then one line."""
    with pytest.raises(CommandLineError, match=r"'use_sim_time' to '5'"), readable_parameters():
        bench.start(wait=None, use_sim_time=5)


def test_the_process_ends_with_one_line(module: str) -> None:
    """The executable itself: exit code 1, its reason in one line of its own, no traceback."""
    result = subprocess.run(
        [sys.executable, '-m', module, '--ros-args', '--log-level', 'loud'],
        env={**os.environ, 'ROS_DOMAIN_ID': str(private_domain())},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert result.returncode == 1
    own = [line for line in result.stderr.splitlines() if '[rcl]' not in line]
    assert len(own) == 1, result.stderr
    assert '--log-level loud' in own[0]
