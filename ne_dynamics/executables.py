"""The ROS executables, as the package's scripts call them.

What an executable needs is imported here: a package that is missing is one line and no
traceback, nor Ctrl-C meanwhile.
"""

from __future__ import annotations

import importlib
import sys

from ne_dynamics.errors import EXIT_ERROR, EXIT_INTERRUPTED, MissingDependencyError
from ne_dynamics.printable import print_lines


def computed_torque() -> int:
    """Run the node; see :func:`ne_dynamics.ros.node.main`."""
    return _run('computed_torque', 'ne_dynamics.ros.node')


def simulated_robot() -> int:
    """Run the simulated robot; see :func:`ne_dynamics.simulation.simulated_robot.main`."""
    return _run('simulated_robot', 'ne_dynamics.simulation.simulated_robot')


def annotator() -> int:
    """Run the node; see :func:`ne_dynamics.ros.annotator.node.main`."""
    return _run('annotator', 'ne_dynamics.ros.annotator.node')


def commission() -> int:
    """Run the command `ne_dynamics commission`; see :mod:`ne_dynamics.cli.commission`."""
    main = importlib.import_module('ne_dynamics.cli.main').main
    return int(main(['commission', *sys.argv[1:]]))


def _run(name: str, module: str) -> int:
    try:
        main = importlib.import_module(module).main
    except MissingDependencyError as error:
        print_lines([f'{name}: {error}'], sys.stderr)
        return EXIT_ERROR
    except KeyboardInterrupt:
        return EXIT_INTERRUPTED
    return int(main())
