"""Logs and reports that options name."""

from __future__ import annotations

import argparse
import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path

from ne_dynamics import report_page
from ne_dynamics.cli.options.declaration import take
from ne_dynamics.cli.options.files import check_output, say
from ne_dynamics.cli.options.model import require_packages
from ne_dynamics.errors import InputError, NeDynamicsError
from ne_dynamics.identification.report.pages import Found
from ne_dynamics.identification.writing.model_files import extras_path, is_same_file
from ne_dynamics.logs.executors import open_executor
from ne_dynamics.logs.readers.bag import is_bag
from ne_dynamics.logs.recorded_joints import LogRequest
from ne_dynamics.logs.robot_logs import RobotLogs
from ne_dynamics.logs.work import Work
from ne_dynamics.model.model_source import ModelSource
from ne_dynamics.prepared_file import write_whole
from ne_dynamics.progress_bar import show_items
from ne_dynamics.report_page import Paragraph, Tone
from ne_dynamics.simulation.demo.ros_process import terminated_in_order

NOT_OPTIONS = frozenset({'command', 'first', 'spelled', 'model', 'log', 'json', 'report'})
"""Attributes of the arguments that are said elsewhere, or are none."""

SUFFIXES = ('.html', '.htm')


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
    """Yield what writes the report, where one is asked for, of what a function returns.

    A report that could not be written is refused before there is work in it. An error that ends
    the command is a page too, where there is none yet.
    """
    is_open = args.report is not None
    if is_open:
        _check_report(args)

    def write(show: Callable[[], Found]) -> None:
        nonlocal is_open
        if is_open:
            options = {key: vars(args)[key] for key in vars(args).keys() - NOT_OPTIONS}
            page = show().as_page(args.command, args.model, args.log, options)
            is_open = False
            write_whole(args.report, report_page.render_page(page))

    try:
        yield write
    except NeDynamicsError as error:
        verdict = Paragraph(f'Refused: {error}', Tone.ERROR)
        write(lambda: Found(verdict))
        raise


def _check_report(args: argparse.Namespace) -> None:
    path, output = args.report, getattr(args, 'output', None)
    if path.suffix.lower() not in SUFFIXES:
        raise InputError(
            f'{path}: the report: expected a name that ends in {" or ".join(SUFFIXES)}, got '
            f'{path.suffix or "none of them"}; a browser prints the page as PDF'
        )
    check_output(path)
    others = [] if output is None else [output, extras_path(output)]
    for other in map(Path, [args.model, *args.log, *others]):
        if is_same_file(path, other):
            raise InputError(f'{path}: --report: expected a file of its own, got {other} again')
