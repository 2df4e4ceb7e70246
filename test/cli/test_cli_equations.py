"""`ne_dynamics equations`."""

import ast
import re
from pathlib import Path

import pytest
from short_arm import short_arm

import ne_dynamics as ned
from ne_dynamics.cli.main import main
from ne_dynamics.codegen.source import LANGUAGES
from ne_dynamics.shipped import shipped_file

URDF = str(shipped_file('six_axis_arm.urdf'))
DH = str(shipped_file('puma560_standard_dh.yaml'))


@pytest.mark.parametrize('language', LANGUAGES)
def test_every_language_is_printed_with_the_robot_and_its_counts(language, capsys):
    texts = []
    for _ in range(2):
        assert main(['equations', DH, '--language', language]) == 0
        texts.append(capsys.readouterr().out)
    assert texts[0] == texts[1]
    dynamics = ned.Dynamics(ned.load_dh(DH))
    multiplications, additions = dynamics.operation_counts()['inverse_dynamics']
    first, second = texts[0].splitlines()[:2]
    if language != 'c':
        assert first == '# -*- coding: utf-8 -*-'
        first = second
    assert first.startswith('//' if language == 'c' else '#')
    assert dynamics.robot.name in first
    assert f'{multiplications} multiplications, {additions} additions' in first
    assert texts[0] == dynamics.source('inverse_dynamics', language)
    assert main(['equations', DH, '--language', language, '--function', 'gravity_torque']) == 0
    assert capsys.readouterr().out == dynamics.source('gravity_torque', language)


def test_list_shows_operation_counts(capsys):
    assert main(['equations', URDF, '--tip', 'tcp', '--list']) == 0
    rows = [line.split() for line in capsys.readouterr().out.splitlines()[1:]]
    counts = ned.Dynamics(ned.load_urdf(URDF, tip_link='tcp')).operation_counts()
    assert {name: (int(m), int(a)) for name, m, a in rows} == counts


@pytest.mark.parametrize(
    ('arguments', 'message'),
    [
        ([DH, '--function', 'inverse_dynamic'], "got 'inverse_dynamic'"),
        ([URDF, '--tip', 'nose'], 'nose'),
        (['missing.urdf'], 'missing.urdf'),
    ],
)
def test_bad_arguments_are_messages(arguments, message, refused):
    assert refused(message, 'equations', *arguments).out == ''


def test_a_tolerance_makes_rounded_quarter_turns_cost_nothing(tmp_path, capsys):
    path = tmp_path / 'rounded.yaml'
    text, count = re.subn(r'alpha: (-?)90\b', r'alpha: \g<1>89.99999846', Path(DH).read_text())
    assert count
    path.write_text(text)
    counts = []
    for arguments in ([DH], [str(path)], [str(path), '--tolerance', '1e-7']):
        assert main(['equations', *arguments]) == 0
        text = capsys.readouterr().out
        counts.append(re.search(r'\d+ multiplications, \d+ additions', text)[0])
    assert counts[2] == counts[0] != counts[1]


def test_all_functions_are_written_as_a_c_project(tmp_path, capsys):
    folder = tmp_path / 'arm'
    arguments = ['equations', str(short_arm()), '--all', '--language', 'c', '-o', str(folder)]
    dynamics = ned.Dynamics(ned.load_urdf(short_arm()), backend='python')
    files = dynamics.source_files('c')
    for _ in range(2):
        assert main(arguments) == 0
        assert capsys.readouterr().out == ''.join(f'wrote {folder / name}\n' for name in files)
        assert {path.name: path.read_text() for path in folder.iterdir()} == files
    assert set(files) == {
        'CMakeLists.txt',
        'six_axis_arm_dynamics.h',
        'six_axis_arm_dynamics.c',
        'six_axis_arm_dynamics_test.c',
    }
    for function in dynamics.operation_counts():
        assert f'void six_axis_arm_{function}(' in files['six_axis_arm_dynamics.h']


def test_functions_that_a_robot_lacks_are_said(tmp_path, capsys):
    path = tmp_path / 'bare.urdf'
    path.write_text(
        '<robot name="bare"><link name="base"/><link name="hand"/><joint name="turn" '
        'type="continuous"><parent link="base"/><child link="hand"/></joint></robot>'
    )
    for options in (['--list'], ['--all', '-o', str(tmp_path / 'out')]):
        assert main(['equations', str(path), *options]) == 0
        said = [line for line in capsys.readouterr().out.splitlines() if 'left out' in line]
        assert [line.split(': ')[0] for line in said] == [
            'left out forward_dynamics',
            'left out forward_dynamics_with_wrench',
            'left out forward_dynamics_derivatives',
            'left out forward_dynamics_derivatives_with_wrench',
            'left out center_of_mass',
            'left out center_of_mass_jacobian',
            'left out centroidal_momentum',
            'left out centroidal_momentum_matrix',
            'left out centroidal_momentum_rate',
        ]
        assert "joint 'turn': expected that it moves mass" in said[0]


@pytest.mark.kept(1)
@pytest.mark.parametrize('language', ['python', 'array-api'])
def test_all_functions_are_written_as_one_module(language, tmp_path, capsys):
    model = str(short_arm())
    arguments = ['equations', model, '--all', '--language', language, '-o', str(tmp_path)]
    assert main([*arguments, '--prefix', 'my_arm']) == 0
    (path,) = tmp_path.iterdir()
    assert path.name == 'my_arm_dynamics.py'
    functions = [node.name for node in ast.parse(path.read_text()).body if hasattr(node, 'args')]
    names = list(ned.Dynamics(ned.load_urdf(model)).operation_counts())
    helpers = ('sign', 'rint', 'clamp')
    assert [name for name in functions if name not in helpers] == names
    capsys.readouterr()


@pytest.mark.parametrize(
    ('options', 'message'),
    [
        (['--all', '-o', 'new', '--function', 'jacobian'], 'expected no --function beside it'),
        (['--all', '-o', 'new', '--list'], 'expected no --list beside it'),
        (['-o', 'new'], '-o: expected --all beside it'),
        (['--prefix', 'arm'], '--prefix: expected --all beside it'),
        (['--all', '-o', 'new', '--prefix', 'Arm 1'], "got 'Arm 1'"),
        (['--all', '-o', '.'], "expected an empty folder or an earlier export, but 'notes.txt'"),
    ],
)
def test_an_export_that_cannot_be_is_a_message(options, message, tmp_path, monkeypatch, refused):
    monkeypatch.chdir(tmp_path)
    (tmp_path / 'notes.txt').write_text('mine')
    assert refused(message, 'equations', DH, *options).out == ''
    assert [path.name for path in tmp_path.iterdir()] == ['notes.txt']
