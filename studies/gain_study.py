"""Gains for arms, rates and delays, each tried in MuJoCo: the counts of ``doc/gains.md``.

    python -m studies.gain_study RESULTS.json        # goes on where it was ended; prints a table
    python -m studies.gain_study RESULTS.json draw FILE.png

The arms are URDFs of example-robot-data, and the shipped one. None of them says what its rotors
are: `with rotors` has 0.0075 kg m^2 at a joint for each N m of its effort limit (2.5 for 330, as
the rotors of the shipped arm's tests), `links alone` none, `elastic` the rotors before gears of
150 N m/rad for each N m.
"""

from __future__ import annotations

import argparse
import itertools
import json
import math
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ne_dynamics.dynamics import Dynamics
from ne_dynamics.errors import InputError
from ne_dynamics.gains import ALL_MODES, GainDesign, GainMode, GainRequest, design_gains
from ne_dynamics.model.robot import Robot
from ne_dynamics.simulation import prove_gains
from studies.commission_study import ARMS, subject_of

NAMES = ('UR5', 'UR10', 'Panda', 'xArm7')
PAYLOADS = {'UR5': 3.0, 'UR10': 5.0, 'Panda': 1.5, 'xArm7': 2.0}
"""The largest mass at the tip, beside none at all [kg]."""

RATES, DELAYS = (250.0, 500.0, 1000.0), (0.002, 0.004, 0.008)
ROTOR_BY_EFFORT = 0.0075
STIFFNESS_BY_EFFORT = 150.0
STEP = 2.0 * math.pi / 2**17
POSES, TRIALS = 16, 8
BEYOND = 1.5
"""By which, times the gain margin, the gains of one more trial are larger."""

OF_POSE = (GainMode.COMPUTED_TORQUE,)
BY_DRIVES = (GainMode.MIT,)


@dataclass(frozen=True)
class Case:
    """One request for one arm."""

    arm: str
    variant: str
    rate: float
    delay: float
    payload: float
    modes: tuple[GainMode, ...]

    @property
    def key(self) -> str:
        """What its results are found by."""
        modes = ' '.join(mode.value for mode in self.modes)
        return f'{self.arm}, {self.variant}, {self.rate:g} Hz, {1e3 * self.delay:g} ms, ' + (
            f'{self.payload:g} kg, {modes}'
        )


def cases() -> Iterator[Case]:
    """Yield all of them; drives close their loop at 1 kHz whatever the rate is."""
    for arm in NAMES:
        yield Case(arm, 'elastic', 1000.0, 0.002, PAYLOADS[arm], ALL_MODES)
        yield Case(arm, 'links alone', 500.0, 0.002, PAYLOADS[arm], BY_DRIVES)
    for rate, delay, arm in itertools.product(RATES, DELAYS, NAMES):
        modes = ALL_MODES if (rate, delay) == (500.0, 0.002) else ALL_MODES[:3]
        for payload in (PAYLOADS[arm], 0.0):
            yield Case(arm, 'with rotors', rate, delay, payload, modes)
    for rate, delay, arm in itertools.product(RATES, DELAYS, NAMES):
        yield Case(arm, 'links alone', rate, delay, PAYLOADS[arm], OF_POSE)


def arm_of(case: Case) -> Robot:
    """Return the arm of a case."""
    robot = subject_of(next(arm for arm in ARMS if arm.name == case.arm)).robot
    if case.variant == 'links alone':
        return robot
    joints = tuple(
        replace(joint, rotor_inertia=ROTOR_BY_EFFORT * joint.effort_limit, gear_ratio=1.0)
        for joint in robot.joints
    )
    return replace(robot, joints=joints)


def request_of(case: Case, robot: Robot) -> GainRequest:
    """Return what is asked for."""
    stiffness = None
    if case.variant == 'elastic':
        stiffness = tuple(STIFFNESS_BY_EFFORT * joint.effort_limit for joint in robot.joints)
    return GainRequest(
        rate=case.rate,
        delay=case.delay,
        drive_delay=0.001,
        payload=case.payload,
        position_step=STEP,
        uncertainty=0.15 if case.variant == 'elastic' else 0.3,
        stiffness=stiffness,
        modes=case.modes,
        poses=POSES,
    )


def study(case: Case) -> list[dict[str, Any]]:
    """Return a row for each mode."""
    robot = arm_of(case)
    dynamics = Dynamics(robot)
    try:
        design = design_gains(dynamics, request_of(case, robot))
    except InputError as error:
        return [_row(case, mode) | {'refused': str(error)} for mode in case.modes]
    rows = []
    for mode in case.modes:
        row = _row(case, mode)
        if mode in design.refusals:
            rows.append(row | {'refused': design.refusals[mode]})
            continue
        rows.append(row | try_mode(design, dynamics, mode))
    return rows


def _row(case: Case, mode: GainMode) -> dict[str, Any]:
    return {
        'arm': case.arm,
        'variant': case.variant,
        'rate': case.rate,
        'delay': case.delay,
        'payload': case.payload,
        'mode': mode.value,
    }


def try_mode(design: GainDesign, dynamics: Dynamics, mode: GainMode) -> dict[str, Any]:
    """Return what came of the gains of a mode, and of larger ones."""
    one = design.of(mode)
    proof = prove_gains(design, dynamics, mode, TRIALS)
    factor = BEYOND * float(one.choice.margins.gain.min())
    beyond = prove_gains(design, dynamics, mode, 1, factor=factor)
    worst = one.choice.margins.worst()
    return {
        'is_relaxed': mode in design.relaxed,
        'phase': float(worst.phase),
        'gain': float(worst.gain),
        'frequency': one.choice.frequency.tolist(),
        'beyond': beyond.trials[0].outcome,
        **proof.as_json(),
    }


def table(rows: list[dict[str, Any]]) -> str:
    """Return the counts as a Markdown table."""
    lines = [
        '| arm | | mode | asked | refused | 30 degrees, 1.5 | trials | settled | swing | diverged '
        '| at rest | overshoot | beyond the margin |',
        '| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |',
    ]
    groups: dict[tuple[str, str, str], list[dict[str, Any]]] = {}
    for row in rows:
        groups.setdefault((row['variant'], row['arm'], row['mode']), []).append(row)
    for (variant, arm, mode), group in groups.items():
        given = [row for row in group if 'refused' not in row]
        counts = {
            key: sum(row[key] for row in given)
            for key in ('is_relaxed', 'trials', 'settled', 'swings', 'diverged')
        }
        shares = [
            max((row[key] or 0.0 for row in given), default=math.nan)
            for key in ('settled_by_predicted', 'overshoot_by_predicted')
        ]
        unsettled = sum(row['beyond'] != 'settled' for row in given)
        text = [f'{share:.2f}' if given else '' for share in shares]
        lines.append(
            f'| {arm} | {variant} | `{mode}` | {len(group)} | {len(group) - len(given)} | '
            + ' | '.join(str(count) for count in counts.values())
            + f' | {" | ".join(text)} | {unsettled} of {len(given)} |'
        )
    return '\n'.join(lines)


def draw(rows: list[dict[str, Any]], picture: str) -> None:
    """Draw the highest natural frequency by delay, arm by arm, of the arms with rotors."""
    import matplotlib.pyplot as plt

    modes = [mode.value for mode in ALL_MODES[:3]]
    figure, axes = plt.subplots(
        1, len(NAMES), figsize=(11.0, 3.4), sharey=True, layout='constrained'
    )
    for axis, arm in zip(axes, NAMES, strict=True):
        for mode, rate in itertools.product(modes, RATES):
            found = [
                (1e3 * row['delay'], max(row['frequency']) if 'refused' not in row else math.nan)
                for row in rows
                if (row['arm'], row['variant'], row['mode'], row['rate'])
                == (arm, 'with rotors', mode, rate)
                and row['payload']
            ]
            axis.plot(
                *zip(*found, strict=True),
                color=f'C{modes.index(mode)}',
                linestyle=('--', '-', ':')[RATES.index(rate)],
                marker='.',
                label=f'{mode}, {rate:g} Hz',
            )
        axis.set_title(arm)
        axis.set_xlabel('dead time [ms]')
        axis.grid(alpha=0.3)
    axes[0].set_ylabel('highest natural frequency [rad/s]')
    axes[0].set_yscale('log')
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc='outside right center', fontsize='small')
    figure.savefig(picture, dpi=100)


def main() -> None:
    """Study all cases that are not in the results, or draw them."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument('results', type=Path)
    parser.add_argument('draw', nargs='?', choices=['draw'])
    parser.add_argument('picture', nargs='?')
    args = parser.parse_args()
    if args.draw and not args.picture:
        parser.error('draw: expected a file to draw into')
    found = json.loads(args.results.read_text()) if args.results.exists() else {}
    if args.draw:
        draw(list(itertools.chain(*found.values())), args.picture)
        return
    for case in cases():
        if case.key not in found:
            found[case.key] = study(case)
            args.results.write_text(json.dumps(found, indent=1))
            print(case.key, file=sys.stderr, flush=True)
    print(table(list(itertools.chain(*found.values()))))


if __name__ == '__main__':
    main()
