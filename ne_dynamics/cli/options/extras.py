"""The option ``--extras`` of the subcommands that take a model."""

from __future__ import annotations

import argparse

from ne_dynamics.model.extras import Extras, choose_extras


def add_extras(parser: argparse.ArgumentParser) -> None:
    """Add the option to a parser; :func:`get_extras` returns what was chosen."""
    parser.add_argument(
        '--extras',
        metavar='FILE',
        default='',
        help='YAML file with friction, rotor inertia and gear ratio of the joints; `none` for no '
        'such file (default: NAME.extras.yaml beside a NAME.urdf, where there is one)',
    )


def get_extras(args: argparse.Namespace) -> Extras:
    """Return what :func:`~ne_dynamics.model.files.load_model` takes as `extras`."""
    return choose_extras(args.extras)
