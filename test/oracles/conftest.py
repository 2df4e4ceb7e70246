"""Fixtures of the comparisons with oracles, and a table of the errors found (``pytest -v``)."""

import pytest
from oracle_measure import BACKENDS, COMPILED, TOLERANCE, relative_error

from ne_dynamics.codegen.llvm.compiler import toolchain
from ne_dynamics.errors import BackendError

ERRORS = pytest.StashKey[dict]()


def pytest_configure(config):
    """Make room for the errors found."""
    config.stash.setdefault(ERRORS, {})


@pytest.fixture(params=BACKENDS)
def backend(request):
    """Name of the backend under test."""
    if request.param in COMPILED:
        try:
            toolchain()
        except BackendError as error:
            pytest.skip(str(error))
    return request.param


@pytest.fixture
def assert_agree(request):
    """Return a function that asserts agreement with an oracle and keeps the error found.

    It takes the robot's and the quantity's name, our result, the oracle's, and optionally the
    scale of :func:`oracle_measure.relative_error` and another tolerance.
    """
    errors = request.config.stash.setdefault(ERRORS, {})

    def check(robot, quantity, computed, expected, scale=None, tolerance=TOLERANCE):
        error = relative_error(computed, expected, scale)
        row = errors.setdefault(robot, {})
        row[quantity] = max(error, row.get(quantity, 0.0))
        assert error <= tolerance, (
            f'{robot}: {quantity}: relative error {error:.3g}, expected at most {tolerance:.3g}\n'
            f'computed\n{computed}\noracle\n{expected}'
        )

    return check


def pytest_terminal_summary(terminalreporter, config):
    """Print the largest error of every robot and quantity when asked for details."""
    errors = config.stash.get(ERRORS, {})
    if not errors or config.option.verbose < 1:
        return
    terminalreporter.section('largest error against the oracles, relative to the largest torque')
    for robot, row in sorted(errors.items()):
        quantities = ', '.join(f'{quantity} {error:.1e}' for quantity, error in row.items())
        terminalreporter.write_line(f'{robot}: {max(row.values()):.1e} ({quantities})')
