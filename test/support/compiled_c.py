"""Text that the package prints, compiled or run, and its functions called with arrays."""

import ctypes
import shutil
import subprocess
import tempfile
from pathlib import Path

import numpy as np
import pytest

STRICT = ('-std=c99', '-Wall', '-Wextra', '-Wpedantic', '-Werror', '-trigraphs', '-O0')


def compile_c(text, folder, *, flags=STRICT):
    """Return a C text as a library, a warning is an error; skip where there is no compiler.

    What it includes is in the folder.
    """
    found = shutil.which('cc') or shutil.which('gcc') or shutil.which('clang')
    if found is None:
        pytest.skip('no C compiler (cc, gcc or clang) is installed')
    own = Path(tempfile.mkdtemp(dir=folder))
    source, library = own / 'text.c', own / 'text.so'
    source.write_text(text, encoding='utf-8')
    words = [found, *flags, '-shared', '-fPIC', str(source), '-I', str(folder)]
    result = subprocess.run(
        [*words, '-o', str(library), '-lm'], capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stderr
    return ctypes.CDLL(str(library))


def call_c(function, *arrays):
    """Call a C function of arrays, the last of which takes the result."""
    assert all(array.flags.c_contiguous and array.dtype == np.float64 for array in arrays)
    function.restype = None
    function(*[ctypes.c_void_p(array.ctypes.data) for array in arrays])


def run_text(text, language, name, arguments, size, folder):
    """Return what a printed function makes of rows of arguments, shape (N, size).

    Parameters
    ----------
    text, language, name : str
        The text, one of the languages of ``Dynamics.source``, and the function in it.
    arguments : sequence of array, shape (N, count)
    size : int
        Scalars of one result.
    folder : Path
        For what a compiler makes of it.
    """
    arguments = [np.ascontiguousarray(argument, dtype=float) for argument in arguments]
    if language == 'c':
        function = compile_c(text, folder)[name]
        found = np.full((len(arguments[0]), size), np.nan)
        for row in zip(*arguments, found, strict=True):
            call_c(function, *row)
        return found
    namespace = {}
    exec(text, namespace)
    function = namespace[name]
    if language == 'python':
        return np.array([function(*row) for row in zip(*arguments, strict=True)])
    found = function(*([np] if language == 'array-api' else []), *arguments)
    return found.reshape(-1, size)
