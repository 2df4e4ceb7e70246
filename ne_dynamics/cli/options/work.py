"""Options for who does the work on long logs, and how far it is."""

from __future__ import annotations

import argparse
import contextlib
import sys
from collections.abc import Iterator
from typing import Any

from ne_dynamics.identification.runner import LocalRunner, Progress, Runner


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
    progress = None if args.json or not sys.stderr.isatty() else _find_progress()
    if args.scheduler is None:
        with LocalRunner(progress) as runner:
            yield runner
        return
    from ne_dynamics.identification.cluster import ClusterRunner

    with ClusterRunner(args.scheduler, progress) as cluster:
        yield cluster


def _find_progress() -> Progress | None:
    """Return what draws a bar on stderr; None where the library for it is missing."""
    try:
        from tqdm import tqdm
    except ImportError:
        return None

    def show(name: str, results: Iterator[Any], total: int) -> Iterator[Any]:
        yield from tqdm(results, name, total, leave=False, file=sys.stderr, unit='piece')

    return show
