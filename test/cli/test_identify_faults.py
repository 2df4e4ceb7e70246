"""``ne_dynamics identify`` and ``evaluate`` with logs and names that are wrong."""

import contextlib
import io
import json
import re
from dataclasses import replace

import numpy as np
import pytest
from long_logs import write_csv
from planted_faults import PLANTED_FAULTS, simulate_log
from short_arm import short_arm

import ne_dynamics as ned
from ne_dynamics.cli import main as cli

ARM = short_arm()
PLANTED = {planted.name: planted for planted in PLANTED_FAULTS}
FINGER = """
  <link name="finger"><inertial><mass value="0.05"/>
    <inertia ixx="1e-4" ixy="0" ixz="0" iyy="1e-4" iyz="0" izz="1e-4"/></inertial></link>
  <joint name="finger_joint" type="prismatic"><parent link="forearm"/><child link="finger"/>
    <axis xyz="0 1 0"/><limit lower="0.01" upper="0.04" effort="10" velocity="1"/></joint>
</robot>"""


@pytest.fixture(scope='module')
def log():
    """Return the log of an arm near the shipped one, stamps from zero on."""
    recorded = simulate_log(ned.load_urdf(ARM), 7, duration=20.0)
    return replace(recorded, times=recorded.times - recorded.times[0])


@pytest.fixture(scope='module')
def folder(tmp_path_factory, log):
    """Return a folder with the log as it is, and with one effort of the wrong sign."""
    result = tmp_path_factory.mktemp('logs')
    write_csv(result / 'right.csv', log)
    write_csv(result / 'wrong.csv', PLANTED['effort sign'].plant(log, 1))
    return result


def evaluate(*arguments):
    """Return what the given model leaves of the efforts of a log without faults."""
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        assert cli.main(['evaluate', '--model', str(ARM), '--json', *map(str, arguments)]) == 0
    document = json.loads(printed.getvalue())
    assert document['diagnosis']['faults'] == []
    return [joint['rms_difference'] for joint in document['joints']]


@pytest.fixture(scope='module')
def of_right_log(folder):
    """Return what the given model leaves of the right log."""
    return evaluate(folder / 'right.csv')


def identify(*arguments, model=ARM):
    """Run `identify` as the command line does, without the search for a prior scale."""
    return cli.main(['identify', '--model', str(model), '--spread', '0.5', *map(str, arguments)])


def test_wrong_log_writes_nothing_and_says_what_to_do(folder, tmp_path, capsys):
    output = tmp_path / 'out.urdf'
    assert identify(folder / 'wrong.csv', '-o', output) == 1
    captured = capsys.readouterr()
    assert 'joint joint_2  wrong-sign' in captured.out
    assert '--sign joint_2' in captured.out
    assert '--repair' in captured.err
    assert not output.exists()


def test_repair_is_what_the_right_log_gives(folder, tmp_path, capsys):
    """With --repair, or the remedy by hand, the model is that of the right log."""
    for name, options in (
        ('right.csv', []),
        ('wrong.csv', ['--repair']),
        ('wrong.csv', ['--sign', 'joint_2']),
    ):
        output = tmp_path / f'{len(list(tmp_path.glob("*.urdf")))}.urdf'
        assert identify(folder / name, '-o', output, *options) == 0
        text = capsys.readouterr().out
        assert ('repaired: wrong-sign' in text) == ('--repair' in options)
    for pattern in ('*.urdf', '*.extras.yaml'):
        files = [path.read_text(encoding='utf-8') for path in sorted(tmp_path.glob(pattern))]
        assert files[0] == files[1] == files[2] != ARM.read_text(encoding='utf-8')


@pytest.mark.kept(1)
@pytest.mark.parametrize('code', ['clock-set-back', 'zero-jumps', 'effort-offset'])
def test_what_cuts_a_log_or_lifts_its_efforts_writes_nothing(log, tmp_path, capsys, code):
    """Cause, joint and remedy are said; only a constant in an effort is taken out by --repair."""
    times, position, effort = log.times.copy(), log.position.copy(), log.effort.copy()
    late = times > 11.0
    if code == 'clock-set-back':
        times[late] -= 8.0
    elif code == 'zero-jumps':
        position[late, 1] += 0.3
    else:
        effort[:, 1:] += 20.0
    path = write_csv(
        tmp_path / 'log.csv', replace(log, times=times, position=position, effort=effort)
    )
    output = tmp_path / 'out.urdf'
    assert identify(path, '-o', output) == 1
    captured = capsys.readouterr()
    assert code in captured.out
    assert ('joint_2' in captured.out) == (code != 'clock-set-back')
    assert ('--repair' in captured.out) == (code == 'effort-offset')
    assert not output.exists()


@pytest.mark.kept(1)
@pytest.mark.parametrize(
    ('name', 'options'),
    [
        ('degrees', ['--degrees']),
        ('milliseconds', ['--time-unit', 'ms']),
        ('wrapped', ['--unwrap']),
        ('zero + 90 deg', ['--zero', 'joint_2=-1.5707963267948966']),
        ('position sign', ['--position-sign', 'joint_2']),
        ('effort x 3', ['--scale', 'joint_2=0.3333333333333333']),
        ('late 50 ms', ['--delay', 'all=0.05']),
    ],
)
def test_changes_by_hand(of_right_log, log, tmp_path, name, options):
    path = write_csv(tmp_path / 'log.csv', PLANTED[name].plant(log, 1))
    found = evaluate(path, *options)
    np.testing.assert_allclose(found, of_right_log, rtol=0.02)


@pytest.mark.parametrize(
    ('options', 'message'),
    [
        (['--sign', 'none'], "--sign: expected a joint of the model, joint_1, .* got 'none'"),
        (['--delay', 'all=20'], '--delay: expected less than half of the log'),
        (['--rename', 'none=joint_1'], 'rename none=joint_1: expected a joint of the log'),
    ],
)
def test_changes_that_do_not_fit(folder, capsys, options, message):
    assert identify(folder / 'right.csv', *options) == 1
    assert re.search(message, capsys.readouterr().err)


def test_other_names_are_listed_and_renamed(log, tmp_path, capsys):
    names = tuple(f'left_{name}' for name in log.joint_names)
    path = write_csv(tmp_path / 'log.csv', replace(log, joint_names=names))
    assert identify(path) == 1
    error = capsys.readouterr().err
    assert 'the log has the joints left_joint_1' in error
    assert "--rename 'left_*=*'" in error
    evaluate(path, '--rename', 'left_*=*')


@pytest.mark.kept(1)
@pytest.mark.parametrize('is_recorded', [False, True])
def test_gripper_that_does_not_move_is_locked(log, tmp_path, capsys, is_recorded):
    """A finger that the log lacks, or that stands in it, is locked, and that is said."""
    model = tmp_path / 'arm.urdf'
    text = ARM.read_text(encoding='utf-8')
    model.write_text(text.replace('</robot>', FINGER), encoding='utf-8')
    if is_recorded:
        more = np.full((log.times.size, 1), 0.02)
        log = replace(
            log,
            position=np.hstack([log.position, more]),
            effort=np.hstack([log.effort, more]),
            velocity=None,
            joint_names=(*log.joint_names, 'finger_joint'),
        )
    path = write_csv(tmp_path / 'log.csv', log)
    output = tmp_path / 'out.urdf'
    assert identify(path, '-o', output, model=model) == 0
    place = '0.02' if is_recorded else '0.01'
    assert f'the log does not move them: finger_joint at {place}' in capsys.readouterr().out
    assert 'finger_joint' in output.read_text(encoding='utf-8')
