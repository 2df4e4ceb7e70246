"""A launch file that runs in a process of its own, as `ros2 launch` runs it.

Its arguments go through `ros2 launch`'s own parser, or, where that is not installed, by its rules:
no argument is without a value.
"""

import os
import signal
import subprocess
import sys
import time

import yaml

RUN = """
import sys
from launch import LaunchDescription, LaunchService
from launch.actions import IncludeLaunchDescription
from launch.launch_description_sources import PythonLaunchDescriptionSource

try:
    from ros2launch.api.api import parse_launch_arguments
except ImportError:
    def parse_launch_arguments(arguments):
        pairs = [argument.partition(':=') for argument in arguments]
        for name, separator, value in pairs:
            if not (name and separator and value):
                raise RuntimeError(f'malformed launch argument: {name}{separator}{value}')
        return [(name, value) for name, _, value in pairs]

path, *arguments = sys.argv[1:]
service = LaunchService()
service.include_launch_description(LaunchDescription([IncludeLaunchDescription(
    PythonLaunchDescriptionSource(path),
    launch_arguments=parse_launch_arguments(arguments),
)]))
sys.exit(service.run())
"""


class LaunchProcess:
    """A running launch file; leaving the context ends it with Ctrl-C.

    Attributes
    ----------
    output : str
        What it printed, once it has ended.
    returncode : int
        Its exit code, then.
    """

    def __init__(self, path, arguments, environment):
        self._command = [sys.executable, '-c', RUN, str(path), *arguments]
        self._environment = environment
        self.output = ''
        self.returncode = None

    def __enter__(self):
        """Start it."""
        self._process = subprocess.Popen(
            self._command,
            env=self._environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        return self

    def __exit__(self, *_):
        """Interrupt it, if it still runs, and read what it printed."""
        if self._process.poll() is None:
            os.killpg(self._process.pid, signal.SIGINT)
        try:
            self.output, _ = self._process.communicate(timeout=30)
        except subprocess.TimeoutExpired:
            os.killpg(self._process.pid, signal.SIGKILL)
            self.output, _ = self._process.communicate()
        self.returncode = self._process.returncode

    @property
    def is_running(self):
        """Whether it has not ended by itself."""
        return self._process.poll() is None

    def wait_until(self, condition, timeout=60.0):
        """Wait until a condition holds, the launch has ended, or time is up; return the first."""
        deadline = time.monotonic() + timeout
        while self.is_running and time.monotonic() < deadline:
            if condition():
                return True
            time.sleep(0.05)
        return bool(condition())


def refusal(path, environment, *arguments, starts=False):
    """Return what a launch file printed that ended by itself; no process began unless `starts`."""
    with LaunchProcess(path, arguments, environment) as process:
        assert process.wait_until(lambda: not process.is_running)
    assert 'Traceback' not in process.output, process.output
    if not starts:
        assert 'process started' not in process.output, process.output
        assert process.returncode == 1, process.output
    return process.output


def write_parameters(path, values, node='/**'):
    """Write a parameter file; return its argument."""
    path.write_text(yaml.safe_dump({node: {'ros__parameters': values}}))
    return f'params_file:={path}'
