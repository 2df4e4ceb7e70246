"""``ne_dynamics excite``."""

from dataclasses import replace

import pytest

pytest.importorskip('scipy', reason='scipy is missing')
pytest.importorskip('coal', reason='coal is missing')

from excitation_arm import START, make_urdf

from ne_dynamics.excitation.thresholds import SEARCH
from ne_dynamics.motion import read_trajectory
from ne_dynamics.shipped import shipped_file

PUMA = str(shipped_file('puma560_standard_dh.yaml'))
QUICK = ('--duration', '5', '--harmonics', '2', '--starts', '1', '--points-per-second', '20')


@pytest.fixture
def urdf(tmp_path):
    """Return the file of a small arm."""
    path = tmp_path / 'arm.urdf'
    path.write_text(make_urdf())
    return path


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    """Seek less."""
    few = replace(SEARCH, multiplier_steps=4, iterations=6, random_motions=2)
    monkeypatch.setattr('ne_dynamics.excitation.search.SEARCH', few)
    monkeypatch.setattr('ne_dynamics.excitation.plan.SEARCH', few)


def test_a_motion_is_written_and_reported(urdf, tmp_path, ask):
    output = tmp_path / 'motion.yaml'
    start = [f'{name}={value}' for name, value in zip(('lift', 'elbow'), START[1:3], strict=True)]
    words = ('--tip-link', 'hand', '-o', output, '--start', *start)
    document = ask('excite', '--model', urdf, *words, *QUICK)
    trajectory = read_trajectory(str(output))
    assert trajectory.joint_names == ('pan', 'lift', 'elbow', 'slide')
    assert document['points'] == len(trajectory.points) == 101
    for point in (trajectory.points[0], trajectory.points[-1]):
        assert point.positions[1:3] == list(START[1:3])
        assert list(point.velocities) == [0.0] * 4
    assert all(len(point.effort) == 4 for point in trajectory.points)
    assert 1.0 < document['condition_number'] < 1e7
    assert document['notes'][0] == 'the start is zero, for want of --start'
    assert {each['name'] for each in document['parameters']} >= {'fore.mx', 'pan.viscous_friction'}
    for each in document['nearest']:
        assert each['distance'] >= each['margin']
    assert max(document['velocity_shares'].values()) <= 0.7


def test_nothing_is_written_where_it_cannot_be(urdf, tmp_path, refused, monkeypatch):
    monkeypatch.setattr(
        'ne_dynamics.excitation.plan.plan_excitation', lambda *_, **__: pytest.fail('it began')
    )
    for path in (tmp_path / 'no' / 'motion.yaml', tmp_path):
        refused('cannot be written', 'excite', '--model', urdf, '-o', path)


@pytest.mark.parametrize(
    ('options', 'message'),
    [
        (('--start', '0', '0'), '--start: expected 4 positions, pan, lift, elbow, slide'),
        (
            ('--start', 'pin=1'),
            "--start: expected one value for a joint, got 'pin' for an unknown",
        ),
        (
            ('--start', '0', '9', '0', '0'),
            "error: --start: joint 'lift': expected between -1.2",
        ),
        (('--keep-out', '0', '0', '1', '0.3'), 'start: '),
        (('--keep-out', '0', '0', '0', '0.3'), 'a normal other than zero'),
        (('--keep-out', '1e308', '1e308', '0', '0'), 'of a length from 1e-09 to 1e+09'),
        (('--seed', '-1'), 'error: --seed: expected at least 0, got -1'),
        (('--noise-share', '1e-300'), 'error: --noise-share: expected from 1e-06 to 1'),
        (('--duration', '0.001'), 'expected room for a motion that tells all parameters apart'),
        (('--no-keep-out', '--keep-out', '0', '0', '1', '0'), 'expected no --keep-out beside'),
        (('--velocity-limit', 'pin=1'), 'error: --velocity-limit: expected a joint, one of pan'),
        (
            ('--velocity-limit', '1e-300'),
            "error: --velocity-limit: joint 'pan': expected a finite number of 1e-09",
        ),
        (('--effort-limit', '-1'), "error: --effort-limit: joint 'pan': expected a finite number"),
        (('--ignore-pair', 'fore', 'foot'), '--ignore-pair: expected a link'),
        (('--duration', '0'), 'error: --duration [s]: expected a finite number above 0'),
        (('--duration', '1', '--base-frequency', '0.5'), 'at least a period of the base'),
        (('--effort-limit', 'lift=5', '--start', '0', '0.1', '0', '0'), "joint 'lift': expected"),
        (('--lock', 'knee=0'), 'knee'),
        (('--tip-link', 'foot'), 'foot'),
    ],
)
def test_what_does_not_fit_is_one_line(urdf, tmp_path, refused, options, message):
    output = tmp_path / 'motion.yaml'
    tip = () if '--tip-link' in options else ('--tip-link', 'hand')
    refused(message, 'excite', '--model', urdf, '-o', output, *tip, *QUICK, *options)
    assert not output.exists()


def test_interrupted_it_writes_nothing(urdf, tmp_path, monkeypatch, call):
    output = tmp_path / 'motion.yaml'
    output.write_text('before')

    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr('ne_dynamics.excitation.search.Search.improve', interrupt)
    words = ('--model', urdf, '--tip-link', 'hand', '-o', output)
    assert call('excite', *words, *QUICK)[0] == 130
    assert output.read_text() == 'before'
    assert sorted(each.name for each in tmp_path.iterdir()) == ['arm.urdf', 'motion.yaml']


def test_shapes_that_are_missing_are_asked_for(tmp_path, refused):
    output = ('-o', tmp_path / 'a.yaml')
    refused('--no-self-collision plans without', 'excite', PUMA, *output)
    path = tmp_path / 'arm.urdf'
    mesh = '<mesh filename="package://arm/hand.stl"/>'
    path.write_text(make_urdf().replace('<sphere radius="0.05"/>', mesh))
    message = "link 'hand': collision: mesh: mesh 'package://arm/hand.stl': expected a file"
    refused(message, 'excite', path, *output)
    refused('--package-path', 'excite', path, *output)
    broken = tmp_path / 'arm' / 'hand.stl'
    broken.parent.mkdir()
    broken.write_text('this is no mesh')
    refused("link 'hand': mesh", 'excite', path, *output)


def test_the_model_is_never_replaced_by_the_motion(urdf, refused):
    before = urdf.read_bytes()
    message = '-o: expected another file than --model'
    refused(message, 'excite', '--model', urdf, '--tip-link', 'hand', '-o', urdf, *QUICK)
    assert urdf.read_bytes() == before
