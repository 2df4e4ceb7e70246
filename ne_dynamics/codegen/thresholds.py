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
    chunk_samples: int = threshold(
        4096, 'samples', 'A thread takes at least so many of a batch at a time.'
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


CODEGEN = CodegenThresholds()
"""Those that count."""
