"""Write the table of speeds after faults into fault_speeds.md: `make fault-speeds`.

Each scenario of test/support/fault_speeds.py is run with either `on_fault`, with
each friction and each mass.
"""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / 'test/support'))

from fault_speeds import FRICTIONS, MASSES, SCENARIOS, AfterFault, FaultArm, Scenario  # noqa: E402

from ne_dynamics.control.tuning import OnFault  # noqa: E402

BEGIN, END = '<!-- fault speeds -->', '<!-- end of fault speeds -->'
FASTEST = 1000.0
"""A simulation is ended at this speed [rad/s]."""


def write_range(runs: list[AfterFault], *, soon: bool = False) -> str:
    """Return the smallest and the largest of the largest speeds, by the velocity limits."""
    largest = [(run.largest_soon if soon else run.largest).max() for run in runs]
    first, last = f'{min(largest):.2g}', f'{max(largest):.2g}'
    return first if first == last else f'{first} to {last}'


def write_row(name: str, arm: FaultArm, scenario: Scenario) -> str:
    """Return the row of a scenario."""
    found: dict[OnFault, dict[float, list[AfterFault]]] = {}
    for on_fault in OnFault:
        found[on_fault] = {
            friction: [
                run
                for masses in MASSES
                if (run := arm.run(scenario, friction, masses, on_fault)) is not None
            ]
            for friction in FRICTIONS
        }
    at_fault = max(run.at_fault.max() for runs in found[OnFault.DAMP].values() for run in runs)
    cells = [
        write_range(found[on_fault][friction]) if found[on_fault][friction] else 'no fault'
        for friction in FRICTIONS
        for on_fault in (OnFault.LEAVE, OnFault.DAMP)
    ]
    return f'| {name} | {at_fault:.2g} | {" | ".join(cells)} |'


def write_table(arm: FaultArm) -> list[str]:
    """Return the lines of the table."""
    heads = [
        f'{100 * friction:g} %, {way.value}' for friction in FRICTIONS for way in reversed(OnFault)
    ]
    lines = [
        f'| fault | speed at it | {" | ".join(heads)} |',
        '| --- ' * (2 + len(heads)) + '|',
    ]
    return lines + [write_row(name, arm, scenario) for name, scenario in SCENARIOS.items()]


def main() -> None:
    """Write the table anew."""
    path = ROOT / 'doc/fault_speeds.md'
    text = path.read_text(encoding='utf-8')
    before, rest = text.split(BEGIN)
    after = rest.split(END)[1]
    table = '\n'.join(write_table(FaultArm()))
    path.write_text(f'{before}{BEGIN}\n\n{table}\n\n{END}{after}', encoding='utf-8')


if __name__ == '__main__':
    main()
