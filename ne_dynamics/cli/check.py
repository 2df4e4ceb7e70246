"""``ne_dynamics check --model MODEL``: list what is wrong or doubtful in a robot description."""

from __future__ import annotations

import argparse
import dataclasses
import os
import shlex
import sys
from collections.abc import Sequence

import numpy as np

from ne_dynamics.algorithms.mechanism import DEFAULT_TOLERANCE, build_mechanism
from ne_dynamics.cli.options.declaration import declare
from ne_dynamics.cli.options.model_file import ModelFile
from ne_dynamics.cli.options.output_file import print_result
from ne_dynamics.cli.options.thresholds import COMMAND_LINE
from ne_dynamics.dynamics import Dynamics
from ne_dynamics.errors import ModelError
from ne_dynamics.model.chains import Chain, list_chains, list_ends
from ne_dynamics.model.checks import SEVERITIES, check_robot
from ne_dynamics.model.robot import ModelFinding, Robot
from ne_dynamics.tables import align_lines

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
    robot: Robot | None = None
    try:
        robot = ModelFile(args).load()
        findings = *check_robot(robot), *_advice(robot, args.tolerance)
    except ModelError as error:
        findings = (ModelFinding('error', 'model-not-loadable', 'model', str(error)),)
    chains = []
    if robot is not None and args.tip is None and len(list_ends(robot)) > 1:
        chains = list_chains(robot)
    counts = {
        severity: sum(finding.severity == severity for finding in findings)
        for severity in SEVERITIES
    }
    document = {
        'model': os.fspath(args.model),
        # What is unknown without a robot is null.
        'name': robot and robot.name,
        'base_link': robot and robot.base_link,
        'tip_link': robot and robot.tip_link,
        'joints': robot and list(robot.joint_names),
        'moving_mass': robot and _moving_mass(robot),
        'counts': counts,
        'findings': [dataclasses.asdict(finding) for finding in findings],
        'chains': [dataclasses.asdict(chain) for chain in chains],
    }
    lines = [args.model, *_describe_robot(robot), *_describe_findings(findings, counts)]
    lines += _describe_chains(chains)
    if robot is not None and robot.n > 0 and args.tolerance is not None:
        bounds = _rounding_bounds(robot, args.tolerance)
        document |= {'tolerance': args.tolerance, 'rounding_bound': bounds}
        lines += _describe_bounds(robot, args.tolerance, bounds)
    print_result(args, document, lines)
    return int(counts['error'] > 0)


def _advice(robot: Robot, tolerance: float | None) -> tuple[ModelFinding, ...]:
    """Return the advice to take a tolerance, where many angles are nearly quarter turns."""
    used = DEFAULT_TOLERANCE if tolerance is None else tolerance
    advised = COMMAND_LINE.advised_tolerance
    mechanism = build_mechanism(robot, 0.0, regroup=False)
    small = [
        min(abs(cosine), abs(sine))
        for body in mechanism.bodies
        for cosine, sine in (body.turn, body.twist, body.spin)
    ]
    count = sum(used < size <= advised for size in small)
    # With tolerance 0 the rounding of exact quarter turns is kept on purpose.
    count = count if used > 0.0 else 0
    if count < COMMAND_LINE.many_angles:
        return ()
    return (
        ModelFinding(
            'info',
            'angles-nearly-quarter-turns',
            'model',
            f'{count} angles between joint axes are within {advised:g} of quarter turns and not '
            f'exact, as 1.5707963 is not: tolerance={advised:g} makes the equations shorter; '
            f'`check --tolerance {advised:g}` says what it changes',
        ),
    )


def _rounding_bounds(robot: Robot, tolerance: float) -> dict[str, float]:
    """Return by joint what a tolerance changes at most at unit rates and accelerations."""
    with np.errstate(over='ignore', invalid='ignore'):
        bounds = Dynamics(robot, backend='python', tolerance=tolerance).rounding_bound()
    return {
        name: float(min(bound, sys.float_info.max))
        for name, bound in zip(robot.joint_names, np.nan_to_num(bounds), strict=True)
    }


def _describe_bounds(robot: Robot, tolerance: float, bounds: dict[str, float]) -> list[str]:
    rows = [
        [joint.name, f'{bounds[joint.name]:.2g} {joint.type.effort_unit}']
        for joint in robot.joints
    ]
    return [
        '',
        f'  tolerance {tolerance:g} changes an effort at 1 rad/s and 1 rad/s^2 (m/s, m/s^2) by '
        'at most',
        *(f'    {line}' for line in align_lines([], rows, is_text=True)),
    ]


def _describe_chains(chains: Sequence[Chain]) -> list[str]:
    """Return the proposals for `--tip-link`."""
    if not chains:
        return []
    rows = [
        [
            f'--tip-link {shlex.quote(chain.tip_link)}',
            f'{len(chain.joints)} joints',
            'named like a place for tools' * chain.is_tool,
            ', '.join(chain.joints),
        ]
        for chain in chains[: COMMAND_LINE.most_chains]
    ]
    more = len(chains) - len(rows)
    return [
        '',
        '  the tree has several ends; one of them is chosen by',
        *(f'    {line}' for line in align_lines([], rows, is_text=True)),
        *([f'    and {more} more'] if more else []),
    ]


def _moving_mass(robot: Robot) -> float:
    """Return the mass of all bodies [kg]; the largest float when it overflows."""
    return min(sum(body.inertia.mass for body in robot.bodies), sys.float_info.max)


def _describe_robot(robot: Robot | None) -> list[str]:
    if robot is None:
        return []
    return [
        f'  {robot.name}: {robot.n} joints, {len(robot.links)} links, base {robot.base_link}, '
        f'tip {robot.tip_link or "(none)"}, {_moving_mass(robot):.4g} kg moving'
    ]


def _describe_findings(findings: Sequence[ModelFinding], counts: dict[str, int]) -> list[str]:
    rows = [
        [finding.severity, finding.element, finding.code, ' '.join(finding.message.split())]
        for finding in findings
    ]
    words = {'error': 'errors', 'warning': 'warnings', 'info': 'remarks'}
    numbers = (
        f'{counts[key]} {word.removesuffix("s") if counts[key] == 1 else word}'
        for key, word in words.items()
    )
    return [
        *[''] * bool(rows),
        *(f'  {line}' for line in align_lines([], rows, is_text=True)),
        '',
        f'  {", ".join(numbers)}',
    ]
