"""Identification of real robots from their logs, where these are there."""

from __future__ import annotations

import json

import numpy as np
import pytest
from example_robots import example_robots_folder
from recorded_robots import LOGS, load_ur10e, panda_bag, read_panda_urdf, read_ur10e

import ne_dynamics as ned
from ne_dynamics.cli import main as cli
from ne_dynamics.identification.evaluation import model_effort
from ne_dynamics.identification.regression.pseudo_inertia import is_body, pseudo_inertia
from ne_dynamics.identification.run import identify
from ne_dynamics.logs.log import Log, read_log
from ne_dynamics.logs.signals import filtered


@pytest.fixture(scope='module')
def panda(tmp_path_factory):
    """Return the URDF of a Panda with the names of the log's joints."""
    panda_bag()
    path = tmp_path_factory.mktemp('panda') / 'panda.urdf'
    path.write_text(read_panda_urdf(), encoding='utf-8')
    return path


@pytest.fixture(scope='module')
def ur10_logs():
    """Return a UR10, whose geometry is nearly that of the UR10e, and two logs of the latter."""
    source = example_robots_folder() / 'ur_description/urdf/ur10_robot.urdf'
    robot = ned.load_urdf(source, tip_link='wrist_3_link')
    return robot, [read_ur10e(robot, name) for name in list(LOGS)[:2]]


@pytest.mark.kept(1)
@pytest.mark.parametrize('spread', ['4', '20'])
def test_a_fit_with_much_freedom_converges(panda, spread, tmp_path, capsys):
    """However free the inertias are, the fit is at its minimum, and heavy links are named."""
    output = tmp_path / 'identified.urdf'
    arguments = ['identify', '--model', str(panda), str(panda_bag()), '--tip-link', 'panda_link8']
    code = cli.main([*arguments, '--spread', spread, '-o', str(output), '--json'])
    document = json.loads(capsys.readouterr().out)
    assert code == 0
    assert 0.0 <= document['optimality_gap'] <= 1e-6
    for joint in document['joints']:
        assert joint['rms_difference_after'] < 0.6
    robot = ned.load_urdf(output, tip_link='panda_link8')
    for body in robot.bodies:
        assert is_body(pseudo_inertia(body.inertia.parameters)), body.name
    named = {item['element'] for item in document['findings'] if 'mass' in item['code']}
    for body in document['bodies']:
        if not 1.0 / 3.0 < body['after']['mass'] / body['before']['mass'] < 3.0:
            assert f'link {body["link"]!r}' in named


def test_panda_log_is_put_on_the_clock_of_its_source(panda):
    """The log repeats 14 of its samples of 34 ms under stamps of 33.3 ms; the motion is 2 Hz."""
    robot = ned.load_urdf(panda, tip_link='panda_link8')
    signals = filtered(read_log(panda_bag(), robot.joint_names), robot.limits('effort_limit'))
    assert signals.repeated == 14
    assert 1.0 / signals.rate == pytest.approx(0.034, abs=5e-5)
    assert 1.5 < signals.cutoff_frequency < 3.0


@pytest.mark.long
def test_panda_is_predicted_by_the_default(panda):
    """Each fifth of the log is predicted by the default fit to the others, below 2 Hz."""
    robot = ned.load_urdf(panda, tip_link='panda_link8')
    log = read_log(panda_bag(), robot.joint_names)
    signals = filtered(log, robot.limits('effort_limit'), 2.0)
    block = np.arange(log.times.size) * 5 // log.times.size
    starts = [log.times[block == index][0] for index in range(5)]
    judged = np.searchsorted(starts, signals.times, side='right') - 1
    left = []
    for index in range(5):
        outside = block != index
        part = Log.from_samples(
            log.joint_names, log.times[outside], log.position[outside], log.effort[outside]
        )
        dynamics = ned.Dynamics(identify(robot, part).robot, backend='python')
        rest = model_effort(dynamics, signals) - signals.effort
        left.append(rest[judged == index])
    found = np.sqrt((np.concatenate(left) ** 2).mean(axis=0))
    # Least squares over base parameters, of the same samples: .225 .135 .154 .154 .163 .110 .060.
    assert (found < (0.22, 0.125, 0.15, 0.15, 0.09, 0.08, 0.055)).all(), found


@pytest.mark.long
@pytest.mark.parametrize(
    ('fitted', 'most'),
    [
        (0, (2.09, 3.62, 1.0, 0.156, 0.215, 0.16)),
        (1, (1.94, 3.48, 1.06, 0.135, 0.2, 0.134)),
    ],
)
def test_ur10e_keeps_its_masses_and_predicts_another_motion(ur10_logs, fitted, most):
    """With rotors fitted no link is heavier than 30 kg, and another motion is predicted."""
    robot, logs = ur10_logs
    result = identify(robot, logs[fitted])
    masses = [body.after.mass for body in result.report.bodies]
    assert max(masses) < 30.0
    assert result.robot.joints[1].reflected_inertia > 1.0
    signals = filtered(logs[1 - fitted], robot.limits('effort_limit'), 3.0)
    left = model_effort(ned.Dynamics(result.robot, backend='python'), signals) - signals.effort
    # Least squares over base parameters, viscous and Coulomb friction, offset and rotor inertia
    # leave as much, within 3 %.
    for index, limit in enumerate(most):
        assert np.sqrt((left[signals.usable[:, index], index] ** 2).mean()) < limit


def test_the_wrist_of_a_ur10e_with_a_load_that_its_model_lacks(tmp_path):
    """Fitted to half of the log, the wrist bears the load, and the other half is predicted."""
    robot = load_ur10e(tmp_path)
    log = read_ur10e(robot, 'ur-20_02_19_14harm50secLoad.csv')
    seconds = log.times - log.times[0]
    fitted = (seconds >= 2.0) & (seconds <= 26.0)
    part = Log.from_samples(
        log.joint_names, log.times[fitted], log.position[fitted], log.effort[fitted]
    )
    result = identify(robot, part)
    masses = [body.after.mass / body.before.mass for body in result.report.bodies]
    assert max(masses[:-1]) < 2.0 < masses[-1]
    signals = filtered(log, robot.limits('effort_limit'), 3.0)
    left = model_effort(ned.Dynamics(result.robot, backend='python'), signals) - signals.effort
    # At its end the arm stands still.
    later = (signals.times - log.times[0] > 27.0) & (signals.times - log.times[0] < 51.0)
    # Least squares of the same samples leave 3.57 4.83 2.48 0.47 0.28 0.23 of these; with all
    # links doubted alike 0.37 0.40 0.44 are left of the wrist.
    for index, limit in enumerate((1.7, 1.75, 0.8, 0.3, 0.25, 0.225)):
        rest = left[later & signals.usable[:, index], index]
        assert np.sqrt((rest**2).mean()) < limit
