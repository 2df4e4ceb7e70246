"""Logs and reports that options name."""

from __future__ import annotations

import argparse
import contextlib
import datetime
import platform
from collections.abc import Callable, Iterator
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING

from ne_dynamics import __version__
from ne_dynamics.cli.options.declaration import take
from ne_dynamics.cli.options.files import check_output, say
from ne_dynamics.cli.options.model import require_packages
from ne_dynamics.errors import InputError, NeDynamicsError
from ne_dynamics.identification.writing.model_files import extras_path, is_same_file
from ne_dynamics.logs.readers.bag import is_bag
from ne_dynamics.logs.recorded_joints import LogRequest
from ne_dynamics.logs.robot_logs import RobotLogs
from ne_dynamics.logs.work import Work
from ne_dynamics.model.model_source import ModelSource
from ne_dynamics.prepared_file import write_whole
from ne_dynamics.report_page import Column, Page, Paragraph, Section, Table, Tone
from ne_dynamics.simulation.demo.ros_process import terminated_in_order

if TYPE_CHECKING:
    from ne_dynamics.identification.report.pages import Found

NOT_OPTIONS = frozenset({'command', 'first', 'settle', 'model', 'log', 'json', 'report'})
"""Attributes of the arguments that are said elsewhere, or are none."""

SUFFIXES = ('.html', '.htm')

PACKAGES = ('numpy', 'matplotlib', 'jinja2')


def read_logs(args: argparse.Namespace, model: ModelSource, work: Work, *others: str) -> RobotLogs:
    """Return the logs of the shared options `logs`, and other ones, for their model."""
    request = LogRequest(**take(LogRequest, args))
    return RobotLogs.read(model, [*args.log, *others], request, work, say)


@contextlib.contextmanager
def open_work(args: argparse.Namespace) -> Iterator[Work]:
    """Yield how the work on logs is done: here, in processes, or by a scheduler."""
    from ne_dynamics.logs.executors import open_executor
    from ne_dynamics.progress_bar import show_items

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
    the command is a page too.
    """
    if args.report is not None:
        _check_report(args)

    def write(show: Callable[[], Found]) -> None:
        if args.report is not None:
            verdict, sections, last = show()
            _write(args, verdict, (*sections, _describe_options(args), *last))

    try:
        yield write
    except NeDynamicsError as error:
        if args.report is not None:
            verdict = Paragraph(f'Refused: {error}', Tone.ERROR)
            _write(args, verdict, (_describe_options(args),))
        raise


def _check_report(args: argparse.Namespace) -> None:
    path = args.report
    if path.suffix.lower() not in SUFFIXES:
        raise InputError(
            f'{path}: the report: expected a name that ends in {" or ".join(SUFFIXES)}, got '
            f'{path.suffix or "none of them"}; a browser prints the page as PDF'
        )
    check_output(path)
    output = getattr(args, 'output', None)
    others = [args.model, *args.log]
    others += [] if output is None else [output, extras_path(output)]
    for other in map(Path, others):
        if is_same_file(path, other):
            raise InputError(f'{path}: --report: expected a file of its own, got {other} again')


def _describe_options(args: argparse.Namespace) -> Section:
    rows = []
    for name, value in sorted(vars(args).items()):
        if name not in NOT_OPTIONS and value not in (None, False, [], ''):
            parts = value if isinstance(value, list | tuple) else [value]
            text = ' '.join(
                '='.join(map(str, part)) if isinstance(part, tuple) else str(part)
                for part in parts
            )
            rows.append((f'--{name.replace("_", "-")}', text))
    rows += [('ne_dynamics', __version__), ('Python', platform.python_version())]
    for name in PACKAGES:
        with contextlib.suppress(metadata.PackageNotFoundError):
            rows.append((name, metadata.version(name)))
    table = Table(
        'As given or by default.', (Column('option or package'), Column('value')), tuple(rows)
    )
    return Section('Options and versions', (table,))


def _write(args: argparse.Namespace, verdict: Paragraph, sections: tuple[Section, ...]) -> None:
    from ne_dynamics.report_page import render_page

    now = datetime.datetime.now(datetime.timezone.utc)
    page = Page(
        title=f'{args.command.capitalize()}: {Path(args.model).name}',
        subtitle=f'Model {args.model}; log {", ".join(args.log)}',
        verdict=verdict,
        sections=sections,
        footer=f'Written by ne_dynamics {__version__}, {now:%Y-%m-%d %H:%M} UTC.',
    )
    write_whole(args.report, render_page(page))
