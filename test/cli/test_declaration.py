"""Tables of options, and the parser that is made of them."""

from __future__ import annotations

import argparse
import enum
import inspect
import math
import subprocess
import sys
from dataclasses import dataclass

import pytest

from ne_dynamics.cli.main import build_parser
from ne_dynamics.cli.options.declaration import fill, list_defaults, take


class Pace(str, enum.Enum):
    """How it goes."""

    EVEN = 'even'
    UNEVEN = 'uneven'


@dataclass(frozen=True)
class Wish:
    """What is asked for."""

    rate: float = 500.0
    span: tuple[float, float] = (0.0, math.inf)
    is_quick: bool = True
    pace: Pace = Pace.EVEN
    modes: tuple[str, ...] = ('pd',)


TABLE = """
IN > source
    what is read
--rate HZ : positive
    control rate
--span LEAST LARGEST : float
    range
--pace : pace
    pace
--slow > is_quick
    takes its time
--mode * > modes : mode
    mode; may be repeated
# the end: how it stops
--step X : number = 0.5
    step
or --steps N : count
    number of steps
#
required --name NAME
    name of 100% of it
--at Q... : number
    places (default: none)
"""


@pytest.fixture
def parser():
    """Return a parser of the table."""
    made = argparse.ArgumentParser(prog='test')
    fill(made, TABLE, request=Wish, mode=('pd', 'ff'), pace=[pace.value for pace in Pace])
    return made


def test_defaults_are_those_of_the_request(parser):
    args = parser.parse_args(['file', '--name', 'x'])
    modes = tuple(args.modes) or Wish().modes
    assert Wish(**take(Wish, args, modes=modes)) == Wish()
    assert (args.source, args.modes, args.step, args.at) == ('file', [], 0.5, None)


def test_values_become_the_request(parser):
    line = 'file --name x --rate 250 --span 1 2 --slow --mode ff --mode pd --at -1e-3 2'
    args = parser.parse_args(line.split())
    wish = Wish(**take(Wish, args))
    assert wish == Wish(250.0, [1.0, 2.0], False, 'even', ['ff', 'pd'])
    assert args.at == [-1e-3, 2.0]


@pytest.mark.parametrize(
    ('line', 'message'),
    [
        ('--name x', 'arguments are required: IN'),
        ('file', 'arguments are required: --name'),
        ('file --name x --rate 0', "--rate: expected a number > 0, got '0'"),
        ('file --name x --rate nan', "--rate: expected a number > 0, got 'nan'"),
        ('file --name x --steps 1.5', "--steps: expected a whole number >= 1, got '1.5'"),
        ('file --name x --step 1 --steps 2', '--steps: not allowed with argument --step'),
        ('file --name x --mode other', "--mode: invalid choice: 'other'"),
        ('file --name x --span 1', '--span: expected 2 arguments'),
    ],
)
def test_what_is_wrong_is_named(parser, line, message, capsys):
    with pytest.raises(SystemExit) as stop:
        parser.parse_args(line.split())
    assert stop.value.code == 2
    assert message in capsys.readouterr().err


def test_excite_has_the_defaults_of_what_it_calls():
    """The planner's own come from its signature; those of the shares stand twice."""
    from ne_dynamics.excitation import Shares, plan_excitation

    args = build_parser('excite').parse_args(['excite', 'arm.urdf'])
    defaults = list_defaults(plan_excitation)
    shared = defaults.keys() & vars(args).keys() - {'keep_out', 'ignored'}
    assert len(shared) == 9
    assert {name: getattr(args, name) for name in shared} == {
        name: defaults[name] for name in shared
    }
    assert (args.harmonics, args.margin, args.noise_share) == (10, 0.02, 0.01)
    for name in inspect.signature(Shares).parameters:
        assert getattr(args, f'{name}_share') == getattr(Shares(), name)


def test_shells_that_complete_everything_find_the_command():
    """Argcomplete's global completion looks for a marker at the beginning of the entry point."""
    pytest.importorskip('argcomplete', reason='argcomplete is missing')
    command = [sys.executable, '-m', 'argcomplete._check_module', 'ne_dynamics.cli.main']
    assert subprocess.run(command, check=False, timeout=100).returncode == 0


@pytest.mark.parametrize(
    ('line', 'expected'),
    [
        ('identify arm.urdf --tip-link tcp a.csv', {'model': 'arm.urdf', 'log': ['a.csv']}),
        (
            'identify --tip-link tcp arm.urdf a.csv --holdout 0.1 b.csv',
            {'model': 'arm.urdf', 'log': ['a.csv', 'b.csv'], 'holdout': 0.1},
        ),
        ('identify --model arm.urdf a.csv --force b.csv', {'log': ['a.csv', 'b.csv']}),
        (
            'annotate arm.urdf --tip-link tcp in.yaml --retime out.yaml',
            {'model': 'arm.urdf', 'input': 'in.yaml', 'output': 'out.yaml', 'retime': True},
        ),
        ('annotate --model arm.urdf --retime in.yaml', {'input': 'in.yaml', 'output': None}),
        ('whatis arm.urdf --tip-link tcp a.csv', {'model': 'arm.urdf', 'log': 'a.csv'}),
    ],
)
def test_options_may_stand_between_arguments(line, expected):
    command = line.split()[0]
    parsed = build_parser(command).parse_args(line.split())
    assert {name: getattr(parsed, name) for name in expected} == expected
