"""Options as data: a table in text, and the parser that is made of it.

A row begins at the margin, and its help is indented below it::

    --start Q[,Q...] : numbers
        joint positions at time 0 [rad or m]
    --rate HZ : positive = 500
        control rate
    # limits: of all joints
    --lock JOINT=POSITION * : named_number
        locked joint; may be repeated

A head is ``NAMES VALUES * > ATTRIBUTE : READER = DEFAULT``, of which anything may be missing but
the name of an option, or the value of an argument without one. ``[X]`` may be left out, ``X...``
is one or more; an option without value and reader is a flag; ``*``: each use adds one. ``or``
before a head: not together with the row before; ``required``: not without. The reader is one of
:data:`~ne_dynamics.cli.options.readers.READERS` or of the command, a function or the words to
choose from. What a row does not say is what the request says of the parameter of that name, the
dataclass or function that the options are for: its default, and its help in the docstring. The
help says the default unless its text does. ``@NAME`` stands for the rows of
:data:`~ne_dynamics.cli.options.shared.SHARED`, a help below it for that of the first of them, or
behind ``...`` for more of it. ``# TITLE: DESCRIPTION`` begins a group, ``#`` ends it.
"""

from __future__ import annotations

import argparse
import enum
import functools
import inspect
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from ne_dynamics.cli.options.parser import CommandParser
from ne_dynamics.cli.options.readers import READERS
from ne_dynamics.cli.options.shared import SHARED
from ne_dynamics.errors import InputError

Request = Callable[..., Any]
"""A dataclass or a function."""

Reader = Callable[[str], Any] | Sequence[Any]

HEAD = re.compile(
    r'(?P<mark>or |required )?(?P<names>(?:-[\w-]+,? )*)(?P<values>(?:(?![*>:=] )\S+ )*)'
    r'(?P<many>\* )?(?:> (?P<attribute>\w+) )?(?:: (?P<reader>\w+) )?(?:= (?P<default>[^>:]+) )?'
)
"""Of the head of an option, with a blank behind it."""

NEGATIVE_NUMBER = re.compile(r'-(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?$')
"""Also -1e-3, as JSON writes small numbers; argparse takes that for an unknown option."""


def read_rows(table: str) -> Iterator[tuple[str, str]]:
    """Yield head and help of the rows of a table, the shared ones included."""
    for block in re.split(r'\n+(?=\S)', table.strip()):
        head, _, text = block.partition('\n')
        text = ' '.join(text.split())
        if not head.startswith('@'):
            yield head, text
            continue
        (first, own), *others = read_rows(SHARED[head[1:]])
        more = text.removeprefix('...')
        yield first, own + more if not text or more != text else text
        yield from others


def declare(
    name: str, description: str, table: str, epilog: str | None = None, **keywords: Any
) -> Callable[[Any], None]:
    """Return the function `add_parser` of a subcommand; the keywords are of :func:`fill`."""

    def add_parser(subparsers: Any) -> None:
        """Add the subcommand to what ``ArgumentParser.add_subparsers`` returned."""
        parser = subparsers.add_parser(name, description=description, epilog=epilog)
        fill(parser, table, **keywords)

    return add_parser


def fill(
    parser: CommandParser,
    table: str,
    *,
    request: Request | Sequence[Request] = (),
    variable: str = '',
    needs_model: bool = True,
    **readers: Reader,
) -> None:
    """Give a parser the options of a table, which are for one or several requests.

    A model has to be named, if the table has one, unless it is not needed or a variable of the
    environment names it. The readers are those of the command.
    """
    parser._negative_number_matcher = NEGATIVE_NUMBER
    readers = {**READERS, **readers}
    parameters, descriptions = dict[str, inspect.Parameter](), dict[str, str]()
    for one in [request] if callable(request) else request:
        parameters |= inspect.signature(one).parameters
        descriptions |= list_descriptions(one)
    rows = list(read_rows(table))
    group: argparse._ActionsContainer = parser
    for (head, text), (following, _) in zip(rows, [*rows[1:], ('', '')], strict=True):
        if head.startswith('#'):
            title, _, about = head[1:].strip().partition(': ')
            group = parser.add_argument_group(title, about or None) if title else parser
            continue
        parts = HEAD.fullmatch(f'{head} ')
        assert parts is not None, head
        if parts['mark'] != 'or ':
            is_first = following.startswith('or ')
            place = group.add_mutually_exclusive_group() if is_first else group
        names = parts['names'].replace(',', ' ').split()
        keywords = _make_keywords(readers, parameters, parts, names)
        text = text or descriptions.get(keywords['dest'], '')  # Python may run without docstrings
        said = (parts['default'] or _describe_default(keywords)).strip()
        text += f' (default: {said})' * bool(said and 'default: ' not in text)
        action = place.add_argument(*names, help=text.replace('%', '%%'), **keywords)
        if not names and action.dest != 'first':
            parser.others.append(action.dest)
    parser.needs_model, parser.variable = needs_model and not variable, variable


def list_descriptions(request: Request) -> dict[str, str]:
    """Return what a docstring says of attributes or parameters, by name, as a help does.

    One of them that stands in single backticks is its option there.
    """
    entries = re.findall(r'^(\w[\w, ]*) : .*\n((?: +.*\n?)+)', inspect.getdoc(request) or '', re.M)
    found = {name: text for names, text in entries for name in names.split(', ')}

    def as_option(name: re.Match[str]) -> str:
        return f'--{name[1].replace("_", "-")}' if name[1] in found else name[0]

    for name, text in found.items():
        words = re.sub(r'`(\w+)`', as_option, ' '.join(text.split()).removesuffix('.'))
        words = re.sub(r'[;.] [Dd]efault: (.+)$', r' (default: \1)', words)
        found[name] = words[0].lower() + words[1:] if words[1:2].islower() else words
    return found


def take(request: Request, args: argparse.Namespace, **others: Any) -> dict[str, Any]:
    """Return the parameters of a dataclass or function that are options, or among the others."""
    given = {**vars(args), **others}
    return {name: given[name] for name in inspect.signature(request).parameters if name in given}


def _make_keywords(
    readers: Mapping[str, Reader],
    parameters: Mapping[str, inspect.Parameter],
    parts: re.Match[str],
    names: Sequence[str],
) -> dict[str, Any]:
    """Return what `add_argument` takes beside names and help."""
    values, reader = parts['values'].split(), readers[parts['reader'] or 'str']
    long = (name for name in [*names, *values] if not re.match('-[^-]', name))
    attribute = parts['attribute'] or next(long).strip('-[].').replace('-', '_').lower()
    keywords = {'dest': attribute, **_describe_values(values, bool(names))}
    read = keywords['type'] = _name_faults(reader) if callable(reader) else type(reader[0])
    keywords |= {} if callable(reader) else {'choices': reader}
    default = parameters[attribute].default if attribute in parameters else None
    if isinstance(default, enum.Enum):
        default = default.value
    if parts['default']:
        words = parts['default'].split()
        default = tuple(map(read, words)) if len(values) > 1 else read(*words)
    if parts['many']:
        keywords['action'], default = 'append', []
    elif not values and not parts['reader']:
        keywords['action'] = 'store_false' if default else 'store_true'
        del keywords['type']
    if default not in (None, inspect.Parameter.empty):
        keywords['default'] = default
    if parts['mark'] == 'required ':
        keywords['required'] = True
    return keywords


def _name_faults(read: Callable[[str], Any]) -> Callable[[str], Any]:
    """Return a reader whose errors argparse tells as they are."""

    @functools.wraps(read)
    def read_named(text: str) -> Any:
        try:
            return read(text)
        except InputError as error:
            raise argparse.ArgumentTypeError(str(error)) from error

    return read_named


def _describe_values(values: Sequence[str], is_option: bool) -> dict[str, Any]:
    """Return how many values there are, and what the help calls them."""
    if len(values) != 1:
        return {'nargs': len(values), 'metavar': tuple(values)} if values else {}
    (value,) = values
    if value.endswith('...'):
        return {'nargs': '+', 'metavar': value[:-3]}
    if value.startswith('['):
        return {'nargs': '?', 'metavar': value[1:-1], **({'const': True} if is_option else {})}
    return {'metavar': value}


def _describe_default(keywords: Mapping[str, Any]) -> str:
    """Return the default of an option as it is typed; '' for none, and of a flag."""
    value = keywords.get('default')
    if isinstance(value, (tuple, list)):
        separator = ' ' if isinstance(keywords.get('nargs'), int) else ','
        return separator.join(f'{each:g}' for each in value)
    if value is None or isinstance(value, bool):
        return ''
    return value if isinstance(value, str) else f'{value:g}'
