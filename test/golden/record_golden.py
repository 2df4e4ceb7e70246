"""Record anew: `make golden`. Prints what has changed, and refuses what got worse.

Each stored recording is first replayed: how far are the outputs from the stored ones, for the same
inputs? Then its scenario happens again in closed loop, and its properties are compared with those
of the index. Without a scenario that got worse, or with a reason (ACCEPT), files and index are
written; the index keeps differences and reason.
"""

from __future__ import annotations

import argparse
import fnmatch
import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

FOLDER = Path(__file__).resolve().parent
INDEX = FOLDER / 'recordings' / 'index.json'
CACHE = FOLDER.parents[1] / '.pytest_cache' / 'd' / 'control_msgs'


def read_index() -> dict[str, Any]:
    """Return the index: properties of the recordings, and when they were recorded anew."""
    if not INDEX.exists():
        return {'recordings': {}, 'recorded anew': []}
    return json.loads(INDEX.read_text())


def record(scenario: Any, context: Any) -> tuple[Any, Any]:
    """Let a scenario happen in closed loop; return the recording, and all outputs."""
    from node_session import opened
    from plant_loop import PlantLoop
    from recording import Recording, finished, session_arguments
    from replay_inputs import as_bytes, from_bytes

    meta = {
        'name': scenario.name,
        'about': scenario.about,
        'arm': scenario.arm.name,
        'parameters': scenario.parameters,
        'sensor_links': scenario.sensor_links,
        'needs_control_msgs': scenario.needs_control_msgs,
        'end': scenario.end,
    }
    with opened(context, *session_arguments(meta)) as session:
        loop = PlantLoop(scenario, session)
        loop.run()
        outputs = finished(session)
    return Recording.of(from_bytes(as_bytes(meta)), loop.told, outputs), outputs


class Run:
    """Records scenarios anew, and keeps what is to be written.

    Attributes
    ----------
    index : dict
    recorded : list of Recording
    differences : dict of str to str
        Of those whose outputs differ from the stored ones.
    worse : dict of str to list of str
        Properties that got worse.
    """

    def __init__(self, context: Any) -> None:
        self._context = context
        self.index = read_index()
        self.recorded: list[Any] = []
        self.differences: dict[str, str] = {}
        self.worse: dict[str, list[str]] = {}

    def do(self, scenario: Any, shows_log: bool) -> None:
        """Replay what is stored of a scenario, record it anew, and print what differs."""
        from comparison import changes, compare, measure
        from recording import Recording

        name, path = scenario.name, FOLDER / 'recordings' / f'{scenario.name}.npz'
        before = self.index['recordings'].get(name)
        print(f'{name}:' if before else f'{name}: new', flush=True)
        if before:
            stored = Recording.read(path)
            difference = compare(stored, stored.replay(self._context))
            print(f'  {difference}')
            if not difference.is_small:
                self.differences[name] = f'{difference.largest:.3g}'
        recording, outputs = record(scenario, self._context)
        self.recorded.append(recording)
        for time, severity, text in outputs.lines if shows_log else ():
            print(f'    {1e-9 * time:.4f} {severity.name} {text}')
        properties = measure(recording, outputs)
        lines, worse = changes(before['properties'], properties) if before else ([], [])
        for line in lines:
            print(f'  {line}' + (' (WORSE)' if line in worse else ''))
        if worse:
            self.worse[name] = worse
        self.index['recordings'][name] = {
            'about': scenario.about,
            'arm': scenario.arm.name,
            'needs_control_msgs': scenario.needs_control_msgs,
            'properties': properties,
        }

    def write(self, reason: str) -> None:
        """Write files and index."""
        names = [recording.name for recording in self.recorded if recording.write()]
        if self.differences or self.worse:
            entry: dict[str, Any] = {'reason': reason, 'largest difference': self.differences}
            self.index['recorded anew'].append(
                entry | ({'worse': self.worse} if self.worse else {})
            )
        INDEX.write_text(json.dumps(self.index, indent=1) + '\n')
        print(f'written: {", ".join(names) or "nothing: all is as it was"}')


def main(arguments: list[str] | None = None) -> int:
    """Record; return 1 when something got worse for which there is no reason."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--only', default='*', help='names, with * and ?, separated by spaces')
    parser.add_argument('--check', action='store_true', help='write nothing')
    parser.add_argument('--log', action='store_true', help='print what the node logs')
    chosen = parser.parse_args(arguments)
    reason = os.environ.get('ACCEPT', '').strip()
    sys.path.insert(0, str(FOLDER.parent / 'support'))
    from build_control_msgs import find_or_build, importable

    messages = find_or_build(CACHE)
    with importable(messages):
        from scenarios import SCENARIOS
        from virtual_world import closed_context

        context = closed_context(23)
        run = Run(context)
        for scenario in SCENARIOS:
            if not any(fnmatch.fnmatch(scenario.name, one) for one in chosen.only.split()):
                continue
            if scenario.needs_control_msgs and messages.missing:
                print(f'{scenario.name}: not recorded: no control_msgs: {messages.missing}')
                continue
            try:
                run.do(scenario, chosen.log)
            except pytest.skip.Exception as missing:
                print(f'  not recorded: {missing}')
        context.try_shutdown()
    print(f'{len(run.differences)} of {len(run.recorded)} differ, {len(run.worse)} got worse')
    if run.worse and not reason:
        print('nothing is written: say why that may be, ACCEPT="reason"')
        return 1
    if not chosen.check:
        run.write(reason)
    return 0


if __name__ == '__main__':
    sys.exit(main())
