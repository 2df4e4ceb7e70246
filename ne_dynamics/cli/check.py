"""``ne_dynamics check MODEL``: list what is wrong or doubtful in a robot description."""

from __future__ import annotations

import argparse
import dataclasses
import json
import math
import os
import sys
from collections.abc import Sequence

from ne_dynamics.errors import ModelError
from ne_dynamics.model.checks import SEVERITIES, check_robot
from ne_dynamics.model.files import load_model
from ne_dynamics.model.robot import Finding, Robot

EXIT_SOUND = 0
EXIT_ERRORS = 1


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the subcommand to a parser.

    Parameters
    ----------
    subparsers : argparse action
        What ``ArgumentParser.add_subparsers`` returned.
    """
    parser = subparsers.add_parser(
        'check',
        help='list what is wrong or doubtful in a robot description',
        description='List what is wrong or doubtful in a robot description, by severity. '
        'An error makes the dynamics wrong or impossible, a warning is probably not what was '
        'meant. Exit code: 1 when there are errors or the description cannot be loaded, else 0.',
    )
    parser.add_argument('model', metavar='MODEL', help='URDF, or DH file (YAML)')
    parser.add_argument(
        '--base', metavar='LINK', help='first link of the chain (URDF; default: the root)'
    )
    parser.add_argument(
        '--tip', metavar='LINK', help='last link of the chain (URDF; default: the whole tree)'
    )
    parser.add_argument(
        '--lock',
        metavar='JOINT=POSITION',
        action='append',
        default=[],
        type=_lock,
        help='joint that does not move, with its position [rad or m]; may be repeated (URDF)',
    )
    parser.add_argument('--json', action='store_true', help='print JSON instead of a table')
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Check a model and print the findings.

    Parameters
    ----------
    args : argparse.Namespace
        `model`, `base`, `tip`, `lock` and `json`.

    Returns
    -------
    int
        0 when there are no errors, 1 otherwise.
    """
    robot: Robot | None = None
    try:
        robot = load_model(args.model, args.base, args.tip, dict(args.lock) or None)
        findings = check_robot(robot)
    except ModelError as error:
        findings = (Finding('error', 'model-not-loadable', 'model', str(error)),)
    if args.json:
        print(json.dumps(_report(args.model, robot, findings), indent=2, allow_nan=False))
    else:
        print('\n'.join(_lines(args.model, robot, findings)))
    failed = any(finding.severity == 'error' for finding in findings)
    return EXIT_ERRORS if failed else EXIT_SOUND


def _lock(text: str) -> tuple[str, float]:
    name, separator, value = text.rpartition('=')
    try:
        position = float(value)
    except ValueError:
        position = math.nan
    if not separator or not name or not math.isfinite(position):
        raise argparse.ArgumentTypeError(f'expected JOINT=POSITION, got {text!r}')
    return name, position


def _counts(findings: Sequence[Finding]) -> dict[str, int]:
    return {
        severity: sum(finding.severity == severity for finding in findings)
        for severity in SEVERITIES
    }


def _moving_mass(robot: Robot) -> float:
    """Return the mass of all bodies [kg]; the largest float when it overflows."""
    return min(sum(body.inertia.mass for body in robot.bodies), sys.float_info.max)


def _report(model: str, robot: Robot | None, findings: Sequence[Finding]) -> dict[str, object]:
    """Return what ``--json`` prints; what is unknown without a robot is null."""
    return {
        'model': os.fspath(model),
        'name': robot and robot.name,
        'base_link': robot and robot.base_link,
        'tip_link': robot and robot.tip_link,
        'joints': robot and list(robot.joint_names),
        'moving_mass': robot and _moving_mass(robot),
        'counts': _counts(findings),
        'findings': [dataclasses.asdict(finding) for finding in findings],
    }


def _lines(model: str, robot: Robot | None, findings: Sequence[Finding]) -> list[str]:
    lines = [model]
    if robot is not None:
        lines.append(
            f'  {robot.name}: {robot.n} joints, {len(robot.links)} links, base '
            f'{robot.base_link}, tip {robot.tip_link or "(none)"}, '
            f'{_moving_mass(robot):.4g} kg moving'
        )
    if findings:
        lines.append('')
    widths = [
        max((len(getattr(finding, key)) for finding in findings), default=0)
        for key in ('severity', 'element', 'code')
    ]
    for finding in findings:
        lines.append(
            f'  {finding.severity:<{widths[0]}}  {finding.element:<{widths[1]}}  '
            f'{finding.code:<{widths[2]}}  {" ".join(finding.message.split())}'
        )
    counts = _counts(findings)
    words = {'error': 'errors', 'warning': 'warnings', 'info': 'remarks'}
    lines += [
        '',
        '  '
        + ', '.join(
            f'{counts[key]} {word.removesuffix("s") if counts[key] == 1 else word}'
            for key, word in words.items()
        ),
    ]
    return lines
