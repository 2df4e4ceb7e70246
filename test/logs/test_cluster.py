"""The work on a real Dask scheduler with two worker processes."""

from __future__ import annotations

import json
import os
import signal
import socket
import time

import numpy as np
import pytest

pytest.importorskip('distributed', reason='distributed is missing')

import distributed
from long_logs import cut_short, swinging_log, write_csv
from short_arm import short_arm

import ne_dynamics as ned
from ne_dynamics.cli import main as cli
from ne_dynamics.errors import InputError
from ne_dynamics.identification.run import identify
from ne_dynamics.logs import cluster
from ne_dynamics.logs.cluster import ClusterRunner
from ne_dynamics.logs.recording import Recording

ARM = short_arm()
OPTIONS = {'spread': 0.5, 'cutoff_frequency': 3.9}


@pytest.fixture(scope='module')
def given():
    """Return the first joints of the shipped arm."""
    return ned.load_urdf(short_arm())


@pytest.fixture(scope='module')
def workers():
    """Return a scheduler with two worker processes."""
    with distributed.LocalCluster(
        n_workers=2,
        threads_per_worker=1,
        processes=True,
        host='127.0.0.1',
        dashboard_address=None,
        silence_logs='CRITICAL',
    ) as found:
        yield found


@pytest.fixture(scope='module')
def log_file(given, tmp_path_factory):
    """Return the log of an arm, 80 s at 100 Hz."""
    return write_csv(tmp_path_factory.mktemp('long') / 'log.csv', swinging_log(given, 80.0))


def test_the_command_on_a_cluster_says_what_it_says_here(workers, log_file, capsys, monkeypatch):
    """`identify --json --scheduler` prints what it prints without, figure by figure."""
    cut_short(monkeypatch)
    arguments = ['identify', '--model', str(ARM), str(log_file), '--json']
    documents = []
    for more in ([], ['--scheduler', workers.scheduler_address]):
        assert cli.main([*arguments, '--spread', '0.5', *more]) == 0
        documents.append(json.loads(capsys.readouterr().out))
    assert documents[0] == documents[1]
    assert documents[0]['fitted_samples'] > 100


def test_a_worker_that_is_killed_changes_nothing(workers, given, log_file, monkeypatch):
    """What a killed worker had kept is computed anew by the other one."""
    cut_short(monkeypatch)
    recording = Recording.of_file(str(log_file), given.joint_names, given.joint_names)
    here = identify(given, recording, **OPTIONS)
    killed = []

    def kill_one(name, results, total):
        for number, result in enumerate(results):
            if name == 'residuals' and number == 1 and not killed:
                killed.append(os.kill(victim, signal.SIGKILL))
            yield result

    with ClusterRunner(workers.scheduler_address, kill_one) as runner:
        victim = next(iter(runner._client.run(os.getpid).values()))
        there = identify(given, recording, runner=runner, **OPTIONS)
    assert killed
    for one, other in zip(here.robot.bodies, there.robot.bodies, strict=True):
        assert np.array_equal(one.inertia.parameters, other.inertia.parameters)


def test_a_file_that_workers_do_not_have(workers, given, log_file, tmp_path, monkeypatch):
    """A worker that cannot open a log says where it is and what it needs."""
    cut_short(monkeypatch)
    path = tmp_path / 'log.csv'
    path.write_bytes(log_file.read_bytes())
    recording = Recording.of_file(str(path), given.joint_names, given.joint_names)
    assert recording.looks
    path.unlink()
    with (
        ClusterRunner(workers.scheduler_address) as runner,
        pytest.raises(InputError, match=r'cannot read the log .*on the worker tcp://.*same paths'),
    ):
        identify(given, recording, runner=runner, **OPTIONS)


def test_a_worker_of_another_version_is_refused(workers, monkeypatch):
    """Versions have to be the same, and both are named."""
    monkeypatch.setattr('ne_dynamics.__version__', '9.9.9')
    with pytest.raises(InputError, match=r'expected ne_dynamics 9\.9\.9 on the worker tcp.*got 0'):
        ClusterRunner(workers.scheduler_address)


@pytest.mark.parametrize('kind', ['nobody', 'silent', 'no address'])
def test_a_scheduler_that_does_not_answer(kind, log_file, capsys, monkeypatch):
    """A bad or silent address ends with one line, and soon."""
    monkeypatch.setattr(cluster, 'PATIENCE', 1.0)
    with socket.socket() as listener:
        listener.bind(('127.0.0.1', 0))
        if kind == 'silent':
            listener.listen()
        port = listener.getsockname()[1]
        address = 'tcp://nowhere.invalid:x' if kind == 'no address' else f'tcp://127.0.0.1:{port}'
        start = time.monotonic()
        arguments = ['identify', '--model', str(ARM), str(log_file), '--scheduler', address]
        assert cli.main(arguments) == 1
        assert time.monotonic() - start < 60.0
    error = capsys.readouterr().err
    assert f'--scheduler {address}: expected a Dask scheduler that answers' in error
