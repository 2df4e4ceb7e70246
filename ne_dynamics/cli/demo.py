"""``ne_dynamics demo``: an arm follows a trajectory in closed loop, in one scenario or another."""

from __future__ import annotations

import argparse
import json

from ne_dynamics.cli.options.declaration import declare, take
from ne_dynamics.cli.options.files import settle_output
from ne_dynamics.cli.options.model import require_packages
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

add_parser = declare(
    'demo',
    'Compare control laws on a simulated arm over ROS 2: PD, PD with gravity, feed-forward with '
    'PD, and computed torque; then with a load on the tool, without and with a wrist sensor. '
    'Prints tables and writes plots.',
    f"""
--scenario NAME : scenario = {ControlLaws.name}
    one of the scenarios below (default: {ControlLaws.name})
@model
    URDF or DH file (YAML) of your arm (default: one of our own)
@links
--sensor LINK
    last link on the arm's side of the wrist sensor (default: {SENSOR_LINK} where the model has
    it, otherwise the tip)
--duration S : positive
    duration of the motion [s] (default: {ControlLaws.duration:g}; model-error: 2)
--rate HZ : positive
--kp KP : positive
--kv KV : positive
--load KG : not_negative
    mass at the tip (default: {ControlLaws.default_load:g}; 0: leave these runs out; tool-load: 6)
--modes LAW... > laws : law
    control laws, of {', '.join(LAWS)}; not with another scenario
--short > is_short
    {ControlLaws.short_duration:g} s, {' and '.join(SHORT_LAWS)}; another scenario: fewer runs
--output DIR : path
    folder for the plots (default: demo_output, or with a number after it)
@json
""",
    epilog='scenarios:\n'
    + '\n'.join(f'  {name:<14}{scenario.story}' for name, scenario in SCENARIOS.items()),
    request=Options,
    needs_model=False,
    scenario=tuple(SCENARIOS),
    law=tuple(LAWS),
)


def run(args: argparse.Namespace) -> int:
    """Run a scenario; return 0 when all runs completed."""
    if args.laws and args.scenario != ControlLaws.name:
        raise InputError('--modes: expected none with --scenario, which brings its own laws')
    laws = tuple(args.laws)
    options = Options(**take(Options, args, model_file=args.model, laws=laws))
    require_packages(args, ros=True, sim=True, plot=True)
    settle_output(args, '_output', source='demo', is_always=True)
    announce = (lambda text: None) if args.json else print
    announce('Node and simulated arm run as two processes. This takes up to a minute or two.')
    with terminated_in_order():
        results, report = perform(SCENARIOS[args.scenario], options, args.output, announce)
    print(json.dumps(results, indent=2) if args.json else report)
    announce(f'Next: {NEXT}' if args.model is None else f'Next: ne_dynamics check {args.model}')
    return 0
