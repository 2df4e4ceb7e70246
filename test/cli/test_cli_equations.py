"""`ne_dynamics equations`."""

import ast
import re
from pathlib import Path

import pytest
from short_arm import short_arm

import ne_dynamics as ned
from ne_dynamics.codegen.source import LANGUAGES
from ne_dynamics.shipped import shipped_file

URDF = str(shipped_file('six_axis_arm.urdf'))
DH = str(shipped_file('puma560_standard_dh.yaml'))


@pytest.mark.parametrize('language', LANGUAGES)
def test_every_language_is_printed_with_the_robot_and_its_counts(language, call):
    code, text, _ = call('equations', DH, '--language', language)
    assert code == 0
    dynamics = ned.Dynamics(ned.load_dh(DH))
    multiplications, additions = dynamics.operation_counts()['inverse_dynamics']
    lines = text.removeprefix('# -*- coding: utf-8 -*-\n').splitlines()
    assert (lines[0] == text.splitlines()[0]) == (language == 'c')
    assert lines[0].startswith('//' if language == 'c' else '#')
    assert dynamics.robot.name in lines[0]
    assert f'{multiplications} multiplications, {additions} additions' in lines[0]
    assert text == dynamics.source('inverse_dynamics', language)
    words = ('--language', language, '--function', 'gravity_torque')
    assert call('equations', DH, *words)[1] == dynamics.source('gravity_torque', language)


def test_list_shows_operation_counts(call):
    code, text, _ = call('equations', URDF, '--tip', 'tcp', '--list')
    assert code == 0
    rows = [line.split() for line in text.splitlines()[1:]]
    counts = ned.Dynamics(ned.load_urdf(URDF, tip_link='tcp')).operation_counts()
    assert {name: (int(m), int(a)) for name, m, a in rows} == counts


def test_a_tolerance_makes_rounded_quarter_turns_cost_nothing(tmp_path, call):
    path = tmp_path / 'rounded.yaml'
    text, count = re.subn(r'alpha: (-?)90\b', r'alpha: \g<1>89.99999846', Path(DH).read_text())
    assert count
    path.write_text(text)
    counts = [
        re.search(r'\d+ multiplications, \d+ additions', call('equations', *words)[1])[0]
        for words in ([DH], [path], [path, '--tolerance', '1e-7'])
    ]
    assert counts[2] == counts[0] != counts[1]


def test_all_functions_are_written_as_a_c_project(tmp_path, call):
    folder = tmp_path / 'arm'
    dynamics = ned.Dynamics(ned.load_urdf(short_arm()), backend='python')
    files = dynamics.source_files('c')
    wrote = ''.join(f'wrote {folder / name}\n' for name in files)
    for _ in range(2):
        words = ('equations', short_arm(), '--all', '--language', 'c', '-o', folder)
        assert call(*words) == (0, wrote, '')
        assert {path.name: path.read_text() for path in folder.iterdir()} == files
    names = ('.h', '.c', '_test.c')
    assert set(files) == {'CMakeLists.txt', *(f'six_axis_arm_dynamics{name}' for name in names)}
    for function in dynamics.operation_counts():
        assert f'void six_axis_arm_{function}(' in files['six_axis_arm_dynamics.h']


def test_functions_that_a_robot_lacks_are_said(tmp_path, call):
    path = tmp_path / 'bare.urdf'
    path.write_text(
        '<robot name="bare"><link name="base"/><link name="hand"/><joint name="turn" '
        'type="continuous"><parent link="base"/><child link="hand"/></joint></robot>'
    )
    for options in (['--list'], ['--all', '-o', tmp_path / 'out']):
        code, text, _ = call('equations', path, *options)
        assert code == 0
        said = [line for line in text.splitlines() if 'left out' in line]
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
def test_all_functions_are_written_as_one_module(language, tmp_path, call):
    words = ['--all', '--language', language, '-o', tmp_path, '--prefix', 'my_arm']
    assert call('equations', short_arm(), *words)[0] == 0
    (path,) = tmp_path.iterdir()
    assert path.name == 'my_arm_dynamics.py'
    functions = [node.name for node in ast.parse(path.read_text()).body if hasattr(node, 'args')]
    names = list(ned.Dynamics(ned.load_urdf(short_arm())).operation_counts())
    assert [name for name in functions if name not in ('sign', 'rint', 'clamp')] == names


@pytest.mark.parametrize(
    ('arguments', 'message'),
    [
        ([DH, '--function', 'inverse_dynamic'], "got 'inverse_dynamic'"),
        ([URDF, '--tip', 'nose'], 'nose'),
        (['missing.urdf'], 'missing.urdf'),
        ([DH, '--all', '-o', 'new', '--function', 'jacobian'], 'expected no --function beside it'),
        ([DH, '--all', '-o', 'new', '--list'], 'expected no --list beside it'),
        ([DH, '-o', 'new'], '-o: expected --all beside it'),
        ([DH, '--prefix', 'arm'], '--prefix: expected --all beside it'),
        ([DH, '--all', '-o', 'new', '--prefix', 'Arm 1'], "got 'Arm 1'"),
        ([DH, '--all', '-o', '.'], "an empty folder or an earlier export, but 'notes.txt'"),
    ],
)
def test_what_cannot_be_is_a_message(arguments, message, tmp_path, monkeypatch, refused):
    monkeypatch.chdir(tmp_path)
    (tmp_path / 'notes.txt').write_text('mine')
    assert refused(message, 'equations', *arguments) == ''
    assert [path.name for path in tmp_path.iterdir()] == ['notes.txt']
