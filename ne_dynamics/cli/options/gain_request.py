"""The options of ``ne_dynamics gains`` that say what gains are asked for."""

from __future__ import annotations

import argparse
import math
from typing import Any

from ne_dynamics.control import VelocitySource
from ne_dynamics.errors import InputError
from ne_dynamics.gains import ALL_MODES, GainRequest

LARGEST_BITS = 40


def add_gain_request(parser: argparse.ArgumentParser) -> None:
    """Add the options to a parser; :func:`read_gain_request` reads them."""
    _add_loop(parser.add_argument_group('the loop'))
    _add_arm(parser.add_argument_group('the arm'))
    _add_aims(parser.add_argument_group('what is wanted'))


def _add_loop(group: Any) -> None:
    group.add_argument(
        '--rate', type=float, default=500.0, metavar='HZ', help='states a second (default: 500)'
    )
    group.add_argument(
        '--delay',
        type=float,
        metavar='S',
        help='from a state to the effort that answers it [s] (default: one period)',
    )
    group.add_argument(
        '--delay-jitter',
        type=float,
        default=0.0,
        metavar='S',
        help='by which it may be longer [s] (default: 0)',
    )
    encoder = group.add_mutually_exclusive_group()
    encoder.add_argument(
        '--encoder-bits', type=int, metavar='N', help='steps of a turn of the joint: 2 to the N'
    )
    encoder.add_argument(
        '--position-step',
        type=_numbers,
        metavar='X[,X...]',
        help='step of the measured positions [rad or m], one or one each (default: none)',
    )
    group.add_argument(
        '--velocity-source',
        choices=[each.value for each in VelocitySource],
        default=VelocitySource.DIFFERENTIATED.value,
        help="the node's parameter; JTC and drives get the bare difference of positions unless it "
        'is measured (default: differentiated)',
    )
    group.add_argument(
        '--velocity-cutoff',
        type=float,
        metavar='HZ',
        help="of the node's filter (default: chosen)",
    )
    group.add_argument(
        '--drive-rate',
        type=float,
        default=1000.0,
        metavar='HZ',
        help='at which MIT-mode drives close their loop (default: 1000)',
    )
    group.add_argument(
        '--drive-delay',
        type=float,
        metavar='S',
        help='of that loop [s] (default: one of its periods)',
    )
    for gain in ('kp', 'kd'):
        group.add_argument(
            f'--drive-{gain}',
            nargs=2,
            type=float,
            default=(0.0, math.inf),
            metavar=('LEAST', 'LARGEST'),
            help=f'which {gain} the drives take',
        )


def _add_arm(group: Any) -> None:
    group.add_argument(
        '--uncertainty',
        type=float,
        default=0.3,
        metavar='PART',
        help='by which mass and inertia of each link and rotor may be wrong (default: 0.3)',
    )
    group.add_argument(
        '--payload',
        type=_numbers,
        default=(0.0,),
        metavar='KG[,KG]',
        help='mass at the tip that the controller is not told of: the largest, or the least and '
        'the largest (default: 0)',
    )
    group.add_argument(
        '--payload-center',
        type=_numbers,
        default=(0.0, 0.0, 0.0),
        metavar='X,Y,Z',
        help='its centre of mass in the frame of the tip [m] (default: 0,0,0)',
    )
    group.add_argument(
        '--stiffness',
        type=_numbers,
        metavar='K[,K...]',
        help='of the gears [N m/rad or N/m], one or one each (default: rigid)',
    )
    group.add_argument(
        '--effort-limits',
        type=_numbers,
        metavar='X[,X...]',
        help='in place of those of the model [N m or N]',
    )
    group.add_argument(
        '--poses', type=int, default=64, help='of the workspace that are looked at (default: 64)'
    )
    group.add_argument('--seed', type=int, default=0, help='which poses (default: 0)')


def _add_aims(group: Any) -> None:
    group.add_argument(
        '--mode',
        action='append',
        choices=[mode.value for mode in ALL_MODES],
        help='whose gains; may be repeated (default: all)',
    )
    group.add_argument(
        '--phase-margin', type=float, default=45.0, metavar='DEG', help='(default: 45)'
    )
    group.add_argument(
        '--gain-margin', type=float, default=2.0, metavar='FACTOR', help='(default: 2)'
    )
    group.add_argument(
        '--strict',
        action='store_true',
        help='refuse modes that cannot keep these; otherwise smaller ones are tried, and said',
    )
    group.add_argument(
        '--noise-share',
        type=float,
        default=0.02,
        metavar='PART',
        help='of the effort limit that a step of an encoder may move (default: 0.02)',
    )
    group.add_argument(
        '--position-error',
        type=float,
        default=0.05,
        metavar='RAD',
        help='at which efforts are to be within their limits (default: 0.05)',
    )
    group.add_argument(
        '--no-integral', action='store_true', help='joint_trajectory_controller without integral'
    )


def read_gain_request(args: argparse.Namespace) -> GainRequest:
    """Return what the options ask for.

    Raises
    ------
    InputError
        When a value cannot be used.
    """
    step: Any = 0.0 if args.position_step is None else args.position_step
    if args.encoder_bits is not None:
        if not 1 <= args.encoder_bits <= LARGEST_BITS:
            raise InputError(
                f'--encoder-bits: expected 1 to {LARGEST_BITS}, got {args.encoder_bits}'
            )
        step = 2.0 * math.pi / 2**args.encoder_bits
    relaxed: dict[str, Any] = {'relaxed_margins': ()} if args.strict else {}
    return GainRequest(
        rate=args.rate,
        delay=args.delay,
        delay_jitter=args.delay_jitter,
        position_step=step,
        velocity_source=args.velocity_source,
        velocity_cutoff_frequency=args.velocity_cutoff,
        uncertainty=args.uncertainty,
        payload=args.payload,
        payload_center=args.payload_center,
        modes=tuple(args.mode or ALL_MODES),
        stiffness=args.stiffness,
        phase_margin=args.phase_margin,
        gain_margin=args.gain_margin,
        noise_share=args.noise_share,
        position_error=args.position_error,
        integral=not args.no_integral,
        drive_rate=args.drive_rate,
        drive_delay=args.drive_delay,
        drive_kp_range=args.drive_kp,
        drive_kd_range=args.drive_kd,
        effort_limits=args.effort_limits,
        poses=args.poses,
        seed=args.seed,
        **relaxed,
    )


def _numbers(text: str) -> tuple[float, ...]:
    try:
        return tuple(float(part) for part in text.split(','))
    except ValueError:
        raise argparse.ArgumentTypeError(f'expected X[,X...], got {text!r}') from None
