"""``ne_dynamics identify --payload`` and ``--drive-gains``: what hung on the flange, from logs."""

import json

import numpy as np
import pytest
from loaded_motion import LOAD, alter, record
from long_logs import write_csv
from planted_faults import PLANTED_FAULTS
from short_arm import short_arm

import ne_dynamics as ned
from ne_dynamics.logs.log import Log
from ne_dynamics.model.rigid_body import Inertia
from ne_dynamics.shipped import shipped_file

ARM = str(shipped_file('six_axis_arm.urdf'))
SIX = ('--model', ARM, '--tip-link', 'tcp')
THREE = ('--model', str(short_arm()))
PLANTED = {planted.name: planted for planted in PLANTED_FAULTS}
TORQUE_PER_CURRENT = np.array([14.0, 11.0, 8.0])
MASS, COM = 2.0, np.array([0.05, -0.03, 0.08])


def write_log(path, *, rate=100.0, speed=0.35, mass=MASS, change=lambda tau: tau):
    """Write the log of the arm with the load, which moves all joints slowly; return its path."""
    robot = ned.load_urdf(ARM, tip_link='tcp')
    loaded = robot.with_payload(Inertia(mass, COM, np.zeros((3, 3))))
    times = np.arange(0.0, 20.0, 1.0 / rate)
    rates = speed * (1.0 + 0.1 * np.arange(6))
    phase = times[:, None] * rates + np.arange(6)
    position = np.sin(phase)
    effort = ned.Dynamics(loaded, backend='python').inverse_dynamics(
        position, rates * np.cos(phase), -rates * rates * position
    )
    noise = 0.1 * np.random.default_rng(0).standard_normal(effort.shape)
    columns = [times, *position.T, *change(effort + noise).T]
    names = [f'{joint}.{key}' for key in ('position', 'effort') for joint in robot.joint_names]
    header = ','.join(['time', *names])
    np.savetxt(path, np.transpose(columns), delimiter=',', header=header, comments='')
    return path


@pytest.mark.kept(1)
@pytest.mark.parametrize('rate', [20.0, 500.0])
def test_the_load_of_a_log(rate, tmp_path, ask):
    document = ask('identify', '--payload', *SIX, write_log(tmp_path / 'log.csv', rate=rate))
    assert document['model'] == ARM
    load = document['payload']
    assert (load['link'], load['source']) == ('tcp', 'measured efforts')
    assert load['mass'] == pytest.approx(MASS, abs=0.03)
    assert abs(load['mass'] - MASS) <= 2.5 * load['mass_deviation']
    np.testing.assert_allclose(load['center_of_mass'], COM, atol=0.01)
    assert [path.name for path in tmp_path.iterdir()] == ['log.csv']


@pytest.mark.kept(2)
@pytest.mark.parametrize(
    ('options', 'log', 'message'),
    [
        (('--spread', '0.2'), {'speed': 2.0}, 'the motion does not tell the mass'),
        ((), {'rate': 5.0}, 'at least 10 samples a second, got 5'),
        ((), {'change': lambda effort: -effort}, 'the log cannot be used as it is'),
        ((), {'change': lambda effort: 1e300 + 0.0 * effort}, '2000 beyond 1e30'),
        ((), {'change': lambda effort: np.nan * effort}, 'at least 2 samples that can be used'),
        (('--payload-link', 'nowhere'), {}, 'nowhere'),
        (('-o', 'other.urdf'), {}, 'expected no --output'),
        (('--mass', '2'), {}, '--payload: expected no --mass'),
        (('--drive-gains', '--mass', '2'), {}, 'either --payload or --drive-gains, got both'),
        (('--without', 'nowhere.csv'), {}, 'nowhere.csv'),
    ],
)
def test_refusals(options, log, message, tmp_path, refused, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = write_log(tmp_path / 'log.csv', **log)
    refused(message, 'identify', '--payload', *SIX, path, *options)
    assert [path.name for path in tmp_path.iterdir()] == ['log.csv']


def test_gains_of_the_drives(tmp_path, call, ask, refused):
    log, without = (
        write_log(tmp_path / f'{speed}.csv', speed=speed, mass=mass, change=lambda tau: tau / 10.0)
        for speed, mass in ((1.5, MASS), (1.3, 0.0))
    )
    command = ['identify', '--drive-gains', *SIX, log]
    options = ['--mass', MASS, '--without', without]
    joints = ask(*command, *options)['drive_gains']['joints']
    assert [joint['joint'] for joint in joints] == [f'joint_{index}' for index in range(1, 7)]
    for joint in joints:
        assert abs(joint['gain'] - 10.0) <= 4.0 * joint['deviation']
    code, text, _ = call(*command, *options)
    assert code == 0
    assert 'effort per unit of the log' in text
    refused('--drive-gains: expected the --mass of the load', *command)
    message = '--mass: expected --payload or --drive-gains with it'
    refused(message, 'identify', ARM, log, '--mass', '2')


@pytest.fixture(scope='module')
def altered():
    """Return an arm of three joints that is not as its model."""
    return alter(ned.load_urdf(short_arm()), 1)


def test_the_log_without_the_load_is_looked_at_too(altered, tmp_path, call):
    path = write_csv(tmp_path / 'loaded.csv', record(altered.with_payload(LOAD), 11))
    wrong = PLANTED['degrees'].plant(record(altered, 12), 0)
    without = write_csv(tmp_path / 'empty.csv', wrong)
    words = ('identify', *THREE, '--payload', path, '--without', without)
    code, out, err = call(*words, '--json')
    assert code == 1
    document = json.loads(out)
    assert document['diagnosis']['faults'] == []
    (fault,) = document['diagnosis_without']['faults']
    assert fault['code'] == 'degrees'
    assert 'payload' not in document
    assert f'{without}: the log cannot be used as it is' in err


def test_exchanged_currents_are_refused(altered, tmp_path, call, ask):
    log = record(altered.with_payload(LOAD), 11)
    right = Log.from_samples(
        log.joint_names, log.times, log.position, log.effort / TORQUE_PER_CURRENT
    )
    swapped = write_csv(tmp_path / 'log.csv', PLANTED['efforts swapped'].plant(right, 1))
    command = ('identify', *THREE, '--drive-gains', '--mass', LOAD.mass)
    code, out, _ = call(*command, swapped)
    assert code == 1
    assert 'joint joint_2, joint_3  efforts-swapped' in out
    gains = [
        [joint['gain'] for joint in ask(*command, log, *repair)['drive_gains']['joints']]
        for log, repair in (
            (swapped, ['--repair']),
            (write_csv(tmp_path / 'right.csv', right), []),
        )
    ]
    np.testing.assert_allclose(gains[0], gains[1], rtol=1e-6)
