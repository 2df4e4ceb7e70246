"""Limits, times and counts that no option sets, with unit and reason."""

from __future__ import annotations

from dataclasses import dataclass

from ne_dynamics.thresholds import threshold


@dataclass(frozen=True)
class CommandLineThresholds:
    """What the subcommands list, advise, wait for and accept."""

    # check
    advised_tolerance: float = threshold(
        1e-7, '', 'Tolerance that is advised; covers quarter turns written with eight digits.'
    )
    many_angles: int = threshold(
        3, '', 'Angles that are nearly quarter turns from which it is advised.'
    )
    most_chains: int = threshold(8, '', 'Chains that are proposed.')
    # commission
    way_back: float = threshold(
        0.05,
        'rad or 0.2 m',
        'So far from where it stood at first, an arm goes back there with a word.',
    )
    # gains
    beyond_margin: float = threshold(
        1.5, '', 'Gains larger by this and the gain margin are tried to see the loop swing ...'
    )
    few_beyond: int = threshold(1, '', '... on this many arms with the least gain margin.')
    most_trials: int = threshold(100_000, '', 'Arms of --prove.')
    largest_bits: int = threshold(40, '', 'Bits of an encoder.')
    # evaluate, identify, whatis
    most_unused: int = threshold(8, '', 'Columns that are not used which are named.')
    discovery_time: float = threshold(5.0, 's', 'A topic of commands is looked for so long.')
    waiting_messages: int = threshold(1000, '', 'Messages that may wait.')


COMMAND_LINE = CommandLineThresholds()
