"""Options for who does the work on long logs, and how far it is."""

from __future__ import annotations

import argparse
import contextlib
from collections.abc import Iterator

from ne_dynamics.logs.runner import LocalRunner, Runner
from ne_dynamics.progress_bar import show_items


def add_work(parser: argparse.ArgumentParser) -> None:
    """Add the options to a parser."""
    parser.add_argument(
        '--scheduler',
        metavar='ADDRESS',
        help='of a Dask scheduler, tcp://HOST:PORT, whose workers read and reduce the logs: they '
        'have them under the same paths, and the same version of this package (extra `cluster`; '
        'default: this process)',
    )


@contextlib.contextmanager
def open_runner(args: argparse.Namespace) -> Iterator[Runner]:
    """Yield who does the work.

    Raises
    ------
    NeDynamicsError
        When the scheduler does not answer, or its workers do not fit.
    """
    progress = None if args.json else show_items
    if args.scheduler is None:
        with LocalRunner(progress) as runner:
            yield runner
        return
    from ne_dynamics.logs.cluster import ClusterRunner

    with ClusterRunner(args.scheduler, progress) as cluster:
        yield cluster
