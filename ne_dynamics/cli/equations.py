"""``ne_dynamics equations --model MODEL``: equations of motion as generated source."""

from __future__ import annotations

import argparse

from ne_dynamics.algorithms.mechanism import DEFAULT_TOLERANCE
from ne_dynamics.cli.options.declaration import declare
from ne_dynamics.cli.options.files import declare_output, settle_output
from ne_dynamics.cli.options.model import read_model
from ne_dynamics.codegen.c.export_folder import write_folder
from ne_dynamics.dynamics import Dynamics
from ne_dynamics.errors import InputError
from ne_dynamics.printable import print_lines
from ne_dynamics.tables import align_lines

ENDING = '_equations'
WRITTEN = 'with --all: new or empty folder, or an earlier export, which is replaced'

DEFAULT_FUNCTION = 'inverse_dynamics'
"""What is printed when nothing is said."""

add_parser = declare(
    'equations',
    'Print the equations of motion of a robot as standalone source: Python, NumPy, Python array '
    'API (JAX, PyTorch), or C99. With --all, write all functions into a folder: a C library with '
    'CMake project and test, or a Python module.',
    f"""
@model_file
--function NAME
    function to print (default: {DEFAULT_FUNCTION}); --list shows the names
--list
    list the functions and their operation counts
--all
    write every function of --list into a folder
{declare_output('FOLDER', ENDING, WRITTEN)}
--prefix NAME
    with --all: prefix of files and C functions (default: from the robot's name); must differ
    between robots in one program
--language : language = python
    language of the source
@tolerance
    ... (default: 1e-12)
""",
    language=('python', 'numpy', 'array-api', 'c'),
)


def run(args: argparse.Namespace) -> int:
    """Print the source or the list of functions, or write all of them into a folder."""
    for option, is_given in (('--function', args.function is not None), ('--list', args.list)):
        if args.all and is_given:
            raise InputError(f'--all: expected no {option} beside it, it writes every function')
    for option, value in (('-o', args.output), ('--prefix', args.prefix)):
        if value is not None and not args.all:
            raise InputError(f'{option}: expected --all beside it; one function is printed')
    settle_output(args, ENDING, is_always=args.all)
    robot = read_model(args).load()
    tolerance = DEFAULT_TOLERANCE if args.tolerance is None else args.tolerance
    dynamics = Dynamics(robot, backend='python', tolerance=tolerance)
    if not (args.all or args.list):
        print(dynamics.source(args.function or DEFAULT_FUNCTION, args.language), end='')
        return 0
    if args.all:
        files = dynamics.source_files(args.language, args.prefix)
        lines = [f'wrote {path}' for path in write_folder(args.output, files)]
    else:
        counts = dynamics.operation_counts()
        rows = [[name, *map(str, numbers)] for name, numbers in counts.items()]
        lines = align_lines([['function', 'multiplications', 'additions']], rows)
    missing = dynamics.missing_functions()
    print_lines([*lines, *(f'left out {name}: {reason}' for name, reason in missing.items())])
    return 0
