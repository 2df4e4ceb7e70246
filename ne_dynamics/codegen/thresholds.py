"""Sizes up to which code is written, compiled, kept or run in one way."""

from __future__ import annotations

from dataclasses import dataclass

from ne_dynamics.thresholds import threshold


@dataclass(frozen=True)
class CodegenThresholds:
    """How large programs, tables and batches may become, and how exact."""

    # Programs
    derivative_coordinates: int = threshold(
        10, '', 'Coordinates up to which the derivatives of the dynamics are written out.'
    )
    recursion_coordinates: int = threshold(
        10, '', 'Coordinates up to which the recursion, which knows special geometry, is shorter.'
    )
    longest_expression: int = threshold(
        88, 'characters', 'An expression used once is written where it is used up to this.'
    )
    block_samples: int = threshold(
        1024, '', 'Samples evaluated at a time, so that intermediate arrays stay in the cache.'
    )
    long_compilation: int = threshold(
        4000, 'operations', 'From here a compilation is announced on a terminal.'
    )

    # Magnitudes
    largest_parameter: float = threshold(
        1e6, 'SI', 'Largest magnitude of a parameter that machine code takes.'
    )
    largest_inputs: tuple[float, ...] = threshold(
        (1e70, 1e35, 1e15, 1e7),
        'SI',
        'Tried as magnitude of all inputs for which nothing overflows.',
    )
    largest_value: float = threshold(
        1e290, '', 'No intermediate value may exceed this; doubles end at 1.8e308.'
    )
    plain_number: float = threshold(
        1e60, 'SI', 'Below, no product of numbers of a robot overflows ...'
    )
    plain_length: float = threshold(1e40, 'SI', '... nor of its lengths.')

    # Cache
    largest_cache: int = threshold(
        256, 'MB', 'Size of the folder, unless NE_DYNAMICS_CACHE_SIZE says another.'
    )
    kept_share: float = threshold(0.75, '', 'Part of it that is left when old files go.')

    # C projects
    test_samples: int = threshold(100, '', 'Samples of each function in the test.')
    test_tolerance: float = threshold(
        1e-12, '', 'Error that the test allows, by the largest value of the function ...'
    )
    test_scale: float = threshold(
        1e-2, '', '... or by this where all are smaller: rounding of zero has no digits.'
    )
    longest_prefix: int = threshold(
        40, 'characters', 'The name of a robot is cut to this in a prefix.'
    )
    table_line: int = threshold(96, 'characters', 'Length of a line of a table.')
    mark_head: int = threshold(
        500, 'characters', 'Part of a file in which the mark is looked for.'
    )
    prismatic_reach: float = threshold(
        1.0, 'm', 'Largest position of a prismatic joint for which rounding is stated.'
    )

    # Machine code
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
    maps_left: int = threshold(
        10_000, '', 'Memory maps that loaded functions leave to the rest of the process.'
    )

    # Threads
    chunk_samples: int = threshold(
        4096, 'samples', 'A thread takes at least so many of a batch at a time.'
    )
    pieces_per_thread: int = threshold(
        4, '', 'Pieces of a batch for each thread: an interrupted one leaves work to others.'
    )
    least_thread_gain: float = threshold(
        1.2, '', 'Factor by which threads must be faster than one: sibling cores are not.'
    )
    thread_trials: int = threshold(
        3, '', 'Slower batches in a row before threads are given up; others may work.'
    )


CODEGEN = CodegenThresholds()
"""Those that count."""
