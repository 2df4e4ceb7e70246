"""The parts of a long log computed by processes, and by a real Dask scheduler with workers."""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
import socket
import time
from concurrent.futures import Executor
from dataclasses import replace

import numpy as np
import pytest
from long_logs import cut_short, swinging_log, write_csv
from short_arm import short_arm

import ne_dynamics as ned
from ne_dynamics.cli import main as cli
from ne_dynamics.errors import InputError
from ne_dynamics.identification.run import identify
from ne_dynamics.logs import executors
from ne_dynamics.logs.executors import open_executor
from ne_dynamics.logs.log import read_log
from ne_dynamics.logs.processes import NAME
from ne_dynamics.logs.thresholds import LOGS
from ne_dynamics.logs.work import Work

ARM = short_arm()
OPTIONS = {'spread': 0.5, 'cutoff_frequency': 3.9}


@pytest.fixture(scope='module')
def given():
    """Return the first joints of the shipped arm."""
    return ned.load_urdf(short_arm())


@pytest.fixture(scope='module')
def workers():
    """Return a scheduler with two worker processes."""
    distributed = pytest.importorskip('distributed', reason='distributed is missing')
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


def run_identify(capsys, *more):
    """Return what `identify --json` prints."""
    arguments = ['identify', '--model', str(ARM), '--json', '--spread', '0.5']
    assert cli.main([*arguments, *map(str, more)]) == 0
    return json.loads(capsys.readouterr().out)


@pytest.mark.long
def test_the_command_on_a_cluster_says_what_it_says_here(workers, log_file, capsys, monkeypatch):
    """`identify --json --scheduler` prints what it prints without, figure by figure."""
    cut_short(monkeypatch)
    here = run_identify(capsys, log_file)
    assert here['fitted_samples'] > 100
    assert run_identify(capsys, log_file, '--scheduler', workers.scheduler_address) == here


def test_the_command_in_processes_says_what_it_says_here(given, tmp_path, capsys):
    """`identify --json --jobs 2` of several short logs prints what it prints without."""
    logs = [
        write_csv(tmp_path / f'{seed}.csv', swinging_log(given, 20.0, seed=seed))
        for seed in range(3)
    ]
    assert run_identify(capsys, *logs, '--jobs', '2') == run_identify(capsys, *logs)


@pytest.mark.parametrize('number', ['0', '-1', 'x', '1000'])
def test_a_number_of_processes_that_cannot_be(number, log_file, capsys):
    with pytest.raises(SystemExit):
        cli.main(['identify', '--model', str(ARM), str(log_file), '--jobs', number])
    assert 'expected a number of processes from 1 to' in capsys.readouterr().err


def require_same(here, there):
    """Require that two identifications are the same to the last digit."""
    for one, other in zip(here.robot.bodies, there.robot.bodies, strict=True):
        assert np.array_equal(one.inertia.parameters, other.inertia.parameters)


class Deadly(Executor):
    """Kills a worker while it and others have work."""

    def __init__(self, executor):
        self._executor = executor
        self._victim = executor.submit(os.getpid).result()
        self.has_killed = False

    def submit(self, function, /, *arguments):
        future = self._executor.submit(function, *arguments)
        if function.__name__ == 'reduce_piece' and not self.has_killed:
            os.kill(self._victim, signal.SIGKILL)
            self.has_killed = True
        return future


@pytest.mark.long
@pytest.mark.parametrize('kind', ['cluster', 'processes'])
def test_a_worker_that_is_killed_changes_nothing(kind, workers, given, log_file, monkeypatch):
    """What a killed worker had to do is done by another one, or here."""
    cut_short(monkeypatch)
    log = read_log(log_file, given.joint_names)
    here = identify(given, log, **OPTIONS)
    options = {'scheduler': workers.scheduler_address} if kind == 'cluster' else {'jobs': 2}
    with open_executor(**options) as executor:
        deadly = Deadly(executor)
        there = identify(given, log, executor=deadly, **OPTIONS)
    assert deadly.has_killed
    require_same(here, there)


def test_any_process_may_be_killed_at_any_time():
    """Amid a large argument or a large result: another one is started, and nothing waits."""
    others = set(list_processes())
    with open_executor(2) as executor:
        work, killed = Work(executor), []
        arguments = [(np.full(1_000_000, float(number)),) for number in range(12)]
        for number, found in enumerate(work.map('double', np.add, arguments, 1.0)):
            assert found[0] == number + 1.0
            own = set(list_processes()) - others
            if len(killed) < 4:
                killed.append(os.kill(own.pop().pid, signal.SIGKILL))
        assert len(killed) == 4
    for child in set(list_processes()) - others:
        child.join(20.0)
        assert not child.is_alive()


def list_processes():
    """Return the processes of executors, those of a cluster not among them."""
    return [child for child in multiprocessing.active_children() if child.name == NAME]


@pytest.mark.long
def test_a_worker_of_another_version_is_refused(workers, monkeypatch):
    """Versions have to be the same, and both are named."""
    monkeypatch.setattr('ne_dynamics.__version__', '9.9.9')
    with pytest.raises(InputError, match=r'expected ne_dynamics 9\.9\.9 on the worker tcp.*got 0'):
        open_executor(scheduler=workers.scheduler_address).__enter__()


@pytest.mark.kept(1)
@pytest.mark.parametrize('kind', ['nobody', 'silent', 'no address'])
def test_a_scheduler_that_does_not_answer(kind, log_file, capsys, monkeypatch):
    """A bad or silent address ends with one line, and soon."""
    pytest.importorskip('distributed', reason='distributed is missing')
    monkeypatch.setattr(executors, 'LOGS', replace(LOGS, executor_timeout=1.0))
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
