"""The end of a program: its exit code, and one line for an error."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
import sys
from collections.abc import Callable
from typing import TextIO

from ne_dynamics.errors import EXIT_ERROR, EXIT_INTERRUPTED, NeDynamicsError
from ne_dynamics.printable import print_lines

EXIT_BROKEN_PIPE = 141
"""128 and the number of SIGPIPE."""

_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


def run_with_exit_code(program: str, run: Callable[[], int]) -> int:
    """Run a program of a name, and return its exit code.

    What it returned; 1 after an error, whose message is on stderr; 130 when interrupted; 141 when
    the reader of the output went away.
    """
    try:
        try:
            return _run(program, run)
        finally:
            _flush_output()
    except BrokenPipeError:
        _drop_output()
        return EXIT_BROKEN_PIPE
    except KeyboardInterrupt:
        return EXIT_INTERRUPTED
    except OSError as error:
        return _fail(program, _explain_nameless(error))


def _run(program: str, run: Callable[[], int]) -> int:
    """Run a program; errors of standard output are the caller's."""
    try:
        return run()
    except NeDynamicsError as error:
        return _fail(program, str(error))
    except OSError as error:
        if error.filename is None:
            raise
        return _fail(program, f'{error.filename}: {error.strerror}')


def _explain_nameless(error: OSError) -> str:
    """Return the message for an error that names no file: who writes to one names it.

    It is raised again where it is not about a disk that is full, nor standard output at fault.
    """
    is_full = error.errno in _FULL
    is_output = is_full and _can_be_full()  # a text that is not buffered is lost by now
    try:
        _flush_output()  # what could not be written may still be there
    except OSError as again:
        error, is_output = again, True
    if is_output:
        target = ''
        with contextlib.suppress(OSError, ValueError):
            target = os.readlink(f'/proc/self/fd/{sys.stdout.fileno()}')
        _drop_output()
        where = f' ({target})' if target.startswith('/') else ''
        return f'standard output{where}: {error.strerror}'
    if not is_full:
        raise error
    return f'cannot write a file: {error.strerror}'


def _can_be_full() -> bool:
    """Return whether standard output is a file or a device, which can be full."""
    try:
        mode = os.fstat(sys.stdout.fileno()).st_mode
        return stat.S_ISREG(mode) or (stat.S_ISCHR(mode) and not sys.stdout.isatty())
    except (AttributeError, OSError, ValueError):  # closed, or a text in memory
        return False


def _flush_output() -> None:
    # Where standard output is closed Python has none.
    stream: TextIO | None = sys.stdout
    if stream is not None:
        stream.flush()


def _drop_output() -> None:
    """Give what standard output still holds somewhere to go: Python flushes it at exit."""
    with contextlib.suppress(OSError, ValueError):  # no file: a text in memory
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _fail(program: str, message: str) -> int:
    # A line end in a name does not begin a line of ours.
    first, *others = message.split('\n')
    lines = [f'{program}: error: {first}', *(f'  {line}' for line in others)]
    print_lines(lines, sys.stderr)
    return EXIT_ERROR
