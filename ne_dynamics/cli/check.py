"""``ne_dynamics check --model MODEL``: list what is wrong or doubtful in a robot description."""

from __future__ import annotations

import argparse
import os
import sys
from typing import Any

from ne_dynamics.cli.options.declaration import declare
from ne_dynamics.cli.options.files import print_result
from ne_dynamics.cli.options.model import read_model
from ne_dynamics.dynamics.tolerance_advice import (
    advise_tolerance,
    bound_rounding,
    describe_bounds,
)
from ne_dynamics.errors import ModelError
from ne_dynamics.model.chains import Chain, describe_chains, list_chains, list_ends
from ne_dynamics.model.checks import SEVERITIES, check_robot, describe_findings
from ne_dynamics.model.robot import ModelFinding

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
    robot, chains = None, list[Chain]()
    try:
        robot = read_model(args).load()
        findings = *check_robot(robot), *advise_tolerance(robot, args.tolerance)
    except ModelError as error:
        findings = (ModelFinding('error', 'model-not-loadable', 'model', str(error)),)
    if robot is not None and args.tip is None and len(list_ends(robot)) > 1:
        chains = list_chains(robot)
    counts = {key: sum(each.severity == key for each in findings) for key in SEVERITIES}
    # What is unknown without a robot is null.
    document: dict[str, Any] = {
        'model': os.fspath(args.model),
        **dict.fromkeys(('name', 'base_link', 'tip_link', 'joints', 'moving_mass')),
    }
    lines, bounds = [str(args.model)], list[str]()
    if robot is not None:
        # Of masses that are too large for it, the largest number.
        mass = min(sum(body.inertia.mass for body in robot.bodies), sys.float_info.max)
        document |= {key: getattr(robot, key) for key in ('name', 'base_link', 'tip_link')}
        document |= {'joints': robot.joint_names, 'moving_mass': mass}
        lines.append(
            f'  {robot.name}: {robot.n} joints, {len(robot.links)} links, base '
            f'{robot.base_link}, tip {robot.tip_link or "(none)"}, {mass:.4g} kg moving'
        )
    document |= {'counts': counts, 'findings': findings, 'chains': chains}
    if robot is not None and robot.n > 0 and args.tolerance is not None:
        changes = bound_rounding(robot, args.tolerance)
        document |= {'tolerance': args.tolerance, 'rounding_bound': changes}
        bounds = describe_bounds(robot, args.tolerance, changes)
    lines += [*describe_findings(findings, counts), *describe_chains(chains), *bounds]
    print_result(args, document, lines)
    return int(counts['error'] > 0)
