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
from unittest import mock

from build_control_msgs import find_or_build, importable
from fuzz_messages import MessageSource, Step, plan
from fuzz_node import Tally, resident_kilobytes, run
from rclpy.context import Context
from rclpy.logging import LoggingSeverity, set_logger_level

from ne_dynamics.ros.running.private_domain import private_domain

RUN_LENGTH = 4_000
"""Messages of a run."""

ONE_NODE_SHARE = 0.2
"""Part of the messages that goes to one node, whose memory is watched."""

WARM_UP = 0.25
"""Part of that run after which its memory must stay flat."""

MEMORY_BOUND = 2_048
"""Growth after the warm-up [kB]."""


def closed_context(domain: int) -> Context:
    """Return a context whose nodes neither look for others nor are found."""
    context = Context()
    with mock.patch.dict(os.environ, ROS_AUTOMATIC_DISCOVERY_RANGE='OFF'):
        context.init(domain_id=domain)
    # One line for each refused transition, from C.
    set_logger_level('rcl_lifecycle', LoggingSeverity.FATAL)
    return context


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

    def do(self, number: int, messages: int, may_shut_down: bool = True) -> None:
        """Do the run of that number."""
        chosen = plan(self.seed, number)
        steps = MessageSource(chosen, may_shut_down).steps(messages)
        tally, violation, count = run(chosen, steps, self.context)
        self.tally.add(tally)
        if violation is not None:
            self.violations.append(
                f'VIOLATION of "{violation.clause}", seed {self.seed} run {number} '
                f'({chosen.model}), step {count}:\n{violation.text}\n{chosen.parameters}'
            )


def table(tally: Tally) -> str:
    """Return the figures as text."""
    lines = [f'{"input":34s} {"sent":>8s} {"mutated":>8s} {"nobody listened":>16s}']
    lines += [
        f'{kind:34s} {count:8d} {tally.mutated[kind]:8d} {tally.undelivered[kind]:16d}'
        for kind, count in tally.sent.most_common()
    ]
    lines.append(
        f'{"all":34s} {tally.messages:8d} {tally.mutated.total():8d} '
        f'{tally.undelivered.total():16d}'
    )
    for title, counts in (('counted by the node', tally.drops), ('events', tally.events)):
        lines.append(f'{title}:')
        lines += [f'  {key:50s} {count:8d}' for key, count in sorted(counts.items())]
    seconds, step = tally.slowest
    lines += [
        f'largest step: {tally.worst_step:.6f} of what the rate limit allows',
        f'largest command: {tally.worst_effort:.6f} of its limit',
        f'answered again after at most {tally.longest_probe} good states, by the real clock',
        f'slowest callback: {1e3 * seconds:.0f} ms ({step})',
    ]
    return '\n'.join(lines)


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

    for_one_node = round(ONE_NODE_SHARE * options.messages)
    number = 0
    while (left := options.messages - for_one_node - fuzz.tally.messages) > 0:
        fuzz.do(number, min(RUN_LENGTH, left))
        number += 1
        if len(fuzz.violations) >= options.violations:
            break
    memory: list[int] = []
    if len(fuzz.violations) < options.violations:
        memory = one_node(fuzz, number, for_one_node)
    print(table(fuzz.tally))
    print(f'{number} runs, {time.perf_counter() - begin:.0f} s')
    if memory:
        print(
            f'resident memory of the {for_one_node} messages to one node: {memory[0]} kB after '
            f'{WARM_UP:.0%}, {memory[1]} kB at the end: {memory[1] - memory[0]:+d} kB '
            f'(bound: {MEMORY_BOUND} kB)'
        )
    if options.dds_messages:
        from fuzz_process import fuzz_process

        # With rate limits, and without.
        for one in (1, 2):
            count = options.dds_messages // 2
            print(f'over DDS, {count} messages:', flush=True)
            report, found = fuzz_process(plan(seed, 1000 + one), count)
            print(report)
            fuzz.violations += found
    print('\n\n'.join(fuzz.violations) or 'no violation')
    return 1 if fuzz.violations else 0


def one_node(fuzz: Fuzz, number: int, messages: int) -> list[int]:
    """Fuzz one node; return its memory after the warm-up and at the end [kB]."""
    memory = []
    chosen = plan(fuzz.seed, number)
    source = MessageSource(chosen, may_shut_down=False)

    def steps() -> Iterator[Step]:
        sent = 0
        for step in source.steps(messages):
            if step.counts:
                sent += 1
                if sent == round(WARM_UP * messages):
                    memory.append(resident_kilobytes())
            yield step
        memory.append(resident_kilobytes())

    tally, violation, count = run(chosen, steps(), fuzz.context)
    fuzz.tally.add(tally)
    if violation is not None:
        fuzz.violations.append(
            f'VIOLATION of "{violation.clause}", seed {fuzz.seed} run {number} on one node, '
            f'step {count}:\n{violation.text}'
        )
        return []
    if memory[1] - memory[0] > MEMORY_BOUND:
        fuzz.violations.append(f'VIOLATION of "memory is flat", seed {fuzz.seed}: {memory} kB')
    return memory


if __name__ == '__main__':
    sys.exit(main())
