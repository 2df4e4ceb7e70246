"""``ne_dynamics check`` prints findings by severity and says by its exit code how it stands."""

import json
import re

import pytest

import ne_dynamics as ned
from ne_dynamics.shipped import shipped_file

ARM, PUMA = shipped_file('six_axis_arm.urdf'), shipped_file('puma560_standard_dh.yaml')
NEARLY = 'angles-nearly-quarter-turns'


@pytest.fixture
def broken(tmp_path):
    """Return an arm whose upper arm weighs less than nothing, and whose joint 1 has no effort."""
    text = ARM.read_text().replace('<mass value="12.0"/>', '<mass value="-12.0"/>')
    path = tmp_path / 'broken.urdf'
    path.write_text(text.replace('effort="330"', 'effort="0"', 1))
    return path


def test_sound_model(call):
    code, out, err = call('check', ARM, '--tip', 'tcp')
    assert (code, err) == (0, '')
    assert '0 errors, 0 warnings, 0 remarks' in out
    assert 'tip tcp' in out


def test_errors_come_first_and_exit_with_one(broken, call):
    code, out, _ = call('check', broken)
    assert code == 1
    lines = out.splitlines()
    first, second = (
        next(index for index, line in enumerate(lines) if word in line)
        for word in ('mass-negative', 'effort-limit-zero')
    )
    assert lines[first].split()[:3] == ['error', 'link', "'upper_arm'"]
    assert first < second
    code, out, _ = call('check', broken, '--json', '--tip', 'tcp')
    assert code == 1
    report = json.loads(out)
    assert (report['name'], report['tip_link']) == ('six_axis_arm', 'tcp')
    assert report['joints'] == [f'joint_{index}' for index in range(1, 7)]
    found = [finding['severity'] for finding in report['findings']]
    assert report['counts']['error'] == found.count('error') > 0
    assert {
        'severity': 'error',
        'code': 'mass-negative',
        'element': "link 'upper_arm'",
        'message': 'expected a mass > 0 kg, got -12 kg',
    } in report['findings']


def test_model_that_cannot_be_loaded(tmp_path, call):
    path = tmp_path / 'bad.urdf'
    path.write_text('<robot name="x"><link name="a"/><link name="b"/></robot>')
    for options in ((), ('--json',)):
        code, out, err = call('check', path, *options)
        assert (code, err) == (1, '')
        assert 'model-not-loadable' in out
        assert 'one root' in out
    report = json.loads(out)
    assert report['name'] is None
    assert report['counts'] == {'error': 1, 'warning': 0, 'info': 0}


@pytest.fixture
def rounded(tmp_path):
    """Return the Puma with its quarter turns written as 1.5707963 rad would be."""
    path = tmp_path / 'rounded.yaml'
    path.write_text(re.sub(r'alpha: (-?)90\b', r'alpha: \g<1>89.99999846', PUMA.read_text()))
    return path


def test_tolerance_prints_what_it_changes_in_each_joint(rounded, call, ask):
    report = ask('check', rounded, '--tolerance', '1e-7')
    dynamics = ned.Dynamics(ned.load_dh(rounded), tolerance=1e-7)
    expected = dict(zip(dynamics.joint_names, dynamics.rounding_bound(), strict=True))
    assert report['rounding_bound'] == pytest.approx(expected)
    assert report['tolerance'] == 1e-7
    assert 0.0 < max(expected.values()) < 1e-3
    lines = call('check', rounded, '--tolerance', '1e-7')[1].splitlines()
    for name, bound in expected.items():
        assert any(line.split() == [name, f'{bound:.2g}', 'N', 'm'] for line in lines)
    assert 'rounding_bound' not in ask('check', rounded)


def test_a_tolerance_is_advised_where_quarter_turns_are_rounded(rounded, call):
    """A file that writes 1.5707963 is told of tolerance=1e-7, until it is given."""
    assert NEARLY in call('check', rounded)[1]
    skew = rounded.with_name('skew.yaml')
    skew.write_text(rounded.read_text().replace('89.99999846', '89.9999914'))  # by 1.5e-7 rad
    for words in ((rounded, '--tolerance', '1e-7'), (PUMA,), (skew,)):
        assert NEARLY not in call('check', *words)[1]


def test_eight_chains_of_a_tree_are_proposed(tmp_path, call):
    """The others are counted."""
    branches = ''.join(
        f'<link name="tip_{index}"/><joint name="joint_{index}" type="revolute">'
        f'<parent link="base"/><child link="tip_{index}"/>'
        '<limit lower="-1" upper="1" effort="1" velocity="1"/></joint>'
        for index in range(10)
    )
    path = tmp_path / 'tree.urdf'
    path.write_text(f'<robot name="tree"><link name="base"/>{branches}</robot>')
    text = call('check', path)[1]
    assert text.count('--tip-link tip_') == 8
    assert 'and 2 more' in text
