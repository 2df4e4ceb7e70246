"""``ne_dynamics identify --payload`` and ``--drive-gains``: of a load, not of the arm."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Sequence
from typing import Any

from ne_dynamics.cli.identifying.load_diagnosis import DiagnosedLog, diagnose_load_log
from ne_dynamics.cli.identifying.text import describe_refusal
from ne_dynamics.dynamics import Dynamics
from ne_dynamics.errors import InputError
from ne_dynamics.identification import fit_drive_gains, fit_payload, identify_payload
from ne_dynamics.identification.load.drive_gains import DriveGains
from ne_dynamics.identification.load.payload import is_slow
from ne_dynamics.identification.load.payload_parameters import describe_payload, format_parameters
from ne_dynamics.logs import Log
from ne_dynamics.printable import print_lines

EXIT_UNUSABLE = 1

ReadLog = Callable[[str], Log]
"""Reads a log by its name, for the robot at hand."""


def add_load_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options to a parser."""
    parser.add_argument(
        '--payload',
        action='store_true',
        help='leave the arm as it is: estimate mass and centre of mass of what hung on the '
        'flange, from poses held or a slow motion; from a fast one its inertia too. Nothing is '
        'written',
    )
    parser.add_argument(
        '--drive-gains',
        action='store_true',
        help='leave the arm as it is: from motor currents in the place of efforts and a load of '
        'known --mass, find the effort per current of each joint. Nothing is written',
    )
    parser.add_argument(
        '--without',
        metavar='LOG',
        help='log of the same or another motion without the load: errors of the model cancel',
    )
    parser.add_argument('--mass', type=float, metavar='KG', help='of the load, with --drive-gains')
    parser.add_argument(
        '--payload-link',
        default='',
        metavar='LINK',
        help='in whose frame the load is described, fixed to the tip link (default: the tip link)',
    )


def check_load_arguments(args: argparse.Namespace) -> bool:
    """Return whether a load is asked for.

    Raises
    ------
    InputError
        When options do not go together.
    """
    asked = [name for name in ('payload', 'drive-gains') if getattr(args, name.replace('-', '_'))]
    if len(asked) > 1:
        raise InputError('expected either --payload or --drive-gains, got both')
    if not asked:
        for name in ('without', 'mass'):
            if getattr(args, name) is not None:
                raise InputError(f'--{name}: expected --payload or --drive-gains with it')
        return False
    if len(args.log) > 1:
        raise InputError(f'--{asked[0]}: expected one LOG, got {len(args.log)}')
    if args.scheduler is not None:
        raise InputError(f'--{asked[0]}: expected no --scheduler: the log is read at once')
    if args.output is not None:
        raise InputError(f'--{asked[0]}: expected no --output: a load is no part of the model')
    if args.report is not None:
        raise InputError(f'--{asked[0]}: expected no --report: it is of a fit of the arm')
    if args.drive_gains and args.mass is None:
        raise InputError('--drive-gains: expected the --mass of the load')
    if args.payload and args.mass is not None:
        raise InputError('--payload: expected no --mass: it is what is asked for')
    return True


def run_load(args: argparse.Namespace, dynamics: Dynamics, log: Log, read: ReadLog) -> int:
    """Find the load, or gains from a load that is known, and print them.

    Parameters
    ----------
    args : argparse.Namespace
    dynamics : Dynamics
        Of the arm without the load.
    log : Log
        With it.
    read : callable
        Reads the other log.

    Returns
    -------
    int
        0; 1 when a log is found to be wrong, and nothing was fitted.

    Raises
    ------
    NeDynamicsError
        When a log cannot be read, does not go with the model, or does not tell the load.
    """
    logs = [diagnose_load_log(args, dynamics, args.log[0], log, True)]
    if args.without is not None:
        logs.append(diagnose_load_log(args, dynamics, args.without, read(args.without), False))
    document: dict[str, Any] = {
        'model': args.model,
        'log': log.summary(),
        'without': logs[1].log.summary() if len(logs) > 1 else None,
        'diagnosis': logs[0].diagnosis.as_json(),
        'diagnosis_without': logs[1].diagnosis.as_json() if len(logs) > 1 else None,
    }
    lines = []
    for item in logs:
        lines += [f'{item.name}: {item.log.summary()}', *item.lines]
    if any(item.is_refused for item in logs):
        return _refuse(args, logs, document, lines)
    log, without = logs[0].log, logs[1].log if len(logs) > 1 else None
    fit_options = {'without': without, 'cutoff_frequency': args.cutoff, 'spread': args.spread}
    if args.drive_gains:
        gains = fit_drive_gains(dynamics, log, args.mass, args.payload_link, **fit_options)
        document['drive_gains'] = gains.as_json()
        lines += _describe_gains(gains, args.mass)
    elif without is None and is_slow(dynamics, log):
        estimate = identify_payload(dynamics, log, args.payload_link)
        document['payload'] = estimate.as_json()
        lines.append(estimate.text)
    else:
        load = fit_payload(dynamics, log, args.payload_link, **fit_options)
        document['payload'] = load.as_json()
        document['parameters'] = format_parameters(load)
        lines += describe_payload(load)
    if args.json:
        print(json.dumps(document, indent=2, allow_nan=False))
    else:
        print_lines(lines)
    return 0


def _refuse(
    args: argparse.Namespace,
    logs: Sequence[DiagnosedLog],
    document: dict[str, Any],
    lines: list[str],
) -> int:
    """Say what is wrong with the logs and what to do; return 1."""
    if args.json:
        print(json.dumps(document, indent=2, allow_nan=False))
    else:
        print_lines(lines)
    refused = [item for item in logs if item.is_refused]
    reason = describe_refusal(not any(item.diagnosis.remaining for item in refused))
    names = ', '.join(item.name for item in refused)
    print_lines([f'ne_dynamics identify: error: {names}: {reason}'], sys.stderr)
    return EXIT_UNUSABLE


def _describe_gains(gains: DriveGains, mass: float) -> list[str]:
    basis = 'two logs' if gains.is_difference else 'one log, with what is believed of the arm'
    center = ', '.join(f'{value + 0.0:.3f}' for value in gains.center_of_mass)
    width = max(len(name) for name in gains.joints)
    lines = [
        f'by {mass:g} kg at ({center}) m of {gains.link_name!r}, from {basis}',
        '',
        f'  {"":{width}}  {"effort per unit of the log":>27}  {"RMS left":>9}',
    ]
    for name, gain, deviation, is_told, left in zip(
        gains.joints, gains.gain, gains.deviation, gains.determined, gains.rms, strict=True
    ):
        told = '' if is_told else '  not told by the logs'
        lines.append(
            f'  {name:{width}}  {f"{gain:.4g} +- {deviation:.2g}":>27}  {left:9.3g}{told}'
        )
    return lines
