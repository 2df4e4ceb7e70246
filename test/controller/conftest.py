"""The controller of the shipped arm, compiled once."""

import pytest
from controller_arm import ZERO, N, Q, load_arm
from controller_bench import ControllerBench, Programs

from ne_dynamics.dynamics import Dynamics


@pytest.fixture(scope='session')
def dynamics():
    """Return the arm's dynamics."""
    return Dynamics(load_arm(), backend='python')


@pytest.fixture(scope='session')
def programs(shared_folder):
    """Return what compiles programs of controllers."""
    return Programs(shared_folder / 'controllers')


@pytest.fixture(scope='session')
def folder(programs):
    """Return the package of the arm."""
    return programs.write('arm_controller', load_arm())


@pytest.fixture(scope='session')
def program(programs, folder):
    """Return its program, with sanitizers."""
    return programs.compile(folder, is_sanitized=True)


@pytest.fixture
def make_bench(program):
    """Return what makes a bench, active at Q with the reference there and the model's effort."""
    benches = []

    def make(offset=0.0, **parameters):
        bench = ControllerBench(program, N, **parameters)
        benches.append(bench)
        effort = Dynamics(load_arm(), backend='python').gravity_torque(Q) + offset
        is_measured = parameters.get('state_effort') != 'ignore'
        bench.states(Q, ZERO, *([effort] if is_measured else []))
        assert bench.activate()
        return bench

    yield make
    for bench in benches:
        bench.__exit__()


@pytest.fixture
def bench(make_bench):
    """Return a bench with the defaults that follows a reference at rest."""
    bench = make_bench()
    bench.follow(Q)
    assert bench.log == []
    return bench
