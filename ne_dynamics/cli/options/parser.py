"""The parser of the command line: short help, full help, examples, and which word is the model."""

from __future__ import annotations

import argparse
import contextlib
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from ne_dynamics.errors import NeDynamicsError


@dataclass(frozen=True)
class Command:
    """A subcommand, as the help shows it, and the options of its short help; empty: all of them.

    Examples are what follows `ne_dynamics`, the name of the command included.
    """

    summary: str
    examples: tuple[str, ...] = ()
    common: frozenset[str] = frozenset()


MODEL_OPTIONS = ('--model', '--tip-link', '--base-link')


def read_commands(table: str) -> dict[str, Command]:
    """Return subcommands by their names.

    The table has of each a line `NAME: SUMMARY`, and below it its examples, and behind a star what
    the short help has beside the options of the model.
    """
    commands = {}
    for block in re.split(r'\n(?=\S)', table.strip()):
        head, *lines = (line.strip() for line in block.split('\n'))
        name, _, summary = head.partition(': ')
        examples = tuple(line for line in lines if not line.startswith('* '))
        options = ' '.join(lines[len(examples) :]).split()[1:]
        common = frozenset({*MODEL_OPTIONS, *options} if options else ())
        commands[name] = Command(summary, examples, common)
    return commands


class CommandParser(argparse.ArgumentParser):
    """A parser of the command line, or of a subcommand: then it settles which word is the model.

    Options may stand between arguments: `identify arm.urdf --tip-link tool0 log.csv`.

    Attributes
    ----------
    others : list of str
        Arguments without an option behind the model, in their order.
    needs_model : bool
        Whether the subcommand does not do without, nor says itself that there is none.
    variable : str
        Variable of the environment that may name the model; '' for none.
    """

    needs_model, variable = False, ''
    _is_intermixed = False

    def __init__(self, *arguments: Any, **keywords: Any) -> None:
        super().__init__(*arguments, **keywords)
        self.others = list[str]()

    def parse_known_args(  # type: ignore[override]
        self, args: Sequence[str] | None = None, namespace: Any = None
    ) -> tuple[argparse.Namespace, list[str]]:
        """Parse; where arguments are left over, look for those behind options too."""
        parsed, rest = super().parse_known_args(args, namespace)
        if self._is_intermixed or self._subparsers is not None:
            return parsed, rest
        if rest:
            # By itself argparse gives all arguments what stands before the first option.
            self._is_intermixed = True
            parsed, rest = self.parse_known_intermixed_args(args)
            self._is_intermixed = False
        if rest:
            self.error(f'unrecognized arguments: {" ".join(rest)}')
        if 'first' in parsed:
            self._settle_model(parsed)
        # By their names in Python, the options that were given.
        parsed.spelled = {
            name.strip('-').replace('-', '_'): max(names, key=lambda name: name[:2] == '--')
            for action in self._actions
            for names in [action.option_strings]
            for name in names and (action.dest, *names)
            if getattr(parsed, action.dest, None) is not action.default
        }
        return parsed, rest

    def _settle_model(self, args: argparse.Namespace) -> None:
        """Find out which argument is the model: with `--model`, the first is one of the others.

        So it is with the variable of the environment, where one is left over.
        """
        value, usual, others = args.first, os.environ.get(self.variable), self.others
        if others and getattr(args, others[-1]) is None and None not in (value, usual):
            args.model = args.model or usual
        if args.model is None:
            args.model = value or usual
            if args.model is None and self.needs_model:
                before = f' before {others[0].upper()}' if others else ''
                given = getattr(args, others[0]) if others else None
                got = f'{given[0]!r} alone' if given else 'neither'
                self.error(f'expected MODEL{before} or --model MODEL, got {got}')
            return
        # The first argument goes to the others: it is none of theirs that is missing.
        for name in others:
            held = getattr(args, name)
            if value is not None and isinstance(held, list):
                held.insert(0, value)
                return
            if value is not None:
                setattr(args, name, value)
                value = held
        if value is not None:
            self.error(f'expected either MODEL or --model MODEL, got both: {value!r}')


@contextlib.contextmanager
def name_option(args: argparse.Namespace) -> Iterator[None]:
    """Let errors name the option in place of the parameter that they begin with.

    Words and a unit may stand behind the name: `position share [rad]: expected ...`. A file that
    is called like a parameter stays a file.
    """
    try:
        yield
    except NeDynamicsError as error:
        message, files = str(error), [*vars(args).values(), *(getattr(args, 'log', None) or ())]
        begun = re.match(r'([\w ]+?)(?= \[|:)', message)
        option = begun and getattr(args, 'spelled', {}).get(begun[1].replace(' ', '_'))
        if begun and option and begun[1] not in map(str, files):
            error.args = (option + message[begun.end() :], *error.args[1:])
        raise


class KeepLines(argparse.HelpFormatter):
    """Keeps a text of several lines as it is, and fills those of one."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        return text if '\n' in text else super()._fill_text(text, width, indent)


def complete_help(parser: argparse.ArgumentParser, command: Command, shows_all: bool) -> None:
    """Give the parser of a subcommand its examples, and a short help unless all is to be shown."""
    parts = [parser.epilog] if parser.epilog else []
    parts.append('examples:\n' + '\n'.join(f'  ne_dynamics {line}' for line in command.examples))
    parser.epilog = '\n\n'.join(parts)
    parser.formatter_class = KeepLines
    names = {'-h', *command.common}
    hidden = [
        action
        for action in parser._actions
        if command.common and action.option_strings and not names & set(action.option_strings)
    ]
    if hidden and not shows_all:
        for action in hidden:
            action.help = argparse.SUPPRESS
        # Before Python 3.13 argparse cannot print groups whose options are hidden.
        formatter = parser._get_formatter()
        formatter.add_usage(None, [one for one in parser._actions if one not in hidden], [])
        usage = formatter.format_help().partition(': ')[2].strip()
        parser.usage = usage.replace('%', '%%')
    more = f'show {len(hidden)} more options and exit' if hidden else argparse.SUPPRESS
    parser.add_argument('--help-all', action='help', help=more)
