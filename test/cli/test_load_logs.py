"""``identify --payload`` and ``--drive-gains`` with logs that are wrong."""

import json
from dataclasses import replace

import numpy as np
import pytest
from loaded_motion import LOAD, alter, record
from long_logs import write_csv
from planted_faults import PLANTED_FAULTS
from short_arm import short_arm

import ne_dynamics as ned
from ne_dynamics.cli import main as cli
from ne_dynamics.shipped import shipped_file

ARM = str(shipped_file('six_axis_arm.urdf'))
THREE = ('--model', str(short_arm()))
PLANTED = {planted.name: planted for planted in PLANTED_FAULTS}
TORQUE_PER_CURRENT = np.array([14.0, 11.0, 8.0, 3.0, 1.5, 0.7])
JOINT = 1


@pytest.fixture(scope='module')
def robot():
    """Return the shipped arm."""
    return ned.load_urdf(ARM, tip_link='tcp')


@pytest.fixture(scope='module')
def loaded(robot):
    """Return the log of an arm that is not as its model, with the load."""
    return record(alter(robot, 1).with_payload(LOAD), 11)


@pytest.fixture(scope='module')
def short():
    """Return its first three joints."""
    return ned.load_urdf(short_arm())


def as_currents(log):
    """Return a log of motor currents, of another factor in each joint."""
    return replace(log, effort=log.effort / TORQUE_PER_CURRENT[: len(log.joint_names)])


def ask(*options):
    """Run the command; return its exit code."""
    return cli.main(['identify', *map(str, options)])


def test_the_log_without_the_load_is_looked_at_too(short, tmp_path, capsys):
    loaded = record(alter(short, 1).with_payload(LOAD), 11)
    path = write_csv(tmp_path / 'loaded.csv', loaded)
    empty = record(alter(short, 1), 12)
    without = write_csv(tmp_path / 'empty.csv', PLANTED['degrees'].plant(empty, 0))
    assert ask(*THREE, '--payload', path, '--without', without, '--json') == 1
    captured = capsys.readouterr()
    document = json.loads(captured.out)
    assert document['diagnosis']['faults'] == []
    (fault,) = document['diagnosis_without']['faults']
    assert fault['code'] == 'degrees'
    assert 'payload' not in document
    assert f'{without}: the log cannot be used as it is' in captured.err


def test_exchanged_currents_are_refused(short, tmp_path, capsys):
    currents = as_currents(record(alter(short, 1).with_payload(LOAD), 11))
    path = write_csv(tmp_path / 'log.csv', PLANTED['efforts swapped'].plant(currents, JOINT))
    command = (*THREE, '--drive-gains', '--mass', str(LOAD.mass))
    assert ask(*command, path, '--json') == 1
    (fault,) = json.loads(capsys.readouterr().out)['diagnosis']['faults']
    assert (fault['code'], fault['joints']) == ('efforts-swapped', ['joint_2', 'joint_3'])
    right = write_csv(tmp_path / 'right.csv', currents)
    gains = []
    for log, repair in ((path, ['--repair']), (right, [])):
        assert ask(*command, log, '--json', *repair) == 0
        joints = json.loads(capsys.readouterr().out)['drive_gains']['joints']
        gains.append([joint['gain'] for joint in joints])
    np.testing.assert_allclose(gains[0], gains[1], rtol=1e-6)
