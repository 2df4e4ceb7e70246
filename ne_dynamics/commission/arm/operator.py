"""Whoever stands by the arm, at a terminal: asked for consent, and to switch the brakes."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Sequence

from ne_dynamics.printable import print_lines

CONSENTS = ('y', 'yes')


class Operator:
    """See the module's docstring.

    Without a terminal to ask on when the run began nobody is waited for: what stands in its place
    is read, and its end is an answer too.
    """

    def __init__(self) -> None:
        self.has_terminal = _is_terminal()

    def consents(self, lines: Sequence[str]) -> bool:
        """Return whether something is agreed to; no answer is none."""
        print_lines([f'  {line}' for line in lines])
        with contextlib.suppress(EOFError, OSError, UnicodeDecodeError):
            return input('  Go on? [y/N] ').strip().lower() in CONSENTS
        return False

    def does(self, sentence: str) -> bool:
        """Ask for something and return when it is done; False when the terminal has gone."""
        with contextlib.suppress(OSError):
            print_lines([f'  {sentence}'])
        while True:
            try:
                input('  Enter when done. ')
            except (EOFError, UnicodeDecodeError):
                # Ctrl-D, or no text: it is not done.
                if self.has_terminal and _is_terminal():
                    continue
                return not self.has_terminal
            except (OSError, RuntimeError):
                return not self.has_terminal
            return True


def _is_terminal() -> bool:
    """Return whether stdin is a terminal; a process may have been started without any."""
    return sys.stdin is not None and sys.stdin.isatty()
