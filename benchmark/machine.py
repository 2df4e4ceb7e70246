"""What a measurement was taken on."""

from __future__ import annotations

import importlib.metadata
import os
import platform
from pathlib import Path

import ne_dynamics
from ne_dynamics.codegen.llvm.compiler import count_lanes, toolchain
from ne_dynamics.errors import BackendError

PACKAGES = (
    'numpy',
    'llvmlite',
    'pin',
    'mujoco',
    'roboticstoolbox-python',
    'jax',
    'adam-robotics',
    'ros-jazzy-rclpy',
    'rclpy',
    'ros-jazzy-rmw-fastrtps-cpp',
)

VECTOR_SETS = {'avx512f': 'AVX-512', 'avx2': 'AVX2', 'avx': 'AVX', 'sve': 'SVE', 'asimd': 'NEON'}
"""Sets of vector instructions by the flag that Linux shows, the widest of a family first."""


def machine() -> dict[str, object]:
    """Return processor, cores, memory, system and versions; what is not installed is None.

    `instructions` is the widest set of vector instructions that the processor has.
    """
    return {
        'processor': _processor(),
        'instructions': _instructions(),
        'cores': os.cpu_count(),
        'memory_bytes': _memory(),
        'system': f'{platform.system()} {platform.machine()}',
        'python': f'{platform.python_implementation()} {platform.python_version()}',
        'ne_dynamics': ne_dynamics.__version__,
        'packages': {name: _version(name) for name in PACKAGES},
    }


def compile_for(processor: str) -> None:
    """Let this process make machine code for another processor, as LLVM calls it.

    This one must be able to run it. Cached code of both is kept apart.
    """
    tools = toolchain()
    triple, _, _, *versions = tools.identity.split('\n')
    tools.identity = '\n'.join((triple, processor, '', *versions))
    tools.cpu, tools.features, tools.lanes = processor, '', count_lanes('')


def load_average() -> float | None:
    """Return the machine's load average over the last minute; None where there is none."""
    try:
        return round(os.getloadavg()[0], 2)
    except (AttributeError, OSError):
        return None


def _read_processor() -> dict[str, str]:
    """Return what Linux says of the first processor; nothing elsewhere."""
    fields: dict[str, str] = {}
    try:
        text = Path('/proc/cpuinfo').read_text(encoding='utf-8')
    except OSError:
        return fields
    for line in text.splitlines():
        key, _, value = line.partition(':')
        fields.setdefault(key.strip(), value.strip())
    return fields


def _processor() -> str:
    fields = _read_processor()
    if 'model name' not in fields:
        return platform.processor() or platform.machine()
    name = fields['model name']
    numbers = [f'{key} {fields[key]}' for key in ('cpu family', 'model') if key in fields]
    return (f'{name} ({", ".join(numbers)})' if numbers else name) + _compiled_for()


def _compiled_for() -> str:
    """Return for which processor machine code is made."""
    try:
        return f', code for {toolchain().cpu}'
    except BackendError:
        return ''


def _instructions() -> str | None:
    fields = _read_processor()
    flags = set((fields.get('flags') or fields.get('Features') or '').split())
    return next((name for flag, name in VECTOR_SETS.items() if flag in flags), None)


def _memory() -> int | None:
    try:
        return os.sysconf('SC_PAGE_SIZE') * os.sysconf('SC_PHYS_PAGES')
    except (AttributeError, OSError, ValueError):
        return None


def _version(package: str) -> str | None:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None
