"""``ne_dynamics check --model MODEL``: list what is wrong or doubtful in a robot description."""

from __future__ import annotations

import argparse

from ne_dynamics.cli.options.declaration import declare
from ne_dynamics.cli.options.files import print_result
from ne_dynamics.cli.options.model import read_model
from ne_dynamics.dynamics.model_check import ModelCheck

add_parser = declare(
    'check',
    'List errors and warnings of a robot description. An error makes the dynamics wrong or '
    'impossible; a warning is a doubtful value. Exit code: 1 with errors, or if the description '
    'cannot be loaded, else 0.',
    """
@model_file
@lock
@tolerance
    ...; prints what it can change in each joint
@json
""",
)


def run(args: argparse.Namespace) -> int:
    """Check a model and print the findings; return 0, or 1 when there are errors."""
    found = ModelCheck.of(read_model(args), args.tolerance)
    print_result(args, found.as_json(), found.lines())
    return int(found.counts['error'] > 0)
