"""Largest parameters, and the size of the cache."""

from __future__ import annotations

from dataclasses import dataclass

from ne_dynamics.thresholds import threshold


@dataclass(frozen=True)
class CodegenThresholds:
    """How large parameters and the cache may become."""

    largest_parameter: float = threshold(
        1e6, 'SI', 'Largest magnitude of a parameter that machine code takes.'
    )

    # Cache
    largest_cache: int = threshold(
        256, 'MB', 'Size of the folder, unless NE_DYNAMICS_CACHE_SIZE says another.'
    )
    kept_share: float = threshold(0.75, '', 'Part of it that is left when old files go.')


CODEGEN = CodegenThresholds()
"""Those that count."""
