"""Logs and reports that options name."""

from __future__ import annotations

import argparse
import contextlib
from collections.abc import Callable, Iterator

from ne_dynamics.cli.options.declaration import take
from ne_dynamics.cli.options.files import say
from ne_dynamics.cli.options.model import require_packages
from ne_dynamics.cli.options.parser import name_option
from ne_dynamics.identification.report.pages import Found, open_page
from ne_dynamics.logs.executors import open_executor
from ne_dynamics.logs.readers.bag import is_bag
from ne_dynamics.logs.recorded_joints import LogRequest
from ne_dynamics.logs.robot_logs import RobotLogs
from ne_dynamics.logs.work import Work
from ne_dynamics.model.model_source import ModelSource
from ne_dynamics.progress_bar import show_items
from ne_dynamics.simulation.demo.ros_process import terminated_in_order


def read_logs(args: argparse.Namespace, model: ModelSource, work: Work, *others: str) -> RobotLogs:
    """Return the logs of the shared options `logs`, and other ones, for their model."""
    request = LogRequest(**take(LogRequest, args))
    return RobotLogs.read(model, [*args.log, *others], request, work, say)


@contextlib.contextmanager
def open_work(args: argparse.Namespace) -> Iterator[Work]:
    """Yield how the work on logs is done: here, in processes, or by a scheduler."""
    with open_executor(args.jobs, args.scheduler) as executor:
        yield Work(executor, None if args.json else show_items)


@contextlib.contextmanager
def prepared_for_logs(args: argparse.Namespace) -> Iterator[None]:
    """Refuse to begin without a package that logs, or options of their commands, need.

    Whatever ends what is done then removes the temporary files into which bags are unpacked.
    """
    logs = [*args.log, *filter(None, [getattr(args, 'without', None)])]
    require_packages(
        args,
        bag=any(map(is_bag, logs)),
        report=args.report is not None,
        plot=getattr(args, 'plot', None) is not None,
        cluster=args.scheduler is not None,
    )
    with terminated_in_order():
        yield


@contextlib.contextmanager
def open_report(args: argparse.Namespace) -> Iterator[Callable[[Callable[[], Found]], None]]:
    """Yield what writes the report, if one is asked for, see `open_page`."""
    said_elsewhere = {'command', 'first', 'model', 'log', 'json', 'report', 'spelled'}
    options = {name: vars(args)[name] for name in vars(args).keys() - said_elsewhere}
    page = open_page(args.report, args.command, args.model, args.log, options)
    with page as write, name_option(args):
        yield write
