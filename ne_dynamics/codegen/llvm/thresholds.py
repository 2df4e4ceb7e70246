"""Sizes up to which machine code is written, loaded or run by threads in one way."""

from __future__ import annotations

from dataclasses import dataclass

from ne_dynamics.thresholds import threshold


@dataclass(frozen=True)
class MachineCodeThresholds:
    """How large frames, blocks and batches may become, and when threads pay."""

    most_waiting: int = threshold(
        2048,
        '',
        'Values on all lanes that may wait for their use on the stack: each takes 12 to 31 bytes.',
    )
    largest_tile_on_stack: int = threshold(8192, 'bytes', 'A larger tile is allocated.')
    lane_operations: int = threshold(
        16000,
        '',
        'Operations up to which samples are computed side by side: compiling takes long.',
    )
    most_lanes: int = threshold(8, '', 'Most samples that the batch code computes side by side.')
    chunk_samples: int = threshold(
        4096, 'samples', 'A thread takes at least so many of a batch at a time.'
    )
    least_thread_gain: float = threshold(
        1.2, '', 'Factor by which threads must be faster than one: sibling cores are not.'
    )
    thread_trials: int = threshold(
        3, '', 'Slower batches in a row before threads are given up; others may work.'
    )


LLVM = MachineCodeThresholds()
"""Those that count."""
