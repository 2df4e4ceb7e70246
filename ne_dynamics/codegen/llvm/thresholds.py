"""Sizes up to which machine code is written, loaded or run by threads in one way."""

from __future__ import annotations

from dataclasses import dataclass

from ne_dynamics.thresholds import threshold


@dataclass(frozen=True)
class MachineCodeThresholds:
    """How large frames, blocks and batches may become, and when threads pay."""

    largest_frame: int = threshold(
        65536, 'bytes', 'Stack that a function may take: threads may have little.'
    )
    frame_per_value: int = threshold(
        32, 'bytes a lane', 'Stack for each value that waits for its use; measured: 12 to 31.'
    )
    largest_tile_on_stack: int = threshold(8192, 'bytes', 'A larger tile is allocated.')
    lane_operations: int = threshold(
        16000,
        '',
        'Operations up to which samples are computed side by side: compiling takes long.',
    )
    longest_block: int = threshold(
        1500, 'instructions', "A new block begins: the compiler's time grows with their square."
    )
    largest_angle: float = threshold(
        1.0e6, 'rad', "Sines of larger angles are left to the platform's library."
    )
    most_lanes: int = threshold(8, '', 'Most samples that the batch code computes side by side.')
    packed_operands: int = threshold(
        4, '', 'Operands of a sample in one vector; eight took twice the time (Sapphire Rapids).'
    )

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
