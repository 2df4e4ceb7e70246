"""``ne_dynamics demo``: an arm follows a trajectory in closed loop, in one scenario or another."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from ne_dynamics.cli.options.arguments import not_negative, positive
from ne_dynamics.cli.options.model_file import add_links, add_model, require_packages
from ne_dynamics.cli.options.output_file import choose_name
from ne_dynamics.errors import InputError
from ne_dynamics.simulation.demo.arm import SENSOR_LINK
from ne_dynamics.simulation.demo.control_laws import LAWS, SHORT_LAWS, ControlLaws
from ne_dynamics.simulation.demo.ros_process import terminated_in_order
from ne_dynamics.simulation.demo.scenario import Options, perform
from ne_dynamics.simulation.demo.scenarios import SCENARIOS

NEXT = 'ne_dynamics demo --model YOUR_ARM.urdf, or --scenario with one of ' + ', '.join(
    name for name in SCENARIOS if name != ControlLaws.name
)
"""What to try after the demo of the shipped arm."""


def add_parser(subparsers: Any) -> argparse.ArgumentParser:
    """Add the subcommand and its arguments."""
    parser: argparse.ArgumentParser = subparsers.add_parser(
        'demo',
        description='Compare control laws on a simulated arm over ROS 2: PD, PD with gravity, '
        'feed-forward with PD, and computed torque; then with a load on the tool, '
        'without and with a wrist sensor. Prints tables and writes plots.',
        epilog='scenarios:\n'
        + '\n'.join(f'  {name:<14}{scenario.story}' for name, scenario in SCENARIOS.items()),
    )
    parser.add_argument(
        '--scenario',
        choices=tuple(SCENARIOS),
        default=ControlLaws.name,
        metavar='NAME',
        help='one of the scenarios below',
    )
    meaning = 'URDF or DH file (YAML) of your arm (default: one of our own)'
    add_model(parser, meaning, is_optional=True)
    add_links(parser)
    parser.add_argument(
        '--sensor',
        metavar='LINK',
        help="last link on the arm's side of the wrist sensor (default: "
        f'{SENSOR_LINK} where the model has it, otherwise the tip)',
    )
    parser.add_argument(
        '--duration',
        type=positive,
        metavar='S',
        help=f'duration of the motion [s] (default: {ControlLaws.duration:g}; model-error: 2)',
    )
    parser.add_argument(
        '--rate', type=positive, default=500.0, metavar='HZ', help='control rate (default: 500)'
    )
    parser.add_argument(
        '--kp', type=positive, default=400.0, help='position gain [1/s^2] (default: 400)'
    )
    parser.add_argument(
        '--kv', type=positive, default=40.0, help='velocity gain [1/s] (default: 40)'
    )
    parser.add_argument(
        '--load',
        type=not_negative,
        metavar='KG',
        help=f'mass at the tip (default: {ControlLaws.default_load:g}; 0: leave these runs out; '
        'tool-load: 6)',
    )
    parser.add_argument(
        '--modes',
        nargs='+',
        choices=tuple(LAWS),
        metavar='LAW',
        help=f'control laws, of {", ".join(LAWS)}; not with another scenario',
    )
    parser.add_argument(
        '--short',
        action='store_true',
        help=f'{ControlLaws.short_duration:g} s, {" and ".join(SHORT_LAWS)}; another scenario: '
        'fewer runs',
    )
    parser.add_argument(
        '--output',
        type=Path,
        default=True,
        metavar='DIR',
        help='folder for the plots (default: demo_output, or with a number after it)',
    )
    parser.add_argument('--json', action='store_true', help='print the results as JSON')
    parser.set_defaults(run=run)
    return parser


def run(args: argparse.Namespace) -> int:
    """Run a scenario; return 0 when all runs completed.

    Raises
    ------
    NeDynamicsError
        As :func:`~ne_dynamics.simulation.demo.scenario.perform`.
    """
    if args.modes is not None and args.scenario != ControlLaws.name:
        raise InputError('--modes: expected none with --scenario, which brings its own laws')
    options = Options(
        args.model,
        args.base,
        args.tip,
        args.sensor,
        args.duration,
        args.rate,
        args.kp,
        args.kv,
        args.load,
        args.short,
        tuple(args.modes or ()),
    )
    require_packages(args, ros=True, sim=True, plot=True)
    if args.output is True:
        args.output = choose_name('demo', '_output')
    announce = (lambda text: None) if args.json else print
    announce('Node and simulated arm run as two processes. This takes up to a minute or two.')
    with terminated_in_order():
        results, report = perform(SCENARIOS[args.scenario], options, args.output, announce)
    print(json.dumps(results, indent=2) if args.json else report)
    announce(f'Next: {NEXT}' if args.model is None else f'Next: ne_dynamics check {args.model}')
    return 0
