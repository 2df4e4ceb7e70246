"""``ne_dynamics annotate --retime`` writes the same path in times that the arm can keep."""

from __future__ import annotations

import json

import numpy as np
import pytest

from ne_dynamics import load_urdf
from ne_dynamics.cli.annotate import MODEL_VARIABLE
from ne_dynamics.cli.main import main
from ne_dynamics.cli.options.files import read_trajectory
from ne_dynamics.shipped import shipped_file

ARM = str(shipped_file('six_axis_arm.urdf'))
NAMES = [f'joint_{index}' for index in (6, 1, 2, 3, 4, 5)]
TIP = '--tip-link', 'tcp'


def sent(seconds, way=1.0, fields=('velocities', 'accelerations')) -> str:
    """Return a motion of all joints from rest to rest, as JSON."""
    points = []
    for part in (0, 1):
        point = {'positions': [part * way] * 6}
        point.update({field: [0.0] * 6 for field in fields})
        whole = int(part * seconds)
        nanoseconds = round((part * seconds - whole) * 1e9)
        points.append({**point, 'time_from_start': {'sec': whole, 'nanosec': nanoseconds}})
    return json.dumps({'joint_names': NAMES, 'points': points})


def test_a_motion_that_asks_for_too_much_takes_longer(annotate, capsys) -> None:
    code, target = annotate(sent(0.25), *TIP, '--retime')
    assert code == 0
    said = capsys.readouterr().err
    assert 'in.yaml: 2 points, 0.25 s; ' in said
    points = read_trajectory(str(target)).points
    assert points[-1].time_from_start > 0.4
    assert f' points with efforts, {points[-1].time_from_start:.6g} s, straight' in said
    limits = load_urdf(ARM, tip_link='tcp').limits('effort_limit')[[5, 0, 1, 2, 3, 4]]
    assert (np.abs([point.effort for point in points]).max(axis=0) <= limits).all()
    np.testing.assert_allclose(points[-1].positions, np.ones(6), atol=1e-12)
    code, target = annotate(sent(0.25), *TIP)
    assert read_trajectory(str(target)).points[-1].time_from_start == 0.25


def test_json_says_what_was_done(annotate, capsys) -> None:
    code, target = annotate(sent(0.25, fields=()), *TIP, '--retime', '--json')
    assert code == 0
    output = capsys.readouterr()
    assert output.err == ''
    said = json.loads(output.out)
    assert said['input']['duration'] == 0.25
    points = read_trajectory(str(target)).points
    assert said['output'] == {
        'name': str(target),
        'points': len(points),
        'duration': pytest.approx(points[-1].time_from_start),
    }
    assert said['stops'] == 0
    assert 0.0 <= said['path_deviation'] < 1e-4
    assert set(said['effort_deviation']) == set(NAMES)


def test_the_fastest_motion_is_faster_than_sent(annotate, capsys) -> None:
    durations = []
    for options in ((), ('--fastest',), ('--fastest', '--effort-share', '0.6')):
        code, target = annotate(sent(3.0), *TIP, '--retime', *options)
        assert code == 0
        durations.append(read_trajectory(str(target)).points[-1].time_from_start)
    slow, fast, careful = durations
    assert slow == 3.0
    assert fast < 1.0
    assert fast < careful < slow


@pytest.mark.parametrize(
    ('options', 'message'),
    [
        (('--fastest',), '--fastest: expected with --retime, got it alone'),
        (('--effort-share', '0.5'), '--effort-share: expected with --retime, got it alone'),
        (('--retime', '--effort-share', '0'), 'effort_share: expected > 0 and <= 1, got 0'),
        (('--retime', '--payload-mass', '80'), 'holding effort of'),
    ],
)
def test_what_cannot_be_done_is_said(annotate, capsys, options, message) -> None:
    code, target = annotate(sent(3.0), *TIP, *options)
    assert code != 0
    assert message in capsys.readouterr().err
    assert not target.exists()


@pytest.mark.parametrize('options', [(), ('--retime',)], ids=['plain', 'retimed'])
def test_a_position_beyond_its_limit_between_points_is_refused(annotate, capsys, options) -> None:
    joint = next(joint for joint in load_urdf(ARM, tip_link='tcp').joints if joint.upper < 4.0)
    column = NAMES.index(joint.name)
    message = json.loads(sent(1.0, way=0.0, fields=('velocities',)))
    begin, end = message['points']
    begin['positions'][column] = joint.upper - 0.3
    end['positions'][column] = joint.upper
    begin['velocities'][column] = 2.0
    code, target = annotate(json.dumps(message), *TIP, *options)
    assert code != 0
    said = capsys.readouterr().err
    assert f'points: joint {joint.name!r}: position of ' in said
    assert f'expected at most {joint.upper:.5g} rad' in said
    assert not target.exists()


def test_json_needs_a_file(capsys, monkeypatch) -> None:
    monkeypatch.setenv(MODEL_VARIABLE, ARM)
    assert main(['annotate', '--json', 'in.yaml', '-']) != 0
    assert '--json: expected a file as OUT, got standard output' in capsys.readouterr().err
