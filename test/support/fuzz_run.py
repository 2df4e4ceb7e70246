"""Fuzz the node: `make fuzz MESSAGES=100000 SEED=1`, or `python test/support/fuzz_run.py --help`.

Three parts: many runs, each with a new node, another robot and other parameters, one long run on
one node, for the memory, and one over DDS with the node as a process. Exit code 1 when anything
that must always hold did not; the seed and the number of the run, which do it again with `--run`,
are printed.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from build_control_msgs import find_or_build, importable
from fuzz_messages import MessageSource, Step, plan
from fuzz_node import Tally, resident_kilobytes, run
from rclpy.context import Context
from virtual_world import closed_context

from ne_dynamics.ros.running.private_domain import private_domain

RUN_LENGTH = 4_000
"""Messages of a run."""

ONE_NODE_SHARE = 0.2
"""Part of the messages that goes to one node, whose memory is watched."""

WARM_UP = 0.25
"""Part of that run after which its memory must stay flat."""

MEMORY_BOUND = 2_048
"""Growth after the warm-up [kB]."""


class Fuzz:
    """Runs in this process, and what came of them.

    Parameters
    ----------
    seed : int
    context : rclpy.context.Context
        See :func:`closed_context`.
    """

    def __init__(self, seed: int, context: Context) -> None:
        self.seed = seed
        self.context = context
        self.tally = Tally()
        self.violations: list[str] = []
        self.memory: list[int] = []

    def do(self, number: int, messages: int, *, is_watched: bool = False) -> None:
        """Do the run of that number; watch the memory of its one node, if that is asked for."""
        chosen = plan(self.seed, number)
        source = MessageSource(chosen, may_shut_down=not is_watched)

        def steps() -> Iterator[Step]:
            sent = 0
            for step in source.steps(messages):
                sent += step.counts
                if is_watched and step.counts and sent == round(WARM_UP * messages):
                    self.memory.append(resident_kilobytes())
                yield step
            if is_watched:
                self.memory.append(resident_kilobytes())

        tally, violation, count = run(chosen, steps(), self.context)
        self.tally.add(tally)
        if violation is not None:
            self.violations.append(
                f'VIOLATION of "{violation.clause}", seed {self.seed} run {number} '
                f'({chosen.model}), step {count}:\n{violation.text}\n{chosen.parameters}'
            )
        elif is_watched and self.memory[1] - self.memory[0] > MEMORY_BOUND:
            text = f'{self.memory} kB, bound of growth {MEMORY_BOUND} kB'
            self.violations.append(f'VIOLATION of "memory is flat", seed {self.seed}: {text}')


def table(tally: Tally) -> str:
    """Return the figures as text."""
    sent, mutated = tally.sent, tally.mutated
    lines = [f'{"input":34s} {"sent":>8s} {"mutated":>8s}']
    lines += [f'{kind:34s} {count:8d} {mutated[kind]:8d}' for kind, count in sent.most_common()]
    lines.append(f'{"all":34s} {tally.messages:8d} {mutated.total():8d}')
    for title, counts in (('counted by the node', tally.drops), ('events', tally.events)):
        lines += [f'{title}:', *(f'  {key:50s} {counts[key]:8d}' for key in sorted(counts))]
    return '\n'.join([*lines, *(f'largest {key}: {x:.6g}' for key, x in tally.largest.items())])


def main(arguments: Sequence[str] | None = None) -> int:
    """Fuzz, print, and return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--messages', type=int, default=100_000, help='in this process')
    parser.add_argument('--dds-messages', type=int, default=3_000, help='over DDS; 0: none')
    parser.add_argument('--seed', type=int, help='default: by the clock')
    parser.add_argument('--run', type=int, help='only the run of this number, in this process')
    parser.add_argument('--violations', type=int, default=3, help='stop after so many')
    options = parser.parse_args(arguments)
    seed = int(time.time()) if options.seed is None else options.seed
    print(f'seed {seed}', flush=True)
    with tempfile.TemporaryDirectory() as folder:
        messages = find_or_build(Path(folder))
        if messages.missing:
            print(f'without the action: {messages.missing}', flush=True)
        with importable(messages):
            return fuzz_all(options, seed)


def fuzz_all(options: argparse.Namespace, seed: int) -> int:
    """Do all parts, print, and return the exit code."""
    domain = int(os.environ.get('ROS_DOMAIN_ID') or private_domain())
    begin = time.perf_counter()
    fuzz = Fuzz(seed, closed_context(domain))
    if options.run is not None:
        fuzz.do(options.run, RUN_LENGTH)
        print('\n\n'.join([table(fuzz.tally), *fuzz.violations]))
        return 1 if fuzz.violations else 0

    for_one_node, number = round(ONE_NODE_SHARE * options.messages), 0
    while (left := options.messages - for_one_node - fuzz.tally.messages) > 0:
        if len(fuzz.violations) >= options.violations:
            break
        fuzz.do(number, min(RUN_LENGTH, left))
        number += 1
    else:
        fuzz.do(number, for_one_node, is_watched=True)
    print(table(fuzz.tally))
    print(f'{number} runs, {time.perf_counter() - begin:.0f} s')
    print(f'memory of one node after {WARM_UP:.0%} and at the end: {fuzz.memory} kB')
    if options.dds_messages:
        from fuzz_process import fuzz_process

        print(f'over DDS, {options.dds_messages} messages:', flush=True)
        report, found = fuzz_process(seed, options.dds_messages)
        print(report)
        fuzz.violations += found
    print('\n\n'.join(fuzz.violations) or 'no violation')
    return 1 if fuzz.violations else 0


if __name__ == '__main__':
    sys.exit(main())
