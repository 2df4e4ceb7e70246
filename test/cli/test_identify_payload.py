"""``ne_dynamics identify --payload``: what hung on the flange, from a log."""

from __future__ import annotations

import json

import numpy as np
import pytest

import ne_dynamics as ned
from ne_dynamics.cli import main as cli
from ne_dynamics.model.rigid_body import Inertia
from ne_dynamics.shipped import shipped_file

ARM = str(shipped_file('six_axis_arm.urdf'))
MASS, COM = 2.0, np.array([0.05, -0.03, 0.08])
SECONDS = 20.0


def write_log(path, *, rate=100.0, speed=0.35, mass=MASS, change=lambda tau: tau):
    """Write the log of the arm with the load, which moves all joints slowly; return its path."""
    robot = ned.load_urdf(ARM, tip_link='tcp')
    loaded = robot.with_payload(Inertia(mass, COM, np.zeros((3, 3))))
    times = np.arange(0.0, SECONDS, 1.0 / rate)
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
    return str(path)


def ask(log, *options):
    """Run the command; return its exit code."""
    return cli.main(['identify', '--payload', '--model', ARM, log, '--tip-link', 'tcp', *options])


@pytest.mark.kept(1)
@pytest.mark.parametrize('rate', [20.0, 500.0])
def test_the_load_of_a_log(rate, tmp_path, capsys) -> None:
    log = write_log(tmp_path / 'log.csv', rate=rate)
    assert ask(log, '--json') == 0
    document = json.loads(capsys.readouterr().out)
    assert document['model'] == ARM
    load = document['payload']
    assert load['link'] == 'tcp'
    assert load['source'] == 'measured efforts'
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
def test_refusals(options, log, message, tmp_path, capsys, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    path = write_log(tmp_path / 'log.csv', **log)
    assert ask(path, *options) == 1
    assert message in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ['log.csv']


def test_gains_of_the_drives(tmp_path, capsys) -> None:
    log, without = (
        write_log(tmp_path / f'{speed}.csv', speed=speed, mass=mass, change=lambda tau: tau / 10.0)
        for speed, mass in ((1.5, MASS), (1.3, 0.0))
    )
    command = ['identify', '--drive-gains', '--model', ARM, log, '--tip-link', 'tcp']
    options = ['--mass', str(MASS), '--without', without]
    assert cli.main([*command, *options, '--json']) == 0
    joints = json.loads(capsys.readouterr().out)['drive_gains']['joints']
    assert [joint['joint'] for joint in joints] == [f'joint_{index}' for index in range(1, 7)]
    for joint in joints:
        assert abs(joint['gain'] - 10.0) <= 4.0 * joint['deviation']
    assert cli.main([*command, *options]) == 0
    assert 'effort per unit of the log' in capsys.readouterr().out
    assert cli.main(command) == 1
    assert '--drive-gains: expected the --mass of the load' in capsys.readouterr().err
    assert cli.main(['identify', '--model', ARM, log, '--mass', '2']) == 1
    assert '--mass: expected --payload or --drive-gains with it' in capsys.readouterr().err
