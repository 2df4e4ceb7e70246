"""A controller that `ne_dynamics controller` wrote, compiled against stand-ins of ros2_control.

`test/controller/bench.cpp` is its program, `test/controller/interfaces` has the stand-ins.
"""

import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from built_once import build_once

from ne_dynamics.bring_up import ArmController, render_controller
from ne_dynamics.ros.settings.parameters import PARAMETERS

HERE = Path(__file__).parents[1] / 'controller'
WARNINGS = ['-Wall', '-Wextra', '-Wconversion', '-Werror']
PLAIN = [*WARNINGS, '-O1']
SANITIZED = [*WARNINGS, '-O0', '-g1', '-DSANITIZED']
SANITIZED += ['-fsanitize=address,undefined', '-fno-sanitize-recover=all']


def write_package(robot, folder, values=(), *, rate=500, sensor=''):
    """Write the package of a robot's controller into a folder; return what it was written of.

    Parameters
    ----------
    robot : Robot
        With a tip.
    folder : Path
        New; its name is the package's.
    values : mapping of str to object
        Parameters of the node.
    rate, sensor
        As `ArmController` takes them.
    """
    settings = PARAMETERS.changed({'wrench.enabled': bool(sensor)} | dict(values))
    controller = ArmController.from_settings(folder.name, robot, settings, rate, sensor)
    for path, text in render_controller(controller).items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, encoding='utf-8')
    return controller


class Programs:
    """Programs of controllers; what drives any of them is compiled once for all processes.

    Parameters
    ----------
    folder : Path
        That all processes of the session have.
    """

    def __init__(self, folder):
        self.folder = folder

    def write(self, name, robot, values=(), **options):
        """Return the folder of a package that many tests use, see :func:`write_package`."""

        def write_below(path):
            write_package(robot, path / name, values, **options)

        return build_once(self.folder / f'{name}_alone', write_below) / name

    def compile(self, folder, *, is_sanitized=False):
        """Return the program of a package's controller, compiled once; skip without a compiler."""
        if shutil.which('g++') is None:
            pytest.skip('no C++ compiler (g++) is installed')
        flags = SANITIZED if is_sanitized else PLAIN
        name = 'sanitized' if is_sanitized else 'bench'

        def compile_driver(file):
            includes = '-I', HERE / 'interfaces'
            run('g++', '-std=c++17', *flags, *includes, '-c', HERE / 'bench.cpp', '-o', file)

        def compile_program(file):
            equations = folder / 'dynamics' / f'{folder.name}_dynamics.c'
            part = file.with_suffix('.o')
            run('gcc', '-std=c99', '-Wpedantic', *flags, '-c', equations, '-o', part)
            includes = ['-I', HERE / 'interfaces', '-I', folder / 'src', '-I', folder / 'dynamics']
            driver = build_once(self.folder / f'{name}.o', compile_driver)
            sources = [*(folder / 'src').glob('*.cpp'), part, driver]
            run('g++', '-std=c++17', *flags, *includes, *sources, '-o', file)

        return build_once(folder / name, compile_program)


def run(*words):
    """Run a program that must end well and silently."""
    result = subprocess.run(list(map(str, words)), capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    assert not result.stderr, result.stderr
    return result.stdout


class ControllerBench:
    """One controller in a process of its own, driven as a controller manager does.

    Parameters
    ----------
    program : Path
        From :func:`compile_package`.
    n : int
        Joints.
    rate : int
        Of the updates [Hz].
    **parameters
        That are set before it is configured; `__` stands for a dot.
    """

    def __init__(self, program, n, rate=500, **parameters):
        self.n, self.period = n, 1.0 / rate
        self._process = subprocess.Popen(
            [program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self.set({name.replace('__', '.'): value for name, value in parameters.items()})
        self.is_configured = self.ask('configure', rate) == 'success'

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._process.stdin.close()
        code = self._process.wait()
        assert code == 0, f'the program ended with {code}'

    def ask(self, verb, *words):
        """Return the answer to a line; numbers go as they are, to the last bit."""
        texts = [float(word).hex() if not isinstance(word, str) else word for word in words]
        self._process.stdin.write(' '.join([verb, *texts]) + '\n')
        self._process.stdin.flush()
        return self._process.stdout.readline().rstrip('\n')

    def set(self, values):
        """Set parameters, by name, at once; return why they are refused, '' where they are not."""
        words = []
        for name, value in values.items():
            if isinstance(value, (bool, str)):
                words += [name, 'flag' if isinstance(value, bool) else 'word', value]
            elif np.ndim(value) == 0:
                words += [name, 'number', value]
            else:
                words += [name, 'numbers', len(value), *value]
        return self.ask('parameters', *words)

    def states(self, q, qd=None, *others):
        """Set the states: positions, velocities (0), efforts and the wrench where they are."""
        qd = np.zeros(self.n) if qd is None else qd
        self.ask('states', *np.concatenate([q, qd, *others]))

    def activate(self):
        """Return whether the controller is active, in a chain."""
        self.ask('chain', 1)
        return self.ask('activate') == 'success'

    def references(self, q, qd=None, qdd=None):
        """Set the references."""
        zero = np.zeros(self.n)
        rows = [zero if row is None else row for row in (q, qd, qdd)]
        self.ask('references', *np.concatenate(rows))

    def update(self, period=None):
        """Return whether an update went well."""
        answer = self.ask('update', self.period if period is None else period)
        return answer.startswith('ok')

    @property
    def commands(self):
        """The commands as they stand, shape (n,) [N m or N]."""
        return np.array([float.fromhex(word) for word in self.ask('commands').split()])

    @property
    def log(self):
        """What the node has said since it was last asked, as lines."""
        return self.ask('log').split('\t')[:-1]

    def follow(self, q, qd=None, qdd=None, period=None):
        """Set the references and update; return the commands."""
        self.references(q, qd, qdd)
        assert self.update(period)
        return self.commands
