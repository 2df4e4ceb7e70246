"""``ne_dynamics check`` prints findings by severity and says by its exit code how it stands."""

import json
import re
from pathlib import Path

import pytest

import ne_dynamics as ned
from ne_dynamics.cli.check import run
from ne_dynamics.cli.main import build_parser

CONFIG = Path(__file__).resolve().parents[2] / 'config'
ARM = CONFIG / 'six_axis_arm.urdf'


def call(*arguments):
    """Run the subcommand as the command line does."""
    return run(build_parser('check').parse_args(['check', *map(str, arguments)]))


@pytest.fixture
def broken(tmp_path):
    """Return an arm whose upper arm weighs less than nothing, and whose joint 1 has no effort."""
    text = ARM.read_text()
    text = text.replace('<mass value="12.0"/>', '<mass value="-12.0"/>')
    text = text.replace('effort="330"', 'effort="0"', 1)
    path = tmp_path / 'broken.urdf'
    path.write_text(text)
    return path


def test_sound_model(capsys):
    assert call(ARM, '--tip', 'tcp') == 0
    output = capsys.readouterr()
    assert '0 errors, 0 warnings, 0 remarks' in output.out
    assert 'tip tcp' in output.out
    assert output.err == ''


def test_errors_exit_with_one(broken, capsys):
    assert call(broken) == 1
    lines = capsys.readouterr().out.splitlines()
    first, second = (
        next(index for index, line in enumerate(lines) if word in line)
        for word in ('mass-negative', 'effort-limit-zero')
    )
    assert lines[first].split()[:3] == ['error', 'link', "'upper_arm'"]
    assert first < second


def test_json(broken, capsys):
    assert call(broken, '--json', '--tip', 'tcp') == 1
    report = json.loads(capsys.readouterr().out)
    assert report['name'] == 'six_axis_arm'
    assert report['tip_link'] == 'tcp'
    assert report['joints'] == [f'joint_{index}' for index in range(1, 7)]
    assert report['counts']['error'] == sum(
        finding['severity'] == 'error' for finding in report['findings']
    )
    assert {
        'severity': 'error',
        'code': 'mass-negative',
        'element': "link 'upper_arm'",
        'message': 'expected a mass > 0 kg, got -12 kg',
    } in report['findings']


@pytest.mark.parametrize('arguments', [[], ['--json']])
def test_model_that_cannot_be_loaded(arguments, tmp_path, capsys):
    path = tmp_path / 'bad.urdf'
    path.write_text('<robot name="x"><link name="a"/><link name="b"/></robot>')
    assert call(path, *arguments) == 1
    output = capsys.readouterr()
    assert 'model-not-loadable' in output.out
    assert 'one root' in output.out
    assert output.err == ''
    if arguments:
        report = json.loads(output.out)
        assert report['name'] is None
        assert report['counts'] == {'error': 1, 'warning': 0, 'info': 0}


PUMA = CONFIG / 'puma560_standard_dh.yaml'


@pytest.fixture
def rounded(tmp_path):
    """Return the Puma with its quarter turns written as 1.5707963 rad would be."""
    path = tmp_path / 'rounded.yaml'
    path.write_text(re.sub(r'alpha: (-?)90\b', r'alpha: \g<1>89.99999846', PUMA.read_text()))
    return path


def test_tolerance_prints_what_it_changes_in_each_joint(rounded, capsys):
    call(rounded, '--tolerance', '1e-7', '--json')
    report = json.loads(capsys.readouterr().out)
    dynamics = ned.Dynamics(ned.load_dh(rounded), tolerance=1e-7)
    expected = dict(zip(dynamics.joint_names, dynamics.rounding_bound(), strict=True))
    assert report['rounding_bound'] == pytest.approx(expected)
    assert report['tolerance'] == 1e-7
    assert 0.0 < max(expected.values()) < 1e-3
    call(rounded, '--tolerance', '1e-7')
    lines = capsys.readouterr().out.splitlines()
    for name, bound in expected.items():
        assert any(line.split() == [name, f'{bound:.2g}', 'N', 'm'] for line in lines)
    call(rounded, '--json')
    assert 'rounding_bound' not in json.loads(capsys.readouterr().out)


def test_a_tolerance_is_advised_where_quarter_turns_are_rounded(rounded, capsys):
    """A file that writes 1.5707963 is told of tolerance=1e-7, until it is given."""
    call(rounded)
    assert 'angles-nearly-quarter-turns' in capsys.readouterr().out
    skew = rounded.with_name('skew.yaml')
    skew.write_text(rounded.read_text().replace('89.99999846', '89.9999914'))  # by 1.5e-7 rad
    for arguments in ((rounded, '--tolerance', '1e-7'), (PUMA,), (skew,)):
        call(*arguments)
        assert 'angles-nearly-quarter-turns' not in capsys.readouterr().out


def test_eight_chains_of_a_tree_are_proposed(tmp_path, capsys):
    """The others are counted."""
    branches = ''.join(
        f'<link name="tip_{index}"/><joint name="joint_{index}" type="revolute">'
        f'<parent link="base"/><child link="tip_{index}"/>'
        '<limit lower="-1" upper="1" effort="1" velocity="1"/></joint>'
        for index in range(10)
    )
    path = tmp_path / 'tree.urdf'
    path.write_text(f'<robot name="tree"><link name="base"/>{branches}</robot>')
    call(path)
    text = capsys.readouterr().out
    assert text.count('--tip-link tip_') == 8
    assert 'and 2 more' in text
