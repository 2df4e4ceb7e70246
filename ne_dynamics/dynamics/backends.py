"""Which backend computes: Python, or machine code where a compiler works."""

from __future__ import annotations

import warnings

from ne_dynamics.errors import BackendError

BACKENDS = ('auto', 'python', 'compiled', 'numba')
"""What can be asked for."""

_ALIASES = {'numba': 'compiled'}


def choose_backend(backend: str) -> str:
    """Return 'python' or 'compiled' for what was asked for.

    Raises
    ------
    BackendError
        When it is unknown, or its package is missing or too old.
    """
    if backend not in BACKENDS:
        raise BackendError(f'backend: expected one of {", ".join(BACKENDS)}, got {backend!r}')
    backend = _ALIASES.get(backend, backend)
    if backend == 'python':
        return backend
    from ne_dynamics.codegen.llvm.compiler import toolchain

    try:
        tools = toolchain()
    except BackendError as error:
        if backend == 'compiled':
            raise
        if not isinstance(error.__cause__, ImportError):
            _warn_once(f"backend 'auto' runs Python, without a compiler: {error}")
        return 'python'
    if not tools.has_entry:
        _warn_once(
            "backend 'compiled': the layout of this interpreter's objects is not known, so a call "
            'of one sample takes about 10 us more'
        )
    return 'compiled'


def _warn_once(text: str) -> None:
    if text not in _warned:
        _warned.add(text)
        warnings.warn(text, RuntimeWarning, stacklevel=4)


_warned: set[str] = set()
