"""ROS executables of the package as child processes: started, watched, ended.

Each gets its parameters by a file and prints into one, and runs in a session of its own: Ctrl-C in
the terminal reaches the parent alone, which then ends its children in order.
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from types import FrameType, TracebackType
from typing import Any

from ne_dynamics.errors import InputError, NeDynamicsError
from ne_dynamics.prepared_file import write_whole

NODE_NAME, NODE_MODULE = 'computed_torque', 'ne_dynamics.ros.node'
ROBOT_NAME, ROBOT_MODULE = 'simulated_robot', 'ne_dynamics.simulation.simulated_robot'
RELAY_MODULE = 'benchmark.relay'


QUICK_DISCOVERY = """<?xml version="1.0" encoding="UTF-8" ?>
<profiles xmlns="http://www.eprosima.com/XMLSchemas/fastRTPS_Profiles">
  <participant profile_name="quick_discovery" is_default_profile="true">
    <rtps><builtin><discovery_config>
      <leaseAnnouncement><sec>0</sec><nanosec>200000000</nanosec></leaseAnnouncement>
    </discovery_config></builtin></rtps>
  </participant>
</profiles>
"""
"""Fast DDS announces a process five times in half a second, then every 3 s: on a busy machine,
processes that miss the beginning waste seconds of every run."""

LAST_DOMAIN = 232
"""The largest domain id that has ports."""

PROFILE_VARIABLES = ('FASTRTPS_DEFAULT_PROFILES_FILE', 'FASTDDS_DEFAULT_PROFILES_FILE')
"""Older and newer name of the same; a profile that the user has set is left alone."""

START_TIMEOUT = 60.0
"""Longest time until something comes about; a first start may compile [s]."""

Parameters = Mapping[str, Any]


class ProcessError(NeDynamicsError, RuntimeError):
    """A process ended, or what was expected of it did not come about; the message says which."""


@contextlib.contextmanager
def local_discovery() -> Iterator[None]:
    """Let processes that start inside find each other soon, and contexts that are made there."""
    with tempfile.TemporaryDirectory(prefix='ne_dynamics_dds_') as folder:
        environment = {'ROS_AUTOMATIC_DISCOVERY_RANGE': 'LOCALHOST'}
        if not any(os.environ.get(name) for name in PROFILE_VARIABLES):
            profile = Path(folder) / 'quick_discovery.xml'
            write_whole(profile, QUICK_DISCOVERY)
            environment |= dict.fromkeys(PROFILE_VARIABLES, str(profile))
        before = {name: os.environ.get(name) for name in environment}
        os.environ.update(environment)
        try:
            yield
        finally:
            for name, value in before.items():
                os.environ.pop(name)
                if value is not None:
                    os.environ[name] = value


@contextlib.contextmanager
def terminated_in_order() -> Iterator[None]:
    """Let SIGTERM and SIGHUP end this process as Ctrl-C does, so that no child is left behind."""

    def interrupt(number: int, frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    previous = {number: signal.signal(number, interrupt) for number in _ending_signals()}
    try:
        yield
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)


def _ending_signals() -> tuple[signal.Signals, ...]:
    return (signal.SIGTERM, signal.SIGHUP) if hasattr(signal, 'SIGHUP') else (signal.SIGTERM,)


def domain_id(default: int = 0) -> int:
    """Return the domain that the environment names, otherwise a default one.

    Raises
    ------
    InputError
        When it names something else.
    """
    given = os.environ.get('ROS_DOMAIN_ID')
    if not given:
        return default
    if not given.isdecimal() or int(given) > LAST_DOMAIN:
        raise InputError(
            f'ROS_DOMAIN_ID: expected a whole number from 0 to {LAST_DOMAIN}, got {given!r}'
        )
    return int(given)


class RosProcess:
    """An executable that runs; see the module's docstring.

    Parameters
    ----------
    module : str
        That is run.
    log : path
        File for what it prints; its parameters are written beside it.
    domain : int
        ROS domain id.
    parameters : mapping
        By name. Empty lists are left out: they have no type.
    namespace : str
    remappings : mapping of str to str
    arguments : sequence of str
        Before those of ROS.
    log_level : str
    prefix : sequence of str
        What the command line begins with.
    environment : mapping of str to str
        Beside this process's own.
    own_session : bool
        Linux shares the processor out among sessions: False for processes that are compared.

    Attributes
    ----------
    name : str
        Of the log file.
    child : subprocess.Popen
    is_expected : bool
        Whether it is expected to be alive.
    """

    def __init__(
        self,
        module: str,
        log: Path,
        domain: int,
        parameters: Parameters | None = None,
        *,
        namespace: str = '',
        remappings: Mapping[str, str] | None = None,
        arguments: Sequence[str] = (),
        log_level: str = 'info',
        prefix: Sequence[str] = (),
        environment: Mapping[str, str] | None = None,
        own_session: bool = True,
    ) -> None:
        self.name = log.stem
        self.is_expected = True
        self._log = log
        given = []
        if parameters:
            file = log.with_suffix('.yaml')
            write_whole(file, _parameter_file(parameters))
            given = ['--params-file', str(file)]
        renamed = {**({'__ns': namespace} if namespace else {}), **(remappings or {})}
        command = [
            *(*prefix, sys.executable, '-m', module, *arguments, '--ros-args'),
            *(word for old, new in renamed.items() for word in ('-r', f'{old}:={new}')),
            *given,
            *('--log-level', log_level),
        ]
        with log.open('wb') as output:
            self.child = subprocess.Popen(
                command,
                env={**os.environ, 'ROS_DOMAIN_ID': str(domain), **(environment or {})},
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=own_session,
            )

    @property
    def output(self) -> str:
        """What it has printed so far."""
        return self._log.read_text(encoding='utf-8', errors='replace')

    def tail(self, lines: int = 25) -> str:
        """Return the last lines that it has printed."""
        return '\n'.join(self.output.splitlines()[-lines:]) or '(it printed nothing)'

    @property
    def is_alive(self) -> bool:
        """Whether it runs."""
        return self.child.poll() is None

    def check(self) -> None:
        """Raise ProcessError when it has ended by itself."""
        if self.is_expected and not self.is_alive:
            raise ProcessError(f'{self.name} ended with exit code {self.child.returncode}')

    def send(self, number: int) -> None:
        """Send a signal, if it runs."""
        self.child.send_signal(number)

    def end(self, number: int = signal.SIGINT) -> None:
        """Ask it to end by a signal, and see that it does.

        Raises
        ------
        ProcessError
            When it had ended already, or did not end in time with exit code 0 and no traceback.
        """
        self.check()
        self.send(number)
        if self.wait(START_TIMEOUT) != 0 or 'Traceback' in self.output:
            raise ProcessError(
                f'{self.name} ended with exit code {self.child.returncode} on signal {number}; '
                f'expected 0 and no traceback:\n{self.output}'
            )

    def wait(self, patience: float = 10.0) -> int:
        """Let it end, and kill it when it does not within a time [s]; return the exit code."""
        self.is_expected = False
        try:
            return self.child.wait(patience)
        except subprocess.TimeoutExpired:
            return self.kill()

    def kill(self) -> int:
        """End it without asking; return the exit code."""
        self.is_expected = False
        self.child.kill()
        return self.child.wait()


class RosProcesses:
    """Processes that belong together; a context that leaves none behind.

    A :class:`ProcessError` that leaves the context has what all of them have printed last.

    Parameters
    ----------
    domain : int
        ROS domain id.
    namespace : str

    Attributes
    ----------
    all : list of RosProcess
        In the order in which they were started.
    """

    def __init__(self, domain: int, namespace: str = '') -> None:
        self.all: list[RosProcess] = []
        self._domain = domain
        self._namespace = namespace
        self._folder = tempfile.TemporaryDirectory(prefix='ne_dynamics_processes_')

    def __enter__(self) -> RosProcesses:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        # All are asked before the first is waited for, those that answer before what they answer.
        for process in reversed(self.all):
            process.send(signal.SIGINT)
        for process in self.all:
            process.wait()
        told = self.tails()
        self._folder.cleanup()
        if isinstance(value, ProcessError):
            raise ProcessError(f'{value}\n{told}') from value

    def tails(self) -> str:
        """Return the last lines that each has printed."""
        return '\n'.join(f'--- output of {item.name}:\n{item.tail()}' for item in self.all)

    def kill(self) -> None:
        """End all without asking."""
        for process in self.all:
            process.kill()
        self._folder.cleanup()

    def start(
        self, name: str, module: str, parameters: Parameters | None = None, **options: Any
    ) -> RosProcess:
        """Start another one; the options are those of :class:`RosProcess`."""
        log = Path(self._folder.name) / f'{name}.log'
        options = {'namespace': self._namespace, **options}
        process = RosProcess(module, log, self._domain, parameters, **options)
        self.all.append(process)
        return process

    def check(self) -> None:
        """Raise ProcessError when one has ended by itself."""
        for process in self.all:
            process.check()

    def wait_until(
        self,
        condition: Callable[[], Any],
        what: str,
        turn: Callable[[], object] = lambda: time.sleep(0.002),
        patience: float = START_TIMEOUT,
    ) -> Any:
        """Wait until something is so, and return it.

        Parameters
        ----------
        condition : callable
        what : str
            For the message.
        turn : callable
            Lets a little time pass.
        patience : float
            [s]

        Raises
        ------
        ProcessError
            When it has not come about in time, or a process has ended.
        """
        deadline = time.monotonic() + patience
        while not (result := condition()):
            self.check()
            if time.monotonic() > deadline:
                raise ProcessError(f'{what}: nothing within {patience:g} s')
            turn()
        return result


def _parameter_file(parameters: Parameters) -> str:
    """Write a ROS parameter file: JSON is YAML."""
    lines = [
        f'{json.dumps(name)}: {_yaml(value)}'
        for name, value in parameters.items()
        if not (isinstance(value, (list, tuple)) and len(value) == 0)
    ]
    return '{"/**": {"ros__parameters": {\n' + ',\n'.join(lines) + '\n}}}\n'


def _yaml(value: Any) -> str:
    """Return a parameter's value as YAML: JSON, but for what is not finite."""
    if isinstance(value, (list, tuple)):
        return f'[{", ".join(map(_yaml, value))}]'
    if isinstance(value, float) and not math.isfinite(value):
        return '.nan' if math.isnan(value) else '.inf' if value > 0.0 else '-.inf'
    return json.dumps(value)
