"""``ne_dynamics identify`` and ``evaluate`` with logs and names that are wrong."""

import re
from dataclasses import replace

import numpy as np
import pytest
from long_logs import write_csv
from planted_faults import PLANTED_FAULTS, simulate_log
from short_arm import short_arm

import ne_dynamics as ned

ARM = short_arm()
PLANTED = {planted.name: planted for planted in PLANTED_FAULTS}
QUICK = ('--spread', '0.5')
"""Without the search for a prior scale."""

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


@pytest.fixture
def write(tmp_path):
    """Return a function that writes a log and returns its file."""
    return lambda log: write_csv(tmp_path / f'{len(list(tmp_path.glob("*.csv")))}.csv', log)


def test_wrong_log_writes_nothing_and_says_what_to_do(log, write, tmp_path, call):
    output = tmp_path / 'out.urdf'
    wrong = write(PLANTED['effort sign'].plant(log, 1))
    code, out, err = call('identify', ARM, wrong, '-o', output, *QUICK)
    assert code == 1
    assert 'joint joint_2  wrong-sign' in out
    assert '--sign joint_2' in out
    assert '--repair' in err
    assert not output.exists()


def test_repair_is_what_the_right_log_gives(log, write, tmp_path, call):
    """With --repair, or the remedy by hand, the model is that of the right log."""
    right, wrong = write(log), write(PLANTED['effort sign'].plant(log, 1))
    cases = (right, []), (wrong, ['--repair']), (wrong, ['--sign', 'joint_2'])
    for number, (path, options) in enumerate(cases):
        output = tmp_path / f'{number}.urdf'
        code, text, _ = call('identify', ARM, path, '-o', output, *QUICK, *options)
        assert code == 0
        assert ('repaired: wrong-sign' in text) == ('--repair' in options)
    for pattern in ('*.urdf', '*.extras.yaml'):
        files = [path.read_text(encoding='utf-8') for path in sorted(tmp_path.glob(pattern))]
        assert files[0] == files[1] == files[2] != ARM.read_text(encoding='utf-8')


@pytest.mark.kept(1)
@pytest.mark.parametrize('code', ['clock-set-back', 'zero-jumps', 'effort-offset'])
def test_what_cuts_a_log_or_lifts_its_efforts_writes_nothing(log, write, tmp_path, call, code):
    """Cause, joint and remedy are said; only a constant in an effort is taken out by --repair."""
    times, position, effort = log.times.copy(), log.position.copy(), log.effort.copy()
    late = times > 11.0
    if code == 'clock-set-back':
        times[late] -= 8.0
    elif code == 'zero-jumps':
        position[late, 1] += 0.3
    else:
        effort[:, 1:] += 20.0
    path = write(replace(log, times=times, position=position, effort=effort))
    output = tmp_path / 'out.urdf'
    ended, out, _ = call('identify', ARM, path, '-o', output, *QUICK)
    assert ended == 1
    assert code in out
    assert ('joint_2' in out) == (code != 'clock-set-back')
    assert ('--repair' in out) == (code == 'effort-offset')
    assert not output.exists()


def evaluate(ask, path, *options):
    """Return what the given model leaves of the efforts of a log without faults."""
    document = ask('evaluate', ARM, path, *options)
    assert document['diagnosis']['faults'] == []
    return [joint['rms_difference'] for joint in document['joints']]


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
def test_changes_by_hand(log, write, ask, name, options):
    found = evaluate(ask, write(PLANTED[name].plant(log, 1)), *options)
    np.testing.assert_allclose(found, evaluate(ask, write(log)), rtol=0.02)


@pytest.mark.parametrize(
    ('options', 'message'),
    [
        (['--sign', 'none'], "--sign: expected a joint of the model, joint_1, .* got 'none'"),
        (['--delay', 'all=20'], '--delay: expected less than half of the log'),
        (['--rename', 'none=joint_1'], 'rename none=joint_1: expected a joint of the log'),
    ],
)
def test_changes_that_do_not_fit(log, write, call, options, message):
    code, _, err = call('identify', ARM, write(log), *options)
    assert code == 1
    assert re.search(message, err)


def test_other_names_are_listed_and_renamed(log, write, call, ask):
    path = write(replace(log, joint_names=tuple(f'left_{name}' for name in log.joint_names)))
    code, _, err = call('identify', ARM, path)
    assert code == 1
    assert 'the log has the joints left_joint_1' in err
    assert "--rename 'left_*=*'" in err
    evaluate(ask, path, '--rename', 'left_*=*')


@pytest.mark.kept(1)
@pytest.mark.parametrize('is_recorded', [False, True])
def test_gripper_that_does_not_move_is_locked(log, write, tmp_path, call, is_recorded):
    """A finger that the log lacks, or that stands in it, is locked, and that is said."""
    model, output = tmp_path / 'arm.urdf', tmp_path / 'out.urdf'
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
    code, text, _ = call('identify', model, write(log), '-o', output, *QUICK)
    assert code == 0
    place = '0.02' if is_recorded else '0.01'
    assert f'the log does not move them: finger_joint at {place}' in text
    assert 'finger_joint' in output.read_text(encoding='utf-8')
