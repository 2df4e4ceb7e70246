"""What the executables of nodes have in common: from the command line to the exit code."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any

import rclpy
from rclpy.executors import ExternalShutdownException, SingleThreadedExecutor

from ne_dynamics.errors import CommandLineError
from ne_dynamics.printable import print_lines
from ne_dynamics.ros.running.command_line import check_arguments, readable_parameters, start_rclpy
from ne_dynamics.ros.running.signals import StopRequest, stop_on_signals
from ne_dynamics.ros.settings.parameter_file import files_without_effect


def run_node(
    description: str,
    kind: Callable[[], Any],
    make_executor: Callable[[Any], SingleThreadedExecutor],
    serve: Callable[[Any, SingleThreadedExecutor, StopRequest], None],
    arguments: Sequence[str] | None,
    name: str,
) -> int:
    """Run a node until SIGINT or SIGTERM, which are ignored from then on.

    Parameters
    ----------
    description : str
        One sentence for `--help`.
    kind : callable
        Makes the node.
    make_executor : callable
        Makes the executor that serves it.
    serve : callable
        Serves it until the process is asked to stop.
    arguments : sequence of str or None
        Command line, with ``--ros-args``; None: that of the process.
    name : str
        Of the executable.

    Returns
    -------
    int
        Exit code: 0 when stopped from outside, 1 when ROS could not start with these arguments
        (the message is on stderr). Arguments that are not for ROS exit with 2 on the spot.
    """
    check_arguments(name, description, arguments)
    with stop_on_signals() as stop:
        executor: SingleThreadedExecutor | None = None
        try:
            start_rclpy(arguments)
            with readable_parameters():
                node = kind()
            given = sys.argv if arguments is None else arguments
            for remark in files_without_effect(given, node.get_fully_qualified_name()):
                node.get_logger().warning(remark)
            stop.wake(node)
            executor = make_executor(node)
            serve(node, executor, stop)
            stop.forget_node()
            executor.shutdown()
            node.destroy_node()
        except ExternalShutdownException:
            pass
        except CommandLineError as error:
            print_lines([f'{name}: {error}'], sys.stderr)
            return 1
        finally:
            if executor is not None:
                executor.shutdown()
            rclpy.try_shutdown()
    return 0
