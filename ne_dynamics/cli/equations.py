"""``ne_dynamics equations MODEL``: the equations of motion of a robot, as generated source."""

from __future__ import annotations

import argparse
from typing import Any

from ne_dynamics.cli.options.tolerance import add_tolerance


def add_parser(subparsers: Any) -> None:
    """Add the arguments of the subcommand."""
    parser = subparsers.add_parser(
        'equations',
        help='print the equations of motion of a robot as generated source',
        description='Print the equations of motion of one robot as straight-line source that '
        'runs on its own: in Python as this package runs it, for NumPy arrays, for the arrays of '
        'any library that has the Python array API (JAX, PyTorch), or in C99 for a firmware.',
    )
    parser.add_argument('model', metavar='MODEL', help='URDF or DH file')
    parser.add_argument(
        '--function',
        default='inverse_dynamics',
        metavar='NAME',
        help='what to print (default: %(default)s); --list shows the names',
    )
    parser.add_argument(
        '--list',
        action='store_true',
        help='print the names of the functions and how many operations each one takes',
    )
    parser.add_argument(
        '--language',
        choices=('python', 'numpy', 'array-api', 'c'),
        default='python',
        help='language of the text (default: %(default)s)',
    )
    parser.add_argument(
        '--base', metavar='LINK', help='first link of the chain (URDF; default: the root)'
    )
    parser.add_argument(
        '--tip', metavar='LINK', help='last link of the chain (URDF; default: the whole tree)'
    )
    add_tolerance(parser, ' (default: 1e-12)')


def run(args: argparse.Namespace) -> int:
    """Print the source, or the list of functions."""
    from ne_dynamics.algorithms.mechanism import DEFAULT_TOLERANCE
    from ne_dynamics.dynamics import Dynamics
    from ne_dynamics.model.files import load_model

    robot = load_model(args.model, base_link=args.base, tip_link=args.tip)
    tolerance = DEFAULT_TOLERANCE if args.tolerance is None else args.tolerance
    dynamics = Dynamics(robot, backend='python', tolerance=tolerance)
    if not args.list:
        print(dynamics.source(args.function, args.language), end='')
        return 0
    counts = dynamics.operation_counts()
    width = max(map(len, counts))
    print(f'{"function":<{width}}  multiplications  additions')
    for name, (multiplications, additions) in counts.items():
        print(f'{name:<{width}}  {multiplications:15d}  {additions:9d}')
    return 0
