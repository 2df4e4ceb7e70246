"""Write speeds after faults into fault_speeds.md and failure_behaviour.md: `make fault-speeds`.

Each scenario of test/support/fault_speeds.py is run with either `on_fault`, with
each friction and each mass.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / 'test/support'))

from fault_speeds import FRICTIONS, MASSES, SCENARIOS, AfterFault, FaultArm, Scenario  # noqa: E402

from ne_dynamics.control import OnFault  # noqa: E402

BEGIN, END = '<!-- fault speeds -->', '<!-- end of fault speeds -->'

Runs = dict[OnFault, dict[float, list[AfterFault]]]


def run_all(arm: FaultArm, scenario: Scenario) -> Runs:
    """Return what became of the arm, by `on_fault` and friction, with each of the masses."""
    return {
        on_fault: {
            friction: [
                run
                for masses in MASSES
                if (run := arm.run(scenario, friction, masses, on_fault)) is not None
            ]
            for friction in FRICTIONS
        }
        for on_fault in OnFault
    }


def write_range(runs: list[AfterFault]) -> str:
    """Return the smallest and the largest of the largest speeds, by the velocity limits."""
    if not runs:
        return 'no fault'
    largest = [run.largest.max() for run in runs]
    first, last = f'{min(largest):.2g}', f'{max(largest):.2g}'
    return first if first == last else f'{first} to {last}'


def write_table(found: dict[str, Runs]) -> str:
    """Return the table of all scenarios."""
    heads = [
        f'{100 * friction:g} %, {way.value}' for friction in FRICTIONS for way in reversed(OnFault)
    ]
    lines = [
        f'| fault | speed at it | {" | ".join(heads)} |',
        '| --- ' * (2 + len(heads)) + '|',
    ]
    for name, runs in found.items():
        damped = [run for one in runs[OnFault.DAMP].values() for run in one]
        at_fault = max(run.at_fault.max() for run in damped)
        cells = [
            write_range(runs[way][friction]) for friction in FRICTIONS for way in reversed(OnFault)
        ]
        lines.append(f'| {name} | {at_fault:.2g} | {" | ".join(cells)} |')
    return '\n'.join(lines)


def write_column(found: dict[str, Runs]) -> dict[str, str]:
    """Return for each row of the failure table the largest speeds, left and damped."""
    rows: dict[str, list[Runs]] = {}
    for name, runs in found.items():
        rows.setdefault(SCENARIOS[name].row, []).append(runs)
    return {row: '; '.join(write_speeds(each, f) for f in FRICTIONS) for row, each in rows.items()}


def write_speeds(each: list[Runs], friction: float) -> str:
    """Return the largest speeds with a friction, left and damped."""
    largest = [
        max((run.largest.max() for runs in each for run in runs[way][friction]), default=None)
        for way in reversed(OnFault)
    ]
    told = ', '.join('no fault' if one is None else f'{one:.2g}' for one in largest)
    return f'{100 * friction:g} %: {told}'


def replace_column(text: str, column: dict[str, str]) -> str:
    """Return a text in which the last cell but one of some rows of a table is another.

    Raises
    ------
    ValueError
        When a row is missing.
    """
    lines = text.split('\n')
    for row, cell in column.items():
        number = next((i for i, line in enumerate(lines) if line.startswith(f'| {row}')), None)
        if number is None:
            raise ValueError(f'no row begins with {row!r}')
        cells = lines[number].split(' | ')
        cells[-2] = cell
        lines[number] = ' | '.join(cells)
    return '\n'.join(lines)


def main() -> None:
    """Write table and column anew."""
    arm = FaultArm()
    found = {name: run_all(arm, scenario) for name, scenario in SCENARIOS.items()}
    path = ROOT / 'doc/fault_speeds.md'
    before, rest = path.read_text(encoding='utf-8').split(BEGIN)
    after = rest.split(END)[1]
    path.write_text(f'{before}{BEGIN}\n\n{write_table(found)}\n\n{END}{after}', encoding='utf-8')
    path = ROOT / 'doc/failure_behaviour.md'
    text = replace_column(path.read_text(encoding='utf-8'), write_column(found))
    path.write_text(text, encoding='utf-8')


if __name__ == '__main__':
    argparse.ArgumentParser(description=__doc__).parse_args()
    main()
